-- SPDX-License-Identifier: Apache-2.0
-- The server of a feed's address: one thread at a time asks it (feeds/schedule/turns.h). '' until
-- the feed is fetched or changed next: nobody is kept waiting for it.
ALTER TABLE feed_schedule ADD COLUMN host TEXT NOT NULL DEFAULT '';
