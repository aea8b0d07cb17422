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

-- A slot: a number, and the key it belongs to. A key that is gone keeps it for its time to live;
-- then the key is taken off, and the number is held, and free after that.
CREATE TABLE number_slot (
    space BIGINT NOT NULL,
    shard BIGINT NOT NULL,
    doc_id BIGINT NOT NULL,
    key BYTEA,                    -- NULL: it belongs to nobody
    class TEXT NOT NULL,          -- placement class, that of its extent; '' none
    birth_generation BIGINT NOT NULL, -- of its present owner
    seen_generation BIGINT NOT NULL,  -- the last the key was there in; of a free one, that it was
                                      -- taken off in
    gone_us BIGINT NOT NULL,      -- since when the key is gone, 0: it is there; of a free one, when
                                  -- it was taken off
    PRIMARY KEY (space, shard, doc_id)
) /* sqlite: WITHOUT ROWID */;
CREATE UNIQUE INDEX number_key ON number_slot (space, shard, key) WHERE key IS NOT NULL;
CREATE INDEX number_gone ON number_slot (space, shard, gone_us, doc_id)
    WHERE gone_us > 0 AND key IS NOT NULL;
CREATE INDEX number_free ON number_slot (space, shard, doc_id) WHERE key IS NULL;

-- Runs of consecutive numbers, each of one placement class. Only the last of a class has numbers
-- that were never given: those above the highest of its slots.
CREATE TABLE number_extent (
    space BIGINT NOT NULL,
    shard BIGINT NOT NULL,
    first_id BIGINT NOT NULL,
    class TEXT NOT NULL,
    PRIMARY KEY (space, shard, first_id)
) /* sqlite: WITHOUT ROWID */;
