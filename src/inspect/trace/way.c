/* SPDX-License-Identifier: Apache-2.0 */
/* way.c - see way.h. */
#include "inspect/trace/way.h"

#include "inspect/bounds.h"
#include "registry/indexing/failed.h"

static int find_element(struct store_tx *tx, int64_t client_id, enum lane lane, uint32_t shard,
                        struct bytes pk, struct way *way, struct err *err)
{
    struct store_value params[] = {STORE_V_INT(client_id), STORE_V_INT(lane), STORE_V_INT(shard),
                                   STORE_V_INT(0), STORE_V_TEXT(pk)};
    int64_t offset;
    struct store_rows rows;
    int rc = queue_offset(tx, client_id, lane, shard, &offset, err);

    if (rc)
        return rc;
    params[3].integer = offset;
    rows = store_select(tx,
                        "SELECT idx, put_us FROM registry_queue WHERE client_id = $1 "
                        "AND lane = $2 AND shard = $3 AND idx > $4 AND pk = $5 "
                        "ORDER BY idx DESC LIMIT 1",
                        params, 5);
    if (store_next(&rows)) {
        way->is_waiting = true;
        way->lane = lane;
        way->idx = rows.columns[0].integer;
        way->put_us = rows.columns[1].integer;
        way->ahead_count = rows.columns[0].integer - offset - 1;
    }
    return store_rows_end(&rows, err);
}

int way_find(struct store_tx *tx, int64_t client_id, uint32_t shard, struct bytes pk,
             struct arena *arena, struct way *way, struct err *err)
{
    static const enum lane lanes[] = {LANE_EMERGENCY, LANE_MAIN, LANE_BACKFILL}; /* as served */
    struct failed_element failed;
    int rc = 0;

    *way = (struct way){.reason = ""};
    for (size_t i = 0; i < sizeof(lanes) / sizeof(lanes[0]) && !rc; i++)
        rc = find_element(tx, client_id, lanes[i], shard, pk, way, err);
    if (!rc)
        rc = failed_find(tx, client_id, shard, pk, arena, &failed, &way->is_failed, err);
    if (rc || !way->is_failed)
        return rc;
    way->attempt_count = failed.attempt_count;
    way->next_us = failed.next_us;
    way->failed_us = failed.first_us;
    way->reason = arena_text(arena, failed.reason);
    way->failed_order = failed.order;
    way->refused_epoch = failed.refused_epoch;
    return 0;
}

/* --- one lane --- */

int way_find_in(struct store_tx *tx, int64_t client_id, enum lane lane, uint32_t shard,
                struct bytes pk, struct lane_place *place, struct err *err)
{
    struct store_value params[] = {STORE_V_INT(client_id), STORE_V_INT(lane),
                                   STORE_V_INT(shard),     STORE_V_INT(0),
                                   STORE_V_TEXT(pk),       STORE_V_INT(FRESHNESS_LOOK_COUNT)};
    int64_t end = 0;
    int rc;

    *place = (struct lane_place){0};
    rc = queue_offset(tx, client_id, lane, shard, &place->offset, err);
    params[3].integer = place->offset;
    if (!rc)
        rc = store_find_integer(tx,
                                "SELECT MAX(idx) FROM (SELECT idx, pk FROM registry_queue "
                                "WHERE client_id = $1 AND lane = $2 AND shard = $3 AND idx > $4 "
                                "ORDER BY idx LIMIT $6) AS waiting WHERE pk = $5",
                                params, 6, &place->idx, err);
    if (!rc && !place->idx)
        rc = store_find_integer(
            tx,
            "SELECT MAX(idx) FROM registry_queue WHERE client_id = $1 AND lane = $2 "
            "AND shard = $3 AND idx > $4",
            params, 4, &end, err);
    if (!rc && end - place->offset > FRESHNESS_LOOK_COUNT)
        place->idx = end;
    place->is_waiting = place->idx > 0;
    return rc;
}
