-- SPDX-License-Identifier: Apache-2.0
-- The catalogue in versions (catalog/versions.h). Rows are added, never changed.
CREATE TABLE catalog_version (
    version BIGINT PRIMARY KEY,
    body BYTEA NOT NULL, -- gzip of a torg.v1.Catalog
    applied_us BIGINT NOT NULL,
    applied_by TEXT NOT NULL
);

-- One row: the version in use; 0 before the first. A change is a compare-and-set on it.
CREATE TABLE catalog_current (
    id BIGINT PRIMARY KEY,
    version BIGINT NOT NULL
);
INSERT INTO catalog_current (id, version) VALUES (1, 0);
