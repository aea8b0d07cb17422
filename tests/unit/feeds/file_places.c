/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of feeds/tasks/file_places: few files at once, and nobody has all places. */
#include "feeds/tasks/file_places.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void one_seller_leaves_places_to_others(void **state)
{
    struct file_places places = FILE_PLACES_INIT;
    size_t taken[FEED_CALL_FILE_SELLER_MAX];
    struct err err;
    size_t other;

    (void)state;
    for (size_t i = 0; i < FEED_CALL_FILE_SELLER_MAX; i++)
        assert_int_equal(file_places_take(&places, "s-1", &taken[i], &err), 0);
    assert_int_equal(file_places_take(&places, "s-1", &other, &err), ERR_LIMIT);
    assert_non_null(strstr(err.text, "of this seller"));
    assert_int_equal(file_places_take(&places, "s-2", &other, &err), 0);
    file_places_give_back(&places, taken[0]);
    assert_int_equal(file_places_take(&places, "s-1", &taken[0], &err), 0);
}

static void there_are_few_for_all(void **state)
{
    struct file_places places = FILE_PLACES_INIT;
    size_t taken[FEED_CALL_FILE_COUNT_MAX];
    struct err err;
    size_t more;

    (void)state;
    for (size_t i = 0; i < FEED_CALL_FILE_COUNT_MAX; i++) {
        char seller[16];

        snprintf(seller, sizeof(seller), "s-%zu", i);
        assert_int_equal(file_places_take(&places, seller, &taken[i], &err), 0);
    }
    assert_int_equal(file_places_take(&places, "another", &more, &err), ERR_LIMIT);
    assert_non_null(strstr(err.text, "later"));
    file_places_give_back(&places, taken[3]);
    assert_int_equal(file_places_take(&places, "another", &more, &err), 0);
    assert_int_equal(more, taken[3]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_seller_leaves_places_to_others),
        cmocka_unit_test(there_are_few_for_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
