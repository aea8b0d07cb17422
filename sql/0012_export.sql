-- SPDX-License-Identifier: Apache-2.0
-- What a change announces goes with its row: every revision leaves as it was. Rows of before have
-- none; the newest state is sent for them.
ALTER TABLE queue ADD COLUMN body BYTEA; -- of the offer at this revision, packed as in table offer

-- Takedowns (1) overtake what else waits of their shard, with the rows of their offers before them.
ALTER TABLE queue ADD COLUMN urgent BIGINT NOT NULL DEFAULT 0;
CREATE INDEX queue_urgent ON queue (shard_id, seq) WHERE urgent > 0;
