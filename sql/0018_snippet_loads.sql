-- SPDX-License-Identifier: Apache-2.0
-- Full loads of snippets (snippets/generation.h). Nothing has written to the table of before.
DROP TABLE snippet_space;

-- The generations of a snippet's rows. No row: generation 0 is shown, and there is no other.
CREATE TABLE snippet_space (
    prefix BIGINT PRIMARY KEY,
    live BIGINT NOT NULL,         -- is shown
    back BIGINT NOT NULL,         -- was shown before, to go back to; -1: none
    loading BIGINT NOT NULL,      -- is being loaded, shown when it is whole; -1: none
    last BIGINT NOT NULL,         -- the largest that was given out
    begun_us BIGINT NOT NULL,     -- when the last load began
    switched_us BIGINT NOT NULL,  -- when another one was last shown
    unclean BIGINT NOT NULL       -- 0: there are no rows of other generations
);
