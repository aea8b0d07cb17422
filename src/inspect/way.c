/* SPDX-License-Identifier: Apache-2.0 */
/* way.c - see way.h. */
#include "inspect/way.h"

#include <assert.h>

#include "base/limits.h"
#include "registry/failed.h"

struct reading {
    struct way *way;
    enum lane lane;
    int64_t offset;
};

static int take_element(void *arg, const struct store_value *columns, size_t column_count,
                        struct err *err)
{
    const struct reading *reading = arg;

    (void)err;
    assert(column_count == 2);
    reading->way->is_waiting = true;
    reading->way->lane = reading->lane;
    reading->way->idx = columns[0].integer;
    reading->way->put_us = columns[1].integer;
    reading->way->ahead_count = columns[0].integer - reading->offset - 1;
    return 0;
}

static int find_element(struct store_tx *tx, int64_t client_id, uint32_t shard, struct bytes pk,
                        struct reading *reading, struct err *err)
{
    struct store_value params[] = {STORE_V_INT(client_id), STORE_V_INT(reading->lane),
                                   STORE_V_INT(shard), STORE_V_INT(0), STORE_V_TEXT(pk)};
    int rc = queue_offset(tx, client_id, reading->lane, shard, &reading->offset, err);

    params[3].integer = reading->offset;
    if (!rc)
        rc = store_query(tx,
                         "SELECT idx, put_us FROM registry_queue WHERE client_id = $1 "
                         "AND lane = $2 AND shard = $3 AND idx > $4 AND pk = $5 "
                         "ORDER BY idx DESC LIMIT 1",
                         params, 5, take_element, reading, err);
    return rc;
}

int way_find(struct store_tx *tx, int64_t client_id, uint32_t shard, struct bytes pk,
             struct arena *arena, struct way *way, struct err *err)
{
    static const enum lane lanes[] = {LANE_EMERGENCY, LANE_MAIN, LANE_BACKFILL}; /* as served */
    struct failed_element failed;
    struct reading reading = {.way = way};
    int rc = 0;

    *way = (struct way){.reason = ""};
    for (size_t i = 0; i < sizeof(lanes) / sizeof(lanes[0]) && !rc; i++) {
        reading.lane = lanes[i];
        rc = find_element(tx, client_id, shard, pk, &reading, err);
    }
    if (!rc)
        rc = failed_find(tx, client_id, shard, pk, arena, &failed, &way->is_failed, err);
    if (rc || !way->is_failed)
        return rc;
    way->attempt_count = failed.attempt_count;
    way->next_us = failed.next_us;
    way->failed_us = failed.first_us;
    way->reason = arena_text(arena, failed.reason);
    return 0;
}

/* --- the lane main alone --- */

static int take_idx(void *arg, const struct store_value *columns, size_t column_count,
                    struct err *err)
{
    (void)err;
    assert(column_count == 1);
    if (columns[0].type != STORE_NULL)
        *(int64_t *)arg = columns[0].integer;
    return 0;
}

int way_find_main(struct store_tx *tx, int64_t client_id, uint32_t shard, struct bytes pk,
                  struct main_place *place, struct err *err)
{
    struct store_value params[] = {STORE_V_INT(client_id), STORE_V_INT(LANE_MAIN),
                                   STORE_V_INT(shard),     STORE_V_INT(0),
                                   STORE_V_TEXT(pk),       STORE_V_INT(FRESHNESS_LOOK_COUNT)};
    int64_t end = 0;
    int rc;

    *place = (struct main_place){0};
    rc = queue_offset(tx, client_id, LANE_MAIN, shard, &place->offset, err);
    params[3].integer = place->offset;
    if (!rc)
        rc = store_query(tx,
                         "SELECT MAX(idx) FROM (SELECT idx, pk FROM registry_queue "
                         "WHERE client_id = $1 AND lane = $2 AND shard = $3 AND idx > $4 "
                         "ORDER BY idx LIMIT $6) AS waiting WHERE pk = $5",
                         params, 6, take_idx, &place->idx, err);
    if (!rc && !place->idx)
        rc = store_query(tx,
                         "SELECT MAX(idx) FROM registry_queue WHERE client_id = $1 AND lane = $2 "
                         "AND shard = $3 AND idx > $4",
                         params, 4, take_idx, &end, err);
    if (!rc && end - place->offset > FRESHNESS_LOOK_COUNT)
        place->idx = end;
    place->is_waiting = place->idx > 0;
    return rc;
}
