-- SPDX-License-Identifier: Apache-2.0
-- What a change announces is kept until it is sent: every revision leaves as it was. A row without a
-- body announces the newest state of its offer; whoever changes that first keeps the old one here.
-- Rows of before may have been overtaken: the newest state is sent for them.
ALTER TABLE queue ADD COLUMN body BYTEA; -- of the offer at this revision, packed as in table offer
CREATE INDEX queue_newest ON queue (offer_id, revision) WHERE body IS NULL;

-- Takedowns (1) overtake what else waits of their shard, with the rows of their offers before them.
ALTER TABLE queue ADD COLUMN urgent BIGINT NOT NULL DEFAULT 0;
CREATE INDEX queue_urgent ON queue (shard_id, seq) WHERE urgent > 0;
