/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dictionary.c - see dictionary.h.
 *
 * Entries lie in steps that never move (ladder.h); a hash table of ordinals finds them. The table
 * is at most half full; the writer makes a bigger one, publishes it and retires the old.
 */
#include "index/columns/dictionary.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/object.h"
#include "index/bounds.h"
#include "index/columns/ladder.h"

enum {
    STEP_SHIFT = 5, /* of the first: most attributes have fewer values */
    STEP_SIZE = 1 << STEP_SHIFT,
    STEP_COUNT = LADDER_STEP_COUNT(KEYWORD_COUNT_SHIFT, STEP_SHIFT),
    FIRST_TABLE_SIZE = 32,
};

struct entry {
    const uint8_t *data; /* in the arena */
    uint32_t size;
    uint32_t hash;
};

struct table {
    uint32_t mask;
    _Atomic uint32_t slots[]; /* ordinal + 1; 0: free */
};

enum { DICTIONARY_MAGIC = OBJECT_MAGIC('d', 'i', 'c', 't') };

struct dictionary {
    uint32_t magic;
    struct epoch *epoch; /* borrowed */
    char *name;
    struct arena *arena; /* owned; NULL before the first value */
    uint32_t count_max;
    _Atomic uint32_t count;
    _Atomic(void *) table;
    _Atomic(struct entry *) steps[STEP_COUNT]; /* owned */
    pthread_mutex_t order_lock;                /* of who makes an order */
    _Atomic(void *) order; /* struct dictionary_order; NULL: none was asked for */
};

static struct table *table_new(uint32_t size)
{
    struct table *table = mem_zero(sizeof(*table) + size * sizeof(table->slots[0]));

    table->mask = size - 1;
    return table;
}

static void free_table(void *table, uint64_t part)
{
    (void)part;
    free(table);
}

static void free_order(void *thing, uint64_t part)
{
    struct dictionary_order *order = thing;

    (void)part;
    if (!order)
        return;
    free(order->ranks);
    free(order->ordinals);
    free(order);
}

struct dictionary *dictionary_new(struct epoch *epoch, const char *name, uint32_t count_max)
{
    struct dictionary *dictionary = mem_zero(sizeof(*dictionary));

    object_begin(dictionary, DICTIONARY_MAGIC);
    assert(count_max && count_max <= KEYWORD_COUNT_MAX);
    dictionary->epoch = epoch;
    dictionary->name = mem_strdup(name);
    dictionary->count_max = count_max;
    atomic_init(&dictionary->table, table_new(FIRST_TABLE_SIZE));
    pthread_mutex_init(&dictionary->order_lock, NULL);
    return dictionary;
}

void dictionary_free(struct dictionary *dictionary)
{
    uint32_t i;

    if (!dictionary)
        return;
    object_check(dictionary, DICTIONARY_MAGIC);
    for (i = 0; i < STEP_COUNT; i++)
        free(atomic_load(&dictionary->steps[i]));
    free(atomic_load(&dictionary->table));
    free_order(atomic_load(&dictionary->order), 0);
    pthread_mutex_destroy(&dictionary->order_lock);
    arena_free(dictionary->arena);
    free(dictionary->name);
    object_end(dictionary, DICTIONARY_MAGIC);
    free(dictionary);
}

static struct entry *entry_of(const struct dictionary *dictionary, uint32_t ordinal)
{
    struct ladder_place place = ladder_place(ordinal, STEP_SHIFT);

    return atomic_load_explicit(&dictionary->steps[place.step], memory_order_acquire) + place.at;
}

/* The slot that holds the value or, free, would hold it. */
static uint32_t probe(const struct dictionary *dictionary, const struct table *table,
                      struct bytes value, uint32_t hash, uint32_t *ordinal)
{
    uint32_t at = hash & table->mask;

    for (;; at = (at + 1) & table->mask) {
        uint32_t slot = atomic_load_explicit(&table->slots[at], memory_order_acquire);
        const struct entry *entry;

        *ordinal = slot - 1; /* ORDINAL_NONE for a free one */
        if (!slot)
            return at;
        entry = entry_of(dictionary, slot - 1);
        if (entry->hash == hash && bytes_equal(bytes_make(entry->data, entry->size), value))
            return at;
    }
}

