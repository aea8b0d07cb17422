/* SPDX-License-Identifier: Apache-2.0 */
/* lateness.c - how long the oldest element waits, beside a list of when each was put. */
#include "registry/indexing/lateness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/random.h"

static void an_empty_lane_is_not_late(void **state)
{
    struct lateness lateness = {.count = 0};

    (void)state;
    assert_true(lateness_wants(&lateness, 0));
    lateness_mark(&lateness, 7, 7, 1000);
    assert_int_equal(lateness.count, 0);
    assert_int_equal(lateness_us(&lateness, 1000000), 0);
}

static void it_is_as_late_as_the_oldest_mark_that_is_not_passed(void **state)
{
    struct lateness lateness = {.count = 0};

    (void)state;
    lateness_mark(&lateness, 0, 10, 1000);
    assert_int_equal(lateness_us(&lateness, 5000), 4000);
    assert_false(lateness_wants(&lateness, 5000));
    assert_true(lateness_wants(&lateness, 1000 + INDEXER_MARK_MS * MS_US));
    lateness_mark(&lateness, 3, 20, 60000);
    lateness_pass(&lateness, 9);
    assert_int_equal(lateness_us(&lateness, 70000), 69000);
    lateness_pass(&lateness, 10);
    assert_int_equal(lateness_us(&lateness, 70000), 10000);
    lateness_pass(&lateness, 25);
    assert_int_equal(lateness_us(&lateness, 70000), 0);
}

/* Elements come, the reader takes some, time passes. What is told is never more than the oldest has
 * waited, and what waits for seconds is late. */
static void random_lanes_are_told_truly(void **state)
{
    enum { STEP_COUNT = 20000, LATE_US = 4 * INDEXER_LATE_MS * MS_US };
    static int64_t put_us[STEP_COUNT * 4 + 1];
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    struct lateness lateness = {.count = 0};
    int64_t newest = 0, position = 0, now_us = 1;
    int late_count = 0;

    (void)state;
    printf("# seed %ju\n", (uintmax_t)seed);
    for (int i = 0; i < STEP_COUNT; i++) {
        bool is_slow = i / 500 % 2;
        int64_t waited_us, told_us;

        now_us += (int64_t)rng_below(&rng, 20 * MS_US);
        for (uint64_t k = rng_below(&rng, 5); k > 0; k--)
            put_us[++newest] = now_us;
        lateness_pass(&lateness, position);
        if (lateness_wants(&lateness, now_us))
            lateness_mark(&lateness, position, newest, now_us);
        waited_us = position < newest ? now_us - put_us[position + 1] : 0;
        told_us = lateness_us(&lateness, now_us);
        assert_true(told_us <= waited_us);
        late_count += waited_us > LATE_US;
        if (waited_us > LATE_US)
            assert_true(told_us > INDEXER_LATE_MS * MS_US);
        position += (int64_t)rng_below(&rng, is_slow ? 2 : 12);
        position = position < newest ? position : newest;
    }
    assert_true(late_count > 100 && late_count < STEP_COUNT - 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_lane_is_not_late),
        cmocka_unit_test(it_is_as_late_as_the_oldest_mark_that_is_not_passed),
        cmocka_unit_test(random_lanes_are_told_truly),
    };

    return cmocka_run_group_tests_name("lateness", tests, NULL, NULL);
}
