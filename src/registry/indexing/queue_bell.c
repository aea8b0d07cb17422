/* SPDX-License-Identifier: Apache-2.0 */
/* queue_bell.c - see queue_bell.h. */
#include "registry/indexing/queue_bell.h"

void queue_bell_init(struct queue_bell *bell, const struct clock *clock)
{
    for (size_t i = 0; i < QUEUE_BELL_SLOT_COUNT; i++) {
        atomic_init(&bell->slots[i].rings, 0);
        atomic_init(&bell->slots[i].is_armed, false);
    }
    pthread_mutex_init(&bell->lock, NULL);
    condition_init(&bell->rung, clock);
    condition_init(&bell->called, clock);
    bell->is_called = false;
}

void queue_bell_release(struct queue_bell *bell)
{
    condition_release(&bell->called);
    condition_release(&bell->rung);
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
    condition_signal(&bell->rung);
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

void queue_bell_wait(struct queue_bell *bell, struct task *task, int64_t until_us)
{
    task_wait_on(task, &bell->rung, &bell->lock, until_us);
}

void queue_bell_wake(struct queue_bell *bell)
{
    condition_broadcast(&bell->rung);
}

void queue_bell_call(struct queue_bell *bell)
{
    if (!bell)
        return;
    pthread_mutex_lock(&bell->lock);
    bell->is_called = true;
    condition_broadcast(&bell->called);
    pthread_mutex_unlock(&bell->lock);
}

void queue_bell_wait_call(struct queue_bell *bell, struct task *task, int64_t until_us)
{
    bool in_time = true;

    while (!bell->is_called && in_time)
        in_time = task_wait_on(task, &bell->called, &bell->lock, until_us);
    bell->is_called = false;
}
