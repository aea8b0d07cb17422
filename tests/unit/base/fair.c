/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of base/fair: whose turn it is, who loses when there is no room, and nothing is lost. */
#include "base/fair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bounds.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/workers.h"
#include <cmocka.h>

enum { HELD_MAX = 30, JOB_MAX = 2048, GREEDY = 1, POLITE = 2, FLOW_COUNT = 50, COST_US = 1000 };

static struct job jobs[JOB_MAX];

static void dropped(struct job *job)
{
}

static struct job *push(struct fair *fair, size_t number, uint64_t caller, uint64_t flow)
{
    jobs[number] = (struct job){.caller = caller, .flow = flow, .dropped = dropped};
    fair_push(fair, &jobs[number]);
    return &jobs[number];
}

static struct job *run_next(struct fair *fair, int64_t cost_us)
{
    struct job *job = fair_pop(fair);

    if (job)
        fair_done(fair, job->caller, job->cost_us, cost_us, cost_us);
    return job;
}

static void drain(struct fair *fair)
{
    while (run_next(fair, COST_US))
        ;
    assert_int_equal(fair_count(fair), 0);
    fair_free(fair);
}

static void one_caller_is_served_in_order(void **state)
{
    struct fair *fair = fair_new(JOB_MAX, 0);

    for (size_t i = 0; i < 100; i++)
        push(fair, i, GREEDY, 7);
    for (size_t i = 0; i < 100; i++)
        assert_ptr_equal(run_next(fair, COST_US), &jobs[i]);
    assert_null(fair_pop(fair));
    drain(fair);
}

/* Who comes late waits for one job of the greedy one, not for all of them. */
static void a_polite_caller_does_not_wait_behind_a_greedy_one(void **state)
{
    struct fair *fair = fair_new(JOB_MAX, 0);
    unsigned waited = 0;

    for (size_t i = 0; i < 1600; i++)
        push(fair, i, GREEDY, i % FLOW_COUNT);
    for (size_t round = 0; round < 100; round++) {
        const struct job *own = push(fair, 1600 + round, POLITE, 7);

        while (run_next(fair, COST_US) != own)
            waited++;
    }
    assert_true(waited <= 101);
    drain(fair);
}

/* ... also when it has the same address, or the same key: a flow that asks one thing at a time
 * waits for one job, whenever it comes. */
static void a_polite_flow_waits_for_one(void **state)
{
    struct fair *fair = fair_new(JOB_MAX, 0);

    for (size_t i = 0; i < 1600; i++)
        push(fair, i, GREEDY, i % FLOW_COUNT);
    for (size_t i = 0; i < FLOW_COUNT; i++) /* all were new once */
        run_next(fair, COST_US);
    for (size_t round = 0; round < 40; round++) {
        const struct job *own;
        unsigned waited = 0;

        for (size_t i = 0; i < round % 7 + FAIR_DEEP; i++)
            run_next(fair, COST_US);
        own = push(fair, 1600 + round, GREEDY, 1000);
        while (run_next(fair, COST_US) != own)
            waited++;
        assert_true(waited <= 1);
    }
    drain(fair);
}

/* Whose jobs take long is told, and that a new flow of his need not wait for those that run. */
static void dear_callers_are_told(void **state)
{
    struct fair *fair = fair_new(JOB_MAX, 0);
    struct job *first;

    for (size_t i = 0; i < 100; i++)
        push(fair, i, GREEDY, 1);
    assert_true(fair_next_is_new(fair));
    for (size_t i = 0; i < 20; i++)
        run_next(fair, 60 * COST_US);
    first = fair_pop(fair);
    assert_true(fair_next_is_dear(fair));
    assert_false(fair_next_is_new(fair));
    push(fair, 100, GREEDY, 2);
    assert_true(fair_next_is_new(fair));
    push(fair, 101, POLITE, 1); /* before all others */
    assert_true(fair_next_is_new(fair));
    assert_false(fair_next_is_dear(fair));
    assert_ptr_equal(run_next(fair, COST_US), &jobs[101]);
    assert_ptr_equal(run_next(fair, COST_US), &jobs[100]);
    fair_done(fair, GREEDY, first->cost_us, 1, 1);
    drain(fair);
}

/* A caller who was charged for more than its jobs cost is not before who comes afterwards. */
static void nothing_is_owed_for_a_wrong_guess(void **state)
{
    struct fair *fair = fair_new(JOB_MAX, 0);
    struct job *taken[3];

    for (size_t i = 0; i < 100; i++)
        push(fair, i, GREEDY, 1);
    for (size_t i = 0; i < 20; i++)
        run_next(fair, 60 * COST_US);
    for (size_t i = 0; i < ARRAY_COUNT(taken); i++)
        taken[i] = fair_pop(fair);
    for (size_t i = 0; i < ARRAY_COUNT(taken); i++)
        fair_done(fair, GREEDY, taken[i]->cost_us, 1, 1);
    push(fair, 100, POLITE, 1);
    assert_ptr_equal(run_next(fair, COST_US), &jobs[100]);
    drain(fair);
}

