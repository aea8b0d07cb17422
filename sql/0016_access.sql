-- SPDX-License-Identifier: Apache-2.0
-- Who did it with which key, and a chain over the audit log.

-- Which of the principal's keys it was; '' for one who had the data directory.
ALTER TABLE audit ADD COLUMN key_id TEXT NOT NULL DEFAULT '';
-- SHA-256 over the row and the hash of the one before (access/audit_chain.h); NULL in rows that are
-- older than the chain, which the first that has one stands for.
ALTER TABLE audit ADD COLUMN hash BYTEA;

-- The scope stages was two things. Who has it keeps both; new keys get one of them.
UPDATE api_key
SET scopes = TRIM(REPLACE(' ' || scopes || ' ', ' stages ',
                          ' pipeline.control pipeline.read stages '))
WHERE ' ' || scopes || ' ' LIKE '% stages %';
