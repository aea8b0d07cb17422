/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of base/clock.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <time.h>

#include "base/clock.h"

static void times_are_written_as_people_do(void **state)
{
    static const struct {
        int64_t us;
        const char *text;
    } cases[] = {
        {0, "1970-01-01T00:00:00.000000Z"},
        {1, "1970-01-01T00:00:00.000001Z"},
        {-1, "1969-12-31T23:59:59.999999Z"},
        {-1000000, "1969-12-31T23:59:59.000000Z"},
        {INT64_C(951782400000000), "2000-02-29T00:00:00.000000Z"},
        {INT64_C(1794732086123456), "2026-11-15T08:41:26.123456Z"},
        {INT64_C(253402300799999999), "9999-12-31T23:59:59.999999Z"},
    };
    char text[CLOCK_TEXT_SIZE];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        clock_format(cases[i].us, text);
        assert_string_equal(text, cases[i].text);
    }
    clock_format(INT64_MAX, text); /* far away, but within the room */
    clock_format(INT64_MIN, text);
}

static void the_system_clock_moves_forward(void **state)
{
    const struct clock *clock = clock_system();
    int64_t before = clock_mono_us(clock);
    int64_t wall = clock_wall_us(clock);

    (void)state;
    assert_true(wall / SECOND_US <= time(NULL) && wall / SECOND_US >= time(NULL) - 10);
    while (clock_mono_us(clock) == before)
        ;
    assert_true(clock_mono_us(clock) > before);
}

static void a_manual_clock_moves_when_told(void **state)
{
    struct clock_manual manual;

    (void)state;
    clock_manual_init(&manual, 100);
    assert_int_equal(clock_mono_us(&manual.base), 100);
    assert_int_equal(clock_wall_us(&manual.base), 100);
    clock_manual_advance(&manual, 23);
    assert_int_equal(clock_mono_us(&manual.base), 123);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_written_as_people_do),
        cmocka_unit_test(the_system_clock_moves_forward),
        cmocka_unit_test(a_manual_clock_moves_when_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
