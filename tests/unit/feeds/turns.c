/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of feeds/schedule/turns.h: one feed of a seller and of a server at a time, the seller
 * who was served the longest ago first. */
#include "feeds/schedule/turns.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include <cmocka.h>

static const struct feed_waiting *take(struct feed_turns *turns, size_t fetcher,
                                       const struct feed_waiting *list, size_t count)
{
    const struct feed_waiting *found = feed_turns_take(turns, fetcher, list, count);

    if (found)
        assert_true(feed_turns_has(turns, found->shard));
    return found;
}

static void a_seller_and_a_server_are_taken_once_at_a_time(void **state)
{
    const struct feed_waiting list[] = {
        {"alice", "a", "slow.example", 1, 10},
        {"alice", "b", "other.example", 2, 20},
        {"bob", "a", "slow.example", 3, 30},
        {"carol", "a", "", 4, 40},
        {"dave", "a", "", 5, 50},
    };
    struct feed_turns *turns = feed_turns_new(4);

    (void)state;
    assert_true(feed_turns_wait(turns, list, 5));
    assert_ptr_equal(take(turns, 0, list, 5), &list[0]);
    assert_ptr_equal(take(turns, 1, list, 5), &list[3]); /* alice and her server are busy */
    assert_ptr_equal(take(turns, 2, list, 5), &list[4]); /* of no known server */
    assert_null(take(turns, 3, list, 5));
    assert_false(feed_turns_wait(turns, list, 5));
    feed_turns_give_back(turns, 0);
    assert_false(feed_turns_has(turns, 1));
    assert_ptr_equal(take(turns, 0, list, 5), &list[2]); /* who was not served yet */
    assert_ptr_equal(take(turns, 3, list, 5), &list[1]);
    for (size_t i = 0; i < 4; i++)
        feed_turns_give_back(turns, i);
    feed_turns_free(turns);
    feed_turns_free(NULL);
}

/* One seller has fifty feeds that are always due; the others' come in between. */
static void who_has_many_waits_for_all_others(void **state)
{
    struct feed_waiting list[53];
    char names[50][8];
    struct feed_turns *turns = feed_turns_new(1);
    const struct feed_waiting *found;

    (void)state;
    for (size_t i = 0; i < 50; i++) {
        snprintf(names[i], sizeof(names[i]), "f%zu", i);
        list[i] = (struct feed_waiting){"many", names[i], "many.example", 0, (int64_t)i};
    }
    for (size_t i = 50; i < 53; i++)
        list[i] = (struct feed_waiting){i == 50 ? "x" : i == 51 ? "y" : "z", "main", "", 0, 100};
    for (size_t i = 0; i < 20; i++) {
        found = take(turns, 0, list, ARRAY_COUNT(list));
        assert_string_equal(found->seller, i % 4 == 0   ? "many"
                                           : i % 4 == 1 ? "x"
                                           : i % 4 == 2 ? "y"
                                                        : "z");
        feed_turns_give_back(turns, 0);
    }
    feed_turns_free(turns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_seller_and_a_server_are_taken_once_at_a_time),
        cmocka_unit_test(who_has_many_waits_for_all_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
