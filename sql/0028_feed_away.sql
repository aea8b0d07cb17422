-- SPDX-License-Identifier: Apache-2.0
-- What a feed calls not available is withdrawn at the end of its task, when the guard lets it
-- (offers/external_item.h): the task that says so and has not done it yet; -1: it is done; 0: the
-- feed says no such thing.
ALTER TABLE feed ADD COLUMN away BIGINT NOT NULL DEFAULT 0;
CREATE INDEX feed_away ON feed (seller_id, feed_id, away, external_id) WHERE away > 0;
