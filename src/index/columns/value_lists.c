/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_lists.c - see value_lists.h. A name is a place in granules of 16 bytes; 0 is none. They lie
 * in steps that never move (ladder.h), no array across two.
 */
#include "index/columns/value_lists.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/object.h"
#include "index/bounds.h"
#include "index/columns/ladder.h"

enum {
    GRANULE_WORDS = 4, /* of u32 */
    STEP_SHIFT = 6,    /* of the first: 1 KB */
    STEP_COUNT = LADDER_STEP_COUNT(32, STEP_SHIFT),
    CLASS_COUNT = 6,
    KNOWN_COUNT_MIN = 16,
};

/* An array in use: a slot of an open hash table. */
struct known {
    uint32_t name; /* 0: the slot is free */
    uint32_t hash;
    uint32_t uses;
};

enum { VALUE_LISTS_MAGIC = OBJECT_MAGIC('v', 'l', 's', 't') };

/* An array is its count and then the ordinals; a free one is the name of the next free one. */
struct value_lists {
    uint32_t magic;
    pthread_mutex_t lock; /* of all but the reading of steps and end */
    uint32_t free[CLASS_COUNT];
    struct known *known;
    uint32_t known_count;
    uint32_t known_mask; /* slots - 1 */
    _Atomic uint32_t end;
    _Atomic(uint32_t *) steps[STEP_COUNT]; /* owned */
};

struct value_lists *value_lists_new(void)
{
    struct value_lists *lists = mem_zero(sizeof(*lists));

    object_begin(lists, VALUE_LISTS_MAGIC);
    atomic_init(&lists->end, 1); /* the first granule is the name 0 */
    lists->known = mem_array(KNOWN_COUNT_MIN, sizeof(lists->known[0]));
    lists->known_mask = KNOWN_COUNT_MIN - 1;
    pthread_mutex_init(&lists->lock, NULL);
    return lists;
}

void value_lists_free(struct value_lists *lists)
{
    uint32_t i;

    if (!lists)
        return;
    object_check(lists, VALUE_LISTS_MAGIC);
    for (i = 0; i < STEP_COUNT; i++)
        free(atomic_load(&lists->steps[i]));
    free(lists->known);
    pthread_mutex_destroy(&lists->lock);
    object_end(lists, VALUE_LISTS_MAGIC);
    free(lists);
}

static uint32_t class_of(uint32_t count)
{
    uint32_t class = 0;

    while (((uint32_t)GRANULE_WORDS << class) < count + 1)
        class ++;
    assert(class < CLASS_COUNT);
    return class;
}

static uint32_t *place_of(const struct value_lists *lists, uint32_t name)
{
    struct ladder_place place = ladder_place(name, STEP_SHIFT);
    uint32_t *step = atomic_load_explicit(&lists->steps[place.step], memory_order_acquire);

    return step ? step + (size_t)place.at * GRANULE_WORDS : NULL;
}

static uint32_t take_new_name(struct value_lists *lists, uint32_t class)
{
    uint32_t granules = UINT32_C(1) << class;
    uint32_t name = atomic_load_explicit(&lists->end, memory_order_relaxed);
    struct ladder_place place = ladder_place(name, STEP_SHIFT);
    size_t left = ladder_step_size(place.step, STEP_SHIFT) - place.at;

    if (left < granules) {
        if (UINT32_MAX - name < left + granules)
            abort();
        name += (uint32_t)left;
        place = ladder_place(name, STEP_SHIFT);
    }
    if (!atomic_load_explicit(&lists->steps[place.step], memory_order_relaxed))
        atomic_store_explicit(
            &lists->steps[place.step],
            mem_array(ladder_step_size(place.step, STEP_SHIFT), GRANULE_WORDS * sizeof(uint32_t)),
            memory_order_release);
    assert(name > 0);
    return name;
}

static uint32_t take_name(struct value_lists *lists, uint32_t class)
{
    uint32_t name = lists->free[class];
    uint32_t end;

    if (name) {
        lists->free[class] = *place_of(lists, name);
        return name;
    }
    name = take_new_name(lists, class);
    end = name + (UINT32_C(1) << class);
    atomic_store_explicit(&lists->end, end, memory_order_release);
    return name;
}

/* ---- arrays in use ---- */

static uint32_t hash_of(const uint32_t *ordinals, uint32_t count)
{
    uint64_t hash = hash64(bytes_make(ordinals, count * sizeof(ordinals[0])));

    return (uint32_t)(hash ^ hash >> 32);
}

