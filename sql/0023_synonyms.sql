-- SPDX-License-Identifier: Apache-2.0
-- Synonyms in force, a set for each language (search/synonym_sets.h). A change is a compare-and-set
-- on the version.
CREATE TABLE synonym_set (
    language TEXT PRIMARY KEY,
    version BIGINT NOT NULL,
    body BYTEA NOT NULL, -- the file as it was applied
    applied_us BIGINT NOT NULL,
    applied_by TEXT NOT NULL
);

-- Queries that visitors typed after another one had not shown them what they wanted
-- (clicks/retyped.h): in how many visits, and when last (hours since 1970).
CREATE TABLE query_retyped (
    before_text TEXT NOT NULL,
    after_text TEXT NOT NULL,
    visits BIGINT NOT NULL,
    last_hour BIGINT NOT NULL,
    PRIMARY KEY (before_text, after_text)
) /* sqlite: WITHOUT ROWID */;
CREATE INDEX query_retyped_last ON query_retyped (last_hour);
CREATE INDEX query_retyped_visits ON query_retyped (visits);
