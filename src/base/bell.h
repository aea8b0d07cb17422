/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bell.h - writers of a queue tell its reader in the same process that there is something to do.
 *
 * It is only a hint that saves waiting for the next poll: the queue's row is what counts, and
 * writers in other processes ring nobody. A task (task.h) waits on a bell: its own, or one that
 * outlives it.
 * Threads: any may ring; one at a time waits. A ring with nobody waiting costs two atomics.
 */
#ifndef TORG_BASE_BELL_H
#define TORG_BASE_BELL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/condition.h"
#include "base/object.h"

enum { BELL_MAGIC = OBJECT_MAGIC('b', 'e', 'l', 'l') };

struct bell {
    uint32_t magic;
    atomic_uint_fast64_t rings;
    atomic_bool is_awaited;
    pthread_mutex_t lock;
    struct condition rung;
};

void bell_init(struct bell *bell, const struct clock *clock);
void bell_release(struct bell *bell);
void bell_ring(struct bell *bell); /* NULL is fine */
/* How often it was rung so far. */
uint64_t bell_rings(const struct bell *bell);
/* Waits until it was rung more often than `rings`, or the time of its clock has come. Who asked for
 * that number before looking for work misses nothing. */
void bell_wait(struct bell *bell, uint64_t rings, int64_t until_us);

#endif
