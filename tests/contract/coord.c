/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract of coord/coord.h, on every backend. What only a real ZooKeeper can show is in
 * coord_zookeeper.c; its address comes by TORG_TEST_ZOOKEEPER.
 */
#include "contract/cases.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "coord/backend.h"
#include "coord/bounds.h"
#include "coord/coord.h"
#include "coord_fixture.h"
#include "patience.h"

/* --- every backend --- */

static void registers_compare_and_set(void **state)
{
    struct buf value = BUF_INIT(COORD_VALUE_SIZE_MAX);
    struct backend backend;
    struct coord *coord;
    uint64_t version = 7;
    struct err err;

    fixture_begin(&backend, *state);
    coord = fixture_open(backend.url, "a", KEPT_MS);
    assert_int_equal(coord_get(coord, "epoch", &value, &version, &err), ERR_NOT_FOUND);
    assert_int_equal(version, 0);
    assert_int_equal(coord_set(coord, "epoch", bytes_of("x"), 1, &version, &err), ERR_CONFLICT);
    assert_int_equal(coord_set(coord, "epoch", bytes_of("one"), 0, &version, &err), 0);
    assert_int_equal(version, 1);
    assert_int_equal(coord_set(coord, "epoch", bytes_of("again"), 0, &version, &err), ERR_CONFLICT);
    assert_int_equal(coord_set(coord, "epoch", bytes_make("t\0wo", 4), 1, &version, &err), 0);
    assert_int_equal(version, 2);
    assert_int_equal(coord_set(coord, "epoch", bytes_of("late"), 1, &version, &err), ERR_CONFLICT);
    assert_int_equal(coord_get(coord, "epoch", &value, &version, &err), 0);
    assert_int_equal(version, 2);
    assert_true(bytes_equal(buf_bytes(&value), bytes_make("t\0wo", 4)));
    assert_int_equal(coord_set(coord, "empty", BYTES_EMPTY, 0, NULL, &err), 0);
    buf_reset(&value);
    assert_int_equal(coord_get(coord, "empty", &value, &version, &err), 0);
    assert_int_equal(value.size, 0);
    assert_int_equal(coord_set(coord, "../up", BYTES_EMPTY, 0, NULL, &err), ERR_INVALID);
    assert_int_equal(coord_set(coord, "", BYTES_EMPTY, 0, NULL, &err), ERR_INVALID);
    coord_close(coord);
    buf_release(&value);
    fixture_end(&backend);
}

static void a_value_has_a_limit(void **state)
{
    struct buf value = BUF_INIT(COORD_VALUE_SIZE_MAX + 1);
    struct buf small = BUF_INIT(10);
    struct backend backend;
    struct coord *coord;
    uint64_t version;
    struct err err;

    fixture_begin(&backend, *state);
    coord = fixture_open(backend.url, "a", KEPT_MS);
    memset(buf_reserve(&value, COORD_VALUE_SIZE_MAX + 1), 'v', COORD_VALUE_SIZE_MAX + 1);
    buf_advance(&value, COORD_VALUE_SIZE_MAX + 1);
    assert_int_equal(coord_set(coord, "k", buf_bytes(&value), 0, &version, &err), ERR_LIMIT);
    buf_truncate(&value, COORD_VALUE_SIZE_MAX);
    assert_int_equal(coord_set(coord, "k", buf_bytes(&value), 0, &version, &err), 0);
    assert_int_equal(coord_get(coord, "k", &small, &version, &err), ERR_LIMIT);
    buf_reset(&value);
    assert_int_equal(coord_get(coord, "k", &value, &version, &err), 0);
    assert_int_equal(value.size, COORD_VALUE_SIZE_MAX);
    coord_close(coord);
    buf_release(&value);
    buf_release(&small);
    fixture_end(&backend);
}

enum { RACERS = 4, RACER_ADDS = 25 };

