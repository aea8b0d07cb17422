/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels_column_avx2.c - the twins of kernels_column.c for AVX2; compiled by itself, with -mavx2.
 *
 * Vector loads of codes that another thread stores to: see column_code.h. Nothing here runs before
 * column_kernels() has asked the processor.
 */
#include "index/columns/kernels_column.h"

#include <immintrin.h>
#include <stddef.h>
#include <string.h>

#include "index/postings/kernels_scalar.h"

extern const struct column_kernels column_kernels_table_avx2;

static inline __m256i load(const void *place)
{
    return _mm256_load_si256(place);
}

static inline uint64_t bits8(__m256i match)
{
    return (uint32_t)_mm256_movemask_epi8(match);
}

/* Two vectors of 16-bit truths are 32 bits, in order. */
static inline uint64_t bits16(__m256i first, __m256i second)
{
    return bits8(_mm256_permute4x64_epi64(_mm256_packs_epi16(first, second), 0xd8));
}

static inline uint64_t bits32(__m256i match)
{
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(match));
}

static inline uint64_t bits64(__m256i match)
{
    return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(match));
}

/* ---- ranges: code - low <= span, unsigned, is min(code - low, span) == code - low ---- */

static inline __m256i in8(const uint8_t *codes, __m256i low, __m256i span)
{
    __m256i moved = _mm256_sub_epi8(load(codes), low);

    return _mm256_cmpeq_epi8(_mm256_min_epu8(moved, span), moved);
}

static void range8(const uint8_t *codes, uint8_t low, uint8_t span, uint64_t *words)
{
    __m256i lows = _mm256_set1_epi8((char)low);
    __m256i spans = _mm256_set1_epi8((char)span);
    uint32_t i;

    for (i = 0; i < WINDOW_WORDS; i++, codes += 64)
        if (words[i])
            words[i] &= bits8(in8(codes, lows, spans)) | bits8(in8(codes + 32, lows, spans)) << 32;
}

static inline __m256i in16(const uint16_t *codes, __m256i low, __m256i span)
{
    __m256i moved = _mm256_sub_epi16(load(codes), low);

    return _mm256_cmpeq_epi16(_mm256_min_epu16(moved, span), moved);
}

static void range16(const uint16_t *codes, uint16_t low, uint16_t span, uint64_t *words)
{
    __m256i lows = _mm256_set1_epi16((short)low);
    __m256i spans = _mm256_set1_epi16((short)span);
    uint32_t i;

    for (i = 0; i < WINDOW_WORDS; i++, codes += 64)
        if (words[i])
            words[i] &= bits16(in16(codes, lows, spans), in16(codes + 16, lows, spans)) |
                        bits16(in16(codes + 32, lows, spans), in16(codes + 48, lows, spans)) << 32;
}

static inline __m256i in32(const uint32_t *codes, __m256i low, __m256i span)
{
    __m256i moved = _mm256_sub_epi32(load(codes), low);

    return _mm256_cmpeq_epi32(_mm256_min_epu32(moved, span), moved);
}

static void range32(const uint32_t *codes, uint32_t low, uint32_t span, uint64_t *words)
{
    __m256i lows = _mm256_set1_epi32((int)low);
    __m256i spans = _mm256_set1_epi32((int)span);
    uint32_t i;
    uint32_t j;

    for (i = 0; i < WINDOW_WORDS; i++, codes += 64) {
        uint64_t match = 0;

        if (!words[i])
            continue;
        for (j = 0; j < 64; j += 8)
            match |= bits32(in32(codes + j, lows, spans)) << j;
        words[i] &= match;
    }
}

