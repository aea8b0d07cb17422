/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doc_lengths.c - see doc_lengths.h.
 *
 * A chunk has the lengths of 2^21 ids, a plain array a field, of which only the pages that were
 * written to are resident: with pages of 4 KB as many as windows that have documents. Nothing is
 * freed before the end: ids are used again.
 */
#include "index/postings/doc_lengths.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/object.h"

enum {
    CHUNK_SHIFT = 9,
    CHUNK_WINDOWS = 1 << CHUNK_SHIFT,
    CHUNK_SIZE = CHUNK_WINDOWS * WINDOW_SIZE,
    CHUNK_COUNT = 1 << (32 - WINDOW_SHIFT - CHUNK_SHIFT),
    FREE_COUNT = 24, /* codes that floats of 8 bits for 31-bit numbers leave over */
    STEP_COUNT = 8,  /* codes of one power of two: 4 significant bits */
};

struct chunk {
    /* CHUNK_SIZE of each field; NULL: most schemas have fewer fields than there may be. */
    _Atomic(_Atomic uint8_t *) lengths[DOC_LENGTH_FIELD_COUNT];
    /* 255 - the least length but 0 that the window has had; 0: none. */
    _Atomic uint8_t shortest[DOC_LENGTH_FIELD_COUNT][CHUNK_WINDOWS];
};

enum { DOC_LENGTHS_MAGIC = OBJECT_MAGIC('d', 'l', 'e', 'n') };

struct doc_lengths {
    uint32_t magic;
    _Atomic uint64_t window_count; /* of each field for itself */
    _Atomic(struct chunk *) chunks[CHUNK_COUNT];
};

struct doc_lengths *doc_lengths_new(void)
{
    struct doc_lengths *lengths = mem_zero(sizeof(*lengths));

    object_begin(lengths, DOC_LENGTHS_MAGIC);
    return lengths;
}

void doc_lengths_free(struct doc_lengths *lengths)
{
    unsigned field;
    uint32_t i;

    if (!lengths)
        return;
    object_check(lengths, DOC_LENGTHS_MAGIC);
    for (i = 0; i < CHUNK_COUNT; i++) {
        struct chunk *chunk = atomic_load_explicit(&lengths->chunks[i], memory_order_relaxed);

        for (field = 0; chunk && field < DOC_LENGTH_FIELD_COUNT; field++)
            mem_unmap((void *)atomic_load_explicit(&chunk->lengths[field], memory_order_relaxed),
                      CHUNK_SIZE);
        free(chunk);
    }
    object_end(lengths, DOC_LENGTHS_MAGIC);
    free(lengths);
}

static struct chunk *chunk_of(const struct doc_lengths *lengths, uint32_t window)
{
    return atomic_load_explicit(&lengths->chunks[window >> CHUNK_SHIFT], memory_order_acquire);
}

/* The field's lengths of the chunk that the id is in; NULL: all are 0. */
static _Atomic uint8_t *array_of(const struct doc_lengths *lengths, docid id, unsigned field)
{
    struct chunk *chunk = chunk_of(lengths, window_of(id));

    return chunk ? atomic_load_explicit(&chunk->lengths[field], memory_order_acquire) : NULL;
}

static _Atomic uint8_t *need_array(struct doc_lengths *lengths, docid id, unsigned field)
{
    _Atomic(struct chunk *) *place = &lengths->chunks[window_of(id) >> CHUNK_SHIFT];
    struct chunk *chunk = atomic_load_explicit(place, memory_order_relaxed);
    _Atomic uint8_t *array = mem_map(CHUNK_SIZE);

    if (!chunk) {
        chunk = mem_zero(sizeof(*chunk));
        atomic_store_explicit(place, chunk, memory_order_release);
    }
    atomic_store_explicit(&chunk->lengths[field], array, memory_order_release);
    return array;
}

