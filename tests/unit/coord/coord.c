/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of coord/coord.h: leases by a clock that the test moves, lost answers, threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/random.h"
#include "coord/bounds.h"
#include "coord/coord.h"
#include "coord/fault.h"
#include "patience.h"

enum { LEASE_US = 1000 * 1000 };

static struct clock_manual manual;
static int place;

struct member {
    struct coord *coord;
    struct coord_shards *shards;
};

static struct member open_member(const char *url, const char *name, uint32_t shard_count)
{
    struct coord_options options = {.clock = &manual.base, .lease_us = LEASE_US, .manual = true};
    struct member member;
    struct err err = {0};

    if (coord_open(url, name, &options, &member.coord, &err) ||
        coord_join(member.coord, "s", shard_count, &member.shards, &err))
        fail_msg("%s", err.text);
    return member;
}

static const char *fresh_url(void)
{
    static char url[64];

    clock_manual_init(&manual, 5);
    coord_fault_clear();
    snprintf(url, sizeof(url), "fault:memory:unit%d", place++);
    return url;
}

static uint64_t ticket_of(struct member member, uint32_t shard)
{
    struct coord_shard owned[COORD_SHARD_COUNT_MAX];
    size_t count = coord_owned(member.shards, owned, ARRAY_COUNT(owned));
    size_t i;

    for (i = 0; i < count; i++) {
        if (owned[i].shard == shard)
            return owned[i].ticket;
    }
    return 0;
}

static void the_lease_ends_by_the_clock_alone(void **state)
{
    struct member a = open_member(fresh_url(), "a", 1);
    uint64_t ticket = ticket_of(a, 0);
    struct coord_shard owned;
    uint64_t seen = 0;
    struct err err;

    (void)state;
    assert_true(ticket > 0);
    assert_int_equal(coord_wait(a.shards, &seen, 0, &err), 0);
    clock_manual_advance(&manual, LEASE_US - 1);
    assert_true(coord_valid(a.shards, 0, ticket));
    assert_int_equal(coord_wait(a.shards, &seen, 0, &err), ERR_TIMEOUT);
    clock_manual_advance(&manual, 1); /* nobody runs, and still it is over */
    assert_false(coord_valid(a.shards, 0, ticket));
    assert_int_equal(coord_owned(a.shards, &owned, 1), 0);
    assert_int_equal(coord_wait(a.shards, &seen, 0, &err), 0); /* and counts as a change */
    assert_int_equal(coord_step(a.coord, &err), 0);
    assert_true(ticket_of(a, 0) > ticket);
    assert_false(coord_valid(a.shards, 0, ticket));
    coord_close(a.coord);
}

static void the_lease_is_counted_from_before_the_renewal(void **state)
{
    struct member a = open_member(fresh_url(), "a", 1);
    uint64_t ticket = ticket_of(a, 0);
    struct err err;

    (void)state;
    clock_manual_advance(&manual, LEASE_US / 2);
    coord_fault_next(COORD_FAULT_RENEW, 1, true); /* it arrived, but the answer was lost */
    assert_int_equal(coord_step(a.coord, &err), ERR_UNAVAILABLE);
    clock_manual_advance(&manual, LEASE_US / 2 - 1);
    assert_true(coord_valid(a.shards, 0, ticket));
    clock_manual_advance(&manual, 1);
    assert_false(coord_valid(a.shards, 0, ticket)); /* the server would still keep it for us */
    assert_int_equal(coord_step(a.coord, &err), 0);
    assert_true(coord_valid(a.shards, 0, ticket)); /* it did: the same ticket is good again */
    coord_close(a.coord);
}

static void another_takes_over_when_the_lease_is_over(void **state)
{
    const char *url = fresh_url();
    struct member a = open_member(url, "a", 1);
    struct member b = open_member(url, "b", 1);
    uint64_t ticket = ticket_of(a, 0);
    struct err err;

    (void)state;
    clock_manual_advance(&manual, LEASE_US - 1);
    assert_int_equal(coord_step(b.coord, &err), 0);
    assert_int_equal(ticket_of(b, 0), 0);
    clock_manual_advance(&manual, 1);
    assert_int_equal(coord_step(b.coord, &err), 0);
    assert_true(ticket_of(b, 0) > ticket);
    assert_false(coord_valid(a.shards, 0, ticket));
    assert_int_equal(coord_step(a.coord, &err), 0);
    assert_int_equal(ticket_of(a, 0), 0);
    coord_close(b.coord);
    assert_int_equal(coord_step(a.coord, &err), 0);
    assert_true(ticket_of(a, 0) > ticket);
    coord_close(a.coord);
}

