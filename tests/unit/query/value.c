/* SPDX-License-Identifier: Apache-2.0 */
/* Values as people write them: each type's forms and ends, and what is written is read again. */
#include "query/filter/value.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/random.h"
#include "index/columns/column_page.h"

static const struct field integer = {.type = FIELD_INTEGER, .name = "n"};
static const struct field decimal = {.type = FIELD_DECIMAL, .scale = 2, .name = "d"};
static const struct field date = {.type = FIELD_DATE, .name = "t"};
static const struct field boolean = {.type = FIELD_BOOLEAN, .name = "b"};

static void reads(const struct field *field, const char *text, int64_t wanted)
{
    int64_t value = 0;

    assert_true(value_parse(field, bytes_of(text), false, &value));
    assert_int_equal(value, wanted);
}

static void refuses(const struct field *field, const char *text)
{
    int64_t value;

    if (value_parse(field, bytes_of(text), false, &value))
        fail_msg("%s was read as %jd", text, (intmax_t)value);
}

static void writes(const struct field *field, int64_t value, const char *wanted)
{
    struct buf buf = BUF_INIT(64);

    value_put(field, value, &buf);
    assert_string_equal(buf_text(&buf), wanted);
    buf_release(&buf);
}

static void numbers_have_their_digits(void **state)
{
    (void)state;
    reads(&integer, "0", 0);
    reads(&integer, "-12", -12);
    reads(&integer, "9223372036854775806", INT64_MAX - 1);
    reads(&integer, "-9223372036854775808", INT64_MIN);
    refuses(&integer, "9223372036854775807"); /* means none in a column */
    refuses(&integer, "9223372036854775808");
    refuses(&integer, "-9223372036854775809");
    refuses(&integer, "");
    refuses(&integer, "-");
    refuses(&integer, "1.0");
    refuses(&integer, " 1");
    refuses(&integer, "+1");
    refuses(&integer, "1e3");
    reads(&decimal, "12.5", 1250);
    reads(&decimal, "-0.07", -7);
    reads(&decimal, "12", 1200);
    refuses(&decimal, "1.234");
    refuses(&decimal, ".5");
    refuses(&decimal, "5.");
    refuses(&decimal, "-.5");
    refuses(&decimal, "1.2.3");
    refuses(&decimal, "92233720368547758.08");
    writes(&decimal, -7, "-0.07");
    writes(&decimal, INT64_MIN, "-92233720368547758.08");
    writes(&integer, INT64_MIN, "-9223372036854775808");
    reads(&boolean, "true", 1);
    reads(&boolean, "false", 0);
    refuses(&boolean, "1");
}

static void dates_are_days_or_moments(void **state)
{
    int64_t value = 0;

    (void)state;
    reads(&date, "1970-01-01", 0);
    assert_true(value_parse(&date, bytes_of("1970-01-01"), true, &value));
    assert_int_equal(value, 86399);
    assert_true(value_parse(&date, bytes_of("1970-01-01T00:00:00Z"), true, &value));
    assert_int_equal(value, 0);
    reads(&date, "2026-11-15T11:00:00+03:00", 1794729600);
    reads(&date, "2024-02-29T23:59:59-00:30", 1709252999);
    reads(&date, "0001-01-01", INT64_C(-62135596800));
    reads(&date, "9999-12-31T23:59:59Z", INT64_C(253402300799));
    refuses(&date, "0000-01-01");
    refuses(&date, "2026-02-29");
    refuses(&date, "2026-13-01");
    refuses(&date, "2026-00-10");
    refuses(&date, "2026-01-00");
    refuses(&date, "2026-01-01T");
    refuses(&date, "2026-01-01T24:00:00Z");
    refuses(&date, "2026-01-01T10:00:00");
    refuses(&date, "2026-01-01T10:00:00.5Z");
    refuses(&date, "2026-01-01T10:00:00Zx");
    refuses(&date, "9999-12-31T23:59:59-01:00");
    reads(&date, "253402300800", INT64_C(253402300800)); /* as such a moment is written */
    reads(&date, "-62135596801", INT64_C(-62135596801));
    refuses(&date, "253402300799");
    refuses(&date, "2026");
    writes(&date, 1794729600, "2026-11-15T08:00:00Z");
    writes(&date, -1, "1969-12-31T23:59:59Z");
    writes(&date, INT64_C(253402300800), "253402300800");
}

static void what_is_written_is_read_again(void **state)
{
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    struct buf buf = BUF_INIT(64);
    int i;

    (void)state;
    print_message("# seed %ju\n", (uintmax_t)seed);
    for (i = 0; i < 20000; i++) {
        const struct field field = {.type = i % 2 ? FIELD_DECIMAL : FIELD_INTEGER,
                                    .scale = (uint8_t)(i % 2 ? i % (FIELD_SCALE_MAX + 1) : 0),
                                    .name = "x"};
        int64_t number = (int64_t)(rng_next(&rng) >> i % 64);
        int64_t moment = number % INT64_C(62135596800);
        int64_t value = 0;

        if (number == COLUMN_NULL)
            continue;
        value_put(&field, number, &buf);
        assert_true(value_parse(&field, buf_bytes(&buf), i % 3, &value));
        assert_int_equal(value, number);
        buf_reset(&buf);
        value_put(&date, moment, &buf);
        assert_true(value_parse(&date, buf_bytes(&buf), i % 3, &value));
        assert_int_equal(value, moment);
        buf_reset(&buf);
    }
    buf_release(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_their_digits),
        cmocka_unit_test(dates_are_days_or_moments),
        cmocka_unit_test(what_is_written_is_read_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
