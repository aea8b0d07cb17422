/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.h - changes of documents on their way to the index, in lanes, in order within a shard.
 *
 * The registry's transactional outbox; a lane is a priority class of it.
 *
 * Whoever changes a row of the registry appends an element in the same transaction; numbers (idx)
 * are allotted under the lane's own row (store/sequence.h), so no element ever appears behind a
 * reader. The reader of a shard is the holder of its ticket: it moves the offset by compare and
 * set, in a transaction that checks its fence.
 */
#ifndef TORG_REGISTRY_INDEXING_QUEUE_H
#define TORG_REGISTRY_INDEXING_QUEUE_H

#include <stddef.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "registry/receiving/order.h"
#include "store/store.h"

/* As QueueLane.Name; stored. */
enum lane { LANE_MAIN, LANE_BACKFILL, LANE_EMERGENCY, LANE_FAILED, LANE_COUNT };

#define QUEUE_GROUP "indexer"      /* of offsets */
#define QUEUE_SET "registry-queue" /* of coord, with ".CLIENT" behind it; a shard each */

const char *lane_name(enum lane lane);

struct queue_element {
    int64_t idx; /* set by queue_append */
    struct bytes pk;
    struct order order;
    int64_t put_us; /* when it was written; 0: long ago, it is poured again */
    /* Of changes of side fields: a PutFieldsRequest, of any documents of the shard. The element has
     * neither pk nor order then. queue_read tells its size alone. */
    struct bytes fields;
    size_t fields_size;
};

/* Appends count elements, in order, to the lane of the shard. */
int queue_append(struct store_tx *tx, int64_t client_id, enum lane lane, uint32_t shard,
                 struct queue_element *elements, size_t count, struct err *err);

/* The name of the fence that guards offsets and numbers of a client's shard; room: 64. */
void queue_fence_name(int64_t client_id, uint32_t shard, char name[64]);

/* At most max elements behind `after`, in order of idx; memory of the arena. */
int queue_read(struct store_tx *tx, int64_t client_id, enum lane lane, uint32_t shard,
               int64_t after, size_t max, struct arena *arena, struct queue_element **elements,
               size_t *count, struct err *err);

/* The fields of an element that has some. */
int queue_read_fields(struct store_tx *tx, int64_t client_id, enum lane lane, uint32_t shard,
                      int64_t idx, struct arena *arena, struct bytes *fields, struct err *err);

/* The newest element's idx; left as it is when the lane is empty. */
int queue_newest(struct store_tx *tx, int64_t client_id, enum lane lane, uint32_t shard,
                 int64_t *idx, struct err *err);

/* Where the group is; 0: at the beginning. */
int queue_offset(struct store_tx *tx, int64_t client_id, enum lane lane, uint32_t shard,
                 int64_t *idx, struct err *err);
/* ERR_STALE: somebody else has moved it; nothing may be committed then. */
int queue_move(struct store_tx *tx, int64_t client_id, enum lane lane, uint32_t shard, int64_t from,
               int64_t to, struct err *err);

/* Deletes elements at and below the offset, at most max; *count: how many. */
int queue_trim(struct store_tx *tx, int64_t client_id, enum lane lane, uint32_t shard,
               int64_t offset, size_t max, int64_t *count, struct err *err);

struct lane_state {
    int64_t offset, end; /* dealt with; the newest */
    int64_t oldest_us;   /* put_us of the first that waits; 0: none does */
};
int queue_state(struct store_tx *tx, int64_t client_id, enum lane lane, uint32_t shard,
                struct lane_state *state, struct err *err);

#endif
