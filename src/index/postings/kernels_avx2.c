/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels_avx2.c - the kernels with vectors of 256 bits; compiled by itself with -mavx2 -mbmi2.
 *
 * The unpackers are written once, for a width the compiler knows: there is a copy for each width,
 * in which every shift is a constant and the rows are unrolled.
 */
#include <assert.h>
#include <immintrin.h>
#include <string.h>

#include "index/postings/kernels_scalar.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define FOR_WIDTHS_16(CASE)                                                                        \
    CASE(1)                                                                                        \
    CASE(2)                                                                                        \
    CASE(3)                                                                                        \
    CASE(4)                                                                                        \
    CASE(5)                                                                                        \
    CASE(6) CASE(7) CASE(8) CASE(9) CASE(10) CASE(11) CASE(12) CASE(13) CASE(14) CASE(15) CASE(16)
#define FOR_WIDTHS_32(CASE)                                                                        \
    FOR_WIDTHS_16(CASE)                                                                            \
    CASE(17)                                                                                       \
    CASE(18)                                                                                       \
    CASE(19)                                                                                       \
    CASE(20)                                                                                       \
    CASE(21)                                                                                       \
    CASE(22)                                                                                       \
    CASE(23) CASE(24) CASE(25) CASE(26) CASE(27) CASE(28) CASE(29) CASE(30) CASE(31) CASE(32)

ALWAYS_INLINE __m256i load(const uint8_t *in, unsigned row)
{
    return _mm256_loadu_si256((const __m256i *)in + row);
}

ALWAYS_INLINE __m256i wide_row(const uint8_t *in, unsigned width, unsigned row)
{
    unsigned bit = row * width, word = bit / 32, shift = bit % 32;
    __m256i value = _mm256_srli_epi32(load(in, word), (int)shift);

    if (shift + width > 32)
        value = _mm256_or_si256(value, _mm256_slli_epi32(load(in, word + 1), (int)(32 - shift)));
    if (shift + width == 32 || width == 32)
        return value; /* the shift has brought zeros already */
    return _mm256_and_si256(value, _mm256_set1_epi32((int)((UINT32_C(1) << width) - 1)));
}

ALWAYS_INLINE __m256i narrow_row(const uint8_t *in, unsigned width, unsigned row)
{
    unsigned bit = row * width, word = bit / 16, shift = bit % 16;
    __m256i value = _mm256_srli_epi16(load(in, word), (int)shift);

    if (shift + width > 16)
        value = _mm256_or_si256(value, _mm256_slli_epi16(load(in, word + 1), (int)(16 - shift)));
    if (shift + width == 16 || width == 16)
        return value;
    return _mm256_and_si256(value, _mm256_set1_epi16((short)((1U << width) - 1)));
}

ALWAYS_INLINE void unpack_width(const uint8_t *in, unsigned width, uint32_t *out)
{
#pragma GCC unroll 32
    for (unsigned row = 0; row < BLOCK_SIZE / WIDE_LANES; row++)
        _mm256_storeu_si256((__m256i *)out + row, wide_row(in, width, row));
}

/* The sums of 8 lanes: inside each half, then the lower half's last into the upper. */
ALWAYS_INLINE __m256i sums32(__m256i v)
{
    __m256i low;

    v = _mm256_add_epi32(v, _mm256_slli_si256(v, 4));
    v = _mm256_add_epi32(v, _mm256_slli_si256(v, 8));
    low = _mm256_shuffle_epi32(v, 0xff);
    return _mm256_add_epi32(v, _mm256_permute2x128_si256(low, low, 0x08));
}

ALWAYS_INLINE __m256i sums16(__m256i v)
{
    const __m256i last = _mm256_set1_epi16(0x0f0e);
    __m256i low;

    v = _mm256_add_epi16(v, _mm256_slli_si256(v, 2));
    v = _mm256_add_epi16(v, _mm256_slli_si256(v, 4));
    v = _mm256_add_epi16(v, _mm256_slli_si256(v, 8));
    low = _mm256_shuffle_epi8(v, last);
    return _mm256_add_epi16(v, _mm256_permute2x128_si256(low, low, 0x08));
}

ALWAYS_INLINE void ids_width(const uint8_t *in, unsigned width, docid before, uint32_t *out)
{
    const __m256i steps = _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 8);
    const __m256i last = _mm256_set1_epi32(7);
    __m256i sum = _mm256_set1_epi32((int)before);

#pragma GCC unroll 32
    for (unsigned row = 0; row < BLOCK_SIZE / WIDE_LANES; row++) {
        __m256i values = _mm256_add_epi32(sums32(wide_row(in, width, row)), steps);

        /* The carry needs one permutation and one addition, so rows overlap. */
        _mm256_storeu_si256((__m256i *)out + row, _mm256_add_epi32(values, sum));
        sum = _mm256_add_epi32(sum, _mm256_permutevar8x32_epi32(values, last));
    }
}

