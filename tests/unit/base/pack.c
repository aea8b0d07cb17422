/* SPDX-License-Identifier: Apache-2.0 */
/* pack.c - packed bytes come back, and damaged or swollen ones are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/pack.h"
#include "base/random.h"

enum { SIZE_MAX_HERE = 4096 };

static void bytes_come_back(void **state)
{
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    uint8_t raw[SIZE_MAX_HERE];

    print_message("seed %" PRIu64 "\n", seed);
    for (int i = 0; i < 2000; i++) {
        struct arena *arena = arena_new();
        struct buf packed = BUF_INIT(3 * SIZE_MAX_HERE);
        size_t size = rng_below(&rng, sizeof(raw) + 1);
        uint64_t letters = 1 + rng_below(&rng, 256);
        struct bytes opened;
        struct err err;

        for (size_t at = 0; at < size; at++)
            raw[at] = (uint8_t)rng_below(&rng, letters);
        pack_put(&packed, bytes_make(raw, size), 64);
        assert_false(buf_failed(&packed));
        assert_true(packed.size <= size + 1);
        assert_int_equal(pack_open(buf_bytes(&packed), size, arena, &opened, &err), 0);
        assert_true(bytes_equal(opened, bytes_make(raw, size)));
        if (size)
            assert_int_equal(pack_open(buf_bytes(&packed), size - 1, arena, &opened, &err),
                             ERR_LIMIT);
        buf_release(&packed);
        arena_free(arena);
    }
}

static void small_ones_stay_as_they_are(void **state)
{
    struct buf packed = BUF_INIT(SIZE_MAX_HERE);
    uint8_t raw[100] = {0};

    pack_put(&packed, bytes_make(raw, 99), 100);
    assert_int_equal(packed.size, 100);
    buf_reset(&packed);
    pack_put(&packed, bytes_make(raw, 100), 100);
    assert_true(packed.size < 50);
    buf_release(&packed);
}

/* Every byte changed in some way: never a crash, never more than the limit. */
static void damage_is_noticed_or_harmless(void **state)
{
    struct buf packed = BUF_INIT(SIZE_MAX_HERE);
    struct arena *arena = arena_new();
    uint8_t raw[1000];
    struct bytes opened;
    struct err err;

    for (size_t i = 0; i < sizeof(raw); i++)
        raw[i] = (uint8_t)(i % 7 * (i / 100)); /* packs at any level */
    pack_put(&packed, bytes_make(raw, sizeof(raw)), 1);
    for (size_t i = 0; i < packed.size; i++) {
        for (int bit = 0; bit < 8; bit++) {
            packed.data[i] ^= (uint8_t)(1u << bit);
            if (pack_open(buf_bytes(&packed), sizeof(raw), arena, &opened, &err) == 0)
                assert_true(opened.size <= sizeof(raw));
            packed.data[i] ^= (uint8_t)(1u << bit);
        }
        assert_int_equal(pack_open(bytes_make(packed.data, i), sizeof(raw), arena, &opened, &err),
                         ERR_CORRUPT);
    }
    packed.data[0] = 9;
    assert_int_equal(pack_open(buf_bytes(&packed), sizeof(raw), arena, &opened, &err), ERR_CORRUPT);
    buf_release(&packed);
    arena_free(arena);
}

static void records_that_are_alike_need_their_dictionary(void **state)
{
    enum { COUNT = 2000, SIZE = 120 };
    static char samples[COUNT * SIZE];
    static size_t sizes[COUNT];
    struct buf trained = BUF_INIT(8 << 10), plain = BUF_INIT(4096), packed = BUF_INIT(4096);
    struct pack_dictionary *dictionary;
    struct arena *arena = arena_new();
    struct bytes raw, opened;
    size_t used = 0;
    struct err err;

    for (int i = 0; i < COUNT; i++) {
        sizes[i] = (size_t)snprintf(
            samples + used, SIZE, "a red bicycle of the year %d, hardly used, in town %d, call me",
            1950 + i % 70, i * 7919 % 1009);
        used += sizes[i];
    }
    assert_true(pack_train(bytes_make(samples, used), sizes, COUNT, 4096, &trained));
    dictionary = pack_dictionary_new(buf_bytes(&trained));
    assert_non_null(dictionary);
    raw = bytes_make(samples, sizes[0]);
    pack_put(&plain, raw, 1);
    pack_put_with(&packed, raw, 1, dictionary);
    assert_true(packed.size < plain.size / 2);
    assert_int_equal(pack_open_with(buf_bytes(&packed), SIZE, dictionary, arena, &opened, &err), 0);
    assert_true(bytes_equal(opened, raw));
    assert_int_equal(pack_open_with(buf_bytes(&plain), SIZE, dictionary, arena, &opened, &err), 0);
    assert_true(bytes_equal(opened, raw));
    assert_int_equal(pack_open(buf_bytes(&packed), SIZE, arena, &opened, &err), ERR_CORRUPT);
    assert_false(pack_train(bytes_make(samples, sizes[0]), sizes, 1, 4096, &trained));
    pack_dictionary_free(dictionary);
    buf_release(&trained);
    buf_release(&plain);
    buf_release(&packed);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_come_back),
        cmocka_unit_test(small_ones_stay_as_they_are),
        cmocka_unit_test(records_that_are_alike_need_their_dictionary),
        cmocka_unit_test(damage_is_noticed_or_harmless),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
