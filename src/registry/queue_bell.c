/* SPDX-License-Identifier: Apache-2.0 */
/* queue_bell.c - see queue_bell.h. */
#include "registry/queue_bell.h"

#include <time.h>

#include "base/clock.h"

void queue_bell_init(struct queue_bell *bell)
{
    pthread_condattr_t attributes;

    for (size_t i = 0; i < QUEUE_BELL_SLOT_COUNT; i++) {
        atomic_init(&bell->slots[i].rings, 0);
        atomic_init(&bell->slots[i].is_armed, false);
    }
    pthread_mutex_init(&bell->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&bell->rung, &attributes);
    pthread_cond_init(&bell->called, &attributes);
    bell->is_called = false;
    pthread_condattr_destroy(&attributes);
}

void queue_bell_release(struct queue_bell *bell)
{
    pthread_cond_destroy(&bell->called);
    pthread_cond_destroy(&bell->rung);
    pthread_mutex_destroy(&bell->lock);
}

static size_t slot_of(int64_t client_id, uint32_t shard)
{
    return ((uint64_t)client_id * 31 + shard) % QUEUE_BELL_SLOT_COUNT;
}

void queue_bell_ring(struct queue_bell *bell, int64_t client_id, uint32_t shard)
{
    size_t slot = slot_of(client_id, shard);

    if (!bell)
        return;
    atomic_fetch_add(&bell->slots[slot].rings, 1);
    if (!atomic_load(&bell->slots[slot].is_armed) ||
        !atomic_exchange(&bell->slots[slot].is_armed, false))
        return;
    pthread_mutex_lock(&bell->lock);
    pthread_cond_signal(&bell->rung);
    pthread_mutex_unlock(&bell->lock);
}

uint64_t queue_bell_rings(const struct queue_bell *bell, int64_t client_id, uint32_t shard)
{
    return atomic_load(&bell->slots[slot_of(client_id, shard)].rings);
}

bool queue_bell_arm(struct queue_bell *bell, int64_t client_id, uint32_t shard, uint64_t rings)
{
    size_t slot = slot_of(client_id, shard);

    atomic_store(&bell->slots[slot].is_armed, true);
    return atomic_load(&bell->slots[slot].rings) == rings;
}

static struct timespec time_in(int64_t timeout_us)
{
    struct timespec until;
    int64_t until_us;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until_us = until.tv_sec * SECOND_US + until.tv_nsec / 1000 + timeout_us;
    until.tv_sec = until_us / SECOND_US;
    until.tv_nsec = until_us % SECOND_US * 1000;
    return until;
}

void queue_bell_wait(struct queue_bell *bell, int64_t timeout_us)
{
    const struct timespec until = time_in(timeout_us);

    pthread_cond_timedwait(&bell->rung, &bell->lock, &until);
}

void queue_bell_wake(struct queue_bell *bell)
{
    pthread_cond_broadcast(&bell->rung);
}

void queue_bell_call(struct queue_bell *bell)
{
    if (!bell)
        return;
    pthread_mutex_lock(&bell->lock);
    bell->is_called = true;
    pthread_cond_broadcast(&bell->called);
    pthread_mutex_unlock(&bell->lock);
}

void queue_bell_wait_call(struct queue_bell *bell, int64_t timeout_us)
{
    const struct timespec until = time_in(timeout_us);
    int rc = 0;

    while (!bell->is_called && !rc)
        rc = pthread_cond_timedwait(&bell->called, &bell->lock, &until);
    bell->is_called = false;
}