/* Adds to a shared number by compare and set. */
static void *race(void *arg)
{
    struct coord *coord = arg;
    int done = 0;

    while (done < RACER_ADDS) {
        struct buf text = BUF_INIT(64);
        uint64_t version;
        char next[32];
        struct err err;
        int rc = coord_get(coord, "sum", &text, &version, &err);
        uint64_t sum = rc ? 0 : strtoull(buf_text(&text), NULL, 10);

        snprintf(next, sizeof(next), "%ju", (uintmax_t)sum + 1);
        rc = coord_set(coord, "sum", bytes_of(next), version, NULL, &err);
        done += rc == 0;
        buf_release(&text);
        if (rc && rc != ERR_CONFLICT)
            return "failed";
    }
    return NULL;
}

static void concurrent_setters_lose_nothing(void **state)
{
    struct buf text = BUF_INIT(64);
    struct coord *coords[RACERS];
    pthread_t threads[RACERS];
    struct backend backend;
    uint64_t version;
    struct err err;
    int i;

    fixture_begin(&backend, *state);
    for (i = 0; i < RACERS; i++)
        coords[i] = fixture_open(backend.url, "racer", KEPT_MS);
    for (i = 0; i < RACERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, race, coords[i]), 0);
    for (i = 0; i < RACERS; i++) {
        void *failure;

        pthread_join(threads[i], &failure);
        assert_null(failure);
    }
    assert_int_equal(coord_get(coords[0], "sum", &text, &version, &err), 0);
    assert_int_equal(strtoull(buf_text(&text), NULL, 10), RACERS * RACER_ADDS);
    assert_int_equal(version, RACERS * RACER_ADDS);
    for (i = 0; i < RACERS; i++)
        coord_close(coords[i]);
    buf_release(&text);
    fixture_end(&backend);
}

struct watcher {
    struct coord *coord;
    uint64_t known;
    _Atomic int rc;
};

static void *watch(void *arg)
{
    struct watcher *watcher = arg;
    struct err err;

    atomic_store(&watcher->rc,
                 coord_watch(watcher->coord, "config", watcher->known, PATIENCE_MS, &err));
    return NULL;
}

static void a_watch_ends_with_the_change(void **state)
{
    struct watcher watcher = {.rc = 1};
    struct coord *other;
    struct backend backend;
    pthread_t thread;
    uint64_t version;
    struct err err;
    int64_t start_us;

    fixture_begin(&backend, *state);
    watcher.coord = fixture_open(backend.url, "a", KEPT_MS);
    other = fixture_open(backend.url, "b", KEPT_MS);
    /* nothing known: the first value is the change; then known 1: the second */
    for (watcher.known = 0; watcher.known < 2; watcher.known++) {
        assert_int_equal(coord_watch(watcher.coord, "config", watcher.known, 20, &err),
                         ERR_TIMEOUT);
        atomic_store(&watcher.rc, 1);
        assert_int_equal(pthread_create(&thread, NULL, watch, &watcher), 0);
        usleep(20 * 1000); /* so that most often it waits already; right either way */
        start_us = fixture_now_us();
        assert_int_equal(coord_set(other, "config", bytes_of("v"), watcher.known, &version, &err),
                         0);
        pthread_join(thread, NULL);
        assert_int_equal(atomic_load(&watcher.rc), 0);
        assert_true(fixture_now_us() - start_us < (int64_t)PATIENCE_MS * MS_US / 2);
    }
    assert_int_equal(coord_watch(watcher.coord, "config", 1, 0, &err), 0); /* changed before */
    coord_close(other);
    coord_close(watcher.coord);
    fixture_end(&backend);
}

