-- SPDX-License-Identifier: Apache-2.0
-- What was changed of snippets, for those who follow it (snippets/changes.h); the last are kept.
CREATE TABLE snippet_change (
    lane BIGINT NOT NULL,         -- writers of several processes do not wait for each other
    last BIGINT NOT NULL,         -- the number of its last change: they count on within a lane
    first BIGINT NOT NULL,
    changes BYTEA NOT NULL,       -- of one transaction
    PRIMARY KEY (lane, last)
);
