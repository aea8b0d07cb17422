/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_portable.c - the definition of every kernel: plain loops, any processor. */
#include <string.h>

#include "index/postings/kernels_scalar.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "packed lanes are read as they lie");

static uint32_t load32(const uint8_t *in, size_t word)
{
    uint32_t value;

    memcpy(&value, in + word * sizeof(value), sizeof(value));
    return value;
}

static uint16_t load16(const uint8_t *in, size_t word)
{
    uint16_t value;

    memcpy(&value, in + word * sizeof(value), sizeof(value));
    return value;
}

/* Row by row: all lanes of a row have the same shift, which lets compilers use vectors. */
static void unpack(const uint8_t *in, unsigned width, uint32_t out[BLOCK_SIZE])
{
    uint32_t mask = width == 32 ? UINT32_MAX : (UINT32_C(1) << width) - 1;
    unsigned row, lane;

    if (width == 0) {
        memset(out, 0, BLOCK_SIZE * sizeof(out[0]));
        return;
    }
    for (row = 0; row < BLOCK_SIZE / WIDE_LANES; row++) {
        unsigned bit = row * width;
        unsigned word = bit / 32, shift = bit % 32;

        for (lane = 0; lane < WIDE_LANES; lane++) {
            uint32_t value = load32(in, word * WIDE_LANES + lane) >> shift;

            if (shift + width > 32)
                value |= load32(in, (word + 1) * WIDE_LANES + lane) << (32 - shift);
            out[row * WIDE_LANES + lane] = value & mask;
        }
    }
}

static void unpack_ids(const uint8_t *in, unsigned width, docid before, uint32_t out[BLOCK_SIZE])
{
    unsigned i;

    unpack(in, width, out);
    for (i = 0; i < BLOCK_SIZE; i++) {
        before += out[i] + 1;
        out[i] = before;
    }
}

static uint32_t unpack_ids16(const uint8_t *in, unsigned width, uint16_t out[BLOCK_SIZE])
{
    uint16_t mask = (uint16_t)((UINT32_C(1) << width) - 1);
    uint32_t sum = 0;
    unsigned i;

    for (i = 0; i < BLOCK_SIZE; i++) {
        unsigned lane = i % NARROW_LANES, bit = i / NARROW_LANES * width;
        unsigned word = bit / 16, shift = bit % 16;
        uint32_t value = 0;

        if (width)
            value = (uint32_t)load16(in, word * NARROW_LANES + lane) >> shift;
        if (shift + width > 16)
            value |= (uint32_t)load16(in, (word + 1) * NARROW_LANES + lane) << (16 - shift);
        sum += value & mask;
        out[i] = (uint16_t)(sum + i);
    }
    return sum;
}

static void widen(const uint16_t in[BLOCK_SIZE], uint32_t base, uint32_t out[BLOCK_SIZE])
{
    unsigned i;

    for (i = 0; i < BLOCK_SIZE; i++)
        out[i] = base + in[i];
}

static void list_words(const uint8_t *words, uint32_t count, uint32_t base, uint32_t *out)
{
    uint32_t found = 0, i;

    for (i = 0; i < count; i++) {
        uint64_t word;

        for (word = load64(words, i); word; word &= word - 1)
            out[found++] = base + i * 64 + (uint32_t)__builtin_ctzll(word);
    }
}

static void find_bits(const uint8_t *words, const uint16_t *before, const uint32_t *ids,
                      uint32_t count, uint32_t base, int16_t *indexes)
{
    uint32_t i;

    for (i = 0; i < count; i++) {
        uint32_t at = ids[i] - base;
        uint64_t word = load64(words, at >> 6), bit = UINT64_C(1) << (at & 63);

        indexes[i] =
            word & bit ? (int16_t)(before[at >> 6] + __builtin_popcountll(word & (bit - 1))) : -1;
    }
}

static void find_ids16(const uint16_t block[BLOCK_SIZE], const uint32_t *ids, uint32_t count,
                       uint32_t base, int16_t *indexes)
{
    uint32_t i, step;

    for (i = 0; i < count; i++) {
        uint32_t wanted = ids[i] - base, low = 0;

        for (step = BLOCK_SIZE / 2; step; step /= 2)
            low += block[low + step - 1] < wanted ? step : 0;
        indexes[i] = block[low] == wanted ? (int16_t)low : -1;
    }
}

static uint32_t meet_ids16(const uint16_t block[BLOCK_SIZE], const uint32_t *ids, uint32_t count,
                           uint32_t base, uint16_t *places, int16_t *indexes)
{
    uint32_t kept = 0, i;

    for (i = 0; i < count; i++) {
        find_ids16(block, ids + i, 1, base, &indexes[kept]);
        places[kept] = (uint16_t)i;
        kept += indexes[kept] >= 0;
    }
    return kept;
}

static void find_ids(const uint32_t *block, uint32_t size, const uint32_t *ids, uint32_t count,
                     int16_t *indexes)
{
    uint32_t i, low = 0;

    for (i = 0; i < count; i++) {
        uint32_t left = size - low;

        while (left > 0) {
            uint32_t half = left / 2;
            bool below = block[low + half] < ids[i];

            low += below ? half + 1 : 0;
            left = below ? left - half - 1 : half;
        }
        indexes[i] = low < size && block[low] == ids[i] ? (int16_t)low : -1;
    }
}

static uint32_t sift(const uint32_t numbers[BLOCK_SIZE], const uint32_t bits[8], uint32_t max,
                     uint16_t indexes[BLOCK_SIZE])
{
    uint32_t count = 0, i;

    for (i = 0; i < BLOCK_SIZE; i++) {
        bool passes = bits[numbers[i] >> 5 & 7] >> (numbers[i] & 31) & 1;

        if (passes && count < max)
            indexes[count] = (uint16_t)i;
        count += passes;
    }
    return count;
}

static uint32_t window_count(const struct window_bits *bits)
{
    uint32_t count = 0;
    unsigned i;

    for (i = 0; i < WINDOW_WORDS; i++)
        count += (uint32_t)__builtin_popcountll(bits->words[i]);
    return count;
}

static uint32_t window_and_count(const struct window_bits *a, const struct window_bits *b)
{
    uint32_t count = 0;
    unsigned i;

    for (i = 0; i < WINDOW_WORDS; i++)
        count += (uint32_t)__builtin_popcountll(a->words[i] & b->words[i]);
    return count;
}

static uint32_t window_list(const struct window_bits *bits,
                            uint16_t out[WINDOW_LIST_MAX + WINDOW_LIST_SPARE])
{
    uint32_t count = 0;
    unsigned i;

    for (i = 0; i < WINDOW_WORDS; i++) {
        uint64_t word;

        for (word = bits->words[i]; word; word &= word - 1)
            out[count++] = (uint16_t)(i * 64 + (unsigned)__builtin_ctzll(word));
    }
    return count;
}

const struct kernels kernels_portable = {
    .name = "portable",
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
