/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairs.c - see pairs.h.
 *
 *     slot  | first (20 bits) | second (20 bits) | count (24 bits) |     0: empty
 */
#include "spell/pairs.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/object.h"

enum { NUMBER_BITS = 20, COUNT_BITS = 24, COUNT_MAX = (1 << COUNT_BITS) - 1, FIRST_BITS = 12 };
static_assert(SPELL_WORD_COUNT_MAX <= 1 << NUMBER_BITS, "a number fits a slot");

struct table {
    unsigned bits;
    uint32_t used;
    _Atomic uint64_t slot[];
};

enum { PAIRS_MAGIC = OBJECT_MAGIC('p', 'a', 'i', 'r') };

struct pairs {
    uint32_t magic;
    struct epoch *epoch;   /* borrowed */
    _Atomic(void *) table; /* owned struct table */
    _Atomic uint32_t count;
    _Atomic size_t memory;
};

static struct table *table_new(unsigned bits)
{
    struct table *table = mem_zero(sizeof(*table) + (sizeof(uint64_t) << bits));

    table->bits = bits;
    return table;
}

static void table_free(void *thing, uint64_t part)
{
    (void)part;
    free(thing);
}

static struct table *table_of(const struct pairs *pairs)
{
    return atomic_load_explicit(&((struct pairs *)pairs)->table, memory_order_acquire);
}

static uint64_t key_of(wordid first, wordid second)
{
    return (uint64_t)first << NUMBER_BITS | second;
}

/* The pair's slot, or the empty one where it belongs. */
static size_t place_of(const struct table *table, uint64_t key)
{
    size_t mask = ((size_t)1 << table->bits) - 1;
    size_t place = (key * 0x9E3779B97F4A7C15U) >> (64 - table->bits);

    for (;; place = (place + 1) & mask) {
        uint64_t slot =
            atomic_load_explicit(&((struct table *)table)->slot[place], memory_order_relaxed);

        if (!slot || slot >> COUNT_BITS == key)
            return place;
    }
}

static void put(struct table *table, uint64_t key, uint32_t count)
{
    size_t place = place_of(table, key);
    uint64_t slot = atomic_load_explicit(&table->slot[place], memory_order_relaxed);
    uint64_t sum = (slot & COUNT_MAX) + count;

    table->used += !slot;
    atomic_store_explicit(&table->slot[place],
                          key << COUNT_BITS | (sum > COUNT_MAX ? COUNT_MAX : sum),
                          memory_order_relaxed);
}

struct pairs *pairs_new(struct epoch *epoch)
{
    struct pairs *pairs = mem_zero(sizeof(*pairs));

    object_begin(pairs, PAIRS_MAGIC);
    pairs->epoch = epoch;
    atomic_init(&pairs->table, table_new(FIRST_BITS));
    atomic_init(&pairs->memory, sizeof(uint64_t) << FIRST_BITS);
    return pairs;
}

void pairs_free(struct pairs *pairs)
{
    if (!pairs)
        return;
    free(atomic_load(&pairs->table));
    object_end(pairs, PAIRS_MAGIC);
    free(pairs);
}

/* A larger table, or one of the same size with less in it. */
static struct table *rebuilt(struct pairs *pairs, struct table *old)
{
    bool is_full = old->used >= SPELL_PAIR_COUNT_MAX;
    struct table *new = table_new(old->bits + !is_full);

    for (size_t i = 0; i < (size_t)1 << old->bits; i++) {
        uint64_t slot = atomic_load_explicit(&old->slot[i], memory_order_relaxed);
        uint32_t count = (uint32_t)(slot & COUNT_MAX) >> is_full;

        if (count)
            put(new, slot >> COUNT_BITS, count);
    }
    atomic_store_explicit(&pairs->memory, sizeof(uint64_t) << new->bits, memory_order_relaxed);
    epoch_publish(pairs->epoch, &pairs->table, new, table_free);
    return new;
}

void pairs_add(struct pairs *pairs, wordid first, wordid second, uint32_t count)
{
    struct table *table = table_of(pairs);

    object_check(pairs, PAIRS_MAGIC);
    assert(first < SPELL_WORD_COUNT_MAX && second < SPELL_WORD_COUNT_MAX);
    if (!count)
        return;
    while (table->used >= (size_t)1 << table->bits >> 1 || table->used >= SPELL_PAIR_COUNT_MAX)
        table = rebuilt(pairs, table);
    put(table, key_of(first, second), count);
    atomic_store_explicit(&pairs->count, table->used, memory_order_relaxed);
}

void pairs_take(struct pairs *pairs, struct pairs *other)
{
    struct table *table = table_of(other);

    object_check(pairs, PAIRS_MAGIC);
    object_check(other, PAIRS_MAGIC);
    epoch_publish(pairs->epoch, &pairs->table, table, table_free);
    atomic_store_explicit(&pairs->count, table->used, memory_order_relaxed);
    atomic_store_explicit(&pairs->memory, pairs_memory(other), memory_order_relaxed);
    object_end(other, PAIRS_MAGIC);
    free(other);
}

uint32_t pairs_find(const struct pairs *pairs, wordid first, wordid second)
{
    struct table *table = table_of(pairs);
    uint64_t key = key_of(first, second);
    size_t place = place_of(table, key);
    uint64_t slot = atomic_load_explicit(&table->slot[place], memory_order_relaxed);

    object_check(pairs, PAIRS_MAGIC);
    /* An empty slot may have been taken by another pair since. */
    return slot >> COUNT_BITS == key ? (uint32_t)(slot & COUNT_MAX) : 0;
}

bool pairs_next(const struct pairs *pairs, size_t *place, struct pair *pair)
{
    struct table *table = table_of(pairs);

    object_check(pairs, PAIRS_MAGIC);
    while (*place < (size_t)1 << table->bits) {
        uint64_t slot = atomic_load_explicit(&table->slot[(*place)++], memory_order_relaxed);

        if (!slot)
            continue;
        pair->first = (wordid)(slot >> (COUNT_BITS + NUMBER_BITS));
        pair->second = (wordid)(slot >> COUNT_BITS & ((1U << NUMBER_BITS) - 1));
        pair->count = (uint32_t)(slot & COUNT_MAX);
        return true;
    }
    return false;
}

uint32_t pairs_count(const struct pairs *pairs)
{
    object_check(pairs, PAIRS_MAGIC);
    return atomic_load_explicit(&((struct pairs *)pairs)->count, memory_order_relaxed);
}

size_t pairs_memory(const struct pairs *pairs)
{
    object_check(pairs, PAIRS_MAGIC);
    return atomic_load_explicit(&((struct pairs *)pairs)->memory, memory_order_relaxed);
}
