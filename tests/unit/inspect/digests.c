/* SPDX-License-Identifier: Apache-2.0 */
/* digests.h: ranges whose sums differ, beside a naive comparison of every key. */
#include "inspect/verify/digests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "inspect/bounds.h"
#include "searcher/range_sum.h"

enum { RANGES = 40, NUMBERS = RANGES * DIGEST_RANGE_SIZE, ROUNDS = 50 };

static uint64_t seed = 20261117;

static uint32_t draw(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % below;
}

/* What the other side has: versions by number, 0: none. */
static void compare(struct digests *digests, const int64_t *versions)
{
    digests_begin_due(digests);
    for (uint32_t range = 0; range < RANGES; range++) {
        uint64_t sum = 0;
        uint32_t count = 0;

        for (uint32_t i = range * DIGEST_RANGE_SIZE; i < (range + 1) * DIGEST_RANGE_SIZE; i++) {
            sum += versions[i] ? range_sum(i, versions[i]) : 0;
            count += versions[i] != 0;
        }
        if (count)
            digests_compare(digests, range * DIGEST_RANGE_SIZE, sum);
    }
    digests_end_due(digests);
}

static bool has_one(const int64_t *versions, uint32_t range)
{
    for (uint32_t i = 0; i < DIGEST_RANGE_SIZE; i++)
        if (versions[range * DIGEST_RANGE_SIZE + i])
            return true;
    return false;
}

static void check_due(const struct digests *digests, const int64_t *here, const int64_t *there)
{
    bool is_due[RANGES] = {false};
    int64_t from = 0, end;

    for (enum digest_due due; (due = digests_next_due(digests, &from, &end)) != DUE_NOT; from = end)
        for (int64_t i = from / DIGEST_RANGE_SIZE; i < end / DIGEST_RANGE_SIZE; i++) {
            is_due[i] = true;
            assert_int_equal(due == DUE_CONTENT, digests_is_turn(digests, (uint64_t)i));
        }
    for (uint32_t i = 0; i < RANGES; i++) {
        size_t at = (size_t)i * DIGEST_RANGE_SIZE;
        bool differs = memcmp(here + at, there + at, DIGEST_RANGE_SIZE * sizeof(*here)) != 0;
        bool is_turn = digests_is_turn(digests, i) && (has_one(here, i) || has_one(there, i));

        assert_int_equal(is_due[i], differs || is_turn);
    }
}

static void numbers_that_differ_are_due_and_no_others(void **state)
{
    int64_t *here = calloc(NUMBERS, sizeof(*here));
    int64_t *there = calloc(NUMBERS, sizeof(*there));
    struct digests digests;

    (void)state;
    digests_init(&digests);
    print_message("seed %ju\n", (uintmax_t)seed);
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t used = draw(RANGES + 1) * DIGEST_RANGE_SIZE;

        digests_begin_round(&digests);
        assert_false(digests_have_numbers(&digests, 7, 1));
        digests_begin_numbers(&digests, 7, 1);
        memset(here, 0, NUMBERS * sizeof(*here));
        for (uint32_t i = 0; i < used; i++)
            if (draw(3)) {
                here[i] = 1 + draw(1000);
                digests_add_number(&digests, i, here[i]);
            }
        memcpy(there, here, NUMBERS * sizeof(*there));
        for (uint32_t i = draw(4); i > 0; i--)
            there[draw(NUMBERS)] = draw(3) ? 5000 : 0; /* behind all that is known, too */
        assert_true(digests_have_numbers(&digests, 7, 1));
        assert_false(digests_have_numbers(&digests, 7, 0));
        assert_false(digests_have_numbers(&digests, 8, 1));
        compare(&digests, there);
        check_due(&digests, here, there);
    }
    digests_release(&digests);
    free(here);
    free(there);
}

static void every_range_has_its_turn(void **state)
{
    struct digests digests;
    int turns = 0;

    (void)state;
    digests_init(&digests);
    for (int round = 0; round < AUDITOR_CONTENT_ROUNDS; round++) {
        digests_begin_round(&digests);
        turns += digests_is_turn(&digests, 1234567);
    }
    assert_int_equal(turns, 1);
    digests_release(&digests);
}

static void rows_without_an_offer_are_found_by_their_range(void **state)
{
    struct digests digests;
    int64_t first, last;

    (void)state;
    digests_init(&digests);
    digests_begin_round(&digests);
    digests_begin_rows(&digests);
    digests_add_row(&digests, INT64_MIN, 1);
    digests_add_row(&digests, -5, 2);
    digests_add_row(&digests, INT64_MAX, 3);
    digests_take_row(&digests, -5, 2); /* by a check of before: offers are not all seen yet */
    digests_end_offers(&digests);
    digests_take_row(&digests, INT64_MAX, 3);
    digests_take_row(&digests, -5, 2);
    assert_true(digests_next_rows(&digests, INT64_MIN, &first, &last));
    assert_true(first == INT64_MIN && last < -5);
    assert_true(digests.has_rows);
    digests_take_row(&digests, INT64_MIN, 1);
    assert_false(digests_next_rows(&digests, INT64_MIN, &first, &last));
    digests_take_row(&digests, INT64_MAX - 3, 9);
    assert_true(digests_next_rows(&digests, INT64_MIN, &first, &last));
    assert_true(first < INT64_MAX - 3 && last == INT64_MAX);
    assert_true(digests_next_rows(&digests, last, &first, &last));
    digests_release(&digests);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_that_differ_are_due_and_no_others),
        cmocka_unit_test(every_range_has_its_turn),
        cmocka_unit_test(rows_without_an_offer_are_found_by_their_range),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
