/* SPDX-License-Identifier: Apache-2.0 */
/* way.h - where the newest change of a key is between the registry and the index. */
#ifndef TORG_INSPECT_TRACE_WAY_H
#define TORG_INSPECT_TRACE_WAY_H

#include "base/arena.h"
#include "registry/indexing/queue.h"
#include "store/store.h"

struct way {
    bool is_waiting; /* in a lane; the one whose turn comes last, when it is in several */
    enum lane lane;
    int64_t idx;
    int64_t put_us;
    int64_t ahead_count; /* elements of the lane that come before it */
    bool is_failed;
    int64_t attempt_count;
    int64_t next_us; /* 0: it waits for a person */
    int64_t failed_us;
    const char *reason; /* in the arena */
    struct order failed_order;
    int64_t refused_epoch; /* whose searchers could not apply it; 0: it could not be sent */
};

/* Looks through what waits of the shard's lanes: as long as they are. */
int way_find(struct store_tx *tx, int64_t client_id, uint32_t shard, struct bytes pk,
             struct arena *arena, struct way *way, struct err *err);

/* Where a lane stands, and the newest element of the key that waits in it. */
struct lane_place {
    int64_t offset; /* the indexer's */
    bool is_waiting;
    int64_t idx; /* of it */
};

/* Looks through FRESHNESS_LOOK_COUNT elements at most; when more wait, and it is not among the
 * first of them, it is thought to be the last. */
int way_find_in(struct store_tx *tx, int64_t client_id, enum lane lane, uint32_t shard,
                struct bytes pk, struct lane_place *place, struct err *err);

#endif
