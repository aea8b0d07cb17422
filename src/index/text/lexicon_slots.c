/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lexicon_slots.c - see lexicon_parts.h: from the hash of a word to its place.
 *
 * Open addressing, five bytes a slot. A slot does not hold enough of the hash to move it, so
 * growing reads the words again. Therefore a table has many parts, each of which grows alone and
 * by little: memory stays near what is used, and the writer never stops for long.
 */
#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/object.h"
#include "index/text/lexicon_parts.h"

enum { SIZE_FIRST = 16, BATCH_COUNT = 32 };

static size_t slots_size(uint32_t size)
{
    return sizeof(struct slots) + (size_t)size * (sizeof(uint32_t) + sizeof(uint8_t));
}

static struct slots *slots_new(struct lexicon *lexicon, uint32_t size)
{
    struct slots *slots = mem_zero(slots_size(size));

    slots->size = size;
    atomic_fetch_add_explicit(&lexicon->table_size, slots_size(size), memory_order_relaxed);
    return slots;
}

void slot_table_init(struct lexicon *lexicon, struct slot_table *table)
{
    object_check(lexicon, LEXICON_MAGIC);
    for (unsigned i = 0; i < SLOT_PART_COUNT; i++)
        atomic_init(&table->parts[i], slots_new(lexicon, SIZE_FIRST));
}

void slot_table_release(struct slot_table *table)
{
    for (unsigned i = 0; i < SLOT_PART_COUNT; i++)
        free(atomic_load(&table->parts[i]));
}

static void put(struct slots *slots, uint64_t hash, uint32_t place)
{
    uint64_t fraction = (uint32_t)(hash >> (32 - SLOT_PART_BITS));
    uint32_t at = (uint32_t)(fraction * slots->size >> 32);
    _Atomic uint8_t *tags = slots_tags(slots);

    while (atomic_load_explicit(&tags[at], memory_order_relaxed))
        at = at + 1 < slots->size ? at + 1 : 0;
    atomic_store_explicit(&slots->places[at], place, memory_order_relaxed);
    atomic_store_explicit(&tags[at], slots_tag(hash), memory_order_release);
    slots->used++;
}

/* Puts some words into a larger table; their bytes are asked for before the first is read. */
static void move(const struct lexicon *lexicon, bool is_form, const uint32_t *places,
                 unsigned count, struct slots *to)
{
    const uint8_t *records[BATCH_COUNT];
    unsigned i;

    for (i = 0; i < count; i++) {
        size_t offset = is_form ? places[i] : term_at(lexicon, places[i])->first;

        records[i] = record_at(lexicon, offset);
        __builtin_prefetch(records[i]);
    }
    for (i = 0; i < count; i++)
        put(to, hash64(is_form ? record_form(records[i]) : record_stem(records[i])), places[i]);
}

/* Five parts of a fuller table become four of the new one's. */
static void grow(struct lexicon *lexicon, const struct slot_table *table,
                 _Atomic(struct slots *) *part)
{
    struct slots *old = atomic_load_explicit(part, memory_order_relaxed);
    struct slots *new = slots_new(lexicon, old->size + old->size / 4);
    _Atomic uint8_t *tags = slots_tags(old);
    bool is_form = table == &lexicon->form_slots;
    uint32_t places[BATCH_COUNT];
    unsigned count = 0;

    for (uint32_t i = 0; i < old->size; i++) {
        if (atomic_load_explicit(&tags[i], memory_order_relaxed))
            places[count++] = atomic_load_explicit(&old->places[i], memory_order_relaxed);
        if (count == BATCH_COUNT || i + 1 == old->size) {
            move(lexicon, is_form, places, count, new);
            count = 0;
        }
    }
    atomic_store_explicit(part, new, memory_order_release);
    lexicon_retire(lexicon, &old->retired, slots_size(old->size));
}

void slot_table_put(struct lexicon *lexicon, struct slot_table *table, uint64_t hash,
                    uint32_t place)
{
    object_check(lexicon, LEXICON_MAGIC);
    _Atomic(struct slots *) *part = &table->parts[hash >> (64 - SLOT_PART_BITS)];
    const struct slots *slots = atomic_load_explicit(part, memory_order_relaxed);

    if ((uint64_t)(slots->used + 1) * 8 > (uint64_t)slots->size * 7)
        grow(lexicon, table, part);
    put(atomic_load_explicit(part, memory_order_relaxed), hash, place);
}
