/* SPDX-License-Identifier: Apache-2.0 */
/* number_count.c - see number_count.h. */
#include "numerator/number_count.h"

#include "numerator/bounds.h"

int number_count_read(struct store_tx *tx, int64_t space, uint32_t shard, int64_t held_since_us,
                      struct number_count *count, struct err *err)
{
    const struct store_value params[] = {STORE_V_INT(space), STORE_V_INT(shard),
                                         STORE_V_INT(NUMBER_COUNT_MAX), STORE_V_INT(held_since_us)};
    struct store_rows rows =
        store_select(tx,
                     "SELECT generation, (SELECT CAST(COALESCE(SUM(next_id - first_id), 0) AS "
                     "BIGINT) FROM number_extent WHERE space = $1 AND shard = $2) "
                     "FROM number_space WHERE space = $1 AND shard = $2",
                     params, 2);
    int rc;

    *count = (struct number_count){0};
    if (store_next(&rows)) {
        count->generation = (uint32_t)rows.columns[0].integer;
        count->given = rows.columns[1].integer;
    }
    rc = store_rows_end(&rows, err);
    if (!rc)
        rc = store_find_integer(tx,
                                "SELECT COUNT(*) FROM (SELECT 1 FROM number_slot WHERE space = $1 "
                                "AND shard = $2 AND gone_us > 0 LIMIT $3) AS counted",
                                params, 3, &count->gone, err);
    if (rc)
        return rc;
    rows = store_select(tx,
                        "SELECT COUNT(*), CAST(COALESCE(SUM(CASE WHEN freed_us > $4 THEN 1 ELSE 0 "
                        "END), 0) AS BIGINT) FROM (SELECT freed_us FROM number_free "
                        "WHERE space = $1 AND shard = $2 LIMIT $3) AS counted",
                        params, 4);
    if (store_next(&rows)) {
        count->held = rows.columns[1].integer;
        count->free = rows.columns[0].integer - count->held;
    }
    return store_rows_end(&rows, err);
}
