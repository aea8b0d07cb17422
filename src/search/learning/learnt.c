/* SPDX-License-Identifier: Apache-2.0 */
/* learnt.c - see learnt.h. */
#include "search/learning/learnt.h"

#include <stdlib.h>

#include "base/endian.h"
#include "base/memory.h"
#include "base/varint.h"
#include "search/bounds.h"

enum { FIRST_BITS = 8, HASH_SIZE = 8 };

static void table_init(struct hash_table *table)
{
    *table = (struct hash_table){.bits = FIRST_BITS};
    table->slots = mem_array((size_t)1 << FIRST_BITS, sizeof(table->slots[0]));
}

/* The slot that has the hash, or is free for it. */
static uint64_t *find_slot(const struct hash_table *table, uint64_t hash)
{
    size_t mask = ((size_t)1 << table->bits) - 1;
    size_t place = hash >> (64 - table->bits);

    while (table->slots[place] && table->slots[place] != hash)
        place = (place + 1) & mask;
    return &table->slots[place];
}

static void grow(struct hash_table *table)
{
    struct hash_table larger = {.bits = table->bits + 1, .count = table->count};

    larger.slots = mem_array((size_t)1 << larger.bits, sizeof(larger.slots[0]));
    for (size_t i = 0; i < (size_t)1 << table->bits; i++) {
        if (table->slots[i])
            *find_slot(&larger, table->slots[i]) = table->slots[i];
    }
    free(table->slots);
    *table = larger;
}

void learnt_init(struct learnt *learnt)
{
    table_init(&learnt->newer);
    table_init(&learnt->older);
}

void learnt_release(struct learnt *learnt)
{
    free(learnt->newer.slots);
    free(learnt->older.slots);
    *learnt = (struct learnt){0};
}

bool learnt_add(struct learnt *learnt, uint64_t hash)
{
    uint64_t *slot;

    hash = hash ? hash : 1;
    slot = find_slot(&learnt->newer, hash);
    if (*slot)
        return false;
    *slot = hash;
    learnt->newer.count++;
    if (learnt->newer.count == SPELL_LEARNT_COUNT) {
        bool is_known = *find_slot(&learnt->older, hash);

        free(learnt->older.slots);
        learnt->older = learnt->newer;
        table_init(&learnt->newer);
        return !is_known;
    }
    if (learnt->newer.count > (size_t)1 << learnt->newer.bits >> 1)
        grow(&learnt->newer);
    return !*find_slot(&learnt->older, hash);
}

/* Those behind it that would not be found past the gap move up. */
static void clear_slot(struct hash_table *table, uint64_t *slot)
{
    size_t mask = ((size_t)1 << table->bits) - 1;
    size_t gap = (size_t)(slot - table->slots);

    if (!*slot)
        return;
    for (size_t at = (gap + 1) & mask; table->slots[at]; at = (at + 1) & mask) {
        size_t home = table->slots[at] >> (64 - table->bits);

        if (((at - home) & mask) >= ((at - gap) & mask)) {
            table->slots[gap] = table->slots[at];
            gap = at;
        }
    }
    table->slots[gap] = 0;
    table->count--;
}

void learnt_remove(struct learnt *learnt, uint64_t hash)
{
    hash = hash ? hash : 1;
    clear_slot(&learnt->newer, find_slot(&learnt->newer, hash));
    clear_slot(&learnt->older, find_slot(&learnt->older, hash));
}

static void put_table(const struct hash_table *table, struct buf *out)
{
    for (size_t i = 0; i < (size_t)1 << table->bits; i++) {
        uint8_t bytes[HASH_SIZE];

        if (!table->slots[i])
            continue;
        put_le64(bytes, table->slots[i]);
        buf_put_raw(out, bytes, sizeof(bytes));
    }
}

void learnt_put(const struct learnt *learnt, struct buf *out)
{
    varint_put(out, (uint64_t)learnt->older.count + learnt->newer.count);
    put_table(&learnt->older, out);
    put_table(&learnt->newer, out);
}

bool learnt_take(struct learnt *learnt, struct bytes *in)
{
    uint64_t count;

    if (!varint_get(in, &count) || count > 2 * (uint64_t)SPELL_LEARNT_COUNT ||
        in->size < count * HASH_SIZE)
        return false;
    for (uint64_t i = 0; i < count; i++) {
        learnt_add(learnt, get_le64(in->data));
        *in = bytes_skip(*in, HASH_SIZE);
    }
    return true;
}