ALWAYS_INLINE uint32_t ids16_width(const uint8_t *in, unsigned width, uint16_t *out)
{
    const __m256i steps = _mm256_setr_epi16(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
    const __m256i last = _mm256_set1_epi16(0x0f0e);
    const __m256i even = _mm256_set1_epi32(UINT16_MAX);
    __m256i sum = _mm256_set1_epi16(-1), totals = _mm256_setzero_si256();

#pragma GCC unroll 16
    for (unsigned row = 0; row < BLOCK_SIZE / NARROW_LANES; row++) {
        __m256i gaps = narrow_row(in, width, row);
        __m256i values = _mm256_add_epi16(sums16(gaps), steps);
        __m256i carry = _mm256_permute4x64_epi64(values, 0xff);

        _mm256_storeu_si256((__m256i *)out + row, _mm256_add_epi16(values, sum));
        sum = _mm256_add_epi16(sum, _mm256_shuffle_epi8(carry, last));
        totals = _mm256_add_epi32(totals, _mm256_and_si256(gaps, even));
        totals = _mm256_add_epi32(totals, _mm256_srli_epi32(gaps, 16));
    }
    totals = _mm256_hadd_epi32(totals, totals);
    totals = _mm256_hadd_epi32(totals, totals);
    return (uint32_t)_mm256_extract_epi32(totals, 0) + (uint32_t)_mm256_extract_epi32(totals, 4);
}

/* One function a width, and tables of them. */
#define DEFINE_WIDE(width)                                                                         \
    static void unpack_##width(const uint8_t *in, uint32_t *out)                                   \
    {                                                                                              \
        unpack_width(in, width, out);                                                              \
    }                                                                                              \
    static void ids_##width(const uint8_t *in, docid before, uint32_t *out)                        \
    {                                                                                              \
        ids_width(in, width, before, out);                                                         \
    }
#define DEFINE_NARROW(width)                                                                       \
    static void ids16_##width(const uint8_t *in, uint16_t *out, uint32_t *sum)                     \
    {                                                                                              \
        *sum = ids16_width(in, width, out);                                                        \
    }
#define NAME_UNPACK(width) [width] = unpack_##width,
#define NAME_IDS(width) [width] = ids_##width,
#define NAME_IDS16(width) [width] = ids16_##width,

/* clang-format off */
FOR_WIDTHS_32(DEFINE_WIDE)
FOR_WIDTHS_16(DEFINE_NARROW)

static void (*const unpacks[33])(const uint8_t *, uint32_t *) = {FOR_WIDTHS_32(NAME_UNPACK)};
static void (*const id_unpacks[33])(const uint8_t *, docid, uint32_t *) = {FOR_WIDTHS_32(NAME_IDS)};
static void (*const id16_unpacks[17])(const uint8_t *, uint16_t *, uint32_t *) = {
    FOR_WIDTHS_16(NAME_IDS16)
};
/* clang-format on */

static void unpack(const uint8_t *in, unsigned width, uint32_t out[BLOCK_SIZE])
{
    assert(width <= 32);
    if (width)
        unpacks[width](in, out);
    else
        memset(out, 0, BLOCK_SIZE * sizeof(out[0]));
}

static void unpack_ids(const uint8_t *in, unsigned width, docid before, uint32_t out[BLOCK_SIZE])
{
    unsigned i;

    assert(width <= 32);
    if (width) {
        id_unpacks[width](in, before, out);
        return;
    }
    for (i = 0; i < BLOCK_SIZE; i++)
        out[i] = before + i + 1;
}

static uint32_t unpack_ids16(const uint8_t *in, unsigned width, uint16_t out[BLOCK_SIZE])
{
    uint32_t sum;
    unsigned i;

    assert(width <= 16);
    if (width) {
        id16_unpacks[width](in, out, &sum);
        return sum;
    }
    for (i = 0; i < BLOCK_SIZE; i++)
        out[i] = (uint16_t)i;
    return 0;
}

static void widen(const uint16_t in[BLOCK_SIZE], uint32_t base, uint32_t out[BLOCK_SIZE])
{
    const __m256i add = _mm256_set1_epi32((int)base);
    unsigned i;

    for (i = 0; i < BLOCK_SIZE; i += 8) {
        __m256i ids = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(in + i)));

        _mm256_storeu_si256((__m256i *)(out + i), _mm256_add_epi32(ids, add));
    }
}