/* No unsigned compare of 64 bits: with the top bit turned the signed one does. */
static void range64(const uint64_t *codes, uint64_t low, uint64_t span, uint64_t *words)
{
    __m256i top = _mm256_set1_epi64x(INT64_MIN);
    __m256i lows = _mm256_set1_epi64x((int64_t)low);
    __m256i spans = _mm256_xor_si256(_mm256_set1_epi64x((int64_t)span), top);
    uint32_t i;
    uint32_t j;

    for (i = 0; i < WINDOW_WORDS; i++, codes += 64) {
        uint64_t outside = 0;

        if (!words[i])
            continue;
        for (j = 0; j < 64; j += 4) {
            __m256i moved = _mm256_xor_si256(_mm256_sub_epi64(load(codes + j), lows), top);

            outside |= bits64(_mm256_cmpgt_epi64(moved, spans)) << j;
        }
        words[i] &= ~outside;
    }
}

/* ---- masks: not (no common bit, or null) ---- */

static inline __m256i no8(const uint8_t *codes, __m256i mask)
{
    __m256i code = load(codes);

    return _mm256_or_si256(_mm256_cmpeq_epi8(_mm256_and_si256(code, mask), _mm256_setzero_si256()),
                           _mm256_cmpeq_epi8(code, _mm256_set1_epi8(-1)));
}

static void any8(const uint8_t *codes, uint8_t mask, uint64_t *words)
{
    __m256i masks = _mm256_set1_epi8((char)mask);
    uint32_t i;

    for (i = 0; i < WINDOW_WORDS; i++, codes += 64)
        if (words[i])
            words[i] &= ~(bits8(no8(codes, masks)) | bits8(no8(codes + 32, masks)) << 32);
}

static inline __m256i no16(const uint16_t *codes, __m256i mask)
{
    __m256i code = load(codes);

    return _mm256_or_si256(_mm256_cmpeq_epi16(_mm256_and_si256(code, mask), _mm256_setzero_si256()),
                           _mm256_cmpeq_epi16(code, _mm256_set1_epi16(-1)));
}

static void any16(const uint16_t *codes, uint16_t mask, uint64_t *words)
{
    __m256i masks = _mm256_set1_epi16((short)mask);
    uint32_t i;

    for (i = 0; i < WINDOW_WORDS; i++, codes += 64)
        if (words[i])
            words[i] &= ~(bits16(no16(codes, masks), no16(codes + 16, masks)) |
                          bits16(no16(codes + 32, masks), no16(codes + 48, masks)) << 32);
}

static void any32(const uint32_t *codes, uint32_t mask, uint64_t *words)
{
    __m256i masks = _mm256_set1_epi32((int)mask);
    uint32_t i;
    uint32_t j;

    for (i = 0; i < WINDOW_WORDS; i++, codes += 64) {
        uint64_t outside = 0;

        if (!words[i])
            continue;
        for (j = 0; j < 64; j += 8) {
            __m256i code = load(codes + j);

            outside |= bits32(_mm256_or_si256(_mm256_cmpeq_epi32(_mm256_and_si256(code, masks),
                                                                 _mm256_setzero_si256()),
                                              _mm256_cmpeq_epi32(code, _mm256_set1_epi32(-1))))
                       << j;
        }
        words[i] &= ~outside;
    }
}

static void any64(const uint64_t *codes, uint64_t mask, uint64_t *words)
{
    __m256i masks = _mm256_set1_epi64x((int64_t)mask);
    uint32_t i;
    uint32_t j;

    for (i = 0; i < WINDOW_WORDS; i++, codes += 64) {
        uint64_t outside = 0;

        if (!words[i])
            continue;
        for (j = 0; j < 64; j += 4) {
            __m256i code = load(codes + j);

            outside |= bits64(_mm256_or_si256(_mm256_cmpeq_epi64(_mm256_and_si256(code, masks),
                                                                 _mm256_setzero_si256()),
                                              _mm256_cmpeq_epi64(code, _mm256_set1_epi64x(-1))))
                       << j;
        }
        words[i] &= ~outside;
    }
}

/* ---- a table: byte code / 8 of its 32 bytes, bit code % 8 ---- */

struct table_halves {
    __m256i low, high; /* 16 bytes of the table, twice: codes below 128, and the others */
};

