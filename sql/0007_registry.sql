-- SPDX-License-Identifier: Apache-2.0
-- Documents of clients: the newest of each key, and the queue from each change to the index.
-- Times are microseconds since 1970. hash is XXH3-64 of the pk with its top bit flipped, so that its
-- order as a signed number is that of the unsigned one; a shard is a range of hashes.

CREATE TABLE registry_client (
    id BIGINT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    shard_count BIGINT NOT NULL,   -- for ever
    writing_epoch BIGINT NOT NULL, -- of documents that name none; lower ones are refused
    serving_epoch BIGINT NOT NULL, -- that searches ask; a way back lowers it
    state_no BIGINT NOT NULL,      -- grows with each change of epochs or schemas: caches ask for it
    created_us BIGINT NOT NULL
);

CREATE TABLE registry_epoch (
    client_id BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    state BIGINT NOT NULL, -- as IndexMap.Epoch.State
    started_us BIGINT NOT NULL,
    PRIMARY KEY (client_id, epoch)
);

-- The settled schema of an epoch.
CREATE TABLE registry_field (
    client_id BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    name TEXT NOT NULL,
    number BIGINT NOT NULL, -- from 1, in order of coming
    field BYTEA NOT NULL,   -- SchemaField
    PRIMARY KEY (client_id, epoch, name)
);

-- How far the documents that were there when an epoch began have been put into its backfill.
CREATE TABLE registry_backfill (
    client_id BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    shard BIGINT NOT NULL,
    hash BIGINT NOT NULL, -- all up to this one are in
    is_done BIGINT NOT NULL,
    poured_count BIGINT NOT NULL,
    refused_count BIGINT NOT NULL, -- documents that do not fit the epoch's schema
    late_count BIGINT NOT NULL,    -- writes since it began that do not fit it
    end_idx BIGINT NOT NULL,       -- of the last element, in the lane backfill; 0: there is none
    PRIMARY KEY (client_id, epoch, shard)
);

CREATE TABLE registry (
    client_id BIGINT NOT NULL,
    hash BIGINT NOT NULL,
    pk TEXT NOT NULL,
    epoch BIGINT NOT NULL,
    version BIGINT NOT NULL,
    modify_us BIGINT NOT NULL,
    status BIGINT NOT NULL,     -- 1 alive, 2 a tombstone
    expires_us BIGINT NOT NULL, -- 0: never; of a tombstone when it may be forgotten
    content BIGINT NOT NULL,    -- XXH3-64 of what the write said: the same again is a duplicate
    dictionary BIGINT NOT NULL, -- that the document is packed with; 0: none
    document BYTEA NOT NULL,    -- RawDocument without pk, epoch, version and times, packed (base/pack.h)
    PRIMARY KEY (client_id, hash, pk)
);
-- Ends of documents and of tombstones.
CREATE INDEX registry_end ON registry (client_id, expires_us, hash) WHERE expires_us > 0;

-- Trained on the client's first documents; the newest packs, all are kept to read.
CREATE TABLE registry_dictionary (
    client_id BIGINT NOT NULL,
    number BIGINT NOT NULL,
    trained BYTEA NOT NULL,
    PRIMARY KEY (client_id, number)
);

-- Changes that wait to be indexed; lane is QueueLane.Name. idx is of the sequence
-- 'registry/CLIENT/LANE/SHARD' (store/sequence.h: no element appears behind a reader). An element
-- whose order is not the registry's any more is superseded. epoch is the document's; of the lane
-- backfill the epoch it is poured into.
CREATE TABLE registry_queue (
    client_id BIGINT NOT NULL,
    lane BIGINT NOT NULL,
    shard BIGINT NOT NULL,
    idx BIGINT NOT NULL,
    pk TEXT NOT NULL,
    epoch BIGINT NOT NULL,
    version BIGINT NOT NULL,
    modify_us BIGINT NOT NULL,
    put_us BIGINT NOT NULL,
    PRIMARY KEY (client_id, lane, shard, idx)
) /* sqlite: WITHOUT ROWID */;

-- Up to where a group has dealt with a lane: moved by compare and set, under the shard's fence.
CREATE TABLE registry_offset (
    client_id BIGINT NOT NULL,
    lane BIGINT NOT NULL,
    group_id TEXT NOT NULL,
    shard BIGINT NOT NULL,
    idx BIGINT NOT NULL,
    PRIMARY KEY (client_id, lane, group_id, shard)
) /* sqlite: WITHOUT ROWID */;

-- The lane failed: at most one element a key, the newest; tried again with back-off, after the last
-- try it waits for a person (next_us 0).
CREATE TABLE registry_failed (
    client_id BIGINT NOT NULL,
    shard BIGINT NOT NULL,
    pk TEXT NOT NULL,
    epoch BIGINT NOT NULL,
    version BIGINT NOT NULL,
    modify_us BIGINT NOT NULL,
    attempt_count BIGINT NOT NULL,
    next_us BIGINT NOT NULL,
    first_us BIGINT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (client_id, shard, pk)
);
CREATE INDEX registry_failed_due ON registry_failed (client_id, shard, next_us) WHERE next_us > 0;
