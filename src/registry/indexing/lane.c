/* SPDX-License-Identifier: Apache-2.0 */
/* lane.c - names of lanes and fences: see queue.h. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "registry/indexing/queue.h"

const char *lane_name(enum lane lane)
{
    static const char *const names[LANE_COUNT] = {"main", "backfill", "emergency", "failed"};

    assert((unsigned)lane < LANE_COUNT);
    return names[lane];
}

void queue_fence_name(int64_t client_id, uint32_t shard, char name[64])
{
    snprintf(name, 64, "registry/%" PRId64 "/%" PRIu32, client_id, shard);
}
