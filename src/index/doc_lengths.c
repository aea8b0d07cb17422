/* SPDX-License-Identifier: Apache-2.0 */
/* doc_lengths.c - see doc_lengths.h. Pages are never freed before the end: ids are used again. */
#include "index/doc_lengths.h"

#include <stdlib.h>

#include "base/memory.h"

enum {
    CHUNK_SHIFT = 9,
    CHUNK_SIZE = 1 << CHUNK_SHIFT,
    CHUNK_COUNT = 1 << (32 - WINDOW_SHIFT - CHUNK_SHIFT),
    FREE_COUNT = 24, /* codes that floats of 8 bits for 31-bit numbers leave over */
    STEP_COUNT = 8,  /* codes of one power of two: 4 significant bits */
};

/* Of one field: most schemas have fewer than there may be. */
struct page {
    _Atomic uint8_t lengths[WINDOW_SIZE];
};

struct chunk {
    _Atomic(struct page *) pages[CHUNK_SIZE][DOC_LENGTH_FIELD_COUNT];
};

struct doc_lengths {
    _Atomic uint64_t page_count;
    _Atomic(struct chunk *) chunks[CHUNK_COUNT];
};

static const struct page no_documents;

struct doc_lengths *doc_lengths_new(void)
{
    return mem_zero(sizeof(struct doc_lengths));
}

void doc_lengths_free(struct doc_lengths *lengths)
{
    uint32_t i;
    uint32_t j;
    unsigned field;

    if (!lengths)
        return;
    for (i = 0; i < CHUNK_COUNT; i++) {
        struct chunk *chunk = atomic_load_explicit(&lengths->chunks[i], memory_order_relaxed);

        for (j = 0; chunk && j < CHUNK_SIZE; j++) {
            for (field = 0; field < DOC_LENGTH_FIELD_COUNT; field++)
                free(atomic_load_explicit(&chunk->pages[j][field], memory_order_relaxed));
        }
        free(chunk);
    }
    free(lengths);
}

static struct page *page_of(const struct doc_lengths *lengths, uint32_t window, unsigned field)
{
    struct chunk *chunk =
        atomic_load_explicit(&lengths->chunks[window >> CHUNK_SHIFT], memory_order_acquire);

    return chunk ? atomic_load_explicit(&chunk->pages[window & (CHUNK_SIZE - 1)][field],
                                        memory_order_acquire)
                 : NULL;
}

static struct page *page_need(struct doc_lengths *lengths, uint32_t window, unsigned field)
{
    _Atomic(struct chunk *) *place = &lengths->chunks[window >> CHUNK_SHIFT];
    struct chunk *chunk = atomic_load_explicit(place, memory_order_relaxed);
    struct page *page = mem_zero(sizeof(*page));

    if (!chunk) {
        chunk = mem_zero(sizeof(*chunk));
        atomic_store_explicit(place, chunk, memory_order_release);
    }
    atomic_store_explicit(&chunk->pages[window & (CHUNK_SIZE - 1)][field], page,
                          memory_order_release);
    atomic_fetch_add_explicit(&lengths->page_count, 1, memory_order_relaxed);
    return page;
}

void doc_lengths_set(struct doc_lengths *lengths, docid id, uint32_t packed)
{
    unsigned field;

    for (field = 0; field < DOC_LENGTH_FIELD_COUNT; field++) {
        struct page *page = page_of(lengths, window_of(id), field);
        uint8_t length = (uint8_t)(packed >> field * 8);

        if (!page && !length)
            continue; /* as without a page */
        if (!page)
            page = page_need(lengths, window_of(id), field);
        atomic_store_explicit(&page->lengths[id & (WINDOW_SIZE - 1)], length, memory_order_relaxed);
    }
}

static const struct page *page_at(const struct doc_lengths *lengths, uint32_t window,
                                  unsigned field)
{
    const struct page *page = page_of(lengths, window, field);

    return page ? page : &no_documents;
}

static uint8_t length_in(const struct page *page, docid id)
{
    return atomic_load_explicit(&page->lengths[id & (WINDOW_SIZE - 1)], memory_order_relaxed);
}

uint32_t doc_lengths_get(const struct doc_lengths *lengths, unsigned mask, docid id)
{
    uint32_t packed = 0;
    unsigned field;

    for (field = 0; field < DOC_LENGTH_FIELD_COUNT; field++) {
        if (mask >> field & 1)
            packed |= (uint32_t)length_in(page_at(lengths, window_of(id), field), id) << field * 8;
    }
    return packed;
}

void doc_lengths_gather(const struct doc_lengths *lengths, unsigned field, const docid *ids,
                        uint32_t count, uint8_t *out)
{
    enum { RUN_LENGTH = 8 }; /* ids of a window, about, that make it worth to look for its end */
    uint32_t i = 0, end;

    if (count && window_of(ids[count - 1]) - window_of(ids[0]) >= count / RUN_LENGTH) {
        for (; i < count; i++)
            out[i] = length_in(page_at(lengths, window_of(ids[i]), field), ids[i]);
        return;
    }
    while (i < count) {
        uint32_t window = window_of(ids[i]);
        const struct page *page = page_at(lengths, window, field);

        for (end = i; end < count && window_of(ids[end]) == window; end++)
            out[end] = length_in(page, ids[end]);
        i = end;
    }
}

uint64_t doc_lengths_size(const struct doc_lengths *lengths)
{
    return sizeof(*lengths) +
           atomic_load_explicit(&lengths->page_count, memory_order_relaxed) * sizeof(struct page);
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