static void a_lone_member_owns_all_shards(void **state)
{
    struct coord_shard owned[SHARDS + 1];
    struct coord_shards *shards;
    struct backend backend;
    struct coord *coord;
    uint64_t seen = 0;
    struct err err;
    size_t i;

    fixture_begin(&backend, *state);
    coord = fixture_open(backend.url, "a", KEPT_MS);
    shards = fixture_join(coord, "offers-export", SHARDS);
    fixture_settle(&shards, 1, SHARDS);
    assert_int_equal(coord_owned(shards, owned, SHARDS + 1), SHARDS);
    for (i = 0; i < SHARDS; i++) {
        assert_int_equal(owned[i].shard, i);
        assert_true(owned[i].ticket > 0);
        assert_true(coord_valid(shards, owned[i].shard, owned[i].ticket));
        assert_false(coord_valid(shards, owned[i].shard, owned[i].ticket + 1));
        assert_false(coord_valid(shards, owned[i].shard, 0));
    }
    assert_int_equal(coord_wait(shards, &seen, PATIENCE_MS, &err), 0); /* gained since 0 */
    assert_int_equal(coord_wait(shards, &seen, 5, &err), ERR_TIMEOUT);
    coord_close(coord);
    fixture_end(&backend);
}

static bool keep_for_long(struct backend *backend, int lease_ms)
{
    struct coord *coord = fixture_open(backend->url, "a", lease_ms);
    struct coord_shards *shards = fixture_join(coord, "kept", SHARDS);
    uint64_t ticket, seen = 0;
    struct err err;
    bool is_kept;

    fixture_settle(&shards, 1, SHARDS);
    ticket = fixture_wait_ticket(shards, 0);
    coord_wait(shards, &seen, 0, &err);
    usleep((useconds_t)lease_ms * 4000 / 3); /* the lease is renewed, nothing is lost on the way */
    is_kept = coord_valid(shards, 0, ticket) && coord_wait(shards, &seen, 0, &err) == ERR_TIMEOUT;
    coord_close(coord);
    return is_kept;
}

static void a_lease_is_renewed(void **state)
{
    struct backend backend;

    fixture_begin(&backend, *state);
    fixture_try(&backend, keep_for_long);
    fixture_end(&backend);
}

static void nobody_pokes(void *arg)
{
    (void)arg;
}

/* Below the plan, which would not claim what it sees owned: two that saw the same free shard. */
static void a_claim_has_one_winner(void **state)
{
    struct coord_setup setup = {.member = "m",
                                .clock = clock_system(),
                                .lease_us = (int64_t)KEPT_MS * MS_US,
                                .poke = nobody_pokes};
    struct coord_backend *sides[2];
    struct backend backend;
    uint64_t tickets[2] = {0, 0};
    struct err err;
    int i;

    fixture_begin(&backend, *state);
    for (i = 0; i < 2; i++) {
        assert_int_equal(coord_backend_open(backend.url, &setup, &sides[i], &err), 0);
        assert_int_equal(sides[i]->ops->join(sides[i], "s", 2, &err), 0);
    }
    assert_int_equal(sides[0]->ops->claim(sides[0], "s", 1, &tickets[0], &err), 0);
    assert_int_equal(sides[1]->ops->claim(sides[1], "s", 1, &tickets[1], &err), ERR_EXISTS);
    assert_int_equal(sides[1]->ops->release(sides[1], "s", 1, &err), 0); /* not its own */
    assert_int_equal(sides[1]->ops->claim(sides[1], "s", 1, &tickets[1], &err), ERR_EXISTS);
    assert_int_equal(sides[0]->ops->release(sides[0], "s", 1, &err), 0);
    assert_int_equal(sides[1]->ops->claim(sides[1], "s", 1, &tickets[1], &err), 0);
    assert_true(tickets[1] > tickets[0]);
    sides[1]->ops->close(sides[1]); /* with its session goes what it owned */
    assert_int_equal(sides[0]->ops->claim(sides[0], "s", 1, &tickets[0], &err), 0);
    assert_true(tickets[0] > tickets[1]);
    sides[0]->ops->close(sides[0]);
    fixture_end(&backend);
}

