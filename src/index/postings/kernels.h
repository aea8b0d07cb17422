/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.h - the inner loops over blocks of 256 numbers and windows of 4096 bits.
 *
 * Two tables of the same functions: the portable one is the definition, the AVX2 one gives the
 * same bytes faster. kernels() picks by cpuid, once. Under ThreadSanitizer it is always the
 * portable one, because vector loads of memory that another thread stores to are undefined in C.
 *
 * Packed layout. A block of 256 values of `width` bits takes width * 32 bytes. Wide: 8 lanes of
 * 32 bits; value i is in lane i % 8, its bits begin at bit (i / 8) * width of the lane's stream,
 * and word k of lane l is the little-endian u32 at byte (k * 8 + l) * 4. Narrow: the same with 16
 * lanes of u16. Values keep their order, so a vector holds neighbours and no transposition is due.
 *
 * No function reads outside of its input or writes outside of its output; none needs alignment.
 */
#ifndef TORG_INDEX_POSTINGS_KERNELS_H
#define TORG_INDEX_POSTINGS_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "index/postings/window.h"

enum {
    BLOCK_SIZE = 256,       /* values of a packed block */
    WIDE_LANES = 8,         /* of 32 bits */
    NARROW_LANES = 16,      /* of 16 bits */
    BLOCK_WIDTH_SIZE = 32,  /* bytes that one bit of width costs */
    WINDOW_LIST_MAX = 4096, /* entries of a window's list */
    WINDOW_LIST_SPARE = 16, /* room behind them that list() may scribble on */
};

struct kernels {
    const char *name;

    /* 256 values of 0..32 bits. */
    void (*unpack)(const uint8_t *in, unsigned width, uint32_t out[BLOCK_SIZE]);
    /* The same, as ids: out[i] = before + sum of (value + 1) up to i, modulo 2^32. */
    void (*unpack_ids)(const uint8_t *in, unsigned width, docid before, uint32_t out[BLOCK_SIZE]);
    /* The narrow layout, 0..16 bits: out[i] = sum of (value + 1) up to i, minus 1, modulo 2^16.
     * Returns the sum of all values, in full. */
    uint32_t (*unpack_ids16)(const uint8_t *in, unsigned width, uint16_t out[BLOCK_SIZE]);
    /* out[i] = base + in[i]. */
    void (*widen)(const uint16_t in[BLOCK_SIZE], uint32_t base, uint32_t out[BLOCK_SIZE]);

    /* Sets bit id - first (id + shift modulo 2^16) for each of the ids, which ascend and lie in
     * the window. It must not hold anything at or above the first of them yet. */
    void (*set_ids)(struct window_bits *bits, const uint32_t *ids, size_t count, docid first);
    void (*set_ids16)(struct window_bits *bits, const uint16_t *ids, size_t count, uint16_t shift);

    /* Of a bitmap of `count` words that need no alignment. before[i] = bits set below word i;
     * returns all of them. */
    uint32_t (*word_ranks)(const uint8_t *words, uint32_t count, uint16_t *before);
    /* out[i] = base + place of the i-th set bit. Room for 3 more than there are. */
    void (*list_words)(const uint8_t *words, uint32_t count, uint32_t base, uint32_t *out);
    /* Where each of the wanted, ids - base, stands among the set bits; -1: it is not set. */
    void (*find_bits)(const uint8_t *words, const uint16_t *before, const uint32_t *ids,
                      uint32_t count, uint32_t base, int16_t *indexes);
    /* Where each of the ids, minus base, stands in a block of ascending numbers; -1: nowhere. */
    void (*find_ids16)(const uint16_t block[BLOCK_SIZE], const uint32_t *ids, uint32_t count,
                       uint32_t base, int16_t *indexes);
    /* Of up to BLOCK_SIZE ids, those that are there: which of the ids, and where they stand.
     * Returns how many; both arrays have room for all. */
    uint32_t (*meet_ids16)(const uint16_t block[BLOCK_SIZE], const uint32_t *ids, uint32_t count,
                           uint32_t base, uint16_t *places, int16_t *indexes);
    /* find_ids16 in up to BLOCK_SIZE numbers, with room for whole rows of 8. The ids ascend. */
    void (*find_ids)(const uint32_t *block, uint32_t size, const uint32_t *ids, uint32_t count,
                     int16_t *indexes);

    /* Returns how many of the numbers, of which the low 8 bits count, have their bit set; if no
     * more than max, indexes are theirs. */
    uint32_t (*sift)(const uint32_t numbers[BLOCK_SIZE], const uint32_t bits[8], uint32_t max,
                     uint16_t indexes[BLOCK_SIZE]);

    void (*window_and)(struct window_bits *to, const struct window_bits *from);
    void (*window_or)(struct window_bits *to, const struct window_bits *from);
    void (*window_andnot)(struct window_bits *to, const struct window_bits *from);
    uint32_t (*window_count)(const struct window_bits *bits);
    uint32_t (*window_and_count)(const struct window_bits *a, const struct window_bits *b);
    /* The set bits, ascending; returns how many. */
    uint32_t (*window_list)(const struct window_bits *bits,
                            uint16_t out[WINDOW_LIST_MAX + WINDOW_LIST_SPARE]);
};

extern const struct kernels kernels_portable;
#ifdef TORG_HAVE_AVX2
extern const struct kernels kernels_avx2;
#endif

/* The fastest table this processor can run. */
const struct kernels *kernels(void);
/* The AVX2 table when it is built in and the processor has it, else NULL. */
const struct kernels *kernels_vector(void);

#endif
