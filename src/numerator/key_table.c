/* SPDX-License-Identifier: Apache-2.0 */
/* key_table.c - see key_table.h. */
#include "numerator/key_table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/random.h"
#include "numerator/births.h"
#include "numerator/bounds.h"

enum {
    KEY_TABLE_MAGIC = OBJECT_MAGIC('k', 'e', 'y', 't'),
    LEAF_KEY_COUNT = 128,     /* expected of a leaf, at most, ... */
    LEAF_CROWDED_COUNT = 190, /* ... too many, on the average, ... */
    LEAF_KEY_MAX = 255,       /* ... and more than one has room for */
    LEAF_PART_COUNT = 54,     /* with them a leaf's head is a cache line */
    LEAF_COUNT_MIN = 16,
    WARM_COUNT = 64, /* keys looked up together: so many cache misses are under way at a time */
};

#define GONE_BIT (1U << 31)
#define WORD_NONE UINT32_MAX /* of a change: there is no entry */

struct entry {
    uint64_t order;
    uint32_t word; /* doc_id, GONE_BIT */
} __attribute__((packed, aligned(4)));
_Static_assert(sizeof(struct entry) == 12, "bytes of a key");

struct leaf {
    struct entry *entries; /* owned; part by part */
    uint8_t count, room;
    uint8_t ends[LEAF_PART_COUNT]; /* of each part */
};
_Static_assert(sizeof(struct leaf) == 64, "the head of a leaf is a cache line");

struct place {
    struct leaf *leaf;
    uint32_t part;
    uint64_t order;
};

struct change {
    struct place place;
    uint32_t word; /* before */
};

struct key_table {
    uint32_t magic;
    uint32_t leaf_count;
    uint64_t secret;
    struct leaf *leaves; /* owned: of its own pages */
    uint64_t count;
    struct births births;
    struct change *changes; /* owned: since the last commit */
    size_t change_count, change_capacity;
};

static size_t leaves_size(const struct key_table *table)
{
    return table->leaf_count * sizeof(*table->leaves);
}

struct key_table *key_table_new(uint64_t expected_count)
{
    struct key_table *table = mem_zero(sizeof(*table));

    object_begin(table, KEY_TABLE_MAGIC);
    assert(expected_count <= NUMBER_ID_END);
    table->leaf_count = (uint32_t)(expected_count / LEAF_KEY_COUNT) + LEAF_COUNT_MIN;
    table->secret = random_u64();
    table->leaves = mem_map(leaves_size(table));
    return table;
}

void key_table_free(struct key_table *table)
{
    if (!table)
        return;
    object_check(table, KEY_TABLE_MAGIC);
    for (size_t i = 0; i < table->leaf_count; i++)
        free(table->leaves[i].entries);
    mem_unmap(table->leaves, leaves_size(table));
    free(table->changes);
    births_release(&table->births);
    object_end(table, KEY_TABLE_MAGIC);
    free(table);
}

uint64_t key_table_count(const struct key_table *table)
{
    object_check(table, KEY_TABLE_MAGIC);
    return table->count;
}

size_t key_table_size(const struct key_table *table)
{
    size_t size = sizeof(*table) + leaves_size(table) +
                  table->change_capacity * sizeof(*table->changes) + births_size(&table->births);

    object_check(table, KEY_TABLE_MAGIC);
    for (size_t i = 0; i < table->leaf_count; i++)
        if (table->leaves[i].entries)
            size += table->leaves[i].room * sizeof(struct entry) + sizeof(size_t);
    return size;
}

bool key_table_is_crowded(const struct key_table *table)
{
    object_check(table, KEY_TABLE_MAGIC);
    return table->count > (uint64_t)LEAF_CROWDED_COUNT * table->leaf_count;
}

/* --- one entry --- */

static struct place place_of(const struct key_table *table, struct bytes key)
{
    struct hash_pair hash = hash128_seeded(key, table->secret);

    return (struct place){
        .leaf = &table->leaves[((hash.high >> 32) * table->leaf_count) >> 32],
        .part = (uint32_t)(((hash.low >> 32) * LEAF_PART_COUNT) >> 32),
        .order = hash.low,
    };
}

static uint32_t part_begin(const struct place *place)
{
    return place->part ? place->leaf->ends[place->part - 1] : 0;
}

static struct entry *find(const struct place *place)
{
    struct entry *entries = place->leaf->entries;
    uint32_t end = place->leaf->ends[place->part];

    for (uint32_t at = part_begin(place); at < end; at++)
        if (entries[at].order == place->order)
            return &entries[at];
    return NULL;
}

static void set_room(struct leaf *leaf, uint32_t room)
{
    leaf->room = (uint8_t)(room < LEAF_KEY_MAX ? room : LEAF_KEY_MAX);
    leaf->entries = mem_resize(leaf->entries, leaf->room * sizeof(*leaf->entries));
}

