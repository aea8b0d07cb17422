/* SPDX-License-Identifier: Apache-2.0 */
/* value_lists.c - see value_lists.h. A name is a place in granules of 16 bytes; 0 is none. */
#include "index/value_lists.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/memory.h"

enum {
    GRANULE_WORDS = 4, /* of u32 */
    CHUNK_SHIFT = 14,
    CHUNK_GRANULES = 1 << CHUNK_SHIFT,
    CHUNK_COUNT_MAX = 1 << (32 - CHUNK_SHIFT),
    CLASS_COUNT = 6,
};

/* An array is its count and then the ordinals; a free one is the name of the next free one. */
struct value_lists {
    pthread_mutex_t lock; /* of all but the reading of chunks */
    uint32_t free[CLASS_COUNT];
    uint32_t chunk_count;
    uint32_t used; /* granules of the last chunk */
    _Atomic(uint32_t *) *chunks;
};

struct value_lists *value_lists_new(void)
{
    struct value_lists *lists = mem_zero(sizeof(*lists));

    lists->chunks = mem_array(CHUNK_COUNT_MAX, sizeof(lists->chunks[0]));
    pthread_mutex_init(&lists->lock, NULL);
    return lists;
}

void value_lists_free(struct value_lists *lists)
{
    uint32_t i;

    if (!lists)
        return;
    for (i = 0; i < lists->chunk_count; i++)
        free(atomic_load(&lists->chunks[i]));
    free((void *)lists->chunks);
    pthread_mutex_destroy(&lists->lock);
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
    uint32_t *chunk =
        atomic_load_explicit(&lists->chunks[name >> CHUNK_SHIFT], memory_order_acquire);

    return chunk ? chunk + (size_t)(name & (CHUNK_GRANULES - 1)) * GRANULE_WORDS : NULL;
}

static uint32_t take_new(struct value_lists *lists, uint32_t class)
{
    uint32_t granules = UINT32_C(1) << class;
    uint32_t name;

    if (!lists->chunk_count || lists->used + granules > CHUNK_GRANULES) {
        if (lists->chunk_count == CHUNK_COUNT_MAX)
            abort();
        atomic_store_explicit(&lists->chunks[lists->chunk_count],
                              mem_array(CHUNK_GRANULES, GRANULE_WORDS * sizeof(uint32_t)),
                              memory_order_release);
        lists->used = lists->chunk_count ? 0 : 1; /* the first granule is the name 0 */
        lists->chunk_count++;
    }
    name = ((lists->chunk_count - 1) << CHUNK_SHIFT) + lists->used;
    lists->used += granules;
    return name;
}

uint32_t value_lists_add(struct value_lists *lists, const uint32_t *ordinals, uint32_t count)
{
    uint32_t class = class_of(count);
    uint32_t *place;
    uint32_t name;

    assert(count && count <= KEYWORD_VALUES_MAX);
    pthread_mutex_lock(&lists->lock);
    name = lists->free[class];
    if (name)
        lists->free[class] = *place_of(lists, name);
    else
        name = take_new(lists, class);
    pthread_mutex_unlock(&lists->lock);
    place = place_of(lists, name);
    place[0] = count;
    memcpy(place + 1, ordinals, count * sizeof(ordinals[0]));
    return name;
}

void value_lists_release(void *thing, uint64_t part)
{
    struct value_lists *lists = thing;
    uint32_t *place = place_of(lists, (uint32_t)part);
    uint32_t class;

    pthread_mutex_lock(&lists->lock);
    class = class_of(place[0]);
    *place = lists->free[class];
    lists->free[class] = (uint32_t)part;
    pthread_mutex_unlock(&lists->lock);
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

    pthread_mutex_lock(&lists->lock);
    size = (uint64_t)lists->chunk_count * CHUNK_GRANULES * GRANULE_WORDS * sizeof(uint32_t);
    pthread_mutex_unlock(&lists->lock);
    return size;
}
