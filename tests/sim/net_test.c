/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The faults of a simulated cluster (sim_net.h): that they happen, and that no more than these do.
 * That its backends keep their contracts without faults is shown by tests/contract.
 */
#include "contract/cases.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "coord/coord.h"
#include "sim/sim_net.h"
#include "store/store.h"
#include "topic/topic.h"

enum { START_S = 1700000000, LEASE_MS = 5000, RUN_COUNT = 400 };

struct place {
    struct clock_manual clock;
    struct sim_net *net;
    struct sim_node *a, *b;
};

static int set_up(void **state)
{
    static struct place place;
    struct err err = {0};

    clock_manual_init(&place.clock, (int64_t)START_S * SECOND_US);
    OK(sim_net_open(7, &place.clock.base, NULL, &place.net, &err));
    place.a = sim_node_new(place.net, "a");
    place.b = sim_node_new(place.net, "b");
    *state = &place;
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;

    sim_node_free(place->a);
    sim_node_free(place->b);
    sim_net_close(place->net);
    return 0;
}

/* --- the store --- */

struct row {
    const char *sql;
    int64_t id;
    int64_t found;
};

static int run_row(struct store_tx *tx, void *arg, struct err *err)
{
    const struct row *row = arg;
    const struct store_value id = STORE_V_INT(row->id);

    return store_exec(tx, row->sql, &id, strchr(row->sql, '$') ? 1 : 0, NULL, err);
}

static int count_row(struct store_tx *tx, void *arg, struct err *err)
{
    struct row *row = arg;
    const struct store_value id = STORE_V_INT(row->id);

    return store_find_integer(tx, "SELECT count(*) FROM t WHERE id = $1", &id, 1, &row->found, err);
}

static void a_commit_in_doubt_has_or_has_not_taken_place(void **state)
{
    struct place *place = *state;
    const struct sim_rates rates = {.lose_call = 20, .lose_answer = 200, .strike = 300};
    struct store *judge = sim_net_store(place->net);
    int told = 0, doubted_there = 0, doubted_gone = 0;
    struct row row = {.sql = "CREATE TABLE t (id BIGINT PRIMARY KEY)"};
    struct store *store;
    struct err err = {0};

    OK(store_open("sim:a", &store, &err));
    OK(store_write(store, run_row, &row, &err));
    sim_net_set_rates(place->net, SIM_STORE, &rates);
    row.sql = "INSERT INTO t (id) VALUES ($1)";
    for (row.id = 0; row.id < RUN_COUNT; row.id++) {
        int rc = store_write(store, run_row, &row, &err);

        OK(store_read(judge, count_row, &row, &(struct err){0}));
        if (rc == 0) {
            assert_int_equal(row.found, 1);
            told++;
        } else {
            assert_int_equal(rc, ERR_UNAVAILABLE);
            if (!strstr(err.text, "unknown whether")) /* it says so wherever it may be there */
                assert_int_equal(row.found, 0);
            *(row.found ? &doubted_there : &doubted_gone) += 1;
        }
    }
    assert_true(told > RUN_COUNT / 2);
    assert_true(doubted_there > 0 && doubted_gone > 0);
    store_close(store);
}

static void a_server_that_is_away_answers_nobody(void **state)
{
    struct place *place = *state;
    struct row row = {.sql = "CREATE TABLE t (id BIGINT PRIMARY KEY)"};
    struct store *store, *other;
    struct err err = {0};

    OK(store_open("sim:a", &store, &err));
    OK(store_open("sim:b", &other, &err));
    OK(store_write(store, run_row, &row, &err));
    sim_node_cut(place->a, SIM_STORE, true);
    assert_int_equal(store_read(store, count_row, &row, &err), ERR_UNAVAILABLE);
    OK(store_read(other, count_row, &row, &err));
    sim_net_set_away(place->net, SIM_STORE, true);
    assert_int_equal(store_read(other, count_row, &row, &err), ERR_UNAVAILABLE);
    sim_net_calm(place->net);
    OK(store_read(store, count_row, &row, &err));
    store_close(other);
    store_close(store);
}