/* As window_list. */
static void list_words(const uint8_t *words, uint32_t count, uint32_t base, uint32_t *out)
{
    uint32_t i;

    for (i = 0; i < count; i++, base += 64) {
        uint64_t word = load64(words, i);
        uint32_t in_word = (uint32_t)_mm_popcnt_u64(word), done;

        for (done = 0; done < in_word; done += 4) {
            unsigned step;

            for (step = 0; step < 4; step++) {
                out[done + step] = base + (uint32_t)_tzcnt_u64(word);
                word = _blsr_u64(word);
            }
        }
        out += in_word;
    }
}

static void find_bits(const uint8_t *words, const uint16_t *before, const uint32_t *list,
                      uint32_t count, uint32_t base, int16_t *indexes)
{
    uint32_t i;

    for (i = 0; i < count; i++) {
        uint32_t at = list[i] - base;
        uint64_t word = load64(words, at >> 6);
        int rank = before[at >> 6] + (int)_mm_popcnt_u64(_bzhi_u64(word, at & 63));

        indexes[i] = (int16_t)(rank | -(int)(~(word >> (at & 63)) & 1));
    }
}

/* The last of each row tells the row; a compare with the row tells the place. */
static void find_ids16(const uint16_t block[BLOCK_SIZE], const uint32_t *list, uint32_t count,
                       uint32_t base, int16_t *indexes)
{
    const __m256i sign = _mm256_set1_epi16((short)0x8000);
    uint16_t last[NARROW_LANES];
    __m256i rows;
    uint32_t i;

    for (i = 0; i < NARROW_LANES; i++)
        last[i] = block[i * NARROW_LANES + NARROW_LANES - 1];
    rows = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)last), sign);
    for (i = 0; i < count; i++) {
        __m256i wanted = _mm256_set1_epi16((short)(list[i] - base));
        __m256i below = _mm256_cmpgt_epi16(_mm256_xor_si256(wanted, sign), rows);
        uint32_t row = (uint32_t)_mm_popcnt_u32((uint32_t)_mm256_movemask_epi8(below)) / 2;
        __m256i values = load((const uint8_t *)block, row < NARROW_LANES ? row : 0);
        uint32_t same = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi16(values, wanted));
        int place = (int)(row * NARROW_LANES + _tzcnt_u32(same) / 2);

        indexes[i] = (int16_t)(same ? place : -1);
    }
}

/* As find_ids16, with as little to do for an id as can be: most are not there. Both sides have the
 * sign turned, so that numbers compare as they are; each id is in both halves of a word, which is
 * spread by the load alone; behind the last row is one that has nothing anybody looks for. */
static uint32_t meet_ids16(const uint16_t block[BLOCK_SIZE], const uint32_t *list, uint32_t count,
                           uint32_t base, uint16_t *places, int16_t *indexes)
{
    const __m256i sign = _mm256_set1_epi16((short)0x8000);
    uint16_t turned[BLOCK_SIZE + NARROW_LANES], last[NARROW_LANES];
    uint32_t wanted[BLOCK_SIZE], kept = 0, i;
    __m256i rows;

    assert(count <= BLOCK_SIZE);
    for (i = 0; i < NARROW_LANES; i++) {
        _mm256_storeu_si256((__m256i *)turned + i,
                            _mm256_xor_si256(load((const uint8_t *)block, i), sign));
        last[i] = block[i * NARROW_LANES + NARROW_LANES - 1] ^ 0x8000;
    }
    _mm256_storeu_si256((__m256i *)turned + i, _mm256_set1_epi16((short)last[i - 1]));
    for (i = 0; i < count; i++)
        wanted[i] = (uint16_t)((list[i] - base) ^ 0x8000) * UINT32_C(0x10001);
    rows = _mm256_loadu_si256((const __m256i *)last);
    for (i = 0; i < count; i++) {
        __m256i id = _mm256_set1_epi32((int)wanted[i]);
        uint32_t below = (uint32_t)_mm256_movemask_epi8(_mm256_cmpgt_epi16(id, rows));
        uint32_t from = (uint32_t)_mm_popcnt_u32(below) * (NARROW_LANES / 2);
        __m256i values = _mm256_loadu_si256((const __m256i *)(turned + from));
        uint32_t same = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi16(values, id));

        places[kept] = (uint16_t)i;
        indexes[kept] = (int16_t)(from + _tzcnt_u32(same) / 2);
        kept += same != 0;
    }
    return kept;
}

/* Row by row, forwards. What lies behind the size may be anything: it is too late to count. */
static void find_ids(const uint32_t *block, uint32_t size, const uint32_t *list, uint32_t count,
                     int16_t *indexes)
{
    uint32_t i, at = 0;

    for (i = 0; i < count; i++) {
        __m256i wanted = _mm256_set1_epi32((int)list[i]), values;
        uint32_t same, place;

        while (at + WIDE_LANES < size && block[at + WIDE_LANES - 1] < list[i])
            at += WIDE_LANES;
        values = _mm256_loadu_si256((const __m256i *)(block + at));
        same = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi32(values, wanted));
        place = at + _tzcnt_u32(same) / 4;
        indexes[i] = (int16_t)(same && place < size ? (int)place : -1);
    }
}

