/* SPDX-License-Identifier: Apache-2.0 */
/* Where keys are, keys of several parts, and versions that fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "numerator/bounds.h"
#include "numerator/numerator.h"
#include "numerator/state.h"

static void shards_are_ranges_that_cover_all(void **state)
{
    struct rng rng = rng_seeded(1);

    for (uint32_t count = 1; count < 70; count++) {
        int64_t expected = INT64_MIN, first, last;

        for (uint32_t shard = 0; shard < count; shard++) {
            number_shard_range(shard, count, &first, &last);
            assert_true(first == expected && first <= last);
            assert_int_equal(number_key_shard(first, count), shard);
            assert_int_equal(number_key_shard(last, count), shard);
            expected = (int64_t)((uint64_t)last + 1);
        }
        assert_true(last == INT64_MAX);
        for (int i = 0; i < 100; i++) {
            int64_t hash = (int64_t)rng_next(&rng);
            uint32_t shard = number_key_shard(hash, count);

            number_shard_range(shard, count, &first, &last);
            assert_true(first <= hash && hash <= last);
        }
    }
}

static void parts_make_different_keys(void **state)
{
    static const char *const tuples[][NUMBER_KEY_PART_MAX] = {
        {"a"},
        {"ab"},
        {"a", "b"},
        {"ab", ""},
        {"", "ab"},
        {"", ""},
        {"", "", ""},
        {"a", "b", ""},
        {"", "a", "b"},
        {"\1"
         "a",
         "b"},
        {"b", "a"},
        {"a", "b", "c"},
        {"a", "b", "c", ""},
        {"1a1b"},
    };
    struct arena *arena = arena_new();
    struct bytes keys[ARRAY_COUNT(tuples)], parts[NUMBER_KEY_PART_MAX + 1];
    struct bytes again[NUMBER_KEY_PART_MAX];
    struct err err;

    for (size_t i = 0; i < ARRAY_COUNT(tuples); i++) {
        uint32_t count = 0;

        for (; count < NUMBER_KEY_PART_MAX && tuples[i][count]; count++)
            parts[count] = bytes_of(tuples[i][count]);
        assert_int_equal(number_key_join(parts, count, &keys[i], arena, &err), 0);
        for (size_t j = 0; j < i; j++)
            assert_false(bytes_equal(keys[i], keys[j]));
        assert_int_equal(number_key_split(keys[i], again), count);
        for (uint32_t j = 0; j < count; j++)
            assert_true(bytes_equal(again[j], parts[j]));
    }
    assert_true(bytes_equal_text(keys[1], "ab"));
    arena_free(arena);
}

static void wrong_parts_are_refused(void **state)
{
    static const uint8_t zero[2], big[NUMBER_KEY_SIZE_MAX + 1] = {1};
    struct arena *arena = arena_new();
    struct bytes parts[NUMBER_KEY_PART_MAX + 1] = {{0}}, key;
    struct err err;

    assert_int_equal(number_key_join(parts, 0, &key, arena, &err), ERR_INVALID);
    assert_int_equal(number_key_join(parts, 1, &key, arena, &err), ERR_INVALID);
    assert_int_equal(number_key_join(parts, NUMBER_KEY_PART_MAX + 1, &key, arena, &err),
                     ERR_INVALID);
    parts[0] = bytes_make(zero, 2);
    assert_int_equal(number_key_join(parts, 1, &key, arena, &err), ERR_INVALID);
    parts[0] = bytes_make(big, sizeof(big));
    assert_int_equal(number_key_join(parts, 1, &key, arena, &err), ERR_INVALID);
    parts[0].size--;
    assert_int_equal(number_key_join(parts, 1, &key, arena, &err), 0);
    assert_int_equal(number_key_join(parts, 2, &key, arena, &err), ERR_INVALID);
    arena_free(arena);
}

static void the_right_state_is_picked(void **state)
{
    const struct number_version states[] = {
        {1, 1, 1, 9}, {1, 1, 2, 4}, {1, 1, 2, 7}, {1, 2, 2, 5}, {2, 1, 2, 5}};

    assert_int_equal(number_state_pick(states, 5, &(struct number_version){1, 1, 2, 3}), 1);
    assert_int_equal(number_state_pick(states, 5, &(struct number_version){1, 1, 2, 4}), 1);
    assert_int_equal(number_state_pick(states, 5, &(struct number_version){1, 1, 2, 5}), 2);
    assert_int_equal(number_state_pick(states, 5, &(struct number_version){1, 1, 2, 8}), -1);
    assert_int_equal(number_state_pick(states, 5, &(struct number_version){1, 2, 2, 5}), 3);
    assert_int_equal(number_state_pick(states, 5, &(struct number_version){3, 1, 2, 5}), -1);
    assert_int_equal(number_state_pick(states, 0, &states[0]), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shards_are_ranges_that_cover_all),
        cmocka_unit_test(parts_make_different_keys),
        cmocka_unit_test(wrong_parts_are_refused),
        cmocka_unit_test(the_right_state_is_picked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
