-- SPDX-License-Identifier: Apache-2.0
-- What sellers have said their categories are, by feed (feeds/kept_map.h).
CREATE TABLE feed_categories (
    seller_id TEXT NOT NULL,
    feed_id TEXT NOT NULL,
    updated_us BIGINT NOT NULL,
    content BYTEA NOT NULL, -- the file as it was given, packed
    PRIMARY KEY (seller_id, feed_id)
);
