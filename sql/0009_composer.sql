-- SPDX-License-Identifier: Apache-2.0
-- Offers that could not be made into documents: kept with the reason, tried again with back-off, each
-- as it is then. A newer change of the offer that succeeds takes the row away.
CREATE TABLE composer_parked (
    offer_id TEXT PRIMARY KEY,
    partition_no BIGINT NOT NULL, -- of offer-updates
    offset_no BIGINT NOT NULL,    -- of the newest record that could not be used
    attempt_count BIGINT NOT NULL,
    first_us BIGINT NOT NULL,
    next_us BIGINT NOT NULL,
    reason TEXT NOT NULL
);
CREATE INDEX composer_parked_due ON composer_parked (next_us);
