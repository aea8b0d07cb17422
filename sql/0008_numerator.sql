-- SPDX-License-Identifier: Apache-2.0
-- Permanent numbers of documents (src/numerator). A space is the numbers of one collection: of a
-- client. Written by the owner of the shard alone, under its fence.

-- T.S.V.G of each shard.
CREATE TABLE number_space (
    space BIGINT NOT NULL,
    shard BIGINT NOT NULL,
    kind BIGINT NOT NULL,       -- T
    scheme BIGINT NOT NULL,     -- S
    rebuild BIGINT NOT NULL,    -- V
    generation BIGINT NOT NULL, -- G
    change_no BIGINT NOT NULL,  -- grows when numbers are given or taken back: what the owner holds
                                -- in memory follows it
    PRIMARY KEY (space, shard)
);

-- Keys and their numbers. A key that is gone keeps its own for its time to live.
-- No index but the primary key can be taken for a look-up by key: without statistics both stores
-- take a shard for a few rows, and would read all of it.
CREATE TABLE number_slot (
    space BIGINT NOT NULL,
    shard BIGINT NOT NULL,
    key BYTEA NOT NULL,
    doc_id BIGINT NOT NULL,
    class TEXT NOT NULL,              -- placement class, that of its extent; '' none
    birth_generation BIGINT NOT NULL, -- that the key got the number in
    seen_generation BIGINT NOT NULL,  -- of a gone one, the last it was there in
    gone_us BIGINT NOT NULL,          -- since when it is gone; 0: it is there
    PRIMARY KEY (space, shard, key)
) /* sqlite: WITHOUT ROWID */;
CREATE UNIQUE INDEX number_doc ON number_slot (doc_id, space, shard);
CREATE INDEX number_gone ON number_slot (space, shard, gone_us, doc_id) WHERE gone_us > 0;

-- Numbers that were taken off their keys: held at first, then to be given again.
CREATE TABLE number_free (
    space BIGINT NOT NULL,
    shard BIGINT NOT NULL,
    doc_id BIGINT NOT NULL,
    class TEXT NOT NULL,
    generation BIGINT NOT NULL, -- the last it belonged to a key in
    freed_us BIGINT NOT NULL,
    PRIMARY KEY (space, shard, doc_id)
) /* sqlite: WITHOUT ROWID */;

-- Runs of consecutive numbers, each of one placement class.
CREATE TABLE number_extent (
    space BIGINT NOT NULL,
    shard BIGINT NOT NULL,
    first_id BIGINT NOT NULL,
    class TEXT NOT NULL,
    next_id BIGINT NOT NULL, -- all below, in it, were given
    PRIMARY KEY (space, shard, first_id)
) /* sqlite: WITHOUT ROWID */;
