-- SPDX-License-Identifier: Apache-2.0
-- Side fields of documents: an order of their own, no text, no version.

ALTER TABLE registry ADD COLUMN side BYTEA;       -- SideFields; NULL: it has none
-- An element of side fields has no pk, and a PutFieldsRequest here; NULL: it is of a document.
ALTER TABLE registry_queue ADD COLUMN fields BYTEA;
