/* SPDX-License-Identifier: Apache-2.0 */
/* recent.c - see recent.h. An entry is one word, id | 32 low bits of the number, so it cannot tear;
 * numbers are compared by their distance, as they wrap around. */
#include "index/recent.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { WAY_COUNT = 4, SET_BITS = 14 };

struct recent {
    _Atomic uint64_t entries[1 << SET_BITS][WAY_COUNT];
};

struct recent *recent_new(void)
{
    return mem_zero(sizeof(struct recent));
}

void recent_free(struct recent *recent)
{
    free(recent);
}

static uint32_t set_of(docid id)
{
    return (id * UINT32_C(0x9e3779b1)) >> (32 - SET_BITS);
}

/* Positive when the entry is newer. */
static int32_t age(uint64_t entry, uint32_t sequence)
{
    return (int32_t)((uint32_t)entry - sequence);
}

void recent_note(struct recent *recent, docid id, uint64_t sequence)
{
    _Atomic uint64_t *ways = recent->entries[set_of(id)];
    uint32_t low = (uint32_t)sequence;
    int oldest = 0;
    int i;

    for (i = 0; i < WAY_COUNT; i++) {
        uint64_t entry = atomic_load_explicit(&ways[i], memory_order_relaxed);

        if (entry >> 32 == id) {
            oldest = i;
            break;
        }
        if (age(entry, low) < age(atomic_load_explicit(&ways[oldest], memory_order_relaxed), low))
            oldest = i;
    }
    atomic_store_explicit(&ways[oldest], (uint64_t)id << 32 | low, memory_order_release);
}

static void read_set(const _Atomic uint64_t *ways, uint64_t entries[WAY_COUNT])
{
    int i;

    for (i = 0; i < WAY_COUNT; i++)
        entries[i] = atomic_load_explicit(&ways[i], memory_order_acquire);
}

bool recent_changed(const struct recent *recent, docid id, uint64_t sequence)
{
    const _Atomic uint64_t *ways = recent->entries[set_of(id)];
    uint64_t entries[WAY_COUNT];
    uint64_t again[WAY_COUNT];
    bool all_newer = true;
    int i;

    /* Twice the same: a set that is changed meanwhile could hide an entry behind another. */
    read_set(ways, entries);
    for (;;) {
        read_set(ways, again);
        if (memcmp(entries, again, sizeof(entries)) == 0)
            break;
        memcpy(entries, again, sizeof(entries));
    }
    for (i = 0; i < WAY_COUNT; i++) {
        bool newer = age(entries[i], (uint32_t)sequence) > 0;

        if (entries[i] >> 32 == id && newer)
            return true;
        all_newer = all_newer && newer;
    }
    return all_newer;
}
