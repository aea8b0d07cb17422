-- SPDX-License-Identifier: Apache-2.0
-- The watermark of a recount under way (offers/recount.h), kept in the counters' own rows: offers at
-- or above (mark_us, mark_id) by time of creation and id are counted in `recount` already, and
-- writers add their differences there too. NULL: none is under way.
ALTER TABLE user_offer_presets_count ADD COLUMN mark_us BIGINT;
ALTER TABLE user_offer_presets_count ADD COLUMN mark_id BIGINT;
ALTER TABLE user_offer_presets_count ADD COLUMN recount BIGINT NOT NULL DEFAULT 0;
ALTER TABLE user_total_counters ADD COLUMN mark_us BIGINT;
ALTER TABLE user_total_counters ADD COLUMN mark_id BIGINT;
ALTER TABLE user_total_counters ADD COLUMN recount BIGINT NOT NULL DEFAULT 0;

-- What the worker looks for among drafts: those of visitors ('a:') or of sellers ('s:') that nobody
-- has touched for long.
CREATE INDEX draft_age ON draft (SUBSTR(owner_id, 1, 2), updated_us);
