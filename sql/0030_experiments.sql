-- SPDX-License-Identifier: Apache-2.0
-- Two formulas of the order BEST, compared on live queries (clicks/experiments.h).
CREATE TABLE experiment (
    id BIGINT PRIMARY KEY, -- a hash of both
    formula_a TEXT NOT NULL,
    formula_b TEXT NOT NULL,
    begun_us BIGINT NOT NULL
);

-- What was done with offers that a side (0: a, 1: b) has placed. Several rows of a side, chosen by
-- visits, so that these do not wait for each other; their sums count.
CREATE TABLE experiment_count (
    experiment BIGINT NOT NULL,
    part BIGINT NOT NULL,
    side BIGINT NOT NULL,
    shows BIGINT NOT NULL,
    clicks BIGINT NOT NULL,
    contacts BIGINT NOT NULL,
    lists BIGINT NOT NULL, -- in which it had more clicks than the other
    PRIMARY KEY (experiment, part, side)
) /* sqlite: WITHOUT ROWID */;

-- Lists of which something was clicked, for two days: who has more clicks may change.
CREATE TABLE experiment_list (
    list BIGINT PRIMARY KEY, -- a hash of the visit and the list's name
    hour BIGINT NOT NULL,
    clicks_a BIGINT NOT NULL,
    clicks_b BIGINT NOT NULL
);
CREATE INDEX experiment_list_hour ON experiment_list (hour);
