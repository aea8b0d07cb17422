/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels_column.h - the loops over one window of one column.
 *
 * Each has a portable twin, which is the definition, and may have one for a machine's vectors; the
 * table is chosen once. Filters keep the candidates that match: words[i] &= match. Codes are as in
 * column_page.h: unsigned, all ones is null. They are aligned to 64 bytes.
 */
#ifndef TORG_INDEX_COLUMNS_KERNELS_COLUMN_H
#define TORG_INDEX_COLUMNS_KERNELS_COLUMN_H

#include <stdint.h>

#include "index/postings/window.h"

enum { KERNEL_COUNT_VALUES_MAX = 16 };

struct column_kernels {
    const char *name;

    /* low <= code <= low + span; the caller keeps null outside */
    void (*range8)(const uint8_t *codes, uint8_t low, uint8_t span, uint64_t *words);
    void (*range16)(const uint16_t *codes, uint16_t low, uint16_t span, uint64_t *words);
    void (*range32)(const uint32_t *codes, uint32_t low, uint32_t span, uint64_t *words);
    void (*range64)(const uint64_t *codes, uint64_t low, uint64_t span, uint64_t *words);

    /* code & mask, and the code is not null */
    void (*any8)(const uint8_t *codes, uint8_t mask, uint64_t *words);
    void (*any16)(const uint16_t *codes, uint16_t mask, uint64_t *words);
    void (*any32)(const uint32_t *codes, uint32_t mask, uint64_t *words);
    void (*any64)(const uint64_t *codes, uint64_t mask, uint64_t *words);

    /* the code is in the table of 256 bits; the caller keeps null outside */
    void (*table8)(const uint8_t *codes, const uint64_t table[4], uint64_t *words);

    /* both halves in their ranges (modulo 2^32) */
    void (*box)(const uint64_t *codes, uint32_t high_low, uint32_t high_span, uint32_t low_low,
                uint32_t low_span, uint64_t *words);

    /* counts[code]++ for each candidate whose code is below count */
    void (*histogram8)(const uint8_t *codes, const uint64_t *words, uint32_t *counts,
                       uint32_t count);
    void (*histogram16)(const uint16_t *codes, const uint64_t *words, uint32_t *counts,
                        uint32_t count);
    void (*histogram32)(const uint32_t *codes, const uint64_t *words, uint32_t *counts,
                        uint32_t count);

    /* the same for at most KERNEL_COUNT_VALUES_MAX values, made for many candidates */
    void (*count8)(const uint8_t *codes, const uint64_t *words, uint32_t *counts, uint32_t count);

    uint32_t (*popcount)(const uint64_t *words);
};

extern const struct column_kernels column_kernels_portable;

/* The best for this machine; under ThreadSanitizer the portable ones. */
const struct column_kernels *column_kernels(void);

/* NULL when this machine or build cannot run it: for tests, which compare the twins. */
const struct column_kernels *column_kernels_avx2(void);

#endif
