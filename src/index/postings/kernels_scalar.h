/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels_scalar.h - kernels that are plain loops on every processor. Each table of kernels
 * compiles its own copy with its own instructions: one that has popcnt and shlx needs no other loop
 * to be fast.
 */
#ifndef TORG_INDEX_POSTINGS_KERNELS_SCALAR_H
#define TORG_INDEX_POSTINGS_KERNELS_SCALAR_H

#include <string.h>

#include "index/postings/kernels.h"

/* The word at work stays in a register: one store an id, and no load that waits for a store. */
static inline void set_ids(struct window_bits *bits, const uint32_t *ids, size_t count, docid first)
{
    uint32_t at = count ? (ids[0] - first) >> 6 : 0;
    uint64_t word = bits->words[at];
    size_t i;

    for (i = 0; i < count; i++) {
        uint32_t offset = ids[i] - first;
        uint32_t next = offset >> 6;

        word = (word & -(uint64_t)(next == at)) | UINT64_C(1) << (offset & 63);
        at = next;
        bits->words[at] = word;
    }
}

static inline void set_ids16(struct window_bits *bits, const uint16_t *ids, size_t count,
                             uint16_t shift)
{
    uint32_t at = count ? ((uint16_t)(ids[0] + shift)) >> 6 : 0;
    uint64_t word = bits->words[at];
    size_t i;

    for (i = 0; i < count; i++) {
        uint32_t offset = (uint16_t)(ids[i] + shift);
        uint32_t next = offset >> 6;

        word = (word & -(uint64_t)(next == at)) | UINT64_C(1) << (offset & 63);
        at = next;
        bits->words[at] = word;
    }
}

static inline uint64_t load64(const uint8_t *in, size_t word)
{
    uint64_t value;

    memcpy(&value, in + word * sizeof(value), sizeof(value));
    return value;
}

static inline uint32_t word_ranks(const uint8_t *words, uint32_t count, uint16_t *before)
{
    uint32_t sum = 0, i;

    for (i = 0; i < count; i++) {
        before[i] = (uint16_t)sum;
        sum += (uint32_t)__builtin_popcountll(load64(words, i));
    }
    return sum;
}

static inline uint32_t count_window(const uint64_t *words)
{
    uint32_t count = 0;
    uint32_t i;

    for (i = 0; i < WINDOW_WORDS; i++)
        count += (uint32_t)__builtin_popcountll(words[i]);
    return count;
}

static inline void window_and(struct window_bits *to, const struct window_bits *from)
{
    unsigned i;

    for (i = 0; i < WINDOW_WORDS; i++)
        to->words[i] &= from->words[i];
}

static inline void window_or(struct window_bits *to, const struct window_bits *from)
{
    unsigned i;

    for (i = 0; i < WINDOW_WORDS; i++)
        to->words[i] |= from->words[i];
}

static inline void window_andnot(struct window_bits *to, const struct window_bits *from)
{
    unsigned i;

    for (i = 0; i < WINDOW_WORDS; i++)
        to->words[i] &= ~from->words[i];
}

#endif
