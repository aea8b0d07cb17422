-- SPDX-License-Identifier: Apache-2.0
-- What the auditor (inspect/auditor.h) has seen. Times are microseconds since 1970.

-- One row, of the name 'all': the last round that was gone through to its end, and sums of all.
CREATE TABLE auditor (
    name TEXT PRIMARY KEY,
    round_no BIGINT NOT NULL,
    began_us BIGINT NOT NULL,
    ended_us BIGINT NOT NULL,
    equal_us BIGINT NOT NULL, -- when the last round ended that found no difference; 0: none has
    checked_count BIGINT NOT NULL,
    difference_count BIGINT NOT NULL,
    repaired_count BIGINT NOT NULL,
    waiting_count BIGINT NOT NULL, -- differences of changes on their way: none
    difference_sum BIGINT NOT NULL,
    repaired_sum BIGINT NOT NULL
);

-- What differed last, the newest hundred; one row a document and check.
CREATE TABLE auditor_difference (
    check_name TEXT NOT NULL,
    client TEXT NOT NULL,
    pk TEXT NOT NULL,
    reason TEXT NOT NULL,
    told TEXT NOT NULL,
    first_us BIGINT NOT NULL,
    last_us BIGINT NOT NULL,
    seen_count BIGINT NOT NULL,
    is_repaired BIGINT NOT NULL, -- something was done about it when it was seen last
    PRIMARY KEY (check_name, client, pk)
);
CREATE INDEX auditor_difference_last ON auditor_difference (last_us);
