-- SPDX-License-Identifier: Apache-2.0
-- What sellers have said their categories are, by feed (feeds/kept_map.h).
CREATE TABLE feed_categories (
    seller_id TEXT NOT NULL,
    feed_id TEXT NOT NULL,
    body BYTEA NOT NULL, -- the message FeedCategories, packed
    PRIMARY KEY (seller_id, feed_id)
);
