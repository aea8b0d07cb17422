-- SPDX-License-Identifier: Apache-2.0
-- Numberings belong to epochs: T is the client, S so many shards of the index, V counts how often
-- all were numbered anew. The rows of sql/0008 are those of a space; epochs may share one.
-- A shard of the queue (registry_client.shard_count) feeds one shard of an epoch's index or several,
-- never the other way: S is a multiple of it. registry_backfill.shard is one of the index.
-- 0: the client's id, which is the space of its first numbering.
ALTER TABLE registry_epoch ADD COLUMN space BIGINT NOT NULL DEFAULT 0;
ALTER TABLE registry_epoch ADD COLUMN shard_count BIGINT NOT NULL DEFAULT 0; -- S; 0: as the queue
ALTER TABLE registry_epoch ADD COLUMN rebuild BIGINT NOT NULL DEFAULT 0;     -- V
-- A state that was taken in has its own V.
UPDATE registry_epoch SET rebuild =
    COALESCE((SELECT MAX(n.rebuild) FROM number_space n WHERE n.space = registry_epoch.client_id), 0);