static void a_set_keeps_its_shard_count(void **state)
{
    struct coord_shards *shards;
    struct backend backend;
    struct coord *coord;
    struct err err;

    fixture_begin(&backend, *state);
    coord = fixture_open(backend.url, "a", KEPT_MS);
    coord_leave(fixture_join(coord, "s", 8));
    assert_int_equal(coord_join(coord, "s", 9, &shards, &err), ERR_PRECONDITION);
    assert_null(shards);
    assert_int_equal(coord_join(coord, "a/b", 9, &shards, &err), ERR_INVALID);
    assert_int_equal(coord_join(coord, "t", 0, &shards, &err), ERR_INVALID);
    assert_int_equal(coord_join(coord, "t", COORD_SHARD_COUNT_MAX + 1, &shards, &err), ERR_INVALID);
    assert_int_equal(coord_join(coord, "s", 8, &shards, &err), 0);
    assert_int_equal(coord_join(coord, "s", 8, &shards, &err), ERR_EXISTS);
    coord_close(coord);
    fixture_end(&backend);
}

/* How many leaving shards are told within the patience: exactly the surplus must be. */
static void wait_leaving(struct coord_shards *shards, size_t wanted)
{
    int64_t give_up_us = fixture_now_us() + (int64_t)PATIENCE_MS * MS_US;
    struct coord_shard owned[SHARDS];
    size_t leaving = 0;

    while (leaving != wanted && fixture_now_us() < give_up_us) {
        size_t count = coord_owned(shards, owned, SHARDS);
        size_t i;

        for (leaving = 0, i = 0; i < count; i++)
            leaving += owned[i].leaving;
        usleep(STEP_MS * 1000);
    }
    assert_int_equal(leaving, wanted);
}

static void a_shard_moves_only_when_released(void **state)
{
    struct coord_shard before[SHARDS];
    struct coord_shard owned[SHARDS];
    struct coord_shards *shards[2];
    struct coord *coords[2];
    struct backend backend;
    size_t moved = 0;
    size_t i;

    fixture_begin(&backend, *state);
    coords[0] = fixture_open(backend.url, "a", KEPT_MS);
    shards[0] = fixture_join(coords[0], "s", SHARDS);
    fixture_settle(shards, 1, SHARDS);
    assert_int_equal(coord_owned(shards[0], before, SHARDS), SHARDS);
    coords[1] = fixture_open(backend.url, "b", KEPT_MS);
    shards[1] = fixture_join(coords[1], "s", SHARDS);
    wait_leaving(shards[0], SHARDS / 2);
    usleep(1000 * 1000); /* however long it takes: not released, not taken */
    assert_int_equal(coord_owned(shards[0], owned, SHARDS), SHARDS);
    assert_int_equal(coord_owned(shards[1], owned, SHARDS), 0);

    fixture_settle(shards, 2, SHARDS);
    for (i = 0; i < SHARDS; i++) {
        uint64_t ticket = fixture_ticket(shards[1], (uint32_t)i);

        if (!ticket) { /* what did not have to move has not moved */
            assert_int_equal(fixture_ticket(shards[0], (uint32_t)i), before[i].ticket);
            continue;
        }
        moved++;
        assert_true(ticket > before[i].ticket);
        assert_false(coord_valid(shards[0], (uint32_t)i, before[i].ticket));
    }
    assert_int_equal(moved, SHARDS / 2);
    coord_close(coords[1]); /* all comes back */
    fixture_settle(shards, 1, SHARDS);
    coord_close(coords[0]);
    fixture_end(&backend);
}

static void shards_spread_over_many_members(void **state)
{
    enum { MEMBERS = 5 };
    struct coord_shards *shards[MEMBERS];
    struct coord *coords[MEMBERS];
    struct backend backend;
    char name[16];
    size_t i;

    fixture_begin(&backend, *state);
    for (i = 0; i < MEMBERS; i++) { /* all at once, then settle */
        snprintf(name, sizeof(name), "m%zu", i);
        coords[i] = fixture_open(backend.url, name, KEPT_MS);
        shards[i] = fixture_join(coords[i], "s", SHARDS);
    }
    fixture_settle(shards, MEMBERS, SHARDS);
    coord_leave(shards[4]); /* leaves the set, stays a member */
    fixture_settle(shards, MEMBERS - 1, SHARDS);
    shards[4] = fixture_join(coords[4], "s", SHARDS);
    fixture_settle(shards, MEMBERS, SHARDS);
    coord_close(coords[0]);
    fixture_settle(shards + 1, MEMBERS - 1, SHARDS);
    for (i = 1; i < MEMBERS; i++)
        coord_close(coords[i]);
    fixture_end(&backend);
}