static void a_claim_whose_answer_is_lost_is_found_again(void **state)
{
    struct member a;
    struct err err;

    (void)state;
    fresh_url();
    a = open_member("fault:memory:claim", "a", 4);
    coord_release(a.shards, 2, ticket_of(a, 2));
    coord_fault_next(COORD_FAULT_CLAIM, 1, true);
    assert_int_equal(coord_step(a.coord, &err), ERR_UNAVAILABLE);
    assert_int_equal(ticket_of(a, 2), 0);
    assert_int_equal(coord_step(a.coord, &err), 0);
    assert_true(ticket_of(a, 2) > 0);
    coord_close(a.coord);
}

static void a_release_is_told_until_it_is_heard(void **state)
{
    const char *url = fresh_url();
    struct member a = open_member(url, "a", 1);
    struct member b = open_member(url, "b", 1);
    uint64_t ticket = ticket_of(a, 0);
    struct err err;

    (void)state;
    coord_release(a.shards, 0, ticket);
    assert_false(coord_valid(a.shards, 0, ticket)); /* at once, whatever the server knows */
    coord_fault_next(COORD_FAULT_RELEASE, 1, false);
    assert_int_equal(coord_step(a.coord, &err), ERR_UNAVAILABLE);
    assert_int_equal(coord_step(b.coord, &err), 0);
    assert_int_equal(ticket_of(b, 0), 0);
    coord_fault_next(COORD_FAULT_RELEASE, 1, true);
    assert_int_equal(coord_step(a.coord, &err), ERR_UNAVAILABLE);
    assert_int_equal(ticket_of(a, 0), 0);
    assert_int_equal(coord_step(b.coord, &err), 0);
    assert_int_equal(ticket_of(b, 0), 0); /* free, and by the plan the first one's */
    assert_int_equal(coord_step(a.coord, &err), 0);
    assert_true(ticket_of(a, 0) > ticket);
    coord_close(a.coord);
    coord_close(b.coord);
}

static void a_leave_that_fails_is_finished_later(void **state)
{
    const char *url = fresh_url();
    struct member a = open_member(url, "a", 2);
    struct member b = open_member(url, "b", 2);
    struct coord_shards *again;
    struct err err;

    (void)state;
    coord_fault_next(COORD_FAULT_LEAVE, 1, false);
    coord_leave(a.shards);
    assert_int_equal(coord_join(a.coord, "s", 2, &again, &err), ERR_UNAVAILABLE);
    assert_int_equal(coord_step(a.coord, &err), 0);
    assert_int_equal(coord_step(b.coord, &err), 0);
    assert_true(ticket_of(b, 0) && ticket_of(b, 1));
    assert_int_equal(coord_join(a.coord, "s", 2, &again, &err), 0);
    coord_close(a.coord);
    coord_close(b.coord);
}

/* Half joined, a member would hold shards that nobody works on. */
static void a_join_that_fails_leaves_nothing(void **state)
{
    static const enum coord_fault faults[] = {COORD_FAULT_JOIN, COORD_FAULT_LOOK,
                                              COORD_FAULT_CLAIM};
    size_t i;

    (void)state;
    for (i = 0; i < 2 * ARRAY_COUNT(faults); i++) {
        const char *url = fresh_url();
        struct coord_options options = {
            .clock = &manual.base, .lease_us = LEASE_US, .manual = true};
        struct coord_shards *shards;
        struct coord *coord;
        struct member b;
        struct err err;

        assert_int_equal(coord_open(url, "a", &options, &coord, &err), 0);
        coord_fault_next(faults[i / 2], 1, i % 2);
        assert_int_equal(coord_join(coord, "s", 4, &shards, &err), ERR_UNAVAILABLE);
        assert_null(shards);
        b = open_member(url, "b", 4);
        assert_true(ticket_of(b, 0) && ticket_of(b, 1) && ticket_of(b, 2) && ticket_of(b, 3));
        coord_close(b.coord);
        assert_int_equal(coord_join(coord, "s", 4, &shards, &err), 0);
        coord_close(coord);
    }
}

