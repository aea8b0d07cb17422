-- SPDX-License-Identifier: Apache-2.0
-- What names the numbers of a shard beside T.S.V.G, which a state that has gone its own way has, too
-- (numerator/number_rows.h). 0: numbers, or a state that was taken in, of a time without it.
ALTER TABLE number_space ADD COLUMN lineage BIGINT NOT NULL DEFAULT 0;
ALTER TABLE number_space ADD COLUMN origin_lineage BIGINT NOT NULL DEFAULT 0;
ALTER TABLE number_space ADD COLUMN origin_generation BIGINT NOT NULL DEFAULT 0; -- of that state
