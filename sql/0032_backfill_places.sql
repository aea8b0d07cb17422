-- SPDX-License-Identifier: Apache-2.0
-- Whether the newest write of a document still waits in the lane backfill: a change of its side
-- fields, which goes by main, then takes it along.
-- Its element there; 0: it came by another lane. Behind the lane's offset it has been sent.
ALTER TABLE registry ADD COLUMN backfill_idx BIGINT NOT NULL DEFAULT 0;
