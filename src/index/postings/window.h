/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.h - the unit of all work in the index: 4096 consecutive document ids.
 *
 * Postings, live pages, columns, filters and facets are all cut at multiples of WINDOW_SIZE, so
 * that every operator fills, combines or reads one bitmap of 512 bytes that stays in cache.
 * Bit i of word w stands for the id window * WINDOW_SIZE + w * 64 + i.
 */
#ifndef TORG_INDEX_POSTINGS_WINDOW_H
#define TORG_INDEX_POSTINGS_WINDOW_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

typedef uint32_t docid;

#define DOCID_END UINT32_MAX /* past every document; never an id */

enum { WINDOW_SHIFT = 12, WINDOW_SIZE = 1 << WINDOW_SHIFT, WINDOW_WORDS = WINDOW_SIZE / 64 };

struct window_bits {
    alignas(64) uint64_t words[WINDOW_WORDS];
};

static inline uint32_t window_of(docid id)
{
    return id >> WINDOW_SHIFT;
}

static inline docid window_first(uint32_t window)
{
    return window << WINDOW_SHIFT;
}

static inline bool window_test(const struct window_bits *bits, uint32_t offset)
{
    return bits->words[offset >> 6] >> (offset & 63) & 1;
}

static inline void window_set(struct window_bits *bits, uint32_t offset)
{
    bits->words[offset >> 6] |= UINT64_C(1) << (offset & 63);
}

static inline void window_clear(struct window_bits *bits, uint32_t offset)
{
    bits->words[offset >> 6] &= ~(UINT64_C(1) << (offset & 63));
}

#endif
