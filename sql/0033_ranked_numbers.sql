-- SPDX-License-Identifier: Apache-2.0
-- Numbers in the order of a field: an epoch that begins with them has its stored documents numbered
-- before any is poured, shard by shard of its index.
ALTER TABLE registry_epoch ADD COLUMN numbered_by TEXT NOT NULL DEFAULT '';     -- the field; '': none
ALTER TABLE registry_epoch ADD COLUMN is_ascending BIGINT NOT NULL DEFAULT 0;   -- the least first
ALTER TABLE registry_backfill ADD COLUMN is_numbered BIGINT NOT NULL DEFAULT 1; -- they have them