static void insert(struct key_table *table, const struct place *place, uint32_t word)
{
    struct leaf *leaf = place->leaf;
    uint32_t at = leaf->ends[place->part];

    assert(leaf->count < LEAF_KEY_MAX);
    if (leaf->count == leaf->room)
        set_room(leaf, leaf->room + 2U);
    memmove(leaf->entries + at + 1, leaf->entries + at,
            (leaf->count - at) * sizeof(*leaf->entries));
    leaf->entries[at] = (struct entry){place->order, word};
    for (uint32_t part = place->part; part < LEAF_PART_COUNT; part++)
        leaf->ends[part]++;
    leaf->count++;
    table->count++;
    assert(leaf->count <= leaf->room && leaf->ends[LEAF_PART_COUNT - 1] == leaf->count);
}

static void take_out(struct key_table *table, const struct place *place)
{
    struct leaf *leaf = place->leaf;
    struct entry *entry = find(place);

    assert(entry && leaf->count > 0 && table->count > 0);
    leaf->count--;
    memmove(entry, entry + 1, (leaf->count - (size_t)(entry - leaf->entries)) * sizeof(*entry));
    for (uint32_t part = place->part; part < LEAF_PART_COUNT; part++)
        leaf->ends[part]--;
    table->count--;
    if (leaf->count < leaf->room / 2)
        set_room(leaf, leaf->count + 2U);
}

/* --- changes --- */

static void note(struct key_table *table, const struct place *place, uint32_t word)
{
    table->changes = mem_grow(table->changes, table->change_count + 1, sizeof(*table->changes),
                              &table->change_capacity);
    table->changes[table->change_count++] = (struct change){*place, word};
}

bool key_table_add(struct key_table *table, struct bytes key, uint32_t doc_id, uint32_t birth,
                   bool is_gone)
{
    struct place place = place_of(table, key);

    object_check(table, KEY_TABLE_MAGIC);
    assert(doc_id < NUMBER_ID_END);
    if (find(&place) || place.leaf->count == LEAF_KEY_MAX)
        return false;
    insert(table, &place, doc_id | (is_gone ? GONE_BIT : 0));
    births_set(&table->births, doc_id, birth);
    note(table, &place, WORD_NONE);
    return true;
}

void key_table_mark(struct key_table *table, struct bytes key, bool is_gone)
{
    struct place place = place_of(table, key);
    struct entry *entry = find(&place);

    object_check(table, KEY_TABLE_MAGIC);
    if (!entry)
        return;
    note(table, &place, entry->word);
    entry->word = (entry->word & ~GONE_BIT) | (is_gone ? GONE_BIT : 0);
}

void key_table_remove(struct key_table *table, struct bytes key)
{
    struct place place = place_of(table, key);
    struct entry *entry = find(&place);

    object_check(table, KEY_TABLE_MAGIC);
    if (!entry)
        return;
    note(table, &place, entry->word);
    take_out(table, &place);
}

void key_table_commit(struct key_table *table)
{
    object_check(table, KEY_TABLE_MAGIC);
    table->change_count = 0;
}

/* Births stay: a number that was taken off its key is given to none before the commit. */
void key_table_rollback(struct key_table *table)
{
    object_check(table, KEY_TABLE_MAGIC);
    while (table->change_count > 0) {
        const struct change *change = &table->changes[--table->change_count];
        struct entry *entry = find(&change->place);

        if (change->word == WORD_NONE)
            take_out(table, &change->place);
        else if (entry)
            entry->word = change->word;
        else
            insert(table, &change->place, change->word);
    }
}

/* --- looking --- */

static void find_some(const struct key_table *table, struct number_ask *asks, uint32_t count)
{
    struct place places[WARM_COUNT];

    for (uint32_t i = 0; i < count; i++) {
        places[i] = place_of(table, asks[i].key);
        __builtin_prefetch(places[i].leaf);
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct leaf *leaf = places[i].leaf;

        if (leaf->count == 0)
            continue;
        __builtin_prefetch(leaf->entries + part_begin(&places[i]));
        __builtin_prefetch((const uint8_t *)(leaf->entries + leaf->ends[places[i].part]) - 1);
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct entry *entry = find(&places[i]);

        asks[i].doc_id = entry ? entry->word & ~GONE_BIT : NUMBER_NONE;
        asks[i].is_gone = entry && entry->word & GONE_BIT;
        asks[i].is_new = false;
        asks[i].lack = NULL;
        if (entry)
            births_warm(&table->births, asks[i].doc_id);
    }
    for (uint32_t i = 0; i < count; i++)
        asks[i].birth =
            asks[i].doc_id == NUMBER_NONE ? 0 : births_get(&table->births, asks[i].doc_id);
}

void key_table_find(const struct key_table *table, struct number_ask *asks, uint32_t count)
{
    object_check(table, KEY_TABLE_MAGIC);
    for (uint32_t done = 0, some; done < count; done += some) {
        some = count - done < WARM_COUNT ? count - done : WARM_COUNT;
        find_some(table, asks + done, some);
    }
}
