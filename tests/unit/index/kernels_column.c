/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of index/columns/kernels_column.h: each twin gives, bit for bit, what the portable
 * one does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdalign.h>
#include <string.h>

#include "base/random.h"
#include "index/columns/kernels_column.h"

enum { ROUND_COUNT = 400, VALUE_COUNT = 1000 };

static alignas(64) uint64_t codes[WINDOW_SIZE];

/* Random codes of the width, many of them near both ends and near each other. */
static void fill_codes(struct rng *rng, uint32_t width)
{
    uint64_t mode = rng_below(rng, 3);
    uint8_t *bytes = (uint8_t *)codes;
    uint32_t i;

    for (i = 0; i < WINDOW_SIZE; i++) {
        uint64_t code = rng_next(rng);

        if (mode == 1)
            code %= 20;
        if (mode == 2)
            code = rng_below(rng, 2) ? rng_below(rng, 4) : UINT64_MAX - rng_below(rng, 4);
        memcpy(bytes + (size_t)i * width, &code, width);
    }
}

static void fill_words(struct rng *rng, struct window_bits *bits)
{
    uint64_t mode = rng_below(rng, 4);
    uint32_t i;

    for (i = 0; i < WINDOW_WORDS; i++) {
        bits->words[i] = mode == 0 ? UINT64_MAX : rng_next(rng);
        if (mode == 2)
            bits->words[i] &= rng_next(rng) & rng_next(rng) & rng_next(rng);
        if (mode == 3 && rng_below(rng, 2))
            bits->words[i] = 0;
    }
}

static void filters(const struct column_kernels *k, uint32_t width, uint64_t low, uint64_t span,
                    struct window_bits *range, struct window_bits *any)
{
    switch (width) {
    case 1:
        k->range8((void *)codes, (uint8_t)low, (uint8_t)span, range->words);
        k->any8((void *)codes, (uint8_t)low, any->words);
        break;
    case 2:
        k->range16((void *)codes, (uint16_t)low, (uint16_t)span, range->words);
        k->any16((void *)codes, (uint16_t)low, any->words);
        break;
    case 4:
        k->range32((void *)codes, (uint32_t)low, (uint32_t)span, range->words);
        k->any32((void *)codes, (uint32_t)low, any->words);
        break;
    default:
        k->range64(codes, low, span, range->words);
        k->any64(codes, low, any->words);
        break;
    }
}

/* The definition's definition, a document at a time. */
static void check_portable(uint32_t width, uint64_t low, uint64_t span,
                           const struct window_bits *before, const struct window_bits *range,
                           const struct window_bits *any)
{
    uint64_t null = UINT64_MAX >> (64 - 8 * width);
    uint32_t i;

    for (i = 0; i < WINDOW_SIZE; i++) {
        uint64_t code = 0;

        memcpy(&code, (uint8_t *)codes + (size_t)i * width, width);
        assert_int_equal(window_test(range, i),
                         window_test(before, i) && ((code - low) & null) <= span);
        assert_int_equal(window_test(any, i),
                         window_test(before, i) && (code & low) && code != null);
    }
}

static void filters_agree(void **state)
{
    const struct column_kernels *avx2 = column_kernels_avx2();
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    int round;

    (void)state;
    print_message("# seed %ju, %s\n", (uintmax_t)seed, avx2 ? avx2->name : "portable alone");
    for (round = 0; round < ROUND_COUNT; round++) {
        uint32_t width = 1U << rng_below(&rng, 4);
        uint64_t null = UINT64_MAX >> (64 - 8 * width);
        uint64_t low = (rng_below(&rng, 2) ? rng_next(&rng) : rng_below(&rng, 20)) & null;
        uint64_t span = (rng_below(&rng, 2) ? rng_next(&rng) : rng_below(&rng, 9)) & null;
        struct window_bits before;
        struct window_bits bits[4];
        uint32_t i;

        fill_codes(&rng, width);
        fill_words(&rng, &before);
        for (i = 0; i < 4; i++)
            bits[i] = before;
        filters(&column_kernels_portable, width, low, span, &bits[0], &bits[1]);
        check_portable(width, low, span, &before, &bits[0], &bits[1]);
        if (!avx2)
            continue;
        filters(avx2, width, low, span, &bits[2], &bits[3]);
        assert_memory_equal(&bits[0], &bits[2], sizeof(bits[0]));
        assert_memory_equal(&bits[1], &bits[3], sizeof(bits[0]));
        bits[0] = bits[1] = before;
        column_kernels_portable.box(codes, (uint32_t)low, (uint32_t)span, (uint32_t)(low >> 32),
                                    (uint32_t)(span >> 32), bits[0].words);
        avx2->box(codes, (uint32_t)low, (uint32_t)span, (uint32_t)(low >> 32),
                  (uint32_t)(span >> 32), bits[1].words);
        assert_memory_equal(&bits[0], &bits[1], sizeof(bits[0]));
    }
}