/* --- topics --- */

static void records_come_again_after_a_lost_session(void **state)
{
    struct place *place = *state;
    const struct sim_rates rates = {.lose_call = 20, .lose_answer = 50, .strike = 150};
    const char *names[] = {"t"};
    struct consumer_options options = {
        .group = "g", .topics = names, .topic_count = 1, .poll_count = 5};
    int seen[RUN_COUNT] = {0};
    int stored[RUN_COUNT] = {0};
    size_t missing = RUN_COUNT, again = 0, stale = 0;
    struct topics *topics;
    struct consumer *consumer;
    struct err err = {0};

    OK(topics_open("sim:a", NULL, &topics, &err));
    OK(topic_create(topics, "t", &(struct topic_config){.partition_count = 3}, &err));
    sim_net_set_rates(place->net, SIM_TOPICS, &rates);
    for (int i = 0; i < RUN_COUNT; i++) {
        struct topic_record record = {.key = bytes_make(&i, sizeof(i)),
                                      .value = bytes_make(&i, sizeof(i))};

        while (topic_produce(topics, "t", &record, 1, NULL, &err))
            assert_true(err.code == ERR_UNAVAILABLE);
    }
    while (consumer_open(topics, &options, &consumer, &err))
        assert_int_equal(err.code, ERR_UNAVAILABLE);
    while (missing) {
        const struct topic_message *messages;
        size_t count;

        if (consumer_poll(consumer, 0, &messages, &count, &err))
            continue;
        for (size_t k = 0; k < count; k++) {
            int i;

            memcpy(&i, messages[k].value.data, sizeof(i));
            missing -= seen[i] == 0;
            again += seen[i]++ > 0;
        }
        stale += consumer_commit_polled(consumer, &err) == ERR_STALE;
    }
    consumer_close(consumer);
    topics_close(topics);
    for (uint32_t p = 0; p < 3; p++) {
        struct arena *arena = arena_new();
        const struct topic_message *messages;
        size_t count;

        OK(topic_read(sim_net_topics(place->net), "t", p, 0, 2 * RUN_COUNT, 0, arena, &messages,
                      &count, &err));
        for (size_t k = 0; k < count; k++)
            stored[*(const int *)messages[k].value.data]++;
        arena_free(arena);
    }
    for (int i = 0; i < RUN_COUNT; i++)
        again -= (size_t)(stored[i] > 1 && seen[i] > 1 ? stored[i] - 1 : 0); /* a lost report's */
    assert_true(stale > 0 && again > 0);
}

/* --- coordination --- */

static uint64_t owned_ticket(struct coord_shards *shards)
{
    struct coord_shard owned;

    return coord_owned(shards, &owned, 1) ? owned.ticket : 0;
}

struct asker {
    struct coord *coord;
    _Atomic bool is_answered;
};

static void *ask(void *arg)
{
    struct asker *asker = arg;
    struct buf value = BUF_INIT(100);
    uint64_t version;
    struct err err;

    coord_get(asker->coord, "k", &value, &version, &err);
    atomic_store(&asker->is_answered, true);
    buf_release(&value);
    return NULL;
}

