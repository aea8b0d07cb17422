-- SPDX-License-Identifier: Apache-2.0
-- What searchers could not apply is in the lane failed, too: the epoch that it is about; 0: the
-- document could not be sent.
ALTER TABLE registry_failed ADD COLUMN refused_epoch BIGINT NOT NULL DEFAULT 0;

-- Keys that are made once and are known to who reads the store: 'tokens' seals those of writes
-- (store/store_seal.h).
CREATE TABLE secret (
    name TEXT PRIMARY KEY,
    value BYTEA NOT NULL
);
