/* SPDX-License-Identifier: Apache-2.0 */
/* queue_read.c - the reader's side of queue.h: elements, offsets, what is behind them. */
#include <assert.h>
#include <inttypes.h>

#include "registry/queue.h"

struct reading {
    struct arena *arena;
    struct queue_element *elements;
    size_t count, max;
};

static int take_element(void *arg, const struct store_value *columns, size_t column_count,
                        struct err *err)
{
    struct reading *reading = arg;

    (void)err;
    assert(column_count == 6 && reading->count < reading->max);
    reading->elements[reading->count++] = (struct queue_element){
        .idx = columns[0].integer,
        .pk = arena_copy(reading->arena, columns[1].bytes),
        .order = {columns[2].integer, columns[3].integer, columns[4].integer},
        .put_us = columns[5].integer};
    return 0;
}

int queue_read(struct store_tx *tx, int64_t client_id, enum lane lane, uint32_t shard,
               int64_t after, size_t max, struct arena *arena, struct queue_element **elements,
               size_t *count, struct err *err)
{
    const struct store_value params[] = {STORE_V_INT(client_id), STORE_V_INT(lane),
                                         STORE_V_INT(shard), STORE_V_INT(after),
                                         STORE_V_INT((int64_t)max)};
    struct reading reading = {.arena = arena, .max = max};
    int rc;

    reading.elements = arena_array(arena, max + 1, sizeof(*reading.elements));
    rc = store_query(tx,
                     "SELECT idx, pk, epoch, version, modify_us, put_us FROM registry_queue "
                     "WHERE client_id = $1 AND lane = $2 AND shard = $3 AND idx > $4 "
                     "ORDER BY idx LIMIT $5",
                     params, 5, take_element, &reading, err);
    *elements = reading.elements;
    *count = rc ? 0 : reading.count;
    return rc;
}

static int take_integer(void *arg, const struct store_value *columns, size_t column_count,
                        struct err *err)
{
    (void)column_count;
    (void)err;
    if (columns[0].type == STORE_INT)
        *(int64_t *)arg = columns[0].integer;
    return 0;
}

int queue_newest(struct store_tx *tx, int64_t client_id, enum lane lane, uint32_t shard,
                 int64_t *idx, struct err *err)
{
    const struct store_value params[] = {STORE_V_INT(client_id), STORE_V_INT(lane),
                                         STORE_V_INT(shard)};

    return store_query(tx,
                       "SELECT MAX(idx) FROM registry_queue WHERE client_id = $1 AND lane = $2 AND "
                       "shard = $3",
                       params, 3, take_integer, idx, err);
}

int queue_offset(struct store_tx *tx, int64_t client_id, enum lane lane, uint32_t shard,
                 int64_t *idx, struct err *err)
{
    const struct store_value params[] = {STORE_V_INT(client_id), STORE_V_INT(lane),
                                         STORE_V_TEXT(bytes_of(QUEUE_GROUP)), STORE_V_INT(shard)};

    *idx = 0;
    return store_query(tx,
                       "SELECT idx FROM registry_offset WHERE client_id = $1 AND lane = $2 "
                       "AND group_id = $3 AND shard = $4",
                       params, 4, take_integer, idx, err);
}

int queue_move(struct store_tx *tx, int64_t client_id, enum lane lane, uint32_t shard, int64_t from,
               int64_t to, struct err *err)
{
    const struct store_value params[] = {
        STORE_V_INT(client_id), STORE_V_INT(lane), STORE_V_TEXT(bytes_of(QUEUE_GROUP)),
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
    const struct store_value params[] = {STORE_V_INT(client_id), STORE_V_INT(lane),
                                         STORE_V_INT(shard), STORE_V_INT(offset),
                                         STORE_V_INT((int64_t)max)};

    return store_exec(tx,
                      "DELETE FROM registry_queue WHERE client_id = $1 AND lane = $2 "
                      "AND shard = $3 AND idx <= $4 AND idx < (SELECT MIN(idx) + $5 "
                      "FROM registry_queue WHERE client_id = $1 AND lane = $2 AND shard = $3)",
                      params, 5, count, err);
}

struct first {
    int64_t end;
    int64_t oldest_us;
};

static int take_first(void *arg, const struct store_value *columns, size_t column_count,
                      struct err *err)
{
    (void)err;
    assert(column_count == 2);
    *(struct first *)arg = (struct first){columns[0].integer, columns[1].integer};
    return 0;
}

int queue_state(struct store_tx *tx, int64_t client_id, enum lane lane, uint32_t shard,
                struct lane_state *state, struct err *err)
{
    struct store_value params[] = {STORE_V_INT(client_id), STORE_V_INT(lane), STORE_V_INT(shard),
                                   STORE_V_INT(0)};
    struct first first = {0};
    int rc = queue_offset(tx, client_id, lane, shard, &state->offset, err);

    params[3].integer = state->offset;
    if (!rc)
        rc = store_query(tx,
                         "SELECT (SELECT MAX(idx) FROM registry_queue WHERE client_id = $1 "
                         "AND lane = $2 AND shard = $3), put_us FROM registry_queue "
                         "WHERE client_id = $1 AND lane = $2 AND shard = $3 AND idx > $4 "
                         "ORDER BY idx LIMIT 1",
                         params, 4, take_first, &first, err);
    state->end = first.end > state->offset ? first.end : state->offset;
    state->oldest_us = first.oldest_us;
    return rc;
}