/* Flows that have one job each do not keep one that has many waiting for ever. */
static void a_deep_flow_has_its_turns(void **state)
{
    struct fair *fair = fair_new(JOB_MAX, 0);
    unsigned deep = 0;

    for (size_t i = 0; i < 200; i++)
        push(fair, i, GREEDY, 1);
    for (size_t next = 1000; next < 1999;) {
        push(fair, next, GREEDY, next + 1);
        next++;
        while (run_next(fair, COST_US)->flow == 1)
            deep++;
    }
    assert_true(deep >= 1000 / FAIR_DEEP - 1);
    drain(fair);
}

/* By time, not by number: jobs that take 60 ms have a sixtieth of the turns. */
static void what_is_dear_has_fewer_turns(void **state)
{
    struct fair *fair = fair_new(JOB_MAX, 0);
    unsigned cheap = 0;

    for (size_t i = 0; i < 1000; i++)
        push(fair, i, POLITE, 1);
    for (size_t i = 1000; i < 1100; i++)
        push(fair, i, GREEDY, 1);
    for (unsigned dear = 0; dear < 10;) {
        struct job *job = fair_pop(fair);

        int64_t cost_us = job->caller == GREEDY ? 60 * COST_US : COST_US;

        fair_done(fair, job->caller, job->cost_us, cost_us, cost_us);
        dear += job->caller == GREEDY;
        cheap += job->caller == POLITE;
    }
    assert_true(cheap >= 9 * 60);
    drain(fair);
}

/* Who was away is not owed: it does not keep those who were there waiting. */
static void absence_saves_nothing(void **state)
{
    struct fair *fair = fair_new(JOB_MAX, 0);
    unsigned polite = 0;

    for (size_t i = 0; i < 1000; i++)
        push(fair, i, GREEDY, 1);
    for (size_t i = 0; i < 500; i++)
        run_next(fair, COST_US);
    for (size_t i = 1000; i < 1500; i++)
        push(fair, i, POLITE, 1);
    for (size_t i = 0; i < 100; i++)
        polite += run_next(fair, COST_US)->caller == POLITE;
    assert_in_range(polite, 49, 51);
    drain(fair);
}

static void the_greediest_loses_its_newest(void **state)
{
    struct fair *fair = fair_new(JOB_MAX, 0);

    for (size_t i = 0; i < 10; i++)
        push(fair, i, GREEDY, i % 2);
    push(fair, 10, POLITE, 1);
    assert_null(fair_drop(fair, GREEDY)); /* who comes is the one */
    assert_ptr_equal(fair_drop(fair, POLITE), &jobs[8]);
    assert_ptr_equal(fair_drop(fair, 3), &jobs[9]);
    assert_int_equal(fair_count(fair), 9);
    drain(fair);
}

static void a_wait_is_foreseen(void **state)
{
    struct fair *fair = fair_new(JOB_MAX, 0);

    assert_int_equal(fair_wait_us(fair, GREEDY, 1, 2), 0);
    for (size_t i = 0; i < 100; i++)
        push(fair, i, GREEDY, 1);
    assert_int_equal(fair_wait_us(fair, GREEDY, 1, 2), 100 * COST_US / 2);
    assert_int_equal(fair_wait_us(fair, POLITE, 1, 2), 0);
    drain(fair);
}

/* By its flow: one that has nothing in the queue goes before what others of its caller have. */
static void a_wait_is_foreseen_by_flow(void **state)
{
    struct fair *fair = fair_new(JOB_MAX, 0);
    unsigned waited = 0;
    const struct job *own;

    for (size_t i = 0; i < 1600; i++)
        push(fair, i, GREEDY, i % FLOW_COUNT);
    assert_int_equal(fair_wait_us(fair, GREEDY, 1000, 1), FLOW_COUNT * COST_US);
    for (size_t i = 0; i < FLOW_COUNT + 5; i++) /* all were new once, some have had two turns */
        run_next(fair, COST_US);
    assert_int_equal(fair_wait_us(fair, GREEDY, 1000, 1), 0);
    own = push(fair, 1600, GREEDY, 1000);
    assert_int_equal(fair_wait_us(fair, GREEDY, 1001, 1), COST_US);
    /* Behind one of its own: each other flow has a turn before. */
    assert_int_equal(fair_wait_us(fair, GREEDY, 1000, 1), (FLOW_COUNT + 1) * COST_US);
    assert_in_range(fair_wait_us(fair, GREEDY, 1, 1), 29 * FLOW_COUNT * COST_US,
                    (31 * FLOW_COUNT + 1) * COST_US);
    while (run_next(fair, COST_US) != own)
        waited++;
    assert_true(waited <= 1);
    drain(fair);
}

