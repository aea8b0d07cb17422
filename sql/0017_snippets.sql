-- SPDX-License-Identifier: Apache-2.0
-- Snippets (snippets/rows.h): what is kept beside the index and glued to what was found.
CREATE TABLE snippet (
    prefix BIGINT NOT NULL,       -- of the snippet's name (snippets/prefixes.h)
    record_key TEXT NOT NULL,     -- an offer's id, most often
    language TEXT NOT NULL,       -- '': it is for all
    generation BIGINT NOT NULL,   -- 0, or of a full load: the one of snippet_space is shown
    body BYTEA,                   -- NULL: it was deleted, and older writes that come late find that
    written_us BIGINT NOT NULL,   -- when it was taken in; grows with each write of a row
    end_us BIGINT NOT NULL,       -- the largest number: never
    source BIGINT NOT NULL,       -- a hash of the topic and partition of the last record; 0: none
    source_offset BIGINT NOT NULL,
    PRIMARY KEY (prefix, record_key, language, generation)
);
CREATE INDEX snippet_end ON snippet (end_us) WHERE end_us < 9223372036854775807;

-- Which generation of a snippet's rows is shown, and which is kept beside it: one that is being
-- loaded, or the one before, to go back to. No row: generation 0 is shown.
CREATE TABLE snippet_space (
    prefix BIGINT PRIMARY KEY,
    live BIGINT NOT NULL,
    beside BIGINT NOT NULL,       -- -1: none
    state TEXT NOT NULL,          -- 'whole', 'loading'
    changed_us BIGINT NOT NULL
);
