/* SPDX-License-Identifier: Apache-2.0 */
/* epoch.c - see epoch.h. Retired things wait in a ring, oldest first, under a lock of writers. */
#include "index/epoch.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/object.h"
#include "index/bounds.h"

enum { FIRST_CAPACITY = 256, RECLAIM_INTERVAL = 64 };

struct retired {
    epoch_free_fn *free_thing;
    void *thing;
    uint64_t part;
    uint64_t at; /* `now` when it was retired */
};

enum { EPOCH_MAGIC = OBJECT_MAGIC('e', 'p', 'o', 'c') };

/* Padded on purpose: readers load `now`, writers take the lock; not on one cache line. */
struct epoch {
    uint32_t magic;
    struct epoch_slot slots[EPOCH_SLOT_COUNT_MAX];
    alignas(64) _Atomic uint64_t now;
    alignas(64) pthread_mutex_t lock; /* of all below */
    struct retired *ring;             /* owned; capacity is a power of two */
    size_t capacity;
    size_t first;
    size_t count;
    size_t since_reclaim;
};

struct epoch *epoch_new(void)
{
    struct epoch *epoch = aligned_alloc(64, sizeof(*epoch));
    size_t i;

    if (!epoch)
        abort();
    memset(epoch, 0, sizeof(*epoch));
    object_begin(epoch, EPOCH_MAGIC);
    atomic_init(&epoch->now, 1);
    for (i = 0; i < EPOCH_SLOT_COUNT_MAX; i++)
        epoch->slots[i].epoch = epoch;
    epoch->ring = mem_array(FIRST_CAPACITY, sizeof(*epoch->ring));
    epoch->capacity = FIRST_CAPACITY;
    pthread_mutex_init(&epoch->lock, NULL);
    return epoch;
}

void epoch_free(struct epoch *epoch)
{
    if (!epoch)
        return;
    object_check(epoch, EPOCH_MAGIC);
    while (epoch->count) { /* again, for freeing a thing may retire another */
        size_t before = epoch->count;

        if (epoch_reclaim(epoch))
            assert(epoch->count != before); /* a reader is inside */
    }
    pthread_mutex_destroy(&epoch->lock);
    free(epoch->ring);
    object_end(epoch, EPOCH_MAGIC);
    free(epoch);
}

int epoch_join(struct epoch *epoch, struct epoch_slot **slot, struct err *err)
{
    size_t i;

    object_check(epoch, EPOCH_MAGIC);
    *slot = NULL;
    for (i = 0; i < EPOCH_SLOT_COUNT_MAX; i++) {
        uint32_t expected = 0;

        if (atomic_compare_exchange_strong(&epoch->slots[i].taken, &expected, 1)) {
            *slot = &epoch->slots[i];
            return 0;
        }
    }
    return err_set(err, ERR_LIMIT,
                   "all %d reader slots of the index are taken: use fewer query threads",
                   EPOCH_SLOT_COUNT_MAX);
}

void epoch_leave(struct epoch_slot *slot)
{
    if (!slot)
        return;
    object_check(slot->epoch, EPOCH_MAGIC);
    assert(atomic_load_explicit(&slot->taken, memory_order_relaxed)); /* it leaves once */
    epoch_exit(slot);
    atomic_store_explicit(&slot->taken, 0, memory_order_release);
}

void epoch_enter(struct epoch_slot *slot)
{
    struct epoch *epoch = slot->epoch;

    object_check(epoch, EPOCH_MAGIC);
    assert(!atomic_load_explicit(&slot->entered, memory_order_relaxed));
    atomic_store(&slot->entered, atomic_load_explicit(&epoch->now, memory_order_acquire));
    (void)atomic_load(&epoch->now); /* see the file comment of epoch.h: this load is needed */
}

static void push(struct epoch *epoch, const struct retired *retired)
{
    if (epoch->count == epoch->capacity) {
        struct retired *ring = mem_array(epoch->capacity * 2, sizeof(*ring));
        size_t i;

        for (i = 0; i < epoch->count; i++)
            ring[i] = epoch->ring[(epoch->first + i) & (epoch->capacity - 1)];
        free(epoch->ring);
        epoch->ring = ring;
        epoch->capacity *= 2;
        epoch->first = 0;
    }
    /* in order of time, so that the oldest is the first */
    if (epoch->count)
        assert(epoch->ring[(epoch->first + epoch->count - 1) & (epoch->capacity - 1)].at <=
               retired->at);
    assert(epoch->count < epoch->capacity && epoch->first < epoch->capacity);
    epoch->ring[(epoch->first + epoch->count++) & (epoch->capacity - 1)] = *retired;
}

void epoch_retire(struct epoch *epoch, epoch_free_fn *free_thing, void *thing, uint64_t part)
{
    struct retired retired = {.free_thing = free_thing, .thing = thing, .part = part};
    bool due;

    object_check(epoch, EPOCH_MAGIC);
    pthread_mutex_lock(&epoch->lock);
    retired.at = atomic_load_explicit(&epoch->now, memory_order_relaxed);
    push(epoch, &retired);
    due = ++epoch->since_reclaim >= RECLAIM_INTERVAL;
    if (due)
        epoch->since_reclaim = 0;
    pthread_mutex_unlock(&epoch->lock);
    if (due)
        epoch_reclaim(epoch);
}

void epoch_publish(struct epoch *epoch, _Atomic(void *) *place, void *next,
                   epoch_free_fn *free_thing)
{
    void *previous = atomic_load_explicit(place, memory_order_relaxed);

    object_check(epoch, EPOCH_MAGIC);
    assert(!next || next != previous);
    atomic_store_explicit(place, next, memory_order_release);
    if (previous)
        epoch_retire(epoch, free_thing, previous, 0);
}

/* The time before which nobody inside has entered. */
static uint64_t oldest_entry(struct epoch *epoch, uint64_t now)
{
    uint64_t oldest = now;
    size_t i;

    for (i = 0; i < EPOCH_SLOT_COUNT_MAX; i++) {
        uint64_t entered = atomic_load(&epoch->slots[i].entered);

        if (entered && entered < oldest)
            oldest = entered;
    }
    return oldest;
}

static bool take_free(struct epoch *epoch, uint64_t oldest, struct retired *out)
{
    bool found = false;

    pthread_mutex_lock(&epoch->lock);
    if (epoch->count && epoch->ring[epoch->first].at < oldest) {
        *out = epoch->ring[epoch->first];
        epoch->first = (epoch->first + 1) & (epoch->capacity - 1);
        epoch->count--;
        found = true;
    }
    pthread_mutex_unlock(&epoch->lock);
    return found;
}

size_t epoch_reclaim(struct epoch *epoch)
{
    uint64_t now = atomic_fetch_add(&epoch->now, 1) + 1;
    uint64_t oldest = oldest_entry(epoch, now);
    struct retired retired;
    size_t waiting;

    object_check(epoch, EPOCH_MAGIC);
    while (take_free(epoch, oldest, &retired))
        retired.free_thing(retired.thing, retired.part); /* outside the lock: it may retire more */
    pthread_mutex_lock(&epoch->lock);
    waiting = epoch->count;
    pthread_mutex_unlock(&epoch->lock);
    return waiting;
}