static void tables_agree(void **state)
{
    const struct column_kernels *tables[] = {&column_kernels_portable, column_kernels_avx2()};
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    int round;

    (void)state;
    print_message("# seed %ju\n", (uintmax_t)seed);
    for (round = 0; round < ROUND_COUNT; round++) {
        uint64_t table[4];
        struct window_bits before;
        uint32_t i;
        uint32_t k;

        for (i = 0; i < 4; i++)
            table[i] = rng_next(&rng) & rng_next(&rng);
        fill_codes(&rng, 1);
        fill_words(&rng, &before);
        for (k = 0; k < 2 && tables[k]; k++) {
            struct window_bits bits = before;

            tables[k]->table8((void *)codes, table, bits.words);
            for (i = 0; i < WINDOW_SIZE; i++) {
                uint8_t code = ((uint8_t *)codes)[i];

                assert_int_equal(window_test(&bits, i),
                                 window_test(&before, i) && (table[code / 64] >> code % 64 & 1));
            }
        }
    }
}

static void histograms(const struct column_kernels *k, const struct window_bits *bits,
                       uint32_t width, uint32_t *counts, uint32_t count)
{
    if (width == 1)
        k->histogram8((void *)codes, bits->words, counts, count);
    else if (width == 2)
        k->histogram16((void *)codes, bits->words, counts, count);
    else
        k->histogram32((void *)codes, bits->words, counts, count);
}

static void counts_agree(void **state)
{
    const struct column_kernels *tables[] = {&column_kernels_portable, column_kernels_avx2()};
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    int round;

    (void)state;
    print_message("# seed %ju\n", (uintmax_t)seed);
    for (round = 0; round < ROUND_COUNT; round++) {
        uint32_t width = 1U << rng_below(&rng, 3);
        uint32_t count = 1 + (uint32_t)rng_below(&rng, VALUE_COUNT);
        uint32_t expected[VALUE_COUNT] = {0};
        struct window_bits bits;
        uint32_t total = 0;
        uint32_t i;

        fill_codes(&rng, width);
        fill_words(&rng, &bits);
        for (i = 0; i < WINDOW_SIZE; i++) {
            uint64_t code = 0;

            memcpy(&code, (uint8_t *)codes + (size_t)i * width, width);
            total += window_test(&bits, i);
            if (window_test(&bits, i) && code < count)
                expected[code]++;
        }
        for (i = 0; i < 2 && tables[i]; i++) {
            uint32_t counts[VALUE_COUNT] = {0};
            uint32_t few = count < KERNEL_COUNT_VALUES_MAX ? count : KERNEL_COUNT_VALUES_MAX;

            assert_int_equal(tables[i]->popcount(bits.words), total);
            histograms(tables[i], &bits, width, counts, count);
            assert_memory_equal(counts, expected, sizeof(counts));
            memset(counts, 0, sizeof(counts));
            if (width == 1) {
                tables[i]->count8((void *)codes, bits.words, counts, few);
                assert_memory_equal(counts, expected, few * sizeof(counts[0]));
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_agree),
        cmocka_unit_test(tables_agree),
        cmocka_unit_test(counts_agree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
