/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers of two processes, so to say, on one store: they share the shards of clients that appear
 * while they run; one comes, one goes, one is killed; writers do not stop. Embedded (coord in
 * memory), and on servers (ZooKeeper at TORG_TEST_ZOOKEEPER too).
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/metrics.h"
#include "base/random.h"
#include "contract/indexer_fixture.h"
#include "coord/bounds.h"
#include "patience.h"
#include "registry/bounds.h"
#include "registry/indexing/indexer_worker.h"
#include "registry/indexing/queue.h"

enum { SHARD_COUNT = 4, KEY_COUNT = 40, ROUND_COUNT = 12, WAIT_MS = PATIENCE_MS, STEP_MS = 5 };

static struct index_place place;
static struct shelf shelves[SHARD_COUNT];
static char coord_url[256];

static bool open_place(bool on_servers)
{
    const char *zookeeper = on_servers ? server_address("zookeeper") : NULL;

    if ((on_servers && !zookeeper) || !index_place_open(&place, on_servers, SHARD_COUNT))
        return false;
    if (on_servers)
        snprintf(coord_url, sizeof(coord_url), "zookeeper://%s/%s", zookeeper, place.client);
    else
        snprintf(coord_url, sizeof(coord_url), "memory:%s", place.client);
    /* threads that wait need a clock that goes */
    clients_free(place.receiver.clients);
    place.receiver.clients = clients_new(place.store, clock_system());
    place.receiver.clock = clock_system();
    place.base.clients = place.receiver.clients;
    place.base.clock = clock_system();
    return true;
}

struct member {
    struct coord *coord;
    struct queue_bell bell;
    struct indexer_worker *worker;
};

static void member_start(struct member *member, const char *name)
{
    struct err err = {0};

    if (coord_open(coord_url, name, NULL, &member->coord, &err))
        fail_msg("%s", err.text);
    queue_bell_init(&member->bell, place.base.clock);
    member->worker = indexer_worker_start(&place.base, member->coord, &member->bell, 2);
}

static void member_stop(struct member *member)
{
    indexer_worker_stop(member->worker);
    coord_close(member->coord);
    queue_bell_release(&member->bell);
}

static void put_round(int64_t version)
{
    char pk[16];

    for (int i = 0; i < KEY_COUNT; i++) {
        snprintf(pk, sizeof(pk), "k%d", i);
        place_put(&place, LANE_MAIN, pk, version, (version + i) % 5 ? version : -1);
    }
}

static void wait_until_done(void)
{
    int waited_ms = 0;

    while (read_integer(place.store, "SELECT COUNT(*) FROM registry_queue") > 0) {
        assert_true(waited_ms < WAIT_MS);
        pause_ms(STEP_MS);
        waited_ms += STEP_MS;
    }
}

static void compare(void)
{
    memset(shelves, 0, sizeof(shelves));
    for (uint32_t i = 0; i < SHARD_COUNT; i++)
        shelves[i].shard = i;
    shelves_equal_registry(shelves, SHARD_COUNT, &place);
}

static void workers_come_and_go_and_nothing_is_lost(void **state)
{
    static struct member first, second;

    if (!open_place(case_on_servers(state)))
        skip();
    member_start(&first, "first");
    place.receiver.bell = &first.bell;
    for (int64_t version = 1; version <= ROUND_COUNT; version++) {
        put_round(version);
        if (version == ROUND_COUNT / 3)
            member_start(&second, "second");
        if (version == ROUND_COUNT * 2 / 3) {
            place.receiver.bell = NULL;
            member_stop(&first);
        }
    }
    wait_until_done();
    compare();
    member_stop(&second);
    index_place_close(&place);
}

/* The bell wakes an idle worker: without it the next look is far away. */
static void a_client_that_appears_is_served(void **state)
{
    static struct member member;
    char first[40];

    if (!open_place(case_on_servers(state)))
        skip();
    member_start(&member, "only");
    place.receiver.bell = &member.bell;
    put_round(1);
    wait_until_done();
    compare();
    snprintf(first, sizeof(first), "%s", place.client);
    snprintf(place.client, sizeof(place.client), "z%016" PRIx64, random_u64());
    put_round(1);
    wait_until_done();
    compare();
    snprintf(place.client, sizeof(place.client), "%s", first);
    put_round(2);
    wait_until_done();
    compare();
    member_stop(&member);
    index_place_close(&place);
}