static uint32_t sift(const uint32_t numbers[BLOCK_SIZE], const uint32_t bits[8], uint32_t max,
                     uint16_t indexes[BLOCK_SIZE])
{
    enum { STEPS = 4, GROUPS = BLOCK_SIZE / WIDE_LANES / STEPS };
    const __m256i table = load((const uint8_t *)bits, 0), low = _mm256_set1_epi32(31);
    uint32_t found[GROUPS], count = 0, at = 0;
    unsigned group, step;

    for (group = 0; group < GROUPS; group++) {
        found[group] = 0;
        for (step = 0; step < STEPS; step++) {
            __m256i values = load((const uint8_t *)numbers, group * STEPS + step);
            __m256i words = _mm256_permutevar8x32_epi32(table, _mm256_srli_epi32(values, 5));
            /* The bit asked for becomes the sign. */
            __m256i signs = _mm256_sllv_epi32(words, _mm256_andnot_si256(values, low));

            found[group] |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(signs)) << step * 8;
        }
        count += (uint32_t)_mm_popcnt_u32(found[group]);
    }
    for (group = 0; group < GROUPS && count <= max; group++) {
        uint32_t left = found[group];

        for (; left; left = _blsr_u32(left))
            indexes[at++] = (uint16_t)(group * STEPS * WIDE_LANES + _tzcnt_u32(left));
    }
    return count;
}

/* Bits of each 64-bit lane: a table of half bytes, then sums of bytes. */
ALWAYS_INLINE __m256i popcounts(__m256i v)
{
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1,
                                           2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i half = _mm256_set1_epi8(15);
    __m256i low = _mm256_shuffle_epi8(table, _mm256_and_si256(v, half));
    __m256i high = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(v, 4), half));

    return _mm256_sad_epu8(_mm256_add_epi8(low, high), _mm256_setzero_si256());
}

ALWAYS_INLINE uint32_t sum_of_lanes(__m256i v)
{
    __m128i pair = _mm_add_epi64(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));

    return (uint32_t)(_mm_extract_epi64(pair, 0) + _mm_extract_epi64(pair, 1));
}

static uint32_t window_count(const struct window_bits *bits)
{
    const uint8_t *in = (const uint8_t *)bits->words;
    __m256i sum = _mm256_setzero_si256();
    unsigned i;

    for (i = 0; i < WINDOW_WORDS / 4; i++)
        sum = _mm256_add_epi64(sum, popcounts(load(in, i)));
    return sum_of_lanes(sum);
}

static uint32_t window_and_count(const struct window_bits *a, const struct window_bits *b)
{
    const uint8_t *in = (const uint8_t *)a->words, *other = (const uint8_t *)b->words;
    __m256i sum = _mm256_setzero_si256();
    unsigned i;

    for (i = 0; i < WINDOW_WORDS / 4; i++)
        sum = _mm256_add_epi64(sum, popcounts(_mm256_and_si256(load(in, i), load(other, i))));
    return sum_of_lanes(sum);
}

/* Four at a time without asking in between: a word of few bits costs one branch, not one a bit. */
static uint32_t window_list(const struct window_bits *bits,
                            uint16_t out[WINDOW_LIST_MAX + WINDOW_LIST_SPARE])
{
    uint32_t count = 0;
    unsigned i;

    for (i = 0; i < WINDOW_WORDS; i++) {
        uint64_t word = bits->words[i];
        uint32_t in_word = (uint32_t)_mm_popcnt_u64(word);
        uint16_t *to = out + count;
        uint32_t done;

        for (done = 0; done < in_word; done += 4) {
            unsigned step;

            for (step = 0; step < 4; step++) {
                to[done + step] = (uint16_t)(i * 64 + (unsigned)_tzcnt_u64(word));
                word = _blsr_u64(word);
            }
        }
        count += in_word;
    }
    return count;
}

const struct kernels kernels_avx2 = {
    .name = "avx2",
    .unpack = unpack,
    .unpack_ids = unpack_ids,
    .unpack_ids16 = unpack_ids16,
    .widen = widen,
    .set_ids = set_ids,
    .set_ids16 = set_ids16,
    .word_ranks = word_ranks,
    .list_words = list_words,
    .find_bits = find_bits,
    .find_ids16 = find_ids16,
    .meet_ids16 = meet_ids16,
    .find_ids = find_ids,
    .sift = sift,
    .window_and = window_and,
    .window_or = window_or,
    .window_andnot = window_andnot,
    .window_count = window_count,
    .window_and_count = window_and_count,
    .window_list = window_list,
};
