/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of coord/plan.h: fair within one, and no shard moves without need. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "coord/plan.h"

static struct coord_view view;
static bool leaving[COORD_SHARD_COUNT_MAX];
static uint32_t claims[COORD_SHARD_COUNT_MAX];

static void begin(uint32_t shard_count, int member_count)
{
    uint32_t i;

    view = (struct coord_view){.shard_count = shard_count, .member_count = member_count};
    for (i = 0; i < shard_count; i++)
        view.owners[i] = COORD_FREE;
    memset(leaving, 0, sizeof(leaving));
}

/* Every member follows its plan once, with releases done at once. Returns shards moved away. */
static uint32_t round_of_all(void)
{
    static uint64_t ticket;
    uint32_t moved = 0;
    uint32_t i;
    int member;

    for (member = 0; member < view.member_count; member++) {
        uint32_t count;

        view.self = member;
        memset(leaving, 0, sizeof(leaving));
        count = plan_make(&view, leaving, claims);
        for (i = 0; i < count; i++) {
            assert_int_equal(view.owners[claims[i]], COORD_FREE);
            view.owners[claims[i]] = member;
            view.tickets[claims[i]] = ++ticket;
        }
        for (i = 0; i < view.shard_count; i++) {
            if (!leaving[i])
                continue;
            assert_int_equal(view.owners[i], member);
            view.owners[i] = COORD_FREE;
            moved++;
        }
    }
    return moved;
}

/* Rounds until nothing moves and nothing is free; returns how many shards moved. */
static uint32_t come_to_rest(void)
{
    uint32_t moved = 0;
    int round;

    for (round = 0; round < 8; round++) {
        uint32_t step = round_of_all();
        uint32_t free_count = 0;
        uint32_t i;

        for (i = 0; i < view.shard_count; i++)
            free_count += view.owners[i] == COORD_FREE;
        moved += step;
        if (!step && !free_count)
            return moved;
    }
    fail_msg("no rest after %d rounds", round);
    return 0;
}

static void assert_balanced(void)
{
    uint32_t counts[COORD_MEMBER_COUNT_MAX] = {0};
    uint32_t members = (uint32_t)view.member_count;
    uint32_t i;

    for (i = 0; i < view.shard_count; i++) {
        assert_true(view.owners[i] >= 0);
        counts[view.owners[i]]++;
    }
    for (i = 0; i < members; i++)
        assert_in_range(counts[i], view.shard_count / members,
                        (view.shard_count + members - 1) / members);
}

static void quotas_add_up(void **state)
{
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    int round;

    (void)state;
    print_message("# seed %ju\n", (uintmax_t)seed);
    for (round = 0; round < 2000; round++) {
        uint32_t total = 0;
        uint32_t i;
        int member;

        begin(1 + (uint32_t)rng_below(&rng, 100), 1 + (int)rng_below(&rng, 20));
        for (i = 0; i < view.shard_count; i++)
            view.owners[i] = (int)rng_below(&rng, (uint64_t)view.member_count + 2) - 2;
        for (member = 0; member < view.member_count; member++)
            total += plan_quota(&view, member);
        assert_int_equal(total, view.shard_count);
    }
}

static void a_newcomer_takes_its_share_and_no_more(void **state)
{
    int members;

    (void)state;
    for (members = 1; members < 12; members++) {
        uint32_t moved;

        begin(32, members);
        round_of_all();
        assert_balanced();
        assert_int_equal(round_of_all(), 0); /* at rest nothing moves */
        view.member_count++;
        moved = come_to_rest();
        assert_balanced();
        assert_int_equal(moved, 32 / (members + 1)); /* the least that is fair */
    }
}

static void the_shards_of_one_who_leaves_are_all_that_moves(void **state)
{
    int members;

    (void)state;
    for (members = 2; members < 12; members++) {
        int before[32];
        uint32_t i;

        begin(32, members);
        round_of_all();
        view.member_count--; /* the last one leaves */
        for (i = 0; i < 32; i++) {
            if (view.owners[i] == members - 1)
                view.owners[i] = COORD_FREE;
            before[i] = view.owners[i];
        }
        assert_int_equal(round_of_all(), 0);
        assert_balanced();
        for (i = 0; i < 32; i++)
            assert_true(before[i] == COORD_FREE || before[i] == view.owners[i]);
    }
}

static void random_states_come_to_rest(void **state)
{
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    int round;

    (void)state;
    print_message("# seed %ju\n", (uintmax_t)seed);
    for (round = 0; round < 1000; round++) {
        uint32_t i;

        begin(1 + (uint32_t)rng_below(&rng, 64), 1 + (int)rng_below(&rng, 70));
        for (i = 0; i < view.shard_count; i++)
            view.owners[i] = (int)rng_below(&rng, (uint64_t)view.member_count + 1) - 1;
        come_to_rest();
        assert_balanced();
        assert_int_equal(round_of_all(), 0);
    }
}

static void an_old_choice_stays_and_the_newest_goes_next(void **state)
{
    uint32_t i;

    (void)state;
    begin(6, 2);
    for (i = 0; i < 6; i++) {
        view.owners[i] = 0;
        view.tickets[i] = 100 + i;
    }
    view.self = 0;
    leaving[1] = true;
    assert_int_equal(plan_make(&view, leaving, claims), 0);
    assert_true(leaving[1] && leaving[5] && leaving[4]);
    assert_false(leaving[0] || leaving[2] || leaving[3]);
    view.member_count = 1; /* the other left again: nothing has to go */
    assert_int_equal(plan_make(&view, leaving, claims), 0);
    for (i = 0; i < 6; i++)
        assert_false(leaving[i]);
    view.self = -1;
    view.owners[0] = COORD_FREE;
    assert_int_equal(plan_make(&view, leaving, claims), 0); /* no member claims nothing */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotas_add_up),
        cmocka_unit_test(a_newcomer_takes_its_share_and_no_more),
        cmocka_unit_test(the_shards_of_one_who_leaves_are_all_that_moves),
        cmocka_unit_test(random_states_come_to_rest),
        cmocka_unit_test(an_old_choice_stays_and_the_newest_goes_next),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
