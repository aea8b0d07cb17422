/* SPDX-License-Identifier: Apache-2.0 */
/* verify_lanes.c - how far the queue is, and whether a searcher has come that far: see
 * verify_parts.h. */
#include "inspect/verify/verify_parts.h"

struct lanes_reading {
    const struct verifying *verifying;
    struct lane_ends ends;
    struct lane_ends offsets;
    bool is_empty;
};

static int read_lanes(struct store_tx *tx, void *arg, struct err *err)
{
    struct lanes_reading *reading = arg;
    const struct verifying *verifying = reading->verifying;
    int rc = 0;

    reading->is_empty = true;
    for (int lane = 0; lane < LANE_FAILED && !rc; lane++) {
        struct lane_state state;

        rc = queue_state(tx, verifying->client->id, (enum lane)lane, verifying->queue_shard, &state,
                         err);
        reading->ends.idx[lane] = rc ? 0 : state.end;
        reading->offsets.idx[lane] = rc ? 0 : state.offset;
        reading->is_empty = reading->is_empty && !rc && state.offset == state.end;
    }
    return rc;
}

int lanes_read(const struct verifying *verifying, struct lane_ends *ends, bool *is_empty,
               struct err *err)
{
    struct lanes_reading reading = {.verifying = verifying};
    int rc = store_read(verifying->inspect->store, read_lanes, &reading, err);

    *ends = reading.ends;
    *is_empty = reading.is_empty;
    return rc;
}

int lanes_passed(const struct verifying *verifying, const struct lane_ends *ends, bool *is_passed,
                 struct err *err)
{
    struct lanes_reading reading = {.verifying = verifying};
    int rc = store_read(verifying->inspect->store, read_lanes, &reading, err);

    *is_passed = !rc;
    for (int lane = 0; lane < LANE_FAILED; lane++)
        if (reading.offsets.idx[lane] < ends->idx[lane])
            *is_passed = false;
    return rc;
}

int verify_check_shard(const struct verifying *verifying, bool content,
                       Torg__V1__CheckShardResponse **response, struct err *err)
{
    const struct index_door *door = &verifying->inspect->door;
    Torg__V1__CheckShardRequest request = TORG__V1__CHECK_SHARD_REQUEST__INIT;

    request.client = verifying->check->client;
    request.epoch = verifying->check->epoch;
    request.shard = verifying->check->shard;
    request.content = content;
    return door->check(door->arg, verifying->check->replica, &request, verifying->arena, response,
                       err);
}

int lanes_reached(const struct verifying *verifying, const struct lane_ends *ends, bool *is_reached,
                  struct err *err)
{
    Torg__V1__CheckShardResponse *response;
    struct lane_ends has = {{0}};
    int rc = verify_check_shard(verifying, false, &response, err);

    *is_reached = !rc;
    for (size_t i = 0; !rc && i < response->n_lanes; i++)
        if ((unsigned)response->lanes[i]->lane < LANE_COUNT)
            has.idx[response->lanes[i]->lane] = response->lanes[i]->idx;
    for (int lane = 0; lane < LANE_FAILED; lane++)
        if (has.idx[lane] < ends->idx[lane])
            *is_reached = false;
    return rc;
}
