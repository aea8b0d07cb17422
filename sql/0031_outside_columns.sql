-- SPDX-License-Identifier: Apache-2.0
-- Columns from outside (docs/columns.md): which are loaded, and where their files are. A column
-- belongs to the numbers that it was made from; one name may have several, of numberings that live
-- beside each other.
CREATE TABLE outside_column (
    client_id BIGINT NOT NULL,
    name TEXT NOT NULL,          -- without the x. before it
    scheme BIGINT NOT NULL,      -- S
    rebuild BIGINT NOT NULL,     -- V; T is the client
    generation BIGINT NOT NULL,  -- G, the least of its shards' parts
    digits BIGINT NOT NULL,      -- after the point
    number_count BIGINT NOT NULL,
    size BIGINT NOT NULL,        -- of all parts, in bytes
    mark BIGINT NOT NULL,        -- of the load: grows, and is never used again
    place TEXT NOT NULL,         -- in the blob store; a shard's part is PLACE/SHARD
    loaded_us BIGINT NOT NULL,
    loaded_by TEXT NOT NULL,
    PRIMARY KEY (client_id, name, scheme, rebuild)
);
