-- SPDX-License-Identifier: Apache-2.0
-- What every part stands on: numbers, fences, keys, the audit log.

-- A row per sequence; allotting locks the row until the transaction ends (store/sequence.h).
CREATE TABLE sequence (
    name TEXT PRIMARY KEY,
    next BIGINT NOT NULL
) /* sqlite: WITHOUT ROWID */;

-- The highest ticket that has written under a name (store/fence.h).
CREATE TABLE fence (
    name TEXT PRIMARY KEY,
    ticket BIGINT NOT NULL
) /* sqlite: WITHOUT ROWID */;

-- API keys; only a hash of the secret is kept. Times are microseconds since 1970, 0 for never.
CREATE TABLE api_key (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    hash BYTEA NOT NULL,
    scopes TEXT NOT NULL,
    seller TEXT,
    client TEXT,
    created_us BIGINT NOT NULL,
    expires_us BIGINT NOT NULL DEFAULT 0,
    revoked_us BIGINT NOT NULL DEFAULT 0
);

-- What operators did; seq is of the sequence 'audit'.
CREATE TABLE audit (
    seq BIGINT PRIMARY KEY,
    at_us BIGINT NOT NULL,
    principal TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    detail TEXT NOT NULL
);