static void a_store_that_fails_for_a_while_only_delays(void **state)
{
    static struct member member;

    if (!open_place(case_on_servers(state)))
        skip();
    member_start(&member, "only");
    place.receiver.bell = &member.bell;
    put_round(1);
    atomic_store(&topics_faults(place.topics)->fail_produce, 20);
    put_round(2);
    wait_until_done();
    atomic_store(&topics_faults(place.topics)->lose_ack, 5);
    put_round(3);
    wait_until_done();
    compare();
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_failed"), 0);
    member_stop(&member);
    index_place_close(&place);
}

/* The store knows a newer owner, and coord does not: a lease that was over for a moment, a coord
 * whose tickets began anew. The shard is given up and comes back with another ticket. */
static void a_shard_whose_ticket_is_refused_is_taken_anew(void **state)
{
    static struct member member;

    if (!open_place(case_on_servers(state)))
        skip();
    member_start(&member, "only");
    place.receiver.bell = &member.bell;
    put_round(1);
    wait_until_done();
    exec(place.store, "UPDATE fence SET ticket = ticket + 2");
    put_round(2);
    wait_until_done();
    compare();
    member_stop(&member);
    index_place_close(&place);
}

/* Joined by hand: it moves when it is told to. */
static struct coord *open_manual(const char *name)
{
    const struct coord_options options = {.manual = true};
    struct coord *coord;
    struct err err = {0};

    if (coord_open(coord_url, name, &options, &coord, &err))
        fail_msg("%s", err.text);
    return coord;
}

static void step(struct coord *coord)
{
    struct err err = {0};

    if (coord_step(coord, &err))
        fail_msg("%s", err.text);
}

static size_t count_owned(struct coord_shards *shards, size_t *leaving)
{
    struct coord_shard owned[SHARD_COUNT];
    size_t count = coord_owned(shards, owned, SHARD_COUNT);

    *leaving = 0;
    for (size_t i = 0; i < count; i++)
        *leaving += owned[i].leaving;
    return count;
}

/* A shard is gained and to be given up again before the worker has looked: nobody works on it, and
 * the other one waits for it. */
static void a_shard_that_leaves_before_it_is_looked_at_is_given_up(void **state)
{
    static struct member member;
    static struct clock_manual clock;
    struct coord *other;
    struct coord_shards *shards;
    struct err err = {0};
    char set[COORD_NAME_SIZE_MAX + 1];
    size_t leaving = 0;
    int waited_ms = 0;

    if (!open_place(case_on_servers(state)))
        skip();
    clock_manual_init_strict(&clock, (int64_t)1800000000 * SECOND_US);
    place.base.clock = &clock.base;
    place_put(&place, LANE_MAIN, "k", 1, 1);
    snprintf(set, sizeof(set), QUEUE_SET ".%s", place.client);
    other = open_manual("other");
    OK(coord_join(other, set, SHARD_COUNT, &shards, &err));
    step(other);
    assert_int_equal(count_owned(shards, &leaving), SHARD_COUNT);
    member.coord = open_manual("worker");
    queue_bell_init(&member.bell, &clock.base);
    member.worker = indexer_worker_start(&place.base, member.coord, &member.bell, 1);
    while (leaving < SHARD_COUNT / 2 && waited_ms < WAIT_MS) { /* until the worker has joined */
        pause_ms(STEP_MS);
        waited_ms += STEP_MS;
        step(other);
        count_owned(shards, &leaving);
    }
    coord_leave(shards);
    step(other);
    step(member.coord); /* it has all, */
    OK(coord_join(other, set, SHARD_COUNT, &shards, &err));
    step(member.coord); /* and is to give half of them up */
    while (count_owned(shards, &leaving) < SHARD_COUNT / 2 && waited_ms < WAIT_MS) {
        clock_manual_advance(&clock, INDEXER_KEEPING_MS * MS_US);
        pause_ms(STEP_MS);
        waited_ms += STEP_MS;
        step(member.coord);
        step(other);
    }
    assert_int_equal(count_owned(shards, &leaving), SHARD_COUNT / 2);
    member_stop(&member);
    coord_close(other);
    index_place_close(&place);
}

static int64_t count_waiting(const char *client)
{
    char sql[200];

    snprintf(sql, sizeof(sql),
             "SELECT COUNT(*) FROM registry_queue WHERE client_id = (SELECT id FROM "
             "registry_client WHERE name = '%s')",
             client);
    return read_integer(place.store, sql);
}