/* Never goes back: ids are used again, and what is told need not be the very least. */
static void note_shortest(struct doc_lengths *lengths, uint32_t window, unsigned field,
                          uint8_t length)
{
    _Atomic uint8_t *place =
        &chunk_of(lengths, window)->shortest[field][window & (CHUNK_WINDOWS - 1)];
    uint8_t before = atomic_load_explicit(place, memory_order_relaxed);

    if (!length || before >= UINT8_MAX - length)
        return;
    if (before == 0)
        atomic_fetch_add_explicit(&lengths->window_count, 1, memory_order_relaxed);
    atomic_store_explicit(place, (uint8_t)(UINT8_MAX - length), memory_order_release);
}

void doc_lengths_set(struct doc_lengths *lengths, docid id, uint32_t packed)
{
    unsigned field;

    object_check(lengths, DOC_LENGTHS_MAGIC);
    for (field = 0; field < DOC_LENGTH_FIELD_COUNT; field++) {
        _Atomic uint8_t *array = array_of(lengths, id, field);
        uint8_t length = (uint8_t)(packed >> field * 8);

        if (!array && !length)
            continue; /* as it is without */
        if (!array)
            array = need_array(lengths, id, field);
        note_shortest(lengths, window_of(id), field, length);
        atomic_store_explicit(&array[id & (CHUNK_SIZE - 1)], length, memory_order_relaxed);
    }
}

uint32_t doc_lengths_get(const struct doc_lengths *lengths, unsigned mask, docid id)
{
    uint32_t packed = 0;
    unsigned field;

    for (field = 0; field < DOC_LENGTH_FIELD_COUNT; field++) {
        const _Atomic uint8_t *array = mask >> field & 1 ? array_of(lengths, id, field) : NULL;

        if (array)
            packed |=
                (uint32_t)atomic_load_explicit(&array[id & (CHUNK_SIZE - 1)], memory_order_relaxed)
                << field * 8;
    }
    return packed;
}

void doc_lengths_gather(const struct doc_lengths *lengths, unsigned field, const docid *ids,
                        uint32_t count, uint8_t *out)
{
    uint32_t i = 0;

    while (i < count) {
        docid first = ids[i] & ~(docid)(CHUNK_SIZE - 1);
        const _Atomic uint8_t *array = array_of(lengths, first, field);

        for (; i < count && ids[i] - first < CHUNK_SIZE; i++)
            out[i] = array ? atomic_load_explicit(&array[ids[i] - first], memory_order_relaxed) : 0;
    }
}

uint8_t doc_lengths_least(const struct doc_lengths *lengths, unsigned field, docid first,
                          docid last)
{
    uint32_t window = window_of(first), end = window_of(last);
    uint8_t shortest = 0;

    while (window <= end) {
        const struct chunk *chunk = chunk_of(lengths, window);
        uint32_t until = window | (CHUNK_WINDOWS - 1);

        for (until = until < end ? until : end; chunk && window <= until; window++) {
            uint8_t found = atomic_load_explicit(
                &chunk->shortest[field][window & (CHUNK_WINDOWS - 1)], memory_order_relaxed);

            shortest = found > shortest ? found : shortest;
        }
        window = until + 1;
    }
    return (uint8_t)(UINT8_MAX - shortest);
}

uint64_t doc_lengths_size(const struct doc_lengths *lengths)
{
    object_check(lengths, DOC_LENGTHS_MAGIC);
    return sizeof(*lengths) +
           atomic_load_explicit(&lengths->window_count, memory_order_relaxed) * WINDOW_SIZE;
}

uint8_t doc_length_code(uint32_t length)
{
    uint32_t rest = length - FREE_COUNT;
    unsigned shift;

    if (length < FREE_COUNT + 2 * STEP_COUNT)
        return (uint8_t)length;
    if (rest > INT32_MAX - FREE_COUNT)
        return 255;
    shift = 31U - (unsigned)__builtin_clz(rest) - 3; /* four significant bits stay */
    return (uint8_t)(FREE_COUNT + (shift + 1) * STEP_COUNT + ((rest >> shift) & (STEP_COUNT - 1)));
}

uint32_t doc_length_value(uint8_t code)
{
    uint32_t step = code - (uint32_t)FREE_COUNT;

    if (code < FREE_COUNT + 2 * STEP_COUNT)
        return code;
    return FREE_COUNT + ((step % STEP_COUNT + STEP_COUNT) << (step / STEP_COUNT - 1));
}