uint32_t dictionary_find(const struct dictionary *dictionary, struct bytes value)
{
    const struct table *table = atomic_load_explicit(&dictionary->table, memory_order_acquire);
    uint32_t ordinal;

    object_check(dictionary, DICTIONARY_MAGIC);
    probe(dictionary, table, value, (uint32_t)hash64(value), &ordinal);
    return ordinal;
}

static void grow(struct dictionary *dictionary, uint32_t count)
{
    struct table *old = atomic_load_explicit(&dictionary->table, memory_order_relaxed);
    struct table *table;
    uint32_t i;

    if (count * 2 <= old->mask)
        return;
    table = table_new((old->mask + 1) * 2);
    for (i = 0; i < count; i++) {
        uint32_t at = entry_of(dictionary, i)->hash & table->mask;

        while (atomic_load_explicit(&table->slots[at], memory_order_relaxed))
            at = (at + 1) & table->mask;
        atomic_init(&table->slots[at], i + 1);
    }
    epoch_publish(dictionary->epoch, &dictionary->table, table, free_table);
}

static void need_step(struct dictionary *dictionary, uint32_t ordinal)
{
    struct ladder_place place = ladder_place(ordinal, STEP_SHIFT);

    assert(place.step < STEP_COUNT);
    if (place.at == 0)
        atomic_store_explicit(
            &dictionary->steps[place.step],
            mem_array(ladder_step_size(place.step, STEP_SHIFT), sizeof(struct entry)),
            memory_order_release);
}

int dictionary_add(struct dictionary *dictionary, struct bytes value, uint32_t *ordinal,
                   struct err *err)
{
    uint32_t count = atomic_load_explicit(&dictionary->count, memory_order_relaxed);
    uint32_t hash = (uint32_t)hash64(value);
    struct bytes copy;
    struct table *table;
    uint32_t at;

    object_check(dictionary, DICTIONARY_MAGIC);
    table = atomic_load_explicit(&dictionary->table, memory_order_relaxed);
    probe(dictionary, table, value, hash, ordinal);
    if (*ordinal != ORDINAL_NONE)
        return 0;
    if (value.size > KEYWORD_SIZE_MAX)
        return err_set(err, ERR_LIMIT,
                       "a value of attribute \"%s\" has %zu bytes, at most %d are allowed: make "
                       "it a text field",
                       dictionary->name, value.size, KEYWORD_SIZE_MAX);
    if (count == dictionary->count_max)
        return err_set(err, ERR_LIMIT,
                       "attribute \"%s\" has %u different values already, its limit: raise the "
                       "limit in a new epoch, or make it a text field",
                       dictionary->name, count);
    grow(dictionary, count);
    need_step(dictionary, count);
    if (!dictionary->arena)
        dictionary->arena = arena_new();
    copy = arena_copy(dictionary->arena, value);
    *entry_of(dictionary, count) =
        (struct entry){.data = copy.data, .size = (uint32_t)copy.size, .hash = hash};
    table = atomic_load_explicit(&dictionary->table, memory_order_relaxed);
    assert(count * 2 <= table->mask && count < dictionary->count_max);
    at = probe(dictionary, table, value, hash, ordinal);
    assert(*ordinal == ORDINAL_NONE);
    atomic_store_explicit(&table->slots[at], count + 1, memory_order_release);
    atomic_store_explicit(&dictionary->count, count + 1, memory_order_release);
    *ordinal = count;
    return 0;
}

uint32_t dictionary_count(const struct dictionary *dictionary)
{
    object_check(dictionary, DICTIONARY_MAGIC);
    return atomic_load_explicit(&dictionary->count, memory_order_acquire);
}

struct bytes dictionary_name(const struct dictionary *dictionary, uint32_t ordinal)
{
    const struct entry *entry;

