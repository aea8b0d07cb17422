/* SPDX-License-Identifier: Apache-2.0 */
/* backlog.c - see backlog.h. */
#include "offers/outbox/backlog.h"

#include <assert.h>

struct ends {
    int64_t shard, first, last, since_us;
};

/* The oldest and the newest row of the next shard that has any. */
static int next_shard(struct store_tx *tx, int64_t after, struct ends *ends, struct err *err)
{
    struct store_rows rows = store_select(tx,
                                          "SELECT shard_id, seq, (SELECT MAX(seq) FROM queue AS "
                                          "other WHERE other.shard_id = queue.shard_id), "
                                          "changed_us FROM queue WHERE shard_id > $1 "
                                          "ORDER BY shard_id, seq LIMIT 1",
                                          STORE_WITH(STORE_V_INT(after)));

    *ends = (struct ends){.shard = -1};
    if (store_next(&rows))
        *ends = (struct ends){rows.columns[0].integer, rows.columns[1].integer,
                              rows.columns[2].integer, rows.columns[3].integer};
    return store_rows_end(&rows, err);
}

int backlog_read(struct store_tx *tx, struct backlog *backlog, struct err *err)
{
    struct ends ends = {.shard = -1};
    int64_t last = -1;
    int rc;

    *backlog = (struct backlog){0};
    rc = store_find_integer(tx,
                            "SELECT CAST(COALESCE(SUM(next - 1), 0) AS BIGINT) FROM sequence "
                            "WHERE name LIKE 'queue/%'",
                            NULL, 0, &backlog->change_count, err);
    if (!rc)
        rc = next_shard(tx, last, &ends, err);
    while (!rc && ends.shard >= 0) {
        assert(ends.shard > last);
        last = ends.shard;
        backlog->wait_count += ends.last - ends.first + 1;
        if (!backlog->since_us || ends.since_us < backlog->since_us)
            backlog->since_us = ends.since_us;
        rc = next_shard(tx, last, &ends, err);
    }
    return rc;
}
