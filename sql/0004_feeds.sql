-- SPDX-License-Identifier: Apache-2.0
-- Feeds: tasks that are applied to offers, what became of their rows, and what undoes them.

-- A seller's name for an offer, and the feed's task that touched it last. Every offer with an external
-- id has its row, unless another of the seller's had the name first; feed_id '': of no feed.
ALTER TABLE feed ADD COLUMN feed_id TEXT NOT NULL DEFAULT '';
-- When its offer was deleted; 0 exactly when it is not. Gone rows are kept for revivals.
ALTER TABLE feed ADD COLUMN gone_us BIGINT NOT NULL DEFAULT 0;
DROP INDEX feed_task;
-- What the end of a task looks for: everything of the feed that is older.
CREATE INDEX feed_live ON feed (seller_id, feed_id, task_id, external_id) WHERE gone_us = 0;
CREATE INDEX feed_gone ON feed (gone_us) WHERE gone_us > 0;

-- The newest task of a feed that has ended: older ones come too late.
CREATE TABLE feed_head (
    seller_id TEXT NOT NULL,
    feed_id TEXT NOT NULL,
    ended_task_id BIGINT NOT NULL,
    PRIMARY KEY (seller_id, feed_id)
);

CREATE TABLE feed_task (
    seller_id TEXT NOT NULL,
    feed_id TEXT NOT NULL,
    task_id BIGINT NOT NULL,
    no BIGINT NOT NULL,         -- of the sequence 'feed-task': its short name in feed_report
    state BIGINT NOT NULL,      -- as in the message
    updated_us BIGINT NOT NULL,
    forget_us BIGINT NOT NULL,  -- when its report goes; 0: it is gone
    body BYTEA NOT NULL,        -- the message FeedTask, packed
    PRIMARY KEY (seller_id, feed_id, task_id)
);
-- What a worker looks after: RUNNING and silent, HELD for too long, ENDING, UNDOING.
CREATE INDEX feed_task_busy ON feed_task (updated_us) WHERE state IN (1, 2, 3, 6);
CREATE INDEX feed_task_forget ON feed_task (forget_us) WHERE forget_us > 0;

-- What became of each row of a task; and what undoing it needs.
CREATE TABLE feed_report (
    task_no BIGINT NOT NULL,
    row_no BIGINT NOT NULL,      -- 9223372036854775807: the feed no longer has it
    external_id TEXT NOT NULL,
    event_hash BIGINT NOT NULL,  -- tells a row sent again from another of its number
    offer_id BIGINT NOT NULL,    -- 0: none
    outcome BIGINT NOT NULL,     -- as in the message
    changed BIGINT NOT NULL,     -- 1: an offer was written
    undo BIGINT NOT NULL,        -- as in the message
    before_status BIGINT NOT NULL, -- of the offer, when it was changed; 0: it was created
    after_hash BIGINT NOT NULL,  -- of what the seller says and the status, after the change
    before_body BYTEA,           -- the offer, packed, when its content was changed
    detail BYTEA,                -- problems, notes: a FeedReportRow, packed; mostly NULL
    PRIMARY KEY (task_no, row_no, external_id)
);
CREATE INDEX feed_report_item ON feed_report (task_no, external_id);