static void tickets_grow_across_restarts(void **state)
{
    struct coord_shards *shards;
    struct backend backend;
    struct coord *coord;
    uint64_t largest = 0;
    int i;

    fixture_begin(&backend, *state);
    for (i = 0; i < 4; i++) {
        uint64_t ticket;

        coord = fixture_open(backend.url, "a", KEPT_MS);
        shards = fixture_join(coord, "s", 2);
        fixture_settle(&shards, 1, 2);
        ticket = fixture_ticket(shards, 0);
        assert_true(ticket > largest);
        largest = ticket;
        coord_release(shards, 0, ticket); /* nobody else is there: it comes back, newer */
        assert_false(coord_valid(shards, 0, ticket));
        ticket = fixture_wait_ticket(shards, 0);
        assert_true(ticket > largest);
        largest = ticket;
        coord_close(coord);
    }
    fixture_end(&backend);
}

/* --- local: only --- */

static void a_directory_has_one_process(void **state)
{
    struct backend backend;
    struct coord *coord;
    int status;
    pid_t child;

    (void)state;
    fixture_begin(&backend, "local");
    coord = fixture_open(backend.url, "a", KEPT_MS);
    child = fork();
    if (child == 0) {
        /* exec: a fork alone would have a copy of the parent's board */
        execl("/proc/self/exe", "coord", "--open-local", backend.url, (char *)NULL);
        _exit(99);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), -ERR_EXISTS);
    coord_close(coord);
    child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "coord", "--open-local", backend.url, (char *)NULL);
        _exit(99);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 0);
    fixture_end(&backend);
}

/* --- the list --- */

int main(int argc, char **argv)
{
    static const char *const backends[] = {"memory", "local", "fault:memory", "zookeeper", "sim"};
    static const struct test_case all[] = {
        CASE(registers_compare_and_set),
        CASE(a_value_has_a_limit),
        CASE(concurrent_setters_lose_nothing),
        CASE(a_watch_ends_with_the_change),
        CASE(a_lone_member_owns_all_shards),
        CASE(a_claim_has_one_winner),
        CASE(a_set_keeps_its_shard_count),
        CASE(a_shard_moves_only_when_released),
        CASE(shards_spread_over_many_members),
        CASE(tickets_grow_across_restarts),
        CASE(a_lease_is_renewed),
    };
    static const struct test_case zookeeper[] = {
        CASE(a_frozen_process_can_write_nothing),
        CASE(a_lost_session_cannot_write),
        CASE(a_lost_session_cannot_write_to_the_store),
        CASE(a_cut_off_owner_stops_before_another_begins),
        CASE(a_short_cut_loses_nothing),
        CASE(registers_outlive_a_lost_session),
    };
    static const struct test_case local[] = {CASE(a_directory_has_one_process)};
    static struct case_list list = {.name = "coord"};

    log_setup(LOG_FORMAT_HUMAN, LOG_LEVEL_ERROR, STDERR_FILENO);
    if (argc == 3 && strcmp(argv[1], "--open-local") == 0) {
        struct coord *coord;
        struct err err;
        int rc = coord_open(argv[2], "other", NULL, &coord, &err);

        coord_close(coord);
        return -rc;
    }
    for (size_t i = 0; i < ARRAY_COUNT(backends); i++)
        cases_add(&list, all, ARRAY_COUNT(all), backends[i], backends[i]);
    cases_add(&list, zookeeper, ARRAY_COUNT(zookeeper), "zookeeper", "zookeeper");
    cases_add(&list, local, ARRAY_COUNT(local), "local", "local");
    return cases_run(&list, argc, argv);
}
