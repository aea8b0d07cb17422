/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of base/varint.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/varint.h"

static void known_encodings(void **state)
{
    static const struct {
        uint64_t value;
        const char *encoded;
        size_t size;
    } cases[] = {
        {0, "\x00", 1},
        {1, "\x01", 1},
        {127, "\x7f", 1},
        {128, "\x80\x01", 2},
        {300, "\xac\x02", 2},
        {UINT32_MAX, "\xff\xff\xff\xff\x0f", 5},
        {UINT64_MAX, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10},
    };
    uint8_t encoded[VARINT_SIZE_MAX];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bytes in = bytes_make(cases[i].encoded, cases[i].size);
        uint64_t value;

        assert_int_equal(varint_encode(cases[i].value, encoded), cases[i].size);
        assert_memory_equal(encoded, cases[i].encoded, cases[i].size);
        assert_true(varint_get(&in, &value));
        assert_true(value == cases[i].value);
        assert_int_equal(in.size, 0);
    }
}

static void bad_ones_are_refused_and_left(void **state)
{
    static const struct bytes bad[] = {
        BYTES_LITERAL(""),
        BYTES_LITERAL("\x80"),
        BYTES_LITERAL("\xff\xff\xff"),
        BYTES_LITERAL("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), /* a 65th bit */
        BYTES_LITERAL("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"),
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct bytes in = bad[i];
        uint64_t value = 5;

        assert_false(varint_get(&in, &value));
        assert_int_equal(in.size, bad[i].size);
        assert_int_equal(value, 5);
    }
}

static void a_run_of_random_ones_comes_back(void **state)
{
    enum { COUNT = 10000 };
    struct buf buf = BUF_INIT(COUNT * VARINT_SIZE_MAX);
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    struct bytes in;
    int i;

    (void)state;
    print_message("# seed %ju\n", (uintmax_t)seed);
    for (i = 0; i < COUNT; i++) {
        uint64_t value = rng_next(&rng);

        varint_put(&buf, value >> rng_below(&rng, 64));
    }
    rng = rng_seeded(seed);
    in = buf_bytes(&buf);
    for (i = 0; i < COUNT; i++) {
        uint64_t wanted = rng_next(&rng);
        uint64_t value;

        wanted >>= rng_below(&rng, 64);
        assert_true(varint_get(&in, &value));
        assert_true(value == wanted);
    }
    assert_int_equal(in.size, 0);
    buf_release(&buf);
}

static void small_negative_numbers_stay_small(void **state)
{
    static const int64_t values[] = {0, -1, 1, -2, 2, INT64_MAX, INT64_MIN};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        assert_true(zigzag_decode(zigzag_encode(values[i])) == values[i]);
    assert_int_equal(zigzag_encode(-1), 1);
    assert_int_equal(zigzag_encode(1), 2);
    assert_true(zigzag_encode(INT64_MIN) == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_encodings),
        cmocka_unit_test(bad_ones_are_refused_and_left),
        cmocka_unit_test(a_run_of_random_ones_comes_back),
        cmocka_unit_test(small_negative_numbers_stay_small),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
