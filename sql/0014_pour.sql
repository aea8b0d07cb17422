-- SPDX-License-Identifier: Apache-2.0
-- Documents are poured again into an epoch whose topic has lost its beginning, or holds many more
-- records than documents: between two marks of the topic, so that a shard without files can begin
-- at the first and is whole at the second. A row of registry_backfill tells of the last pour of its
-- shard: number 0, without marks, is the one of an epoch that is built.
ALTER TABLE registry_backfill ADD COLUMN pour_no BIGINT NOT NULL DEFAULT 0;
-- 0: its second mark is still to come.
ALTER TABLE registry_backfill ADD COLUMN is_whole BIGINT NOT NULL DEFAULT 1;
-- Who sent its first mark, and where that is in the topic; -1: not sent yet.
ALTER TABLE registry_backfill ADD COLUMN mark_ticket BIGINT NOT NULL DEFAULT 0;
ALTER TABLE registry_backfill ADD COLUMN mark_offset BIGINT NOT NULL DEFAULT -1;
-- From where on the topic has every document, and since when.
ALTER TABLE registry_backfill ADD COLUMN whole_offset BIGINT NOT NULL DEFAULT 0;
ALTER TABLE registry_backfill ADD COLUMN whole_us BIGINT NOT NULL DEFAULT 0;
-- What late_count had at its beginning: all that did not fit by then, which it counts anew.
ALTER TABLE registry_backfill ADD COLUMN late_before BIGINT NOT NULL DEFAULT 0;