/* Its set of shards cannot be joined: others must not wait for that. */
static void a_client_that_cannot_be_joined_stops_no_other(void **state)
{
    static struct member member;
    struct coord *stranger;
    struct coord_shards *shards;
    struct err err = {0};
    char set[COORD_NAME_SIZE_MAX + 1];
    int waited_ms = 0;

    if (!open_place(case_on_servers(state)))
        skip();
    if (coord_open(coord_url, "stranger", NULL, &stranger, &err))
        fail_msg("%s", err.text);
    snprintf(set, sizeof(set), QUEUE_SET ".%s", place.client);
    if (coord_join(stranger, set, SHARD_COUNT + 1, &shards, &err))
        fail_msg("%s", err.text);
    place_put(&place, LANE_MAIN, "stuck", 1, 1);
    snprintf(place.client, sizeof(place.client), "z%016" PRIx64, random_u64());
    put_round(1);
    member_start(&member, "only");
    while (count_waiting(place.client) > 0) {
        assert_true(waited_ms < WAIT_MS);
        pause_ms(STEP_MS);
        waited_ms += STEP_MS;
    }
    compare();
    member_stop(&member);
    coord_leave(shards);
    coord_close(stranger);
    index_place_close(&place);
}

/* Made before the others, and not to be read by who starts. */
static void a_client_that_cannot_be_read_stops_no_other(void **state)
{
    static struct member member;
    int waited_ms = 0;

    if (!open_place(case_on_servers(state)))
        skip();
    place_put(&place, LANE_MAIN, "stuck", 1, 1);
    exec(place.store, "UPDATE registry_field SET number = 100000");
    clients_free(place.receiver.clients);
    place.receiver.clients = clients_new(place.store, clock_system());
    place.base.clients = place.receiver.clients;
    snprintf(place.client, sizeof(place.client), "z%016" PRIx64, random_u64());
    put_round(1);
    member_start(&member, "only");
    while (count_waiting(place.client) > 0) {
        assert_true(waited_ms < WAIT_MS);
        pause_ms(STEP_MS);
        waited_ms += STEP_MS;
    }
    compare();
    assert_int_equal(read_integer(place.store, "SELECT COUNT(*) FROM registry_queue"), 1);
    member_stop(&member);
    index_place_close(&place);
}

/* --- an import --- */

static struct gauge *lags[SHARD_COUNT];
static _Atomic int64_t highest_lag;

/* The worker itself asks for the time after each round: so no lag that it tells is missed. */
static int64_t watch_lags(const struct clock *clock)
{
    (void)clock;
    for (uint32_t i = 0; i < SHARD_COUNT; i++) {
        int64_t lag = atomic_load(&lags[i]->value);

        if (lag > atomic_load(&highest_lag))
            atomic_store(&highest_lag, lag);
    }
    return clock_mono_us(clock_system());
}

/* Not after it alone: rounds that have more behind them tell how much that is. */
static void an_import_tells_how_much_waits(void **state)
{
    enum { VERSION_COUNT = 40, ROUND_KEY_COUNT = 1000 };
    struct clock watching = *clock_system();
    static struct member member;

    if (!open_place(case_on_servers(state)))
        skip();
    watching.mono_us = watch_lags;
    place.base.clock = &watching;
    atomic_store(&highest_lag, 0);
    for (uint32_t i = 0; i < SHARD_COUNT; i++) {
        char labels[128];

        snprintf(labels, sizeof(labels), "client=\"%s\",shard=\"%u\",lane=\"main\"", place.client,
                 i);
        lags[i] = metrics_gauge("torg_queue_lag_elements", labels, "");
    }
    for (int64_t version = 1; version <= VERSION_COUNT; version++)
        place_put_many(&place, ROUND_KEY_COUNT, version);
    member_start(&member, "only");
    wait_until_done();
    member_stop(&member);
    /* what was sent and is not noted yet is told as well, but that is not so much */
    assert_true(atomic_load(&highest_lag) > 2 * (int64_t)INDEXER_PENDING_COUNT);
    index_place_close(&place);
}

static const struct test_case cases[] = {
    CASE(an_import_tells_how_much_waits),
    CASE(workers_come_and_go_and_nothing_is_lost),
    CASE(a_client_that_appears_is_served),
    CASE(a_store_that_fails_for_a_while_only_delays),
    CASE(a_shard_whose_ticket_is_refused_is_taken_anew),
    CASE(a_shard_that_leaves_before_it_is_looked_at_is_given_up),
    CASE(a_client_that_cannot_be_joined_stops_no_other),
    CASE(a_client_that_cannot_be_read_stops_no_other),
};

int main(int argc, char **argv)
{
    static struct case_list list = {.name = "indexer-worker"};

    cases_embedded(&list, cases, ARRAY_COUNT(cases));
    cases_on_servers(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}
