/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of index/postings/kernels.h: the portable kernels against arithmetic, the vector
 * kernels against the portable ones, byte for byte, on every width and alignment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "index/postings/kernels.h"

enum { ROUNDS = 40 };

static struct rng seeded(void)
{
    const char *given = getenv("TORG_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : random_u64();

    print_message("# TORG_SEED=%ju\n", (uintmax_t)seed);
    return rng_seeded(seed);
}

/* Exactly as large as the kernel may read, at an odd address, so that ASan sees one byte more. */
static uint8_t *random_packed(struct rng *rng, unsigned width, size_t shift, uint8_t **to_free)
{
    size_t size = (size_t)width * BLOCK_WIDTH_SIZE, i;
    uint8_t *memory = malloc(size + shift + 1);

    for (i = 0; i < size + shift; i++)
        memory[i] = (uint8_t)rng_next(rng);
    *to_free = memory = realloc(memory, size + shift ? size + shift : 1);
    return memory + shift;
}

static uint32_t bits_of_lane(const uint8_t *in, unsigned lanes, unsigned lane, unsigned from,
                             unsigned width)
{
    unsigned lane_bits = 256 / lanes, bit;
    uint32_t value = 0;

    for (bit = 0; bit < width; bit++) {
        unsigned word = (from + bit) / lane_bits, rest = (from + bit) % lane_bits;
        unsigned byte = (word * lanes + lane) * (lane_bits / 8) + rest / 8;

        value |= (uint32_t)(in[byte] >> (rest % 8) & 1) << bit;
    }
    return value;
}

static void portable_unpack_follows_the_layout(void **state)
{
    struct rng rng = seeded();
    unsigned width, i;

    (void)state;
    for (width = 0; width <= 32; width++) {
        uint8_t *memory, *in = random_packed(&rng, width, 1, &memory);
        uint32_t out[BLOCK_SIZE], ids[BLOCK_SIZE], sum = 17;
        uint16_t narrow[BLOCK_SIZE], sum16 = UINT16_MAX;

        kernels_portable.unpack(in, width, out);
        kernels_portable.unpack_ids(in, width, 17, ids);
        for (i = 0; i < BLOCK_SIZE; i++) {
            assert_int_equal(out[i], bits_of_lane(in, 8, i % 8, i / 8 * width, width));
            sum += out[i] + 1;
            assert_int_equal(ids[i], sum);
        }
        if (width <= 16) {
            uint32_t all = kernels_portable.unpack_ids16(in, width, narrow);

            for (i = 0; i < BLOCK_SIZE; i++) {
                uint32_t value = bits_of_lane(in, 16, i % 16, i / 16 * width, width);

                all -= value;
                sum16 += (uint16_t)(value + 1);
                assert_int_equal(narrow[i], sum16);
            }
            assert_int_equal(all, 0);
        }
        free(memory);
    }
}

static const struct kernels *vector_or_skip(void)
{
    const struct kernels *vector = kernels_vector();

    if (!vector)
        skip();
    return vector;
}

static void vector_unpack_equals_portable(void **state)
{
    const struct kernels *vector = vector_or_skip();
    struct rng rng = seeded();
    unsigned width, round;

    (void)state;
    for (width = 0; width <= 32; width++) {
        for (round = 0; round < ROUNDS; round++) {
            uint8_t *memory, *in = random_packed(&rng, width, round % 9, &memory);
            uint32_t a[BLOCK_SIZE], b[BLOCK_SIZE], before = (uint32_t)rng_next(&rng);
            uint16_t c[BLOCK_SIZE], d[BLOCK_SIZE];

            kernels_portable.unpack(in, width, a);
            vector->unpack(in, width, b);
            assert_memory_equal(a, b, sizeof(a));
            kernels_portable.unpack_ids(in, width, before, a);
            vector->unpack_ids(in, width, before, b);
            assert_memory_equal(a, b, sizeof(a));
            if (width <= 16) {
                assert_int_equal(kernels_portable.unpack_ids16(in, width, c),
                                 vector->unpack_ids16(in, width, d));
                assert_memory_equal(c, d, sizeof(c));
                kernels_portable.widen(c, before, a);
                vector->widen(d, before, b);
                assert_memory_equal(a, b, sizeof(a));
            }
            free(memory);
        }
    }
}

static void fill_random(struct rng *rng, struct window_bits *bits)
{
    uint64_t density = rng_below(rng, 6);
    unsigned i;

    for (i = 0; i < WINDOW_WORDS; i++) {
        uint64_t word = rng_next(rng);

        if (density < 3)
            word &= rng_next(rng) & rng_next(rng) & (density ? UINT64_MAX : rng_next(rng));
        if (density == 4)
            word = UINT64_MAX;
        if (density == 5)
            word = 0;
        bits->words[i] = word;
    }
}

static void windows_follow_the_bits(const struct kernels *tested, struct rng *rng)
{
    static uint16_t list[WINDOW_LIST_MAX + WINDOW_LIST_SPARE];
    struct window_bits a, b, c, d;
    uint32_t count = 0, both = 0, at = 0;
    unsigned i;

    fill_random(rng, &a);
    fill_random(rng, &b);
    c = a;
    tested->window_and(&c, &b);
    d = a;
    tested->window_andnot(&d, &b);
    for (i = 0; i < WINDOW_SIZE; i++) {
        bool in_a = window_test(&a, i), in_b = window_test(&b, i);

        count += in_a;
        both += in_a && in_b;
        assert_int_equal(window_test(&c, i), in_a && in_b);
        assert_int_equal(window_test(&d, i), in_a && !in_b);
    }
    assert_int_equal(tested->window_count(&a), count);
    assert_int_equal(tested->window_and_count(&a, &b), both);
    assert_int_equal(tested->window_list(&a, list), count);
    for (i = 0; i < WINDOW_SIZE; i++) {
        if (window_test(&a, i))
            assert_int_equal(list[at++], i);
    }
    tested->window_or(&d, &b);
    tested->window_or(&a, &b);
    assert_memory_equal(&a, &d, sizeof(a));
}

static void set_follows_the_ids(const struct kernels *tested, struct rng *rng)
{
    static uint16_t list[WINDOW_LIST_MAX + WINDOW_LIST_SPARE];
    static uint16_t shifted[WINDOW_SIZE];
    static uint32_t ids[WINDOW_SIZE];
    struct window_bits wanted, before, got;
    uint32_t first = window_first((uint32_t)rng_below(rng, UINT32_MAX >> WINDOW_SHIFT));
    uint32_t count, i;

    fill_random(rng, &wanted);
    fill_random(rng, &before);
    count = kernels_portable.window_list(&wanted, list);
    for (i = 0; i < count; i++) {
        ids[i] = first + list[i];
        shifted[i] = (uint16_t)(list[i] - 777);
    }
    for (i = count ? list[0] : 0; i < WINDOW_SIZE; i++)
        window_clear(&before, i);
    got = before;
    tested->set_ids(&got, ids, count, first);
    kernels_portable.window_or(&wanted, &before);
    assert_memory_equal(&got, &wanted, sizeof(got));
    got = before;
    tested->set_ids16(&got, shifted, count, 777);
    assert_memory_equal(&got, &wanted, sizeof(got));
}

/* A window's bits as unaligned words: ranks, list, and where single ids stand. */
static void finds_follow_the_bits(const struct kernels *tested, struct rng *rng)
{
    static uint8_t bytes[sizeof(struct window_bits) + 1];
    static uint16_t before[WINDOW_WORDS];
    static uint32_t list[WINDOW_SIZE + 3], ids[WINDOW_SIZE];
    static int16_t indexes[WINDOW_SIZE];
    uint32_t base = (uint32_t)rng_below(rng, 1U << 30) * 2, rank = 0, i;
    struct window_bits bits;

    fill_random(rng, &bits);
    memcpy(bytes + 1, &bits, sizeof(bits));
    for (i = 0; i < WINDOW_SIZE; i++)
        ids[i] = base + i;
    assert_int_equal(tested->word_ranks(bytes + 1, WINDOW_WORDS, before),
                     kernels_portable.window_count(&bits));
    tested->list_words(bytes + 1, WINDOW_WORDS, base, list);
    tested->find_bits(bytes + 1, before, ids, WINDOW_SIZE, base, indexes);
    for (i = 0; i < WINDOW_SIZE; i++) {
        if (i % 64 == 0)
            assert_int_equal(before[i / 64], rank);
        assert_int_equal(indexes[i], window_test(&bits, i) ? (int)rank : -1);
        if (window_test(&bits, i))
            assert_int_equal(list[rank++], base + i);
    }
}

static void finds_in_blocks(const struct kernels *tested, struct rng *rng)
{
    uint16_t block[BLOCK_SIZE];
    uint32_t ids[BLOCK_SIZE], base = (uint32_t)rng_below(rng, 1U << 30), place, i;
    uint32_t spread = 1 + (uint32_t)rng_below(rng, 250), count = 0;
    uint16_t places[BLOCK_SIZE];
    int16_t indexes[BLOCK_SIZE];
    uint32_t met, at = 0;
    int wanted[BLOCK_SIZE];

    place = (uint32_t)rng_below(rng, 1000);
    for (i = 0; i < BLOCK_SIZE; i++, place += 1 + (uint32_t)rng_below(rng, spread)) {
        bool there = rng_below(rng, 2);

        block[i] = (uint16_t)place;
        if (!there && (i == 0 || block[i - 1] == place - 1))
            continue;
        wanted[count] = there ? (int)i : -1;
        ids[count++] = base + place - !there;
    }
    tested->find_ids16(block, ids, count, base, indexes);
    for (i = 0; i < count; i++)
        assert_int_equal(indexes[i], wanted[i]);
    met = tested->meet_ids16(block, ids, count, base, places, indexes);
    for (i = 0; i < count; i++) {
        if (wanted[i] < 0)
            continue;
        assert_true(at < met);
        assert_int_equal(places[at], i);
        assert_int_equal(indexes[at++], wanted[i]);
    }
    assert_int_equal(at, met);
    /* Beyond the last is nobody. */
    ids[0] = base + UINT16_MAX;
    if (block[BLOCK_SIZE - 1] < UINT16_MAX)
        assert_int_equal(tested->meet_ids16(block, ids, 1, base, places, indexes), 0);
}

/* Some of any number of ascending ids, and some that are not among them; garbage behind. */
static void finds_in_lists(const struct kernels *tested, struct rng *rng)
{
    uint32_t block[BLOCK_SIZE], ids[2 * BLOCK_SIZE],
        size = 1 + (uint32_t)rng_below(rng, BLOCK_SIZE);
    uint32_t next = (uint32_t)rng_below(rng, 1000), count = 0, i;
    int16_t indexes[2 * BLOCK_SIZE];
    int wanted[2 * BLOCK_SIZE];
    uint32_t some = 1 + (uint32_t)rng_below(rng, 8), gap = 1 + (uint32_t)rng_below(rng, 1000);

    for (i = 0; i < BLOCK_SIZE; i++) {
        block[i] = i < size ? next : next - 1 - (uint32_t)rng_below(rng, 4);
        if (i >= size)
            continue;
        if (rng_below(rng, some) == 0) {
            wanted[count] = (int)i;
            ids[count++] = next;
        }
        next += 2 + (uint32_t)rng_below(rng, gap);
        if (rng_below(rng, some) == 0) {
            wanted[count] = -1;
            ids[count++] = next - 1;
        }
    }
    tested->find_ids(block, size, ids, count, indexes);
    for (i = 0; i < count; i++)
        assert_int_equal(indexes[i], wanted[i]);
}

static void sifts_by_bits(const struct kernels *tested, struct rng *rng)
{
    uint32_t numbers[BLOCK_SIZE], bits[8], count = 0, found, i;
    uint32_t range = 1 + (uint32_t)rng_below(rng, 256);
    uint32_t max = (uint32_t)rng_below(rng, BLOCK_SIZE + 1);
    uint16_t indexes[BLOCK_SIZE];

    for (i = 0; i < 8; i++)
        bits[i] = (uint32_t)(rng_next(rng) & (rng_below(rng, 2) ? UINT32_MAX : rng_next(rng)));
    for (i = 0; i < BLOCK_SIZE; i++)
        numbers[i] = (uint32_t)rng_below(rng, range) |
                     (rng_below(rng, 9) ? 0 : (uint32_t)rng_next(rng) << 8);
    found = tested->sift(numbers, bits, max, indexes);
    for (i = 0; i < BLOCK_SIZE; i++) {
        uint8_t low = (uint8_t)numbers[i];

        if (!(bits[low / 32] >> low % 32 & 1))
            continue;
        if (found <= max)
            assert_int_equal(indexes[count], i);
        count++;
    }
    assert_int_equal(found, count);
}

static void portable_windows(void **state)
{
    struct rng rng = seeded();
    unsigned round;

    (void)state;
    for (round = 0; round < ROUNDS; round++) {
        windows_follow_the_bits(&kernels_portable, &rng);
        set_follows_the_ids(&kernels_portable, &rng);
        finds_follow_the_bits(&kernels_portable, &rng);
        finds_in_blocks(&kernels_portable, &rng);
        finds_in_lists(&kernels_portable, &rng);
        sifts_by_bits(&kernels_portable, &rng);
    }
}

static void vector_windows(void **state)
{
    const struct kernels *vector = vector_or_skip();
    struct rng rng = seeded();
    unsigned round;

    (void)state;
    for (round = 0; round < ROUNDS; round++) {
        windows_follow_the_bits(vector, &rng);
        set_follows_the_ids(vector, &rng);
        finds_follow_the_bits(vector, &rng);
        finds_in_blocks(vector, &rng);
        finds_in_lists(vector, &rng);
        sifts_by_bits(vector, &rng);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(portable_unpack_follows_the_layout),
        cmocka_unit_test(vector_unpack_equals_portable),
        cmocka_unit_test(portable_windows),
        cmocka_unit_test(vector_windows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
