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
    LEAF_KEY_COUNT = 144, /* expected of a leaf, at most, ... */
    LEAF_OWN_COUNT = 120, /* ... of which so many have their place beside those of other leaves */
    LEAF_CROWDED_COUNT = 190, /* too many, on the average, ... */
    LEAF_KEY_MAX = 255,       /* ... and more than one has room for */
    LEAF_PART_COUNT = 54,     /* with them a leaf's head is a cache line */
    LEAF_COUNT_MIN = 8,
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
    struct entry *more;            /* owned; those behind its own */
    uint8_t count, room;           /* of all; of more */
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
    struct entry *own;   /* owned: likewise; LEAF_OWN_COUNT of each leaf */
    uint64_t count;
    struct births births;
    struct change *changes; /* owned: since the last commit */
    size_t change_count, change_capacity;
};

static size_t leaves_size(const struct key_table *table)
{
    return table->leaf_count * sizeof(*table->leaves);
}

static size_t own_size(const struct key_table *table)
{
    return table->leaf_count * LEAF_OWN_COUNT * sizeof(*table->own);
}

struct key_table *key_table_new(uint64_t expected_count)
{
    struct key_table *table = mem_zero(sizeof(*table));

    object_begin(table, KEY_TABLE_MAGIC);
    assert(expected_count <= NUMBER_ID_END);
    table->leaf_count = (uint32_t)(expected_count / LEAF_KEY_COUNT) + LEAF_COUNT_MIN;
    table->secret = random_u64();
    table->leaves = mem_map_huge(leaves_size(table));
    table->own = mem_map_huge(own_size(table));
    return table;
}

void key_table_free(struct key_table *table)
{
    if (!table)
        return;
    object_check(table, KEY_TABLE_MAGIC);
    for (size_t i = 0; i < table->leaf_count; i++)
        free(table->leaves[i].more);
    mem_unmap(table->own, own_size(table));
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
    size_t size = sizeof(*table) + leaves_size(table) + own_size(table) +
                  table->change_capacity * sizeof(*table->changes) + births_size(&table->births);

    object_check(table, KEY_TABLE_MAGIC);
    for (size_t i = 0; i < table->leaf_count; i++)
        if (table->leaves[i].more)
            size += table->leaves[i].room * sizeof(struct entry) + sizeof(size_t);
    return size;
}

bool key_table_is_crowded(const struct key_table *table)
{
    object_check(table, KEY_TABLE_MAGIC);
    return table->count > (uint64_t)LEAF_CROWDED_COUNT * table->leaf_count;
}

/* --- entries of a leaf, by their places --- */

static struct entry *own_of(const struct key_table *table, const struct leaf *leaf)
{
    return table->own + (size_t)(leaf - table->leaves) * LEAF_OWN_COUNT;
}

static struct entry *entry_at(const struct key_table *table, const struct leaf *leaf, uint32_t at)
{
    return at < LEAF_OWN_COUNT ? own_of(table, leaf) + at : leaf->more + (at - LEAF_OWN_COUNT);
}

/* Behind its own places. */
static void set_room(struct leaf *leaf, uint32_t room)
{
    leaf->room = (uint8_t)room;
    leaf->more = mem_resize(leaf->more, room * sizeof(*leaf->more));
}

/* Those from `at` on go up by one. */
static void make_gap(const struct key_table *table, const struct leaf *leaf, uint32_t at)
{
    struct entry *own = own_of(table, leaf), *more = leaf->more;
    uint32_t end = leaf->count;

    if (end >= LEAF_OWN_COUNT) {
        uint32_t first = at > LEAF_OWN_COUNT ? at - LEAF_OWN_COUNT : 0;

        memmove(more + first + 1, more + first, (end - LEAF_OWN_COUNT - first) * sizeof(*more));
        if (at >= LEAF_OWN_COUNT)
            return;
        end = LEAF_OWN_COUNT - 1;
        more[0] = own[end];
    }
    memmove(own + at + 1, own + at, (end - at) * sizeof(*own));
}