/* Of whom as many run as may waits until one has ended, and nobody waits behind it, whatever it
 * has paid; what it has in the queue is still seen. */
static void nobody_waits_behind_one_that_is_sated(void **state)
{
    struct fair *fair = fair_new(JOB_MAX, 3);
    struct job *taken[3];

    for (size_t i = 0; i < 20; i++) /* it pays for more than the greedy one will */
        push(fair, i, POLITE, 1);
    while (fair_count(fair))
        run_next(fair, 100 * COST_US);
    for (size_t i = 20; i < 40; i++)
        push(fair, i, GREEDY, 1);
    for (size_t i = 0; i < ARRAY_COUNT(taken); i++) {
        taken[i] = fair_pop(fair);
        assert_int_equal(taken[i]->caller, GREEDY);
    }
    assert_false(fair_has_next(fair));
    assert_null(fair_pop(fair));
    assert_int_equal(fair_wait_us(fair, GREEDY, 1, 1), 17 * COST_US);
    push(fair, 40, POLITE, 1);
    push(fair, 41, 0, 1);
    push(fair, 42, 0, 1);
    for (size_t i = 0; i < 3; i++)
        assert_int_not_equal(run_next(fair, COST_US)->caller, GREEDY);
    assert_false(fair_has_next(fair));
    assert_ptr_equal(fair_drop(fair, POLITE), &jobs[39]);
    fair_done(fair, GREEDY, taken[0]->cost_us, COST_US, COST_US);
    assert_true(fair_has_next(fair));
    assert_ptr_equal(fair_pop(fair), &jobs[23]);
    assert_false(fair_has_next(fair));
    fair_done(fair, GREEDY, jobs[23].cost_us, COST_US, COST_US);
    for (size_t i = 1; i < ARRAY_COUNT(taken); i++)
        fair_done(fair, GREEDY, taken[i]->cost_us, COST_US, COST_US);
    drain(fair);
}

/* Any order of pushes, pops and drops: each job comes out once. */
static void nothing_is_lost(void **state)
{
    const char *text = getenv("TORG_TEST_SEED");
    uint64_t seed = text ? strtoull(text, NULL, 10) : random_u64();
    struct rng rng = rng_seeded(seed);
    struct fair *fair = fair_new(JOB_MAX, 2);
    struct job *held[HELD_MAX] = {NULL}; /* they run meanwhile */
    size_t in = 0;
    size_t out = 0;

    print_message("# seed %ju\n", (uintmax_t)seed);
    while (in < JOB_MAX || out < in) {
        uint64_t dice = rng_below(&rng, 10);
        struct job *job = NULL;

        if (dice < 5 && in < JOB_MAX) {
            push(fair, in++, rng_below(&rng, 20), rng_below(&rng, 5));
        } else if (dice < 9) {
            struct job **place = &held[rng_below(&rng, HELD_MAX)];

            if (*place)
                fair_done(fair, (*place)->caller, (*place)->cost_us,
                          (int64_t)rng_below(&rng, 100000), 1);
            job = *place = fair_pop(fair);
        } else {
            job = fair_drop(fair, rng_below(&rng, 20));
        }
        if (job) {
            assert_non_null(job->dropped);
            job->dropped = NULL; /* not twice */
            out++;
        } else if (in == JOB_MAX && !fair_count(fair)) {
            break;
        }
    }
    assert_int_equal(out, JOB_MAX);
    for (size_t i = 0; i < HELD_MAX; i++)
        if (held[i])
            fair_done(fair, held[i]->caller, held[i]->cost_us, 1, 1);
    drain(fair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_caller_is_served_in_order),
        cmocka_unit_test(a_polite_caller_does_not_wait_behind_a_greedy_one),
        cmocka_unit_test(a_polite_flow_waits_for_one),
        cmocka_unit_test(dear_callers_are_told),
        cmocka_unit_test(nothing_is_owed_for_a_wrong_guess),
        cmocka_unit_test(a_deep_flow_has_its_turns),
        cmocka_unit_test(what_is_dear_has_fewer_turns),
        cmocka_unit_test(absence_saves_nothing),
        cmocka_unit_test(the_greediest_loses_its_newest),
        cmocka_unit_test(a_wait_is_foreseen),
        cmocka_unit_test(a_wait_is_foreseen_by_flow),
        cmocka_unit_test(nobody_waits_behind_one_that_is_sated),
        cmocka_unit_test(nothing_is_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
