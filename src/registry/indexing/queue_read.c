/* SPDX-License-Identifier: Apache-2.0 */
/* queue_read.c - the reader's side of queue.h: elements, offsets, what is behind them. */
#include <assert.h>
#include <inttypes.h>
#include <stdint.h>

#include "registry/indexing/queue.h"

int queue_read(struct store_tx *tx, int64_t client_id, enum lane lane, uint32_t shard,
               int64_t after, size_t max, struct arena *arena, struct queue_element **elements,
               size_t *count, struct err *err)
{
    struct store_rows rows =
        store_select(tx,
                     "SELECT idx, pk, epoch, version, modify_us, put_us, "
                     "COALESCE(LENGTH(fields), 0) FROM registry_queue WHERE client_id = $1 "
                     "AND lane = $2 AND shard = $3 AND idx > $4 "
                     "ORDER BY idx LIMIT $5",
                     STORE_WITH(STORE_V_INT(client_id), STORE_V_INT(lane), STORE_V_INT(shard),
                                STORE_V_INT(after), STORE_V_INT((int64_t)max)));
    size_t done;
    int rc;

    assert(max < SIZE_MAX / sizeof(**elements));
    *elements = arena_alloc(arena, (max + 1) * sizeof(**elements));
    for (done = 0; store_next(&rows); done++) {
        assert(done < max);
        (*elements)[done] = (struct queue_element){
            .idx = rows.columns[0].integer,
            .pk = arena_copy(arena, rows.columns[1].bytes),
            .order = {rows.columns[2].integer, rows.columns[3].integer, rows.columns[4].integer},
            .put_us = rows.columns[5].integer,
            .fields_size = (size_t)rows.columns[6].integer};
    }
    rc = store_rows_end(&rows, err);
    *count = rc ? 0 : done;
    return rc;
}

int queue_read_fields(struct store_tx *tx, int64_t client_id, enum lane lane, uint32_t shard,
                      int64_t idx, struct arena *arena, struct bytes *fields, struct err *err)
{
    struct store_rows rows =
        store_select(tx,
                     "SELECT fields FROM registry_queue WHERE client_id = $1 AND lane = $2 "
                     "AND shard = $3 AND idx = $4",
                     STORE_WITH(STORE_V_INT(client_id), STORE_V_INT(lane), STORE_V_INT(shard),
                                STORE_V_INT(idx)));

    *fields = BYTES_EMPTY;
    if (store_next(&rows) && rows.columns[0].type != STORE_NULL)
        *fields = arena_copy(arena, rows.columns[0].bytes);
    return store_rows_end(&rows, err);
}

int queue_newest(struct store_tx *tx, int64_t client_id, enum lane lane, uint32_t shard,
                 int64_t *idx, struct err *err)
{
    return store_find_integer(
        tx,
        "SELECT MAX(idx) FROM registry_queue WHERE client_id = $1 AND lane = $2 AND "
        "shard = $3",
        STORE_WITH(STORE_V_INT(client_id), STORE_V_INT(lane), STORE_V_INT(shard)), idx, err);
}

int queue_offset(struct store_tx *tx, int64_t client_id, enum lane lane, uint32_t shard,
                 int64_t *idx, struct err *err)
{
    *idx = 0;
    return store_find_integer(tx,
                              "SELECT idx FROM registry_offset WHERE client_id = $1 AND lane = $2 "
                              "AND group_id = $3 AND shard = $4",
                              STORE_WITH(STORE_V_INT(client_id), STORE_V_INT(lane),
                                         STORE_V_STRING(QUEUE_GROUP), STORE_V_INT(shard)),
                              idx, err);
}

int queue_move(struct store_tx *tx, int64_t client_id, enum lane lane, uint32_t shard, int64_t from,
               int64_t to, struct err *err)
{
    const struct store_value params[] = {
        STORE_V_INT(client_id), STORE_V_INT(lane), STORE_V_STRING(QUEUE_GROUP),
        STORE_V_INT(shard),     STORE_V_INT(to),   STORE_V_INT(from)};
    int64_t changed = 0;
    int rc;

    assert(to >= from);
    if (from == 0) /* a lane that nobody has moved has no row */
        rc =
            store_exec(tx,
                       "INSERT INTO registry_offset (client_id, lane, group_id, shard, idx) "
                       "VALUES ($1, $2, $3, $4, $5) ON CONFLICT (client_id, lane, group_id, shard) "
                       "DO UPDATE SET idx = excluded.idx WHERE registry_offset.idx = $6",
                       params, 6, &changed, err);
    else
        rc = store_exec(tx,
                        "UPDATE registry_offset SET idx = $5 WHERE client_id = $1 AND lane = $2 "
                        "AND group_id = $3 AND shard = $4 AND idx = $6",
                        params, 6, &changed, err);
    if (!rc && changed != 1)
        rc = err_set(err, ERR_STALE,
                     "the offset of lane %s, shard %" PRIu32 " of client %" PRId64
                     " is not at %" PRId64 " any more",
                     lane_name(lane), shard, client_id, from);
    return rc;
}

int queue_trim(struct store_tx *tx, int64_t client_id, enum lane lane, uint32_t shard,
               int64_t offset, size_t max, int64_t *count, struct err *err)
{
    return store_exec(tx,
                      "DELETE FROM registry_queue WHERE client_id = $1 AND lane = $2 "
                      "AND shard = $3 AND idx <= $4 AND idx < (SELECT MIN(idx) + $5 "
                      "FROM registry_queue WHERE client_id = $1 AND lane = $2 AND shard = $3)",
                      STORE_WITH(STORE_V_INT(client_id), STORE_V_INT(lane), STORE_V_INT(shard),
                                 STORE_V_INT(offset), STORE_V_INT((int64_t)max)),
                      count, err);
}

int queue_state(struct store_tx *tx, int64_t client_id, enum lane lane, uint32_t shard,
                struct lane_state *state, struct err *err)
{
    struct store_value params[] = {STORE_V_INT(client_id), STORE_V_INT(lane), STORE_V_INT(shard),
                                   STORE_V_INT(0)};
    struct store_rows rows;
    int rc = queue_offset(tx, client_id, lane, shard, &state->offset, err);

    state->end = state->offset;
    state->oldest_us = 0;
    if (rc)
        return rc;
    params[3].integer = state->offset;
    rows = store_select(tx,
                        "SELECT (SELECT MAX(idx) FROM registry_queue WHERE client_id = $1 "
                        "AND lane = $2 AND shard = $3), put_us FROM registry_queue "
                        "WHERE client_id = $1 AND lane = $2 AND shard = $3 AND idx > $4 "
                        "ORDER BY idx LIMIT 1",
                        params, 4);
    if (store_next(&rows)) { /* so the newest is behind the offset too */
        state->end = rows.columns[0].integer;
        state->oldest_us = rows.columns[1].integer;
    }
    return store_rows_end(&rows, err);
}
