-- SPDX-License-Identifier: Apache-2.0
-- What a change announces goes with its row: every revision leaves as it was. Rows of before have
-- none; the newest state is sent for them.
ALTER TABLE queue ADD COLUMN body BYTEA; -- of the offer at this revision, packed as in table offer
