/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of spell/pairs.h: counts are exact until the table is full, then rare ones go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/random.h"
#include "spell/pairs.h"

enum { SIDE = 64, MEETING_COUNT = 50000 };

static void counts_are_those_of_an_array(void **state)
{
    static uint32_t naive[SIDE][SIDE];
    struct epoch *epoch = epoch_new();
    struct pairs *pairs = pairs_new(epoch);
    struct rng rng = rng_seeded(7);
    uint32_t distinct = 0, listed = 0;
    struct pair pair;

    (void)state;
    for (int i = 0; i < MEETING_COUNT; i++) {
        wordid first = (wordid)rng_below(&rng, SIDE), second = (wordid)rng_below(&rng, SIDE / 2);

        distinct += !naive[first][second]++;
        pairs_add(pairs, first, second, 1);
    }
    assert_int_equal(pairs_count(pairs), distinct);
    for (wordid first = 0; first < SIDE; first++) {
        for (wordid second = 0; second < SIDE; second++)
            assert_int_equal(pairs_find(pairs, first, second), naive[first][second]);
    }
    for (size_t place = 0; pairs_next(pairs, &place, &pair); listed++)
        assert_int_equal(pair.count, naive[pair.first][pair.second]);
    assert_int_equal(listed, distinct);
    pairs_free(pairs);
    epoch_free(epoch);
}

static void a_full_table_forgets_what_was_met_once(void **state)
{
    struct epoch *epoch = epoch_new();
    struct pairs *pairs = pairs_new(epoch);
    size_t memory;

    (void)state;
    pairs_add(pairs, 1, 2, 1000);
    for (uint32_t i = 0; i < SPELL_PAIR_COUNT_MAX - 1; i++)
        pairs_add(pairs, 3 + i / 1000, i % 1000, 1);
    memory = pairs_memory(pairs);
    assert_int_equal(pairs_count(pairs), SPELL_PAIR_COUNT_MAX);
    pairs_add(pairs, 2, 1, 1);
    assert_int_equal(pairs_count(pairs), 2);
    assert_int_equal(pairs_find(pairs, 1, 2), 500);
    assert_int_equal(pairs_find(pairs, 2, 1), 1);
    assert_int_equal(pairs_find(pairs, 3, 1), 0);
    assert_int_equal(pairs_memory(pairs), memory);
    pairs_free(pairs);
    epoch_free(epoch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_of_an_array),
        cmocka_unit_test(a_full_table_forgets_what_was_met_once),
    };

    return cmocka_run_group_tests_name("spell-pairs", tests, NULL, NULL);
}
