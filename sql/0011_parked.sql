-- SPDX-License-Identifier: Apache-2.0
-- What stages could not use of their topics (stage/parked.h): kept with the reason, tried again with
-- back-off. Records of one key are in the order of their ids.
CREATE TABLE parked (
    id BIGINT PRIMARY KEY,        -- of the sequence 'parked'
    stage TEXT NOT NULL,
    record_key TEXT NOT NULL,
    topic TEXT NOT NULL,
    partition_no BIGINT NOT NULL,
    offset_no BIGINT NOT NULL,
    body BYTEA NOT NULL,
    reason TEXT NOT NULL,
    try_count BIGINT NOT NULL,    -- after the first
    first_us BIGINT NOT NULL,
    next_us BIGINT NOT NULL       -- the largest number: when what is before it of its key has gone
);
CREATE UNIQUE INDEX parked_record ON parked (stage, record_key, partition_no, offset_no);
CREATE INDEX parked_due ON parked (stage, partition_no, next_us);

-- How much of each stage is parked, and how often that has changed.
CREATE TABLE parked_stage (
    stage TEXT PRIMARY KEY,
    row_count BIGINT NOT NULL,
    byte_count BIGINT NOT NULL,
    change_no BIGINT NOT NULL
);

INSERT INTO parked (id, stage, record_key, topic, partition_no, offset_no, body, reason, try_count,
                    first_us, next_us)
SELECT ROW_NUMBER() OVER (ORDER BY first_us, offer_id), 'composer', offer_id, 'offer-updates',
       partition_no, offset_no, '', reason, attempt_count, first_us, next_us
FROM composer_parked;
INSERT INTO parked_stage (stage, row_count, byte_count, change_no)
SELECT 'composer', COUNT(*), 0, 1 FROM composer_parked;
INSERT INTO sequence (name, next) SELECT 'parked', COUNT(*) + 1 FROM composer_parked;
DROP TABLE composer_parked;