static void bad_arguments_are_told(void **state)
{
    struct coord_options options = {.lease_us = 1};
    struct coord *coord;
    struct err err;

    (void)state;
    assert_int_equal(coord_open("memory:x", "a", &options, &coord, &err), ERR_INVALID);
    assert_null(coord);
    assert_int_equal(coord_open("memory:x", "a b", NULL, &coord, &err), ERR_INVALID);
    assert_int_equal(coord_open("memory:x", "", NULL, &coord, &err), ERR_INVALID);
    assert_int_equal(coord_open("memory:x", ".a", NULL, &coord, &err), ERR_INVALID);
    assert_int_equal(coord_open("nothing:x", "a", NULL, &coord, &err), ERR_INVALID);
    assert_int_equal(coord_open("fault:nothing:x", "a", NULL, &coord, &err), ERR_INVALID);
    assert_int_equal(coord_open("local:", "a", NULL, &coord, &err), ERR_INVALID);
    assert_int_equal(coord_open("zookeeper:host", "a", NULL, &coord, &err), ERR_INVALID);
    assert_int_equal(coord_open("zookeeper:///path", "a", NULL, &coord, &err), ERR_INVALID);
    assert_int_equal(coord_open("zookeeper://h:1/a//b", "a", NULL, &coord, &err), ERR_INVALID);
    coord_close(NULL);
}

/* Whoever gives a file of TLS wants TLS: nobody is asked without. */
static void files_without_tls_are_told(void **state)
{
    static const struct {
        struct coord_tls tls;
        const char *told;
    } cases[] = {
        {{.ca = "a.pem"}, "coord.ca is given, and coord.tls is not on"},
        {{.certificate = "a.pem"}, "coord.certificate is given, and coord.tls is not on"},
        {{.key = "a.pem"}, "coord.key is given, and coord.tls is not on"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct coord_options options = {.tls = cases[i].tls};
        struct coord *coord;
        struct err err;

        assert_int_equal(coord_open("zookeeper://127.0.0.1:1/a", "a", &options, &coord, &err),
                         ERR_INVALID);
        assert_non_null(strstr(err.text, cases[i].told));
    }
}

/* --- threads: no two work on one shard, ever --- */

enum { CROWD = 4, CROWD_SHARDS = 9, CROWD_ROUNDS = 12 };

static _Atomic int busy[CROWD_SHARDS];
static _Atomic int clashes;
static _Atomic int gained;

struct worker {
    int number;
    uint64_t tickets[CROWD_SHARDS]; /* what it works on */
};

/* Starts what is new, stops and releases what is leaving or lost. */
static void follow(struct worker *worker, struct coord_shards *shards, bool stop)
{
    struct coord_shard owned[CROWD_SHARDS];
    size_t count = stop ? 0 : coord_owned(shards, owned, CROWD_SHARDS);
    uint64_t wanted[CROWD_SHARDS] = {0};
    uint64_t leaving[CROWD_SHARDS] = {0};
    size_t i;

    for (i = 0; i < count; i++)
        *(owned[i].leaving ? &leaving[owned[i].shard] : &wanted[owned[i].shard]) = owned[i].ticket;
    for (i = 0; i < CROWD_SHARDS; i++) {
        if (worker->tickets[i] && worker->tickets[i] != wanted[i]) {
            worker->tickets[i] = 0;
            atomic_store(&busy[i], 0);
        }
        if (leaving[i])
            coord_release(shards, (uint32_t)i, leaving[i]);
        if (wanted[i] && !worker->tickets[i]) {
            worker->tickets[i] = wanted[i];
            atomic_fetch_add(&gained, 1);
            if (atomic_exchange(&busy[i], worker->number))
                atomic_fetch_add(&clashes, 1);
        }
    }
}

static void *crowd_run(void *arg)
{
    /* Who stands still for longer than its lease is right to lose its shards, and is no clash. */
    const struct coord_options options = {.lease_us = (int64_t)COORD_LEASE_MS_MAX * MS_US};
    struct worker *worker = arg;
    struct rng rng = rng_seeded((uint64_t)worker->number);
    int round;

    for (round = 0; round < CROWD_ROUNDS; round++) {
        struct coord_shards *shards;
        struct coord *coord;
        uint64_t seen = 0;
        struct err err;
        int i;

        if (coord_open("memory:crowd", "w", &options, &coord, &err) ||
            coord_join(coord, "s", CROWD_SHARDS, &shards, &err)) {
            atomic_fetch_add(&clashes, 1000);
            return NULL;
        }
        for (i = 0; i < 8; i++) {
            coord_wait(shards, &seen, (int)rng_below(&rng, 10), &err);
            follow(worker, shards, false);
        }
        follow(worker, shards, true);
        coord_close(coord);
    }
    return NULL;
}

static void two_never_work_on_one_shard(void **state)
{
    struct worker workers[CROWD];
    pthread_t threads[CROWD];
    int i;

    (void)state;
    for (i = 0; i < CROWD; i++) {
        workers[i] = (struct worker){.number = i + 1};
        assert_int_equal(pthread_create(&threads[i], NULL, crowd_run, &workers[i]), 0);
    }
    for (i = 0; i < CROWD; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&clashes), 0);
    assert_true(atomic_load(&gained) >= CROWD_SHARDS);
}

