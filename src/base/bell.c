/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bell.c - see bell.h.
 *
 * Who rings counts first and then looks for a waiter; who waits says so first and then looks at the
 * count. All four are sequentially consistent, so one of the two sees the other.
 */
#include "base/bell.h"

#include <time.h>

#include "base/clock.h"

void bell_init(struct bell *bell)
{
    pthread_condattr_t attributes;

    atomic_init(&bell->rings, 0);
    atomic_init(&bell->is_awaited, false);
    pthread_mutex_init(&bell->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&bell->rung, &attributes);
    pthread_condattr_destroy(&attributes);
}

void bell_release(struct bell *bell)
{
    pthread_cond_destroy(&bell->rung);
    pthread_mutex_destroy(&bell->lock);
}

void bell_ring(struct bell *bell)
{
    if (!bell)
        return;
    atomic_fetch_add(&bell->rings, 1);
    if (!atomic_load(&bell->is_awaited))
        return;
    pthread_mutex_lock(&bell->lock);
    pthread_cond_signal(&bell->rung);
    pthread_mutex_unlock(&bell->lock);
}

uint64_t bell_rings(const struct bell *bell)
{
    return atomic_load(&bell->rings);
}

void bell_wait(struct bell *bell, uint64_t rings, int timeout_ms)
{
    struct timespec until;
    int64_t until_us;
    int rc = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until_us = until.tv_sec * SECOND_US + until.tv_nsec / 1000 + (int64_t)timeout_ms * 1000;
    until.tv_sec = until_us / SECOND_US;
    until.tv_nsec = until_us % SECOND_US * 1000;
    pthread_mutex_lock(&bell->lock);
    atomic_store(&bell->is_awaited, true);
    while (atomic_load(&bell->rings) == rings && !rc)
        rc = pthread_cond_timedwait(&bell->rung, &bell->lock, &until);
    atomic_store(&bell->is_awaited, false);
    pthread_mutex_unlock(&bell->lock);
}
