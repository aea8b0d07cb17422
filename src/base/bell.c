/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bell.c - see bell.h.
 *
 * A ringer counts first and then checks for a waiter; a waiter announces itself first and then
 * checks the count. All four are sequentially consistent, so one of the two sees the other.
 */
#include "base/bell.h"

#include <assert.h>

void bell_init(struct bell *bell, const struct clock *clock)
{
    assert(clock);
    object_begin(bell, BELL_MAGIC);
    atomic_init(&bell->rings, 0);
    atomic_init(&bell->is_awaited, false);
    pthread_mutex_init(&bell->lock, NULL);
    condition_init(&bell->rung, clock);
}

void bell_release(struct bell *bell)
{
    object_end(bell, BELL_MAGIC);
    assert(!atomic_load(&bell->is_awaited)); /* its waiter has left */
    condition_release(&bell->rung);
    pthread_mutex_destroy(&bell->lock);
}

void bell_ring(struct bell *bell)
{
    if (!bell)
        return;
    object_check(bell, BELL_MAGIC);
    atomic_fetch_add(&bell->rings, 1);
    if (!atomic_load(&bell->is_awaited))
        return;
    pthread_mutex_lock(&bell->lock);
    condition_signal(&bell->rung);
    pthread_mutex_unlock(&bell->lock);
}

uint64_t bell_rings(const struct bell *bell)
{
    object_check(bell, BELL_MAGIC);
    return atomic_load(&bell->rings);
}

void bell_wait(struct bell *bell, uint64_t rings, int64_t until_us)
{
    bool in_time = true;

    object_check(bell, BELL_MAGIC);
    pthread_mutex_lock(&bell->lock);
    assert(!atomic_load(&bell->is_awaited)); /* one at a time waits */
    assert(atomic_load(&bell->rings) >= rings);
    atomic_store(&bell->is_awaited, true);
    while (atomic_load(&bell->rings) == rings && in_time)
        in_time = condition_wait_until(&bell->rung, &bell->lock, until_us);
    atomic_store(&bell->is_awaited, false);
    pthread_mutex_unlock(&bell->lock);
}
