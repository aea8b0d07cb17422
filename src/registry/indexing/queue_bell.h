/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_bell.h - writers of the queue tell the indexers of the same process that something is
 * waiting.
 *
 * Only a hint: the queue is what counts, and writers of other processes ring nobody. A shard of a
 * client has a slot, perhaps shared with others; a thread that is going to wait for a slot arms it,
 * so a ring while the shard is being worked on costs two atomics and wakes nobody.
 *
 * A ringer counts first and then checks whether the slot is armed; a waiter arms it first and then
 * checks the count. All four are sequentially consistent, so one of the two sees the other.
 *
 * Nobody owns the shards of a client that was just made: the thread that looks for new clients is
 * called by name.
 * Threads: any.
 */
#ifndef TORG_REGISTRY_INDEXING_QUEUE_BELL_H
#define TORG_REGISTRY_INDEXING_QUEUE_BELL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/condition.h"
#include "base/task.h"

enum { QUEUE_BELL_SLOT_COUNT = 256 };

struct queue_bell {
    struct {
        atomic_uint_fast64_t rings;
        atomic_bool is_armed;
    } slots[QUEUE_BELL_SLOT_COUNT];
    pthread_mutex_t lock;    /* of the workers' list of what they own, too */
    struct condition rung;   /* runners wait for a shard that has something */
    struct condition called; /* their watcher waits to be sent for */
    bool is_called;          /* under the lock */
};

void queue_bell_init(struct queue_bell *bell, const struct clock *clock);
void queue_bell_release(struct queue_bell *bell);

/* After the commit that put elements in; NULL is fine. */
void queue_bell_ring(struct queue_bell *bell, int64_t client_id, uint32_t shard);

/* After a client was made; NULL is fine. */
void queue_bell_call(struct queue_bell *bell);
/* With the lock held: the task rests until somebody calls, or the time has come. */
void queue_bell_wait_call(struct queue_bell *bell, struct task *task, int64_t until_us);

/* How often the shard's slot was rung so far. */
uint64_t queue_bell_rings(const struct queue_bell *bell, int64_t client_id, uint32_t shard);
/* From now on a ring wakes a waiter, once. False: it was rung more often than `rings` already. */
bool queue_bell_arm(struct queue_bell *bell, int64_t client_id, uint32_t shard, uint64_t rings);
/* With the lock held: the task rests until somebody wakes, or the time has come. */
void queue_bell_wait(struct queue_bell *bell, struct task *task, int64_t until_us);
/* With the lock held: wakes all. */
void queue_bell_wake(struct queue_bell *bell);

#endif