/* The slot of the array, or the free one where it belongs. */
static struct known *find_known(const struct value_lists *lists, const uint32_t *ordinals,
                                uint32_t count, uint32_t hash)
{
    uint32_t at = hash & lists->known_mask;

    for (; lists->known[at].name; at = (at + 1) & lists->known_mask) {
        const uint32_t *place;

        if (lists->known[at].hash != hash)
            continue;
        place = place_of(lists, lists->known[at].name);
        if (place[0] == count && memcmp(place + 1, ordinals, count * sizeof(ordinals[0])) == 0)
            break;
    }
    return &lists->known[at];
}

/* Keeps a quarter of the slots free. */
static void grow_known(struct value_lists *lists)
{
    uint32_t old_count = lists->known_mask + 1;
    struct known *old = lists->known;
    uint32_t i;

    if (lists->known_count < old_count / 4 * 3)
        return;
    lists->known = mem_array((size_t)old_count * 2, sizeof(*old));
    lists->known_mask = old_count * 2 - 1;
    for (i = 0; i < old_count; i++) {
        uint32_t at = old[i].hash & lists->known_mask;

        while (old[i].name && lists->known[at].name)
            at = (at + 1) & lists->known_mask;
        if (old[i].name)
            lists->known[at] = old[i];
    }
    free(old);
}

/* Frees a slot; those behind it that stand there only because it was taken move up. */
static void forget_known(struct value_lists *lists, const struct known *known)
{
    uint32_t mask = lists->known_mask;
    uint32_t at = (uint32_t)(known - lists->known);
    uint32_t next;

    for (next = (at + 1) & mask; lists->known[next].name; next = (next + 1) & mask) {
        uint32_t home = lists->known[next].hash & mask;

        if (((next - home) & mask) < ((next - at) & mask))
            continue;
        lists->known[at] = lists->known[next];
        at = next;
    }
    assert(lists->known_count > 0);
    lists->known[at] = (struct known){0};
    lists->known_count--;
}

uint32_t value_lists_add(struct value_lists *lists, const uint32_t *ordinals, uint32_t count)
{
    uint32_t hash = hash_of(ordinals, count);
    struct known *known;
    uint32_t name;

    object_check(lists, VALUE_LISTS_MAGIC);
    assert(count && count <= KEYWORD_VALUES_MAX);
    pthread_mutex_lock(&lists->lock);
    grow_known(lists);
    known = find_known(lists, ordinals, count, hash);
    if (!known->name) {
        uint32_t class = class_of(count);
        uint32_t *place;

        *known = (struct known){.name = take_name(lists, class), .hash = hash};
        place = place_of(lists, known->name);
        place[0] = count;
        memcpy(place + 1, ordinals, count * sizeof(ordinals[0]));
        lists->known_count++;
    }
    known->uses++;
    name = known->name;
    assert(name > 0 && lists->known_count <= lists->known_mask);
    pthread_mutex_unlock(&lists->lock);
    return name;
}

void value_lists_release(void *thing, uint64_t part)
{
    struct value_lists *lists = thing;
    uint32_t *place = place_of(lists, (uint32_t)part);
    struct known *known;

    object_check(lists, VALUE_LISTS_MAGIC);
    assert(part > 0 && place && place[0] <= KEYWORD_VALUES_MAX);
    pthread_mutex_lock(&lists->lock);
    known = find_known(lists, place + 1, place[0], hash_of(place + 1, place[0]));
    assert(known->name == (uint32_t)part && known->uses);
    if (--known->uses == 0) {
        uint32_t class = class_of(place[0]);

        forget_known(lists, known);
        *place = lists->free[class];
        lists->free[class] = (uint32_t)part;
    }
    pthread_mutex_unlock(&lists->lock);
}

uint32_t value_lists_end(const struct value_lists *lists)
{
    object_check(lists, VALUE_LISTS_MAGIC);
    return atomic_load_explicit(&lists->end, memory_order_acquire);
}

const uint32_t *value_lists_get(const struct value_lists *lists, uint32_t name, uint32_t *count)
{
    const uint32_t *place = name ? place_of(lists, name) : NULL;

    *count = place ? place[0] : 0;
    return place ? place + 1 : NULL;
}

uint64_t value_lists_size(struct value_lists *lists)
{
    uint64_t size;

    object_check(lists, VALUE_LISTS_MAGIC);
    pthread_mutex_lock(&lists->lock);
    size = (uint64_t)value_lists_end(lists) * GRANULE_WORDS * sizeof(uint32_t) +
           ((uint64_t)lists->known_mask + 1) * sizeof(lists->known[0]);
    pthread_mutex_unlock(&lists->lock);
    return size;
}
