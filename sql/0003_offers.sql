-- SPDX-License-Identifier: Apache-2.0
-- Sellers' offers: the store of record, and the source of every later stage.
-- Times are microseconds since 1970. A seller's shard is hash(seller) % 64, for ever.

-- Rows of one key: kind 'offer' is the offer itself, 'moderation', 'billing' and 'stage/NAME' are
-- others' states with it, so that writers do not contend and a new kind needs no migration. Each
-- kind has its own revision. An offer that is deleted stays, with its status.
CREATE TABLE offer (
    id BIGINT NOT NULL,
    kind TEXT NOT NULL,
    shard_id BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    updated_us BIGINT NOT NULL,
    expires_us BIGINT NOT NULL, -- of an offer that is ACTIVE; 0: it does not expire
    category_id TEXT,           -- of an offer that is not deleted
    body BYTEA NOT NULL,        -- a message without its id, packed (base/pack.h)
    PRIMARY KEY (id, kind)
);
-- What the expiry worker looks for; it has only the rows that will expire.
CREATE INDEX offer_expiry ON offer (shard_id, expires_us) WHERE expires_us > 0;
-- What a change of the catalogue looks for.
CREATE INDEX offer_category ON offer (category_id, id) WHERE category_id IS NOT NULL;

-- What is being written: at most one an owner ('s:' and a seller, 'a:' and an anonymous id).
CREATE TABLE draft (
    owner_id TEXT NOT NULL,
    id BIGINT NOT NULL, -- the offer's, once it is published
    revision BIGINT NOT NULL,
    updated_us BIGINT NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (owner_id, id)
);
-- The one write that decides whose draft it is.
CREATE TABLE current_draft (
    owner_id TEXT PRIMARY KEY,
    draft_id BIGINT NOT NULL
);

-- The cabinet's lists, newest first by an index range. Every offer has the row of its status'
-- preset (a deleted one that of the preset 100, which nobody lists), and unless it is deleted that of
-- the preset "all".
CREATE TABLE user_offer_presets (
    seller_id TEXT NOT NULL,
    preset_id BIGINT NOT NULL,
    created_us BIGINT NOT NULL,
    offer_id BIGINT NOT NULL,
    PRIMARY KEY (seller_id, preset_id, created_us, offer_id)
) /* sqlite: WITHOUT ROWID */;

-- How many rows user_offer_presets has. Always changed by differences; repair_no grows with each
-- correction, so that two recounts of the same error do not both correct it.
CREATE TABLE user_offer_presets_count (
    seller_id TEXT NOT NULL,
    preset_id BIGINT NOT NULL,
    counter BIGINT NOT NULL,
    repair_no BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (seller_id, preset_id)
) /* sqlite: WITHOUT ROWID */;

-- A seller's figures, each spread over ten rows: an offer counts in the row of its id % 10.
-- counter_id: active, expired, banned, sold, money:RUB (and other currencies, in minor units).
CREATE TABLE user_total_counters (
    shard_id BIGINT NOT NULL,
    seller_id TEXT NOT NULL,
    counter_id TEXT NOT NULL,
    seq_no BIGINT NOT NULL,
    counter_value BIGINT NOT NULL,
    repair_no BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (shard_id, seller_id, counter_id, seq_no)
) /* sqlite: WITHOUT ROWID */;

-- Changes to be exported, in order within a shard; seq is of the sequence 'queue/SHARD'. A row
-- refers to the offer: the body sent is the newest, with its own revision.
CREATE TABLE queue (
    shard_id BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    offer_id BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    changed_us BIGINT NOT NULL,
    PRIMARY KEY (shard_id, seq)
) /* sqlite: WITHOUT ROWID */;

-- Which offer a feed's item is, and the task that touched it last.
CREATE TABLE feed (
    seller_id TEXT NOT NULL,
    external_id TEXT NOT NULL,
    offer_id BIGINT NOT NULL,
    task_id BIGINT NOT NULL,
    PRIMARY KEY (seller_id, external_id)
) /* sqlite: WITHOUT ROWID */;
CREATE INDEX feed_task ON feed (seller_id, task_id);

-- Answers of writes that came with an idempotency key; kept for a day.
CREATE TABLE idempotency (
    owner_id TEXT NOT NULL,
    key TEXT NOT NULL,
    request_hash BIGINT NOT NULL,
    at_us BIGINT NOT NULL,
    answer BYTEA NOT NULL,
    PRIMARY KEY (owner_id, key)
) /* sqlite: WITHOUT ROWID */;
CREATE INDEX idempotency_age ON idempotency (at_us);
