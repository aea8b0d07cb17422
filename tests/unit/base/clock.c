/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of base/clock.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "base/clock.h"
#include "base/condition.h"

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
    /* time() is of the last tick: around a full second it is one behind */
    assert_true(wall / SECOND_US <= time(NULL) + 1 && wall / SECOND_US >= time(NULL) - 600);
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

struct sleeper {
    struct clock_manual clock;
    int64_t duration_us;
    int64_t woke_us; /* by that clock */
};

static void *sleep_once(void *arg)
{
    struct sleeper *sleeper = arg;

    clock_sleep(&sleeper->clock.base, sleeper->duration_us);
    sleeper->woke_us = clock_mono_us(&sleeper->clock.base);
    return NULL;
}

static pthread_t start_sleeper(struct sleeper *sleeper)
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, sleep_once, sleeper), 0);
    while (clock_manual_next_us(&sleeper->clock) == CLOCK_NEVER)
        sched_yield();
    return thread;
}

static void moving_it_ends_a_sleep(void **state)
{
    struct sleeper sleeper = {.duration_us = INT64_C(86400) * SECOND_US};
    pthread_t thread;

    clock_manual_init_strict(&sleeper.clock, 100);
    thread = start_sleeper(&sleeper);
    assert_true(clock_manual_next_us(&sleeper.clock) == sleeper.duration_us + 100);
    clock_manual_advance(&sleeper.clock, sleeper.duration_us - 1);
    assert_true(clock_manual_next_us(&sleeper.clock) == sleeper.duration_us + 100);
    clock_manual_advance(&sleeper.clock, 1);
    pthread_join(thread, NULL);
    assert_true(sleeper.woke_us == sleeper.duration_us + 100);
    assert_true(clock_manual_next_us(&sleeper.clock) == CLOCK_NEVER);
}

/* However the two meet: the time to wait for is fixed before the clock moves past it, once. */
static void *wait_once(void *arg)
{
    struct sleeper *sleeper = arg;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct condition never;

    condition_init(&never, &sleeper->clock.base);
    pthread_mutex_lock(&lock);
    while (condition_wait_until(&never, &lock, sleeper->duration_us))
        ;
    pthread_mutex_unlock(&lock);
    condition_release(&never);
    sleeper->woke_us = clock_mono_us(&sleeper->clock.base);
    return NULL;
}

static void no_move_is_missed(void **state)
{
    enum { ROUND_COUNT = 2000, UNTIL_US = 10 };

    for (int i = 0; i < ROUND_COUNT; i++) {
        struct sleeper sleeper = {.duration_us = UNTIL_US};
        pthread_t thread;

        clock_manual_init_strict(&sleeper.clock, 0);
        assert_int_equal(pthread_create(&thread, NULL, wait_once, &sleeper), 0);
        while (i % 2 && clock_manual_next_us(&sleeper.clock) == CLOCK_NEVER)
            sched_yield();
        clock_manual_advance(&sleeper.clock, UNTIL_US);
        pthread_join(thread, NULL);
        assert_int_equal(sleeper.woke_us, UNTIL_US);
    }
}

static void a_sleep_on_a_clock_that_stands_takes_its_time(void **state)
{
    struct sleeper sleeper = {.duration_us = 3000};
    int64_t began_us = clock_mono_us(clock_system());

    clock_manual_init(&sleeper.clock, 100);
    sleep_once(&sleeper);
    assert_true(clock_mono_us(clock_system()) - began_us >= sleeper.duration_us);
    assert_int_equal(sleeper.woke_us, 100);
}

static void never_stays_never(void **state)
{
    assert_true(clock_after_us(clock_system(), CLOCK_NEVER) == CLOCK_NEVER);
    assert_true(clock_after_us(clock_system(), 0) < CLOCK_NEVER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_written_as_people_do),
        cmocka_unit_test(the_system_clock_moves_forward),
        cmocka_unit_test(a_manual_clock_moves_when_told),
        cmocka_unit_test(moving_it_ends_a_sleep),
        cmocka_unit_test(no_move_is_missed),
        cmocka_unit_test(a_sleep_on_a_clock_that_stands_takes_its_time),
        cmocka_unit_test(never_stays_never),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