    object_check(dictionary, DICTIONARY_MAGIC);
    assert(ordinal < dictionary_count(dictionary));
    entry = entry_of(dictionary, ordinal);
    return bytes_make(entry->data, entry->size);
}

uint32_t dictionary_subtree(const struct dictionary *dictionary, struct bytes path, uint64_t *bits,
                            uint32_t bit_count)
{
    uint32_t count = dictionary_count(dictionary);
    uint32_t found = 0;
    uint32_t i;

    object_check(dictionary, DICTIONARY_MAGIC);
    if (count > bit_count)
        count = bit_count;
    for (i = 0; i < count; i++) {
        struct bytes name = dictionary_name(dictionary, i);

        if (!bytes_begin(name, path) || (name.size > path.size && name.data[path.size] != '/'))
            continue;
        bits[i / 64] |= UINT64_C(1) << (i % 64);
        found++;
    }
    return found;
}

/* ---- the order of names ---- */

struct named_ordinal {
    struct bytes name;
    uint32_t ordinal;
};

static int compare_names(const void *a, const void *b)
{
    return bytes_compare(((const struct named_ordinal *)a)->name,
                         ((const struct named_ordinal *)b)->name);
}

/* The values that came since the old order (NULL: all), sorted, are merged with it. */
static struct dictionary_order *make_order(const struct dictionary *dictionary,
                                           const struct dictionary_order *old, uint32_t count)
{
    struct dictionary_order *order = mem_zero(sizeof(*order));
    uint32_t known = old ? old->count : 0;
    uint32_t new_count = count - known;
    struct named_ordinal *news = mem_array((size_t)new_count + 1, sizeof(*news));
    uint32_t at = 0;

    order->count = count;
    order->ranks = mem_array((size_t)count + 1, sizeof(*order->ranks));
    order->ordinals = mem_array((size_t)count + 1, sizeof(*order->ordinals));
    for (uint32_t i = 0; i < new_count; i++)
        news[i] = (struct named_ordinal){dictionary_name(dictionary, known + i), known + i};
    qsort(news, new_count, sizeof(*news), compare_names);
    for (uint32_t i = 0; i < new_count; i++) {
        while (at < known &&
               bytes_compare(dictionary_name(dictionary, old->ordinals[at]), news[i].name) < 0) {
            order->ordinals[at + i] = old->ordinals[at];
            at++;
        }
        order->ordinals[at + i] = news[i].ordinal;
    }
    if (at < known)
        memcpy(order->ordinals + at + new_count, old->ordinals + at,
               (known - at) * sizeof(*order->ordinals));
    for (uint32_t i = 0; i < count; i++)
        order->ranks[order->ordinals[i]] = i;
    free(news);
    return order;
}

const struct dictionary_order *dictionary_order(struct dictionary *dictionary)
{
    uint32_t count = dictionary_count(dictionary);
    struct dictionary_order *order = atomic_load_explicit(&dictionary->order, memory_order_acquire);

    if (order && order->count >= count)
        return order;
    pthread_mutex_lock(&dictionary->order_lock);
    order = atomic_load_explicit(&dictionary->order, memory_order_acquire);
    if (!order || order->count < count) {
        order = make_order(dictionary, order, count);
        epoch_publish(dictionary->epoch, &dictionary->order, order, free_order);
    }
    pthread_mutex_unlock(&dictionary->order_lock);
    return order;
}

uint64_t dictionary_size(const struct dictionary *dictionary)
{
    const struct table *table = atomic_load_explicit(&dictionary->table, memory_order_relaxed);
    const struct dictionary_order *order =
        atomic_load_explicit(&dictionary->order, memory_order_acquire);
    uint64_t count = dictionary_count(dictionary);

    object_check(dictionary, DICTIONARY_MAGIC);
    return (order ? order->count * 2 * sizeof(order->ranks[0]) : 0) +
           (dictionary->arena ? arena_size(dictionary->arena) : 0) +
           (table->mask + 1) * sizeof(table->slots[0]) +
           (count + STEP_SIZE - 1) / STEP_SIZE * STEP_SIZE * sizeof(struct entry);
}
