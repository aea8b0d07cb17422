/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_list.c - keys in the order of their ranks, beside a naive sort.
 *
 * TORG_MODEL_SEED repeats a run.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "numerator/rank_list.h"

struct pair {
    uint64_t rank;
    int64_t hash;
};

static struct rng seeded(void)
{
    const char *text = getenv("TORG_MODEL_SEED");
    uint64_t seed = text && text[0] ? strtoull(text, NULL, 10) : random_u64();

    print_message("# seed %" PRIu64 "\n", seed);
    return rng_seeded(seed);
}

/* By insertion: as plain as it can be. */
static void sort_naively(struct pair *pairs, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t k = i;
             k > 0 && (pairs[k].rank < pairs[k - 1].rank ||
                       (pairs[k].rank == pairs[k - 1].rank && pairs[k].hash < pairs[k - 1].hash));
             k--) {
            struct pair moved = pairs[k];

            pairs[k] = pairs[k - 1];
            pairs[k - 1] = moved;
        }
}

static void run_once(struct rng *rng, size_t count, uint64_t rank_count)
{
    struct rank_list *list = rank_list_new(count);
    struct pair *pairs = mem_array(count + 1, sizeof(*pairs));
    int64_t hashes[100];
    size_t at = 0, given, max;

    for (size_t i = 0; i < count; i++) {
        pairs[i] = (struct pair){rng_below(rng, 10) ? rng_below(rng, rank_count) : RANK_NONE,
                                 (int64_t)rng_next(rng)};
        assert_true(rank_list_add(list, pairs[i].rank, pairs[i].hash));
    }
    assert_int_equal(rank_list_count(list), count);
    assert_false(rank_list_add(list, 0, 0)); /* it is full */
    sort_naively(pairs, count);
    do {
        max = 1 + rng_below(rng, 100);
        given = rank_list_next(list, hashes, max);
        for (size_t i = 0; i < given; i++)
            assert_int_equal(hashes[i], pairs[at++].hash);
    } while (given == max);
    assert_int_equal(at, count);
    assert_int_equal(rank_list_next(list, hashes, 1), 0);
    rank_list_free(list);
    free(pairs);
}

static void keys_come_in_the_order_of_their_ranks(void **state)
{
    struct rng rng = seeded();

    (void)state;
    for (size_t i = 0; i < 40; i++)
        run_once(&rng, rng_below(&rng, 300), 1 + rng_below(&rng, 50));
    run_once(&rng, 4096, 1000); /* a run, whole */
    run_once(&rng, 4097, 1000);
    run_once(&rng, 9000, 5);
    run_once(&rng, 12300, UINT64_MAX);
}

static void ranks_follow_values(void **state)
{
    static const int64_t values[] = {INT64_MIN, INT64_MIN + 1, -7, -1, 0, 1, 42, INT64_MAX - 1};

    (void)state;
    for (size_t i = 1; i < sizeof(values) / sizeof(values[0]); i++) {
        assert_true(rank_of(values[i - 1], true) < rank_of(values[i], true));
        assert_true(rank_of(values[i - 1], false) > rank_of(values[i], false));
        assert_true(rank_of(values[i], true) < RANK_NONE);
    }
    assert_true(rank_of(INT64_MIN, false) < RANK_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_come_in_the_order_of_their_ranks),
        cmocka_unit_test(ranks_follow_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
