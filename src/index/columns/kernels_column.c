/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_column.c - the portable twins of kernels_column.h, and the choice of a table. */
#include "index/columns/kernels_column.h"

#include <pthread.h>
#include <stddef.h>

#include "index/columns/column_code.h"
#include "index/postings/kernels_scalar.h"

#define DEFINE_RANGE(bits)                                                                         \
    static void range##bits(const uint##bits##_t *codes, uint##bits##_t low, uint##bits##_t span,  \
                            uint64_t *words)                                                       \
    {                                                                                              \
        uint32_t i;                                                                                \
        uint32_t j;                                                                                \
                                                                                                   \
        for (i = 0; i < WINDOW_WORDS; i++, codes += 64) {                                          \
            uint64_t match = 0;                                                                    \
                                                                                                   \
            for (j = 0; words[i] && j < 64; j++)                                                   \
                match |= (uint64_t)((uint##bits##_t)(CODE_LOAD(&codes[j]) - low) <= span) << j;    \
            words[i] &= match;                                                                     \
        }                                                                                          \
    }

#define DEFINE_ANY(bits)                                                                           \
    static void any##bits(const uint##bits##_t *codes, uint##bits##_t mask, uint64_t *words)       \
    {                                                                                              \
        uint32_t i;                                                                                \
        uint32_t j;                                                                                \
                                                                                                   \
        for (i = 0; i < WINDOW_WORDS; i++, codes += 64) {                                          \
            uint64_t match = 0;                                                                    \
                                                                                                   \
            for (j = 0; words[i] && j < 64; j++) {                                                 \
                uint##bits##_t code = CODE_LOAD(&codes[j]);                                        \
                                                                                                   \
                match |= (uint64_t)((code & mask) != 0 && code != UINT##bits##_MAX) << j;          \
            }                                                                                      \
            words[i] &= match;                                                                     \
        }                                                                                          \
    }

#define DEFINE_HISTOGRAM(bits)                                                                     \
    static void histogram##bits(const uint##bits##_t *codes, const uint64_t *words,                \
                                uint32_t *counts, uint32_t count)                                  \
    {                                                                                              \
        uint32_t i;                                                                                \
                                                                                                   \
        for (i = 0; i < WINDOW_WORDS; i++) {                                                       \
            const uint##bits##_t *part = codes + (size_t)i * 64;                                   \
            uint64_t word = words[i];                                                              \
                                                                                                   \
            for (; word; word &= word - 1) {                                                       \
                uint##bits##_t code = CODE_LOAD(&part[__builtin_ctzll(word)]);                     \
                                                                                                   \
                if (code < count)                                                                  \
                    counts[code]++;                                                                \
            }                                                                                      \
        }                                                                                          \
    }

DEFINE_RANGE(8)
DEFINE_RANGE(16)
DEFINE_RANGE(32)
DEFINE_RANGE(64)
DEFINE_ANY(8)
DEFINE_ANY(16)
DEFINE_ANY(32)
DEFINE_ANY(64)
DEFINE_HISTOGRAM(8)
DEFINE_HISTOGRAM(16)
DEFINE_HISTOGRAM(32)

static void table8(const uint8_t *codes, const uint64_t table[4], uint64_t *words)
{
    uint32_t i;

    for (i = 0; i < WINDOW_WORDS; i++, codes += 64) {
        uint64_t match = 0;
        uint64_t word;

        for (word = words[i]; word; word &= word - 1) {
            int j = __builtin_ctzll(word);
            uint8_t code = CODE_LOAD(&codes[j]);

            match |= (table[code / 64] >> (code % 64) & 1) << j;
        }
        words[i] = match;
    }
}

static void box(const uint64_t *codes, uint32_t high_low, uint32_t high_span, uint32_t low_low,
                uint32_t low_span, uint64_t *words)
{
    uint32_t i;
    uint32_t j;

    for (i = 0; i < WINDOW_WORDS; i++) {
        uint64_t match = 0;

        if (!words[i])
            continue;
        for (j = 0; j < 64; j++) {
            uint64_t code = CODE_LOAD(&codes[i * 64 + j]);
            bool in = (uint32_t)((uint32_t)(code >> 32) - high_low) <= high_span &&
                      (uint32_t)((uint32_t)code - low_low) <= low_span;

            match |= (uint64_t)in << j;
        }
        words[i] &= match;
    }
}

const struct column_kernels column_kernels_portable = {
    .name = "portable",
    .range8 = range8,
    .range16 = range16,
    .range32 = range32,
    .range64 = range64,
    .any8 = any8,
    .any16 = any16,
    .any32 = any32,
    .any64 = any64,
    .table8 = table8,
    .box = box,
    .histogram8 = histogram8,
    .histogram16 = histogram16,
    .histogram32 = histogram32,
    .count8 = histogram8,
    .popcount = count_window,
};

#ifdef __x86_64__
extern const struct column_kernels column_kernels_table_avx2;
#endif

const struct column_kernels *column_kernels_avx2(void)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("popcnt"))
        return &column_kernels_table_avx2;
#endif
    return NULL;
}

static const struct column_kernels *chosen;
static pthread_once_t chosen_once = PTHREAD_ONCE_INIT;

static void choose(void)
{
    const struct column_kernels *avx2 = column_kernels_avx2();

    chosen = avx2 ? avx2 : &column_kernels_portable;
}

const struct column_kernels *column_kernels(void)
{
    pthread_once(&chosen_once, choose);
    return chosen;
}
