/* SPDX-License-Identifier: Apache-2.0 */
/* number_count.c - see number_count.h. */
#include "numerator/number_count.h"

#include <assert.h>

#include "base/limits.h"

static int take_space(void *arg, const struct store_value *columns, size_t column_count,
                      struct err *err)
{
    (void)err;
    assert(column_count == 2);
    ((struct number_count *)arg)->generation = (uint32_t)columns[0].integer;
    ((struct number_count *)arg)->given = columns[1].integer;
    return 0;
}

static int take_gone(void *arg, const struct store_value *columns, size_t column_count,
                     struct err *err)
{
    (void)err;
    assert(column_count == 1);
    ((struct number_count *)arg)->gone = columns[0].integer;
    return 0;
}

static int take_free(void *arg, const struct store_value *columns, size_t column_count,
                     struct err *err)
{
    struct number_count *count = arg;

    (void)err;
    assert(column_count == 2);
    count->held = columns[1].integer;
    count->free = columns[0].integer - count->held;
    return 0;
}

int number_count_read(struct store_tx *tx, int64_t space, uint32_t shard, int64_t held_since_us,
                      struct number_count *count, struct err *err)
{
    const struct store_value params[] = {STORE_V_INT(space), STORE_V_INT(shard),
                                         STORE_V_INT(NUMBER_COUNT_MAX), STORE_V_INT(held_since_us)};
    int rc;

    *count = (struct number_count){0};
    rc = store_query(tx,
                     "SELECT generation, (SELECT CAST(COALESCE(SUM(next_id - first_id), 0) AS "
                     "BIGINT) FROM number_extent WHERE space = $1 AND shard = $2) "
                     "FROM number_space WHERE space = $1 AND shard = $2",
                     params, 2, take_space, count, err);
    if (!rc)
        rc = store_query(tx,
                         "SELECT COUNT(*) FROM (SELECT 1 FROM number_slot WHERE space = $1 AND "
                         "shard = $2 AND gone_us > 0 LIMIT $3) AS counted",
                         params, 3, take_gone, count, err);
    if (!rc)
        rc = store_query(tx,
                         "SELECT COUNT(*), CAST(COALESCE(SUM(CASE WHEN freed_us > $4 THEN 1 ELSE 0 "
                         "END), 0) AS BIGINT) FROM (SELECT freed_us FROM number_free "
                         "WHERE space = $1 AND shard = $2 LIMIT $3) AS counted",
                         params, 4, take_free, count, err);
    return rc;
}