static void an_owner_that_is_frozen_loses_its_session(void **state)
{
    struct place *place = *state;
    struct coord_options options = {.lease_us = LEASE_MS * MS_US, .manual = true};
    struct coord_shards *shards[2];
    struct coord *coords[2];
    struct asker asker;
    pthread_t thread;
    uint64_t old, fresh;
    struct err err = {0};

    sim_node_set_clock(place->a, 0, 77 * SECOND_US); /* clocks of two machines never agree */
    options.clock = sim_node_clock(place->a);
    OK(coord_open("sim:a", "a", &options, &coords[0], &err));
    options.clock = sim_node_clock(place->b);
    OK(coord_open("sim:b", "b", &options, &coords[1], &err));
    OK(coord_join(coords[0], "s", 1, &shards[0], &err));
    OK(coord_step(coords[0], &err));
    old = owned_ticket(shards[0]);
    assert_true(old > 0);
    OK(coord_join(coords[1], "s", 1, &shards[1], &err));

    sim_node_freeze(place->a);
    asker = (struct asker){.coord = coords[0]};
    assert_int_equal(pthread_create(&thread, NULL, ask, &asker), 0);
    clock_manual_advance(&place->clock, (LEASE_MS - 1) * MS_US);
    OK(coord_step(coords[1], &err));
    assert_int_equal(owned_ticket(shards[1]), 0);
    clock_manual_advance(&place->clock, MS_US);
    OK(coord_step(coords[1], &err));
    fresh = owned_ticket(shards[1]);
    assert_true(fresh > old);
    assert_false(atomic_load(&asker.is_answered));
    sim_node_thaw(place->a);
    pthread_join(thread, NULL);
    assert_false(coord_valid(shards[0], 0, old));
    coord_close(coords[0]);
    coord_close(coords[1]);
}

static void a_read_may_be_old_but_never_older_than_what_was_seen(void **state)
{
    struct place *place = *state;
    const struct sim_rates rates = {.strike = 500};
    struct coord_options options = {.manual = true};
    uint64_t last = 0, newest = 0, version;
    struct coord *coords[2];
    size_t old_count = 0;
    struct err err = {0};

    OK(coord_open("sim:a", "a", &options, &coords[0], &err));
    OK(coord_open("sim:b", "b", &options, &coords[1], &err));
    sim_net_set_rates(place->net, SIM_COORD, &rates);
    for (int i = 0; i < RUN_COUNT; i++) {
        struct buf value = BUF_INIT(100);

        OK(coord_set(coords[i % 3 == 0], "k", bytes_of("x"), newest, &newest, &err));
        OK(coord_get(coords[0], "k", &value, &version, &err));
        assert_true(version >= last && version <= newest);
        if (i % 3) /* its own */
            assert_int_equal(version, newest);
        old_count += version < newest;
        last = version;
        buf_release(&value);
    }
    assert_true(old_count > 0);
    coord_close(coords[0]);
    coord_close(coords[1]);
}

/* --- clocks and death --- */

static void a_members_clock_is_off_and_jumps(void **state)
{
    struct place *place = *state;
    const struct clock *clock = sim_node_clock(place->a);
    const struct clock *ours = sim_net_clock(place->net);

    sim_node_set_clock(place->a, -3 * SECOND_US, 9 * SECOND_US);
    assert_int_equal(clock_wall_us(clock), clock_wall_us(ours) - 3 * SECOND_US);
    assert_int_equal(clock_mono_us(clock), clock_mono_us(ours) + 9 * SECOND_US);
    sim_node_jump(place->a, 60 * SECOND_US);
    assert_int_equal(clock_wall_us(clock), clock_wall_us(ours) + 57 * SECOND_US);
    assert_int_equal(clock_mono_us(clock), clock_mono_us(ours) + 9 * SECOND_US);
}

static void the_dead_are_not_found_and_their_name_is_free(void **state)
{
    struct place *place = *state;
    struct sim_node *found;
    struct err err = {0};

    sim_node_kill(place->a);
    assert_int_equal(sim_node_find("a", &found, &err), ERR_NOT_FOUND);
    place->a = sim_node_new(place->net, "a");
    OK(sim_node_find("a", &found, &err));
    assert_ptr_equal(found, place->a);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        CASE(a_commit_in_doubt_has_or_has_not_taken_place),
        CASE(a_server_that_is_away_answers_nobody),
        CASE(records_come_again_after_a_lost_session),
        CASE(an_owner_that_is_frozen_loses_its_session),
        CASE(a_read_may_be_old_but_never_older_than_what_was_seen),
        CASE(a_members_clock_is_off_and_jumps),
        CASE(the_dead_are_not_found_and_their_name_is_free),
    };
    static struct case_list list = {.name = "net", .set_up = set_up, .tear_down = tear_down};

    cases_add(&list, cases, ARRAY_COUNT(cases), "sim", NULL);
    return cases_run(&list, argc, argv);
}