/* Those behind `at` go down by one. */
static void close_gap(const struct key_table *table, const struct leaf *leaf, uint32_t at)
{
    struct entry *own = own_of(table, leaf), *more = leaf->more;
    uint32_t last = leaf->count - 1U;

    if (at < LEAF_OWN_COUNT) {
        uint32_t end = last < LEAF_OWN_COUNT ? last : LEAF_OWN_COUNT - 1;

        memmove(own + at, own + at + 1, (end - at) * sizeof(*own));
        if (last < LEAF_OWN_COUNT)
            return;
        own[end] = more[0];
        at = LEAF_OWN_COUNT;
    }
    at -= LEAF_OWN_COUNT;
    last -= LEAF_OWN_COUNT;
    memmove(more + at, more + at + 1, (last - at) * sizeof(*more));
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

/* Its place in the leaf; LEAF_KEY_MAX: it is not there. */
static uint32_t find(const struct key_table *table, const struct place *place)
{
    uint32_t end = place->leaf->ends[place->part];

    for (uint32_t at = part_begin(place); at < end; at++)
        if (entry_at(table, place->leaf, at)->order == place->order)
            return at;
    return LEAF_KEY_MAX;
}

static struct entry *find_entry(const struct key_table *table, const struct place *place)
{
    uint32_t at = find(table, place);

    return at == LEAF_KEY_MAX ? NULL : entry_at(table, place->leaf, at);
}

static void insert(struct key_table *table, const struct place *place, uint32_t word)
{
    struct leaf *leaf = place->leaf;
    uint32_t at = leaf->ends[place->part];

    assert(leaf->count < LEAF_KEY_MAX);
    if (leaf->count == LEAF_OWN_COUNT + leaf->room)
        set_room(leaf, leaf->room + 2U);
    make_gap(table, leaf, at);
    *entry_at(table, leaf, at) = (struct entry){place->order, word};
    for (uint32_t part = place->part; part < LEAF_PART_COUNT; part++)
        leaf->ends[part]++;
    leaf->count++;
    table->count++;
    assert(leaf->ends[LEAF_PART_COUNT - 1] == leaf->count);
}

static void take_out(struct key_table *table, const struct place *place)
{
    struct leaf *leaf = place->leaf;
    uint32_t at = find(table, place);

    assert(at < leaf->count && table->count > 0);
    close_gap(table, leaf, at);
    leaf->count--;
    for (uint32_t part = place->part; part < LEAF_PART_COUNT; part++)
        leaf->ends[part]--;
    table->count--;
    if (leaf->room > 2 && leaf->count < LEAF_OWN_COUNT + leaf->room / 2)
        set_room(leaf, leaf->count > LEAF_OWN_COUNT ? leaf->count - LEAF_OWN_COUNT + 2U : 2);
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
    if (place.leaf->count == LEAF_KEY_MAX || find_entry(table, &place))
        return false;
    insert(table, &place, doc_id | (is_gone ? GONE_BIT : 0));
    births_set(&table->births, doc_id, birth);
    note(table, &place, WORD_NONE);
    return true;
}

void key_table_mark(struct key_table *table, struct bytes key, bool is_gone)
{
    struct place place = place_of(table, key);
    struct entry *entry = find_entry(table, &place);

    object_check(table, KEY_TABLE_MAGIC);
    if (!entry)
        return;
    note(table, &place, entry->word);
    entry->word = (entry->word & ~GONE_BIT) | (is_gone ? GONE_BIT : 0);
}

void key_table_remove(struct key_table *table, struct bytes key)
{
    struct place place = place_of(table, key);
    struct entry *entry = find_entry(table, &place);

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
        struct entry *entry = find_entry(table, &change->place);

        if (change->word == WORD_NONE)
            take_out(table, &change->place);
        else if (entry)
            entry->word = change->word;
        else
            insert(table, &change->place, change->word);
    }
}

/* --- looking --- */

/* Entries of a part as they lie: beside each other, or in two pieces. */
struct run {
    const struct entry *first, *second;
    uint32_t first_count, second_count;
};

static struct run run_of(const struct key_table *table, const struct place *place)
{
    const struct leaf *leaf = place->leaf;
    uint32_t begin = part_begin(place), count = leaf->ends[place->part] - begin;
    struct run run = {.first_count = count};

    if (!count)
        return run;
    run.first = entry_at(table, leaf, begin);
    if (begin < LEAF_OWN_COUNT && begin + count > LEAF_OWN_COUNT) {
        run.first_count = LEAF_OWN_COUNT - begin;
        run.second = leaf->more;
        run.second_count = count - run.first_count;
        __builtin_prefetch(run.second);
    }
    __builtin_prefetch(run.first);
    __builtin_prefetch((const uint8_t *)(run.first + run.first_count) - 1);
    return run;
}

static const struct entry *find_in(const struct run *run, uint64_t order)
{
    for (uint32_t i = 0; i < run->first_count; i++)
        if (run->first[i].order == order)
            return &run->first[i];
    for (uint32_t i = 0; i < run->second_count; i++)
        if (run->second[i].order == order)
            return &run->second[i];
    return NULL;
}

static void find_some(const struct key_table *table, struct number_ask *asks, uint32_t count)
{
    struct place places[WARM_COUNT];
    struct run runs[WARM_COUNT];

    for (uint32_t i = 0; i < count; i++) {
        places[i] = place_of(table, asks[i].key);
        __builtin_prefetch(places[i].leaf);
    }
    for (uint32_t i = 0; i < count; i++)
        runs[i] = run_of(table, &places[i]);
    for (uint32_t i = 0; i < count; i++) {
        const struct entry *entry = find_in(&runs[i], places[i].order);

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
