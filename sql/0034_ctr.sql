-- SPDX-License-Identifier: Apache-2.0
-- Counts of shows and clicks that were made elsewhere: tables that are loaded whole, each under an
-- epoch (clicks/rate_table.h). The one in force stands in click_value: ctr_load, ctr_epoch.
CREATE TABLE ctr_load (
    load BIGINT PRIMARY KEY,
    epoch BIGINT NOT NULL, -- the moment up to which it counts, in seconds since 1970
    row_count BIGINT NOT NULL,
    changed_us BIGINT NOT NULL,
    loaded_by TEXT NOT NULL,
    sent_offer TEXT NOT NULL, -- rates of offers up to this one are sent
    is_sent BIGINT NOT NULL   -- 1: of all
);
CREATE TABLE ctr_count (
    load BIGINT NOT NULL,
    offer TEXT NOT NULL,
    category TEXT NOT NULL,
    clicks BIGINT NOT NULL,
    looks BIGINT NOT NULL, -- in millionths, as in click_hour
    PRIMARY KEY (load, offer)
) /* sqlite: WITHOUT ROWID */;
CREATE TABLE ctr_category (
    load BIGINT NOT NULL,
    category TEXT NOT NULL,
    clicks BIGINT NOT NULL,
    looks BIGINT NOT NULL,
    PRIMARY KEY (load, category)
) /* sqlite: WITHOUT ROWID */;