static inline uint64_t in_table8(const uint8_t *codes, struct table_halves table)
{
    const __m256i powers =
        _mm256_setr_epi8(1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16,
                         32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128);
    __m256i code = load(codes);
    __m256i place = _mm256_and_si256(_mm256_srli_epi16(code, 3), _mm256_set1_epi8(15));
    __m256i bit = _mm256_shuffle_epi8(powers, _mm256_and_si256(code, _mm256_set1_epi8(7)));
    __m256i byte = _mm256_blendv_epi8(_mm256_shuffle_epi8(table.low, place),
                                      _mm256_shuffle_epi8(table.high, place), code);

    return bits8(_mm256_cmpeq_epi8(_mm256_and_si256(byte, bit), bit));
}

static void table8(const uint8_t *codes, const uint64_t table[4], uint64_t *words)
{
    struct table_halves halves = {
        _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)table)),
        _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)(table + 2))),
    };
    uint32_t i;

    for (i = 0; i < WINDOW_WORDS; i++, codes += 64)
        if (words[i])
            words[i] &= in_table8(codes, halves) | in_table8(codes + 32, halves) << 32;
}

static void box(const uint64_t *codes, uint32_t high_low, uint32_t high_span, uint32_t low_low,
                uint32_t low_span, uint64_t *words)
{
    __m256i lows = _mm256_set1_epi64x((int64_t)((uint64_t)high_low << 32 | low_low));
    __m256i spans = _mm256_set1_epi64x((int64_t)((uint64_t)high_span << 32 | low_span));
    __m256i ones = _mm256_set1_epi64x(-1);
    uint32_t i;
    uint32_t j;

    for (i = 0; i < WINDOW_WORDS; i++, codes += 64) {
        uint64_t match = 0;

        if (!words[i])
            continue;
        for (j = 0; j < 64; j += 4) {
            __m256i moved = _mm256_sub_epi32(load(codes + j), lows);
            __m256i in = _mm256_cmpeq_epi32(_mm256_min_epu32(moved, spans), moved);

            match |= bits64(_mm256_cmpeq_epi64(in, ones)) << j;
        }
        words[i] &= match;
    }
}

/* ---- counting ---- */

#define DEFINE_HISTOGRAM(bits)                                                                     \
    static void histogram##bits(const uint##bits##_t *codes, const uint64_t *words,                \
                                uint32_t *counts, uint32_t count)                                  \
    {                                                                                              \
        uint32_t i;                                                                                \
                                                                                                   \
        for (i = 0; i < WINDOW_WORDS; i++, codes += 64) {                                          \
            uint64_t word = words[i];                                                              \
                                                                                                   \
            for (; word; word &= word - 1) {                                                       \
                uint##bits##_t code = codes[__builtin_ctzll(word)];                                \
                                                                                                   \
                if (code < count)                                                                  \
                    counts[code]++;                                                                \
            }                                                                                      \
        }                                                                                          \
    }

DEFINE_HISTOGRAM(8)
DEFINE_HISTOGRAM(16)
DEFINE_HISTOGRAM(32)

static void count8(const uint8_t *codes, const uint64_t *words, uint32_t *counts, uint32_t count)
{
    uint32_t i;
    uint32_t v;

    for (i = 0; i < WINDOW_WORDS; i++, codes += 64) {
        __m256i first;
        __m256i second;

        if (!words[i])
            continue;
        first = load(codes);
        second = load(codes + 32);
        for (v = 0; v < count; v++) {
            __m256i value = _mm256_set1_epi8((char)v);
            uint64_t match = bits8(_mm256_cmpeq_epi8(first, value)) |
                             bits8(_mm256_cmpeq_epi8(second, value)) << 32;

            counts[v] += (uint32_t)__builtin_popcountll(match & words[i]);
        }
    }
}

const struct column_kernels column_kernels_table_avx2 = {
    .name = "avx2",
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
    .count8 = count8,
    .popcount = count_window,
};
