/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recent.c - see recent.h.
 *
 * Numbers of an entry only grow, whoever has it, and what a set has forgotten is told before the
 * entry gets its new id: so a reader that meets a note half made finds numbers that are too high
 * or, of a change that it cannot have seen yet, too low.
 */
#include "index/shard/recent.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/object.h"

enum { WAY_COUNT = 4, SET_BITS = 13 };

struct recent_set {
    _Atomic uint32_t ids[WAY_COUNT];
    _Atomic uint64_t changed[WAY_COUNT];
    _Atomic uint64_t replaced[WAY_COUNT];
    _Atomic uint64_t forgotten; /* no change that the set had and has no more is newer */
};

enum { RECENT_MAGIC = OBJECT_MAGIC('r', 'e', 'c', 'n') };

struct recent {
    uint32_t magic;
    struct recent_set sets[1 << SET_BITS];
};

struct recent *recent_new(void)
{
    struct recent *recent = mem_zero(sizeof(*recent));

    object_begin(recent, RECENT_MAGIC);
    return recent;
}

void recent_free(struct recent *recent)
{
    if (!recent)
        return;
    object_end(recent, RECENT_MAGIC);
    free(recent);
}

static uint32_t set_of(docid id)
{
    return (id * UINT32_C(0x9e3779b1)) >> (32 - SET_BITS);
}

static void put(_Atomic uint64_t *place, uint64_t number)
{
    atomic_store_explicit(place, number, memory_order_release);
}

/* The entry of the id, or the oldest one, which is given to it. */
static int find_way(struct recent_set *set, docid id)
{
    uint64_t least = UINT64_MAX;
    int oldest = 0;
    int i;

    for (i = 0; i < WAY_COUNT; i++) {
        uint64_t changed = atomic_load_explicit(&set->changed[i], memory_order_relaxed);

        if (changed && atomic_load_explicit(&set->ids[i], memory_order_relaxed) == id)
            return i;
        if (changed < least) {
            least = changed;
            oldest = i;
        }
    }
    put(&set->forgotten, least);
    atomic_store_explicit(&set->ids[oldest], id, memory_order_release);
    put(&set->replaced[oldest], least); /* the id may be among the forgotten */
    return oldest;
}

void recent_note(struct recent *recent, docid id, uint64_t number, bool is_replaced)
{
    struct recent_set *set = &recent->sets[set_of(id)];
    int way = find_way(set, id);

    object_check(recent, RECENT_MAGIC);
    if (is_replaced)
        put(&set->replaced[way], number);
    put(&set->changed[way], number);
}

struct recent_change recent_find(const struct recent *recent, docid id)
{
    const struct recent_set *set = &recent->sets[set_of(id)];
    uint64_t forgotten;
    int i;

    for (i = 0; i < WAY_COUNT; i++) {
        struct recent_change found;

        if (atomic_load_explicit(&set->ids[i], memory_order_acquire) != id)
            continue;
        found.changed = atomic_load_explicit(&set->changed[i], memory_order_acquire);
        found.replaced = atomic_load_explicit(&set->replaced[i], memory_order_acquire);
        if (found.changed) /* else nobody has the entry yet */
            return found;
    }
    forgotten = atomic_load_explicit(&set->forgotten, memory_order_acquire);
    return (struct recent_change){forgotten, forgotten};
}
