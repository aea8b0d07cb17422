-- SPDX-License-Identifier: Apache-2.0
-- How far documents of offers have followed the catalogue: one row, moved by compare-and-set. While
-- target_version is above done_version, offers of the categories that differ are composed anew: those
-- of categories before category_id, and of that one up to offer_id, have been.
CREATE TABLE composer_catalog (
    id BIGINT PRIMARY KEY,
    done_version BIGINT NOT NULL,   -- every document is of this version or a newer one
    target_version BIGINT NOT NULL,
    category_id TEXT NOT NULL,
    offer_id BIGINT NOT NULL,
    offer_count BIGINT NOT NULL,    -- of the categories that differ, when it began
    seen_count BIGINT NOT NULL,
    sent_count BIGINT NOT NULL,
    hidden_count BIGINT NOT NULL,   -- of categories that are gone: deleted from the index
    failed_count BIGINT NOT NULL,   -- could not be made into documents
    began_us BIGINT NOT NULL,
    moved_us BIGINT NOT NULL
);
INSERT INTO composer_catalog (id, done_version, target_version, category_id, offer_id, offer_count,
                              seen_count, sent_count, hidden_count, failed_count, began_us, moved_us)
VALUES (1, 0, 0, '', 0, 0, 0, 0, 0, 0, 0, 0);