/* --- waiting --- */

static void a_waiter_wakes_when_shards_come(void **state)
{
    struct coord_shards *shards[2];
    struct coord *coords[2];
    struct coord_shard owned[2];
    uint64_t seen = 0;
    struct err err;

    (void)state;
    assert_int_equal(coord_open("memory:wait", "a", NULL, &coords[0], &err), 0);
    assert_int_equal(coord_join(coords[0], "s", 2, &shards[0], &err), 0);
    assert_int_equal(coord_open("memory:wait", "b", NULL, &coords[1], &err), 0);
    assert_int_equal(coord_join(coords[1], "s", 2, &shards[1], &err), 0);
    while (coord_owned(shards[1], owned, 2) == 0) { /* by waits alone, no sleeps */
        uint64_t seen_first = 0;
        size_t i;

        coord_wait(shards[0], &seen_first, PATIENCE_MS, &err);
        for (i = coord_owned(shards[0], owned, 2); i > 0; i--) {
            if (owned[i - 1].leaving)
                coord_release(shards[0], owned[i - 1].shard, owned[i - 1].ticket);
        }
        coord_wait(shards[1], &seen, 50, &err);
    }
    coord_close(coords[0]);
    while (coord_owned(shards[1], owned, 2) < 2)
        assert_int_equal(coord_wait(shards[1], &seen, PATIENCE_MS, &err), 0);
    coord_close(coords[1]);
}

/* --- time that belongs to the test --- */

static void a_lease_is_renewed_by_the_clock_it_was_given(void **state)
{
    enum { RENEWAL_COUNT = 2000 };
    const struct coord_options options = {.clock = &manual.base, .lease_us = LEASE_US};
    struct coord_shard owned;
    struct member member;
    struct err err;

    clock_manual_init_strict(&manual, 5);
    assert_int_equal(coord_open("memory:strict", "a", &options, &member.coord, &err), 0);
    assert_int_equal(coord_join(member.coord, "s", 1, &member.shards, &err), 0);
    assert_int_equal(coord_owned(member.shards, &owned, 1), 1);
    for (int i = 0; i < RENEWAL_COUNT; i++) {
        int64_t now_us = clock_mono_us(&manual.base);
        int64_t next_us = clock_manual_next_us(&manual);

        while (next_us == CLOCK_NEVER || next_us <= now_us) { /* it is at work */
            sched_yield();
            next_us = clock_manual_next_us(&manual);
        }
        clock_manual_advance(&manual, next_us - now_us);
        assert_true(coord_valid(member.shards, 0, owned.ticket));
    }
    assert_true(clock_mono_us(&manual.base) > (int64_t)RENEWAL_COUNT / 4 * LEASE_US);
    coord_close(member.coord);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lease_ends_by_the_clock_alone),
        cmocka_unit_test(the_lease_is_counted_from_before_the_renewal),
        cmocka_unit_test(another_takes_over_when_the_lease_is_over),
        cmocka_unit_test(a_claim_whose_answer_is_lost_is_found_again),
        cmocka_unit_test(a_release_is_told_until_it_is_heard),
        cmocka_unit_test(a_leave_that_fails_is_finished_later),
        cmocka_unit_test(a_join_that_fails_leaves_nothing),
        cmocka_unit_test(bad_arguments_are_told),
        cmocka_unit_test(files_without_tls_are_told),
        cmocka_unit_test(two_never_work_on_one_shard),
        cmocka_unit_test(a_waiter_wakes_when_shards_come),
        cmocka_unit_test(a_lease_is_renewed_by_the_clock_it_was_given),
    };

    log_setup(LOG_FORMAT_HUMAN, LOG_LEVEL_ERROR, STDERR_FILENO);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
