-- SPDX-License-Identifier: Apache-2.0
-- Feeds that are fetched by their address, again and again (feeds/schedule.h).
CREATE TABLE feed_schedule (
    seller_id TEXT NOT NULL,
    feed_id TEXT NOT NULL,
    shard BIGINT NOT NULL,        -- of the set 'feed-fetch': whose owner fetches it
    due_us BIGINT NOT NULL,       -- when it is fetched next; 0: it is not
    failures BIGINT NOT NULL,     -- in a row
    etag TEXT NOT NULL,           -- of the file that was taken last, as its server told; '': nothing
    modified TEXT NOT NULL,
    content_hash BIGINT NOT NULL, -- of that file; 0: it is taken whatever it is
    applied_us BIGINT NOT NULL,   -- when a file was taken last
    last_task_id BIGINT NOT NULL, -- its task; 0: none
    open_task_id BIGINT NOT NULL, -- of the run under way; 0: it has none, or there is no run
    open_hash BIGINT NOT NULL,    -- of the file that task is of
    language BIGINT NOT NULL,     -- of reasons in its reports
    body BYTEA NOT NULL,          -- the message FeedSchedule, packed
    PRIMARY KEY (seller_id, feed_id)
);
CREATE INDEX feed_schedule_due ON feed_schedule (shard, due_us) WHERE due_us > 0;
CREATE INDEX feed_schedule_failing ON feed_schedule (shard) WHERE failures > 0;
