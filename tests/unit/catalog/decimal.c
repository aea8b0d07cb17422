/* SPDX-License-Identifier: Apache-2.0 */
/* Exact numbers: what is taken, what is refused, and arithmetic against a wider integer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "catalog/decimal.h"

static void texts_are_taken_whole_or_refused(void **state)
{
    static const struct {
        const char *text;
        bool ok;
        int64_t millionths;
        unsigned digits;
        const char *shown;
    } cases[] = {
        {"0", true, 0, 0, "0"},
        {"-0", true, 0, 0, "0"},
        {"7", true, 7000000, 0, "7"},
        {"17.5", true, 17500000, 1, "17.5"},
        {"-0.000001", true, -1, 6, "-0.000001"},
        {"1.50000000", true, 1500000, 1, "1.5"},
        {"1.000", true, 1000000, 0, "1"},
        {"100.05", true, 100050000, 2, "100.05"},
        {"9223372036854.775807", true, INT64_MAX, 6, "9223372036854.775807"},
        {"9223372036854.775808", false, 0, 0, NULL},
        {"9223372036855", false, 0, 0, NULL},
        {"0.0000001", false, 0, 0, NULL},
        {"", false, 0, 0, NULL},
        {"-", false, 0, 0, NULL},
        {".5", false, 0, 0, NULL},
        {"5.", false, 0, 0, NULL},
        {"1.2.3", false, 0, 0, NULL},
        {"1,5", false, 0, 0, NULL},
        {" 1", false, 0, 0, NULL},
        {"1e3", false, 0, 0, NULL},
        {"+1", false, 0, 0, NULL},
        {"--1", false, 0, 0, NULL},
    };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct decimal value = {0};
        unsigned digits = 99;
        char shown[DECIMAL_TEXT_SIZE];
        bool ok = decimal_parse(bytes_of(cases[i].text), &value, &digits);

        if (ok != cases[i].ok)
            fail_msg("\"%s\"", cases[i].text);
        if (!ok)
            continue;
        assert_int_equal(value.millionths, cases[i].millionths);
        assert_int_equal(digits, cases[i].digits);
        decimal_format(value, shown);
        assert_string_equal(shown, cases[i].shown);
    }
}

static void what_is_written_is_read_back(void **state)
{
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);

    print_message("# seed %" PRIu64 "\n", seed);
    for (int i = 0; i < 20000; i++) {
        struct decimal value = {(int64_t)rng_next(&rng) >> rng_below(&rng, 60)};
        struct decimal back;
        char text[DECIMAL_TEXT_SIZE];

        if (value.millionths == INT64_MIN)
            continue;
        decimal_format(value, text);
        assert_true(decimal_parse(bytes_of(text), &back, NULL));
        assert_int_equal(back.millionths, value.millionths);
    }
}

static void products_are_rounded_away_from_zero_or_refused(void **state)
{
    struct decimal product;

    assert_true(decimal_multiply((struct decimal){1500000}, (struct decimal){1609344}, &product));
    assert_int_equal(product.millionths, 2414016);
    assert_true(decimal_multiply((struct decimal){1}, (struct decimal){500000}, &product));
    assert_int_equal(product.millionths, 1);
    assert_true(decimal_multiply((struct decimal){-1}, (struct decimal){500000}, &product));
    assert_int_equal(product.millionths, -1);
    assert_true(decimal_multiply((struct decimal){1}, (struct decimal){499999}, &product));
    assert_int_equal(product.millionths, 0);
    assert_false(
        decimal_multiply((struct decimal){INT64_MAX}, (struct decimal){DECIMAL_ONE + 1}, &product));
    assert_false(decimal_from_integer(INT64_MAX, &product));
}

static void rounding_keeps_the_digits_asked_for(void **state)
{
    assert_int_equal(decimal_round((struct decimal){1598000}, 1).millionths, 1600000);
    assert_int_equal(decimal_round((struct decimal){1549999}, 1).millionths, 1500000);
    assert_int_equal(decimal_round((struct decimal){-1550000}, 1).millionths, -1600000);
    assert_int_equal(decimal_round((struct decimal){1500000}, 0).millionths, 2000000);
    assert_int_equal(decimal_round((struct decimal){1234567}, 6).millionths, 1234567);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_taken_whole_or_refused),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(products_are_rounded_away_from_zero_or_refused),
        cmocka_unit_test(rounding_keeps_the_digits_asked_for),
    };

    return cmocka_run_group_tests_name("catalog decimal", tests, NULL, NULL);
}
