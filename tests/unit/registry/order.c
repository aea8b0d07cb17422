/* SPDX-License-Identifier: Apache-2.0 */
/* order.c - which of two writes is newer. */
#include "registry/receiving/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void the_epoch_counts_before_the_version_and_that_before_the_moment(void **state)
{
    static const struct order ascending[] = {{1, 1, 1}, {1, 1, 2}, {1, 2, 1}, {1, 2, 9},
                                             {1, 9, 0}, {2, 1, 0}, {2, 1, 1}, {3, 0, 0}};
    const size_t count = sizeof(ascending) / sizeof(ascending[0]);

    (void)state;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++) {
            int told = order_compare(&ascending[i], &ascending[k]);

            assert_int_equal((told > 0) - (told < 0), (i > k) - (i < k));
        }
}

static void the_ends_of_numbers_do_not_wrap(void **state)
{
    const struct order least = {INT64_MIN, INT64_MIN, INT64_MIN};
    const struct order most = {INT64_MAX, INT64_MAX, INT64_MAX};
    const struct order early = {0, 0, INT64_MIN}, late = {0, 0, INT64_MAX};

    (void)state;
    assert_true(order_compare(&least, &most) < 0 && order_compare(&most, &least) > 0);
    assert_true(order_compare(&early, &late) < 0 && order_compare(&late, &early) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_epoch_counts_before_the_version_and_that_before_the_moment),
        cmocka_unit_test(the_ends_of_numbers_do_not_wrap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
