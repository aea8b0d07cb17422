/* SPDX-License-Identifier: Apache-2.0 */
/* follower.c - replicas on their topics: ready or not, restarts, lost messages, damage, retired
 * epochs, documents that end; and many readers beside the apply threads. */
#include "searcher/replica/follower.h"
#include "base/clock.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "index_messages.h"
#include "patience.h"
#include "searcher/front/front.h"
#include "test_dir.h"
#include "topic/topic_fault.h"

enum { WAIT_MS = PATIENCE_MS, PATH_SIZE = 512, LARGE_SIZE = 500 << 10 };

#define SERVING TORG__V1__INDEX_MAP__EPOCH__STATE__SERVING
#define BEGIN TORG__V1__INDEX_POUR__MARK__BEGIN
#define END TORG__V1__INDEX_POUR__MARK__END
#define KEPT TORG__V1__INDEX_MAP__EPOCH__STATE__KEPT
#define BUILDING TORG__V1__INDEX_MAP__EPOCH__STATE__BUILDING

struct world {
    struct topics *topics;
    struct coord *coord;
    struct follower *follower;
    struct arena *arena;
    char dir[TEST_DIR_SIZE];
};

static void open_world(struct world *world, const char *url)
{
    struct err err = {0};

    *world = (struct world){.arena = arena_new()};
    assert_true(test_dir_make(world->dir));
    if (topics_open(url, NULL, &world->topics, &err) ||
        coord_open("memory:follower", "test", NULL, &world->coord, &err))
        fail_msg("%s", err.text);
}

static void follow(struct world *world)
{
    const struct follower_options options = {
        .topics = world->topics, .coord = world->coord, .clock = clock_system(), .dir = world->dir};
    struct err err = {0};

    assert_int_equal(follower_start(&options, &world->follower, &err), 0);
}

static void unfollow(struct world *world)
{
    follower_stop(world->follower);
    world->follower = NULL;
}

static void close_world(struct world *world)
{
    follower_stop(world->follower);
    coord_close(world->coord);
    topics_close(world->topics);
    arena_free(world->arena);
    assert_int_equal(dir_remove(world->dir, NULL), 0);
}

/* ---- looking ---- */

static bool look(struct world *world, int64_t epoch, uint32_t shard, struct replica_state *state)
{
    const struct index_view *view = follower_view(world->follower);
    const struct index_client *client = view_find(view, "c");
    const struct index_epoch *there = client ? client_find_epoch(client, epoch) : NULL;
    bool found = there && there->shards[shard];

    if (found)
        replica_state(there->shards[shard], state);
    view_release(view);
    return found;
}

typedef bool (*condition_fn)(const struct replica_state *state, uint64_t arg);

static void wait_until(struct world *world, int64_t epoch, uint32_t shard, condition_fn condition,
                       uint64_t arg, struct replica_state *state)
{
    int64_t until_us = clock_mono_us(clock_system()) + (int64_t)WAIT_MS * MS_US;

    while (!look(world, epoch, shard, state) || !condition(state, arg)) {
        if (clock_mono_us(clock_system()) > until_us)
            fail_msg("epoch %jd shard %u: at %ju of %ju, %s", (intmax_t)epoch, shard,
                     (uintmax_t)state->offset, (uintmax_t)state->end, state->reason);
        usleep(1000);
    }
}

static bool is_ready_at(const struct replica_state *state, uint64_t offset)
{
    return state->is_ready && state->offset >= offset;
}

static bool is_at(const struct replica_state *state, uint64_t offset)
{
    return state->offset >= offset;
}

static bool has_documents(const struct replica_state *state, uint64_t count)
{
    return state->is_ready && state->doc_count == count;
}

static bool has_reason(const struct replica_state *state, uint64_t unused)
{
    (void)unused;
    return !state->is_ready && strstr(state->reason, "injected");
}

/* ---- sending ---- */

static void send(struct world *world, struct bytes message)
{
    send_to(world->topics, "index.c.1", 0, message);
}

static void announce_one(struct world *world, uint32_t shard_count)
{
    const struct announced client = {"c", shard_count, {{1, SERVING}}};

    announce(world->coord, &client, 1);
}

static void send_documents(struct world *world, uint32_t count)
{
    struct rng rng = rng_seeded(count);

    send(world, message_schema(1, world->arena));
    for (uint32_t i = 0; i < count; i++)
        send(world, message_put(1, i, arena_printf(world->arena, "pk%u", i), rng_next(&rng),
                                rng_next(&rng), world->arena));
}

/* ---- tests ---- */

static void what_is_sent_is_found_and_a_restart_keeps_it(void **state)
{
    struct replica_state seen = {0};
    struct world world;

    (void)state;
    open_world(&world, "memory:");
    make_topic(world.topics, "index.c.1", 1);
    send_documents(&world, 300);
    announce_one(&world, 1);
    follow(&world);
    wait_until(&world, 1, 0, is_ready_at, 301, &seen);
    assert_int_equal(seen.doc_count, 300);
    send(&world, message_progress(4, 2, 17, world.arena));
    send(&world, message_remove(4, 5, "pk5", world.arena));
    send(&world, message_remove(3, 6, "pk6", world.arena)); /* replaced */
    wait_until(&world, 1, 0, is_ready_at, 304, &seen);
    assert_int_equal(seen.doc_count, 299);
    assert_int_equal(seen.progress.lanes[2], 17);
    assert_int_equal(seen.counts.stale_count, 1);
    unfollow(&world);
    follow(&world);
    wait_until(&world, 1, 0, is_ready_at, 304, &seen);
    assert_int_equal(seen.doc_count, 299);
    assert_int_equal(seen.progress.lanes[2], 17);
    assert_int_equal(seen.progress.ticket, 4);
    close_world(&world);
}

/* By counts: a start after a stop in order has nothing to index again. */
static void a_restart_replays_nothing(void **state)
{
    struct replica_state seen = {0};
    struct world world;

    (void)state;
    open_world(&world, "memory:");
    make_topic(world.topics, "index.c.1", 1);
    send_documents(&world, 200);
    announce_one(&world, 1);
    follow(&world);
    wait_until(&world, 1, 0, is_ready_at, 201, &seen);
    assert_int_equal(seen.counts.put_count, 200);
    unfollow(&world);
    follow(&world);
    wait_until(&world, 1, 0, is_ready_at, 201, &seen);
    assert_int_equal(seen.doc_count, 200);
    assert_int_equal(seen.counts.put_count, 0);
    close_world(&world);
}

static void a_message_that_cannot_be_applied_stops_nobody(void **state)
{
    struct replica_state seen = {0};
    struct world world;

    (void)state;
    open_world(&world, "memory:");
    make_topic(world.topics, "index.c.1", 1);
    announce_one(&world, 1);
    follow(&world);
    send(&world, bytes_of("\xff nonsense"));
    send(&world, message_put(1, 1, "early", 1, 1, world.arena)); /* no schema yet */
    for (int i = 0; i < 2 * REPLICA_PASSED_COUNT; i++)
        send(&world, bytes_of("\x08\x01"));
    send_documents(&world, 10);
    wait_until(&world, 1, 0, has_documents, 10, &seen);
    assert_int_equal(seen.passed_count, 2 + 2 * REPLICA_PASSED_COUNT);
    assert_int_equal(seen.passed_kept, REPLICA_PASSED_COUNT);
    assert_int_equal(seen.passed[REPLICA_PASSED_COUNT - 1].offset, 1 + 2 * REPLICA_PASSED_COUNT);
    close_world(&world);
}

static void a_shard_is_not_ready_before_it_has_what_there_was(void **state)
{
    struct replica_state seen = {0};
    struct visit *visit;
    struct world world;
    struct err err = {0};

    (void)state;
    open_world(&world, "fault:memory:");
    make_topic(world.topics, "index.c.1", 1);
    send_documents(&world, 50);
    atomic_store(&topics_faults(world.topics)->fail_read, -1);
    announce_one(&world, 1);
    follow(&world);
    wait_until(&world, 1, 0, has_reason, 0, &seen);
    {
        const struct index_view *view = follower_view(world.follower);
        struct replica *replica = view->clients[0].epochs[0].shards[0];

        assert_int_equal(replica_visit(replica, 0, &visit, &err), ERR_UNAVAILABLE);
        assert_non_null(strstr(err.text, "not ready"));
        view_release(view);
    }
    atomic_store(&topics_faults(world.topics)->fail_read, 0);
    wait_until(&world, 1, 0, is_ready_at, 51, &seen);
    assert_int_equal(seen.doc_count, 50);
    close_world(&world);
}

static bool is_told_ready(const struct replica_state *state, uint64_t unused)
{
    (void)unused;
    return state->is_ready && strstr(state->reason, "injected");
}

static bool has_no_reason(const struct replica_state *state, uint64_t unused)
{
    (void)unused;
    return state->is_ready && !*state->reason;
}

/* Its refusal cannot be sent: what came before is shown, nobody is told that it is past, and what
 * ends meanwhile is not found any more. */
static void what_waits_for_a_refusal_keeps_nothing_else_back(void **state)
{
    int64_t end = clock_wall_us(clock_system()) / SECOND_US + 2;
    struct replica_state seen = {0};
    struct world world;

    (void)state;
    open_world(&world, "fault:memory:");
    make_topic(world.topics, "index.c.1", 1);
    send(&world, message_schema(1, world.arena));
    announce_one(&world, 1);
    follow(&world);
    wait_until(&world, 1, 0, is_ready_at, 1, &seen);
    atomic_store(&topics_faults(world.topics)->fail_read, -1);
    wait_until(&world, 1, 0, is_told_ready, 0, &seen);
    send(&world, message_titled(1, 1, "a", "велосипед", 1, end, world.arena));
    send(&world,
         message_titled(1, UINT32_MAX, "b", "велосипед", 1, 0, world.arena)); /* no number */
    send(&world, message_progress(1, 0, 5, world.arena));
    send(&world, message_titled(1, 2, "c", "велосипед", 1, 0, world.arena));
    atomic_store(&topics_faults(world.topics)->fail_produce, -1);
    atomic_store(&topics_faults(world.topics)->fail_read, 0);
    wait_until(&world, 1, 0, is_at, 2, &seen);
    wait_until(&world, 1, 0, has_documents, 1, &seen); /* the other one has ended */
    assert_int_equal(seen.offset, 2);
    assert_int_equal(seen.end, 5);
    assert_int_equal(seen.progress.lanes[0], 0);
    wait_until(&world, 1, 0, is_told_ready, 0, &seen);
    assert_true(clock_wall_us(clock_system()) / SECOND_US > end);
    atomic_store(&topics_faults(world.topics)->fail_produce, 0);
    wait_until(&world, 1, 0, is_ready_at, 5, &seen);
    wait_until(&world, 1, 0, has_no_reason, 0, &seen);
    assert_int_equal(seen.doc_count, 1);
    assert_int_equal(seen.passed_count, 1);
    assert_int_equal(seen.progress.lanes[0], 5);
    close_world(&world);
}

/* Of a shard that is ready, too: what kept it back is forgotten when it goes on. */
static void a_second_outage_is_news(void **state)
{
    struct replica_state seen = {0};
    struct world world;

    (void)state;
    open_world(&world, "fault:memory:");
    make_topic(world.topics, "index.c.1", 1);
    announce_one(&world, 1);
    follow(&world);
    wait_until(&world, 1, 0, is_ready_at, 0, &seen);
    for (int i = 0; i < 2; i++) {
        atomic_store(&topics_faults(world.topics)->fail_read, -1);
        wait_until(&world, 1, 0, is_told_ready, 0, &seen);
        atomic_store(&topics_faults(world.topics)->fail_read, 0);
        wait_until(&world, 1, 0, has_no_reason, 0, &seen);
    }
    close_world(&world);
}

static void a_document_ends_at_its_time(void **state)
{
    int64_t now = clock_wall_us(clock_system()) / SECOND_US;
    struct replica_state seen = {0};
    struct world world;

    (void)state;
    open_world(&world, "memory:");
    make_topic(world.topics, "index.c.1", 1);
    send(&world, message_schema(1, world.arena));
    send(&world, message_titled(1, 1, "a", "велосипед", 1, now + 2, world.arena));
    send(&world, message_titled(1, 2, "b", "велосипед", 1, now + 3600, world.arena));
    announce_one(&world, 1);
    follow(&world);
    wait_until(&world, 1, 0, has_documents, 1, &seen);
    /* ends are told in whole seconds: it may have been at the end of that one */
    assert_true(clock_wall_us(clock_system()) / SECOND_US >= now + 3);
    assert_int_equal(seen.offset, 3);
    close_world(&world);
}

/* Whenever it is ready: nobody is shown it before the first look for what has ended. */
static void what_ended_while_it_was_down_is_not_shown(void **state)
{
    int64_t end = clock_wall_us(clock_system()) / SECOND_US + 2;
    struct replica_state seen = {0};
    struct world world;

    (void)state;
    open_world(&world, "memory:");
    make_topic(world.topics, "index.c.1", 1);
    send(&world, message_schema(1, world.arena));
    send(&world, message_titled(1, 1, "a", "велосипед", 1, end, world.arena));
    send(&world, message_titled(1, 2, "b", "велосипед", 1, end + 3600, world.arena));
    announce_one(&world, 1);
    follow(&world);
    wait_until(&world, 1, 0, is_ready_at, 3, &seen);
    unfollow(&world);
    while (clock_wall_us(clock_system()) / SECOND_US <= end + 1)
        usleep(10000);
    follow(&world);
    wait_until(&world, 1, 0, is_ready_at, 3, &seen);
    assert_int_equal(seen.doc_count, 1);
    close_world(&world);
}

static void what_is_over_is_not_shown_by_a_replay(void **state)
{
    struct replica_state seen = {0};
    struct world world;

    (void)state;
    open_world(&world, "memory:");
    make_topic(world.topics, "index.c.1", 1);
    send(&world, message_schema(1, world.arena));
    send(&world, message_titled(1, 1, "a", "велосипед", 1, 1000, world.arena));
    send(&world, message_titled(1, 2, "b", "велосипед", 1, 0, world.arena));
    announce_one(&world, 1);
    follow(&world);
    for (uint32_t i = 0; i < 20; i++) { /* it sweeps once a second: most come in between */
        wait_until(&world, 1, 0, is_ready_at, 3 + i, &seen);
        assert_int_equal(seen.doc_count, 1);
        send(&world, message_titled(1, 3 + i, arena_printf(world.arena, "c%u", i), "велосипед", 1,
                                    1000, world.arena));
    }
    close_world(&world);
}

/* ---- what is lost ---- */

static void save(struct world *world)
{
    const struct index_view *view = follower_view(world->follower);
    struct err err = {0};

    assert_int_equal(replica_checkpoint(view->clients[0].epochs[0].shards[0], &err), 0);
    view_release(view);
}

/* The topic lets go of all that it had; *end: of what came since, which is of no use. */
static void lose_topic(struct world *world, uint64_t *end)
{
    const struct topic_config small = {.partition_count = 1, .retention_size = 1};
    void *large = arena_zero(world->arena, LARGE_SIZE);
    struct err err = {0};
    uint64_t first, before;

    assert_int_equal(topic_range(world->topics, "index.c.1", 0, &first, &before, &err), 0);
    assert_int_equal(topic_create(world->topics, "index.c.1", &small, &err), 0);
    for (int i = 0; i < 400 && first < before; i++) { /* files are let go of as a whole */
        send(world, bytes_make(large, LARGE_SIZE));
        assert_int_equal(topics_housekeep(world->topics, &err), 0);
        assert_int_equal(topic_range(world->topics, "index.c.1", 0, &first, end, &err), 0);
    }
    assert_true(first >= before);
}

static void lost_messages_make_a_shard_unready(void **state)
{
    struct replica_state seen = {0};
    uint64_t end = 0;
    struct world world;

    (void)state;
    open_world(&world, "memory:");
    make_topic(world.topics, "index.c.1", 1);
    send_documents(&world, 100);
    announce_one(&world, 1);
    follow(&world);
    wait_until(&world, 1, 0, is_ready_at, 101, &seen);
    unfollow(&world);
    lose_topic(&world, &end);     /* no checkpoint was written */
    for (int i = 0; i < 2; i++) { /* it is remembered */
        follow(&world);
        wait_until(&world, 1, 0, is_at, end, &seen);
        assert_false(seen.is_ready);
        assert_true(seen.progress.has_gap);
        assert_non_null(strstr(seen.reason, "pour"));
        unfollow(&world);
    }
    close_world(&world);
}

static void send_mark(struct world *world, Torg__V1__IndexPour__Mark mark, int64_t number,
                      uint64_t ticket)
{
    send(world, message_pour(ticket, mark, number, ticket, world->arena));
    if (mark == BEGIN)
        send(world, message_schema(ticket, world->arena));
}

static void send_titled(struct world *world, uint64_t ticket, uint32_t id)
{
    send(world, message_titled(ticket, id, arena_printf(world->arena, "pk%u", id), "велосипед", 1,
                               0, world->arena));
}

static bool is_unready_at(const struct replica_state *state, uint64_t offset)
{
    return !state->is_ready && state->offset >= offset;
}

/* It begins with a pour and is whole at its end, whatever lies before and wherever it was
 * stopped. */
static void a_pour_makes_a_shard_ready_again(void **state)
{
    struct replica_state seen = {0};
    uint64_t end = 0;
    struct world world;

    (void)state;
    open_world(&world, "memory:");
    make_topic(world.topics, "index.c.1", 1);
    send_documents(&world, 100);
    announce_one(&world, 1);
    lose_topic(&world, &end);
    send_titled(&world, 3, 7); /* removed before, and nobody will say so again */
    send_mark(&world, END, 1, 3);
    send(&world, message_progress(3, 0, 17, world.arena));
    send_mark(&world, BEGIN, 2, 4);
    send_titled(&world, 4, 1);
    send(&world, message_progress(4, 0, 18, world.arena));
    end += 7;
    follow(&world);
    wait_until(&world, 1, 0, is_unready_at, end, &seen);
    assert_true(seen.progress.has_gap);
    assert_int_equal(seen.progress.lanes[0], 0); /* nobody takes that for searchable */
    assert_non_null(strstr(seen.reason, "pour 2"));
    save(&world);
    unfollow(&world);
    follow(&world);
    send_mark(&world, END, 1, 4);
    send_mark(&world, END, 2, 3);
    send_titled(&world, 4, 2);
    wait_until(&world, 1, 0, is_unready_at, end + 3, &seen);
    send_mark(&world, END, 2, 4);
    wait_until(&world, 1, 0, is_ready_at, end + 4, &seen);
    assert_int_equal(seen.doc_count, 2);
    assert_int_equal(seen.progress.lanes[0], 18);
    assert_false(seen.progress.has_gap);
    send_mark(&world, BEGIN, 3, 4); /* of no concern to a shard that is whole */
    send_titled(&world, 4, 1);
    wait_until(&world, 1, 0, is_ready_at, end + 7, &seen);
    assert_int_equal(seen.doc_count, 2);
    close_world(&world);
}

/* An owner that was replaced begins a pour, late, and sends a document that was removed. */
static void another_pour_begins_with_an_empty_shard(void **state)
{
    struct replica_state seen = {0};
    uint64_t end = 0;
    struct world world;

    (void)state;
    open_world(&world, "memory:");
    make_topic(world.topics, "index.c.1", 1);
    send_documents(&world, 100);
    announce_one(&world, 1);
    lose_topic(&world, &end);
    send_mark(&world, BEGIN, 2, 3);
    send_titled(&world, 3, 7);
    send_mark(&world, BEGIN, 2, 4);
    send_titled(&world, 4, 1);
    follow(&world);
    wait_until(&world, 1, 0, is_unready_at, end + 6, &seen);
    send_mark(&world, END, 2, 3); /* replaced */
    wait_until(&world, 1, 0, is_unready_at, end + 7, &seen);
    send_mark(&world, END, 2, 4);
    wait_until(&world, 1, 0, is_ready_at, end + 8, &seen);
    assert_int_equal(seen.doc_count, 1);
    assert_true(seen.reset_count > 0);
    close_world(&world);
}

static void a_shard_ahead_of_its_topic_begins_anew(void **state)
{
    struct replica_state seen = {0};
    struct world world, other;
    char dir[PATH_SIZE];

    (void)state;
    open_world(&world, "memory:");
    make_topic(world.topics, "index.c.1", 1);
    send_documents(&world, 100);
    announce_one(&world, 1);
    follow(&world);
    wait_until(&world, 1, 0, is_ready_at, 101, &seen);
    save(&world);
    unfollow(&world);
    open_world(&other, "memory:");
    make_topic(other.topics, "index.c.1", 1);
    send_documents(&other, 20);
    snprintf(dir, sizeof(dir), "%s", other.dir);
    assert_int_equal(dir_remove(other.dir, NULL), 0);
    assert_int_equal(rename(world.dir, other.dir), 0);
    follow(&other);
    wait_until(&other, 1, 0, is_ready_at, 21, &seen);
    assert_int_equal(seen.doc_count, 20);
    assert_true(seen.reset_count > 0);
    assert_int_equal(dir_create(world.dir, NULL), 0);
    close_world(&other);
    close_world(&world);
}

static void a_damaged_directory_is_replayed(void **state)
{
    struct replica_state seen = {0};
    struct world world;
    char path[PATH_SIZE];
    struct err err = {0};

    (void)state;
    open_world(&world, "memory:");
    make_topic(world.topics, "index.c.1", 1);
    send_documents(&world, 100);
    announce_one(&world, 1);
    follow(&world);
    wait_until(&world, 1, 0, is_ready_at, 101, &seen);
    unfollow(&world);
    snprintf(path, sizeof(path), "%s/c/1/0/shard", world.dir);
    assert_int_equal(file_write(path, bytes_of("no manifest"), &err), 0);
    follow(&world);
    wait_until(&world, 1, 0, is_ready_at, 101, &seen);
    assert_int_equal(seen.doc_count, 100);
    close_world(&world);
}

/* ---- epochs ---- */

static void a_retired_epoch_leaves_nothing(void **state)
{
    const struct announced both = {"c", 2, {{1, KEPT}, {2, SERVING}}};
    const struct announced second = {"c", 2, {{2, SERVING}}};
    struct replica_state seen = {0};
    struct world world;
    char path[PATH_SIZE];
    int64_t until_us;

    (void)state;
    open_world(&world, "memory:");
    make_topic(world.topics, "index.c.1", 2);
    make_topic(world.topics, "index.c.2", 2);
    send_documents(&world, 10);
    announce(world.coord, &both, 1);
    follow(&world);
    wait_until(&world, 1, 0, is_ready_at, 11, &seen);
    wait_until(&world, 2, 1, is_ready_at, 0, &seen);
    snprintf(path, sizeof(path), "%s/c/1/0/shard", world.dir);
    assert_int_equal(access(path, F_OK), 0);
    announce(world.coord, &second, 1);
    until_us = clock_mono_us(clock_system()) + (int64_t)WAIT_MS * MS_US;
    while (access(path, F_OK) == 0 && clock_mono_us(clock_system()) < until_us)
        usleep(1000);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_false(look(&world, 1, 0, &seen));
    unfollow(&world);
    /* What a kill left of an epoch goes at the next start. */
    snprintf(path, sizeof(path), "%s/c/7/0", world.dir);
    assert_int_equal(dir_create(path, NULL), 0);
    follow(&world);
    wait_until(&world, 2, 0, is_ready_at, 0, &seen);
    until_us = clock_mono_us(clock_system()) + (int64_t)WAIT_MS * MS_US;
    while (access(path, F_OK) == 0 && clock_mono_us(clock_system()) < until_us)
        usleep(1000);
    assert_int_not_equal(access(path, F_OK), 0);
    close_world(&world);
}

/* ---- more than there is room for ---- */

enum { ROOM_COUNT = 2 };

static void follow_with_room(struct world *world)
{
    const struct follower_options options = {.topics = world->topics,
                                             .coord = world->coord,
                                             .clock = clock_system(),
                                             .dir = world->dir,
                                             .replica_count_max = ROOM_COUNT};
    struct err err = {0};

    assert_int_equal(follower_start(&options, &world->follower, &err), 0);
}

/* The first shard of the client's epoch; NULL: it is not followed. Good while the view is held. */
static const struct replica *find_first(const struct index_view *view, const char *name,
                                        int64_t epoch)
{
    const struct index_client *client = view_find(view, name);
    const struct index_epoch *there = client ? client_find_epoch(client, epoch) : NULL;

    return there ? there->shards[0] : NULL;
}

/* Until the view leaves out so many shards, and so many clients; given back by view_release. */
static const struct index_view *wait_view(struct world *world, uint32_t left, uint32_t skipped)
{
    int64_t until_us = clock_mono_us(clock_system()) + (int64_t)WAIT_MS * MS_US;
    const struct index_view *view = follower_view(world->follower);

    while (view->left_count != left || view->skipped_count != skipped) {
        if (clock_mono_us(clock_system()) > until_us)
            fail_msg("%u shards and %u clients left out", view->left_count, view->skipped_count);
        view_release(view);
        usleep(1000);
        view = follower_view(world->follower);
    }
    return view;
}

static void expect_dir(const struct world *world, const char *name)
{
    char path[PATH_SIZE];

    snprintf(path, sizeof(path), "%s/%s", world->dir, name);
    assert_int_equal(access(path, F_OK), 0);
}

static void expect_trouble(struct world *world, const char *part)
{
    const struct front front = {.follower = world->follower, .clock = clock_system()};
    struct front_state state;
    struct err err;

    assert_int_not_equal(front_check(&front, &state, &err), 0);
    assert_non_null(strstr(err.text, part));
}

static void wait_ready(const struct replica *replica)
{
    int64_t until_us = clock_mono_us(clock_system()) + (int64_t)WAIT_MS * MS_US;
    struct replica_state state = {0};

    for (; !state.is_ready; usleep(1000)) {
        assert_true(clock_mono_us(clock_system()) < until_us);
        replica_state((struct replica *)replica, &state);
    }
}

static void a_new_epoch_takes_no_place_from_what_runs(void **state)
{
    const struct announced one[] = {{"a", 1, {{1, SERVING}}}, {"b", 1, {{1, SERVING}}}};
    const struct announced two[] = {{"a", 1, {{1, SERVING}, {2, BUILDING}}},
                                    {"b", 1, {{1, SERVING}}}};
    const struct announced last[] = {{"a", 1, {{2, SERVING}}}, {"b", 1, {{1, SERVING}}}};
    const struct index_view *before, *view;
    struct world world;

    (void)state;
    open_world(&world, "memory:");
    make_topic(world.topics, "index.a.1", 1);
    make_topic(world.topics, "index.a.2", 1);
    make_topic(world.topics, "index.b.1", 1);
    announce(world.coord, one, 2);
    follow_with_room(&world);
    before = follower_view(world.follower);
    assert_null(before->trouble);
    wait_ready(find_first(before, "a", 1));
    wait_ready(find_first(before, "b", 1));
    announce(world.coord, two, 2);
    view = wait_view(&world, 1, 0);
    assert_ptr_equal(find_first(view, "a", 1), find_first(before, "a", 1));
    assert_ptr_equal(find_first(view, "b", 1), find_first(before, "b", 1));
    assert_null(find_first(view, "a", 2));
    view_release(before);
    view_release(view);
    expect_trouble(&world, "epoch 2");
    expect_dir(&world, "b/1/0");
    unfollow(&world);
    follow_with_room(&world); /* what serves comes before what is built */
    view = wait_view(&world, 1, 0);
    assert_non_null(find_first(view, "a", 1));
    assert_non_null(find_first(view, "b", 1));
    view_release(view);
    announce(world.coord, last, 2);
    view = wait_view(&world, 0, 0);
    assert_non_null(find_first(view, "a", 2));
    assert_null(view->trouble);
    view_release(view);
    close_world(&world);
}

static void what_the_map_says_wrongly_ends_nothing(void **state)
{
    static const uint32_t counts[] = {0, 2}; /* not a count; not what lies there */
    const struct index_view *before, *view;
    struct announced clients[] = {{"a", 1, {{1, SERVING}}}, {"b", 1, {{1, SERVING}}}};
    struct world world;

    (void)state;
    open_world(&world, "memory:");
    make_topic(world.topics, "index.a.1", 1);
    make_topic(world.topics, "index.b.1", 1);
    announce(world.coord, clients, 2);
    follow_with_room(&world);
    before = follower_view(world.follower);
    wait_ready(find_first(before, "a", 1));
    wait_ready(find_first(before, "b", 1));
    for (int i = 0; i < 2; i++) {
        clients[0].shard_count = counts[i];
        announce(world.coord, clients, 2);
        view = wait_view(&world, 0, 1);
        assert_ptr_equal(find_first(view, "a", 1), find_first(before, "a", 1));
        assert_ptr_equal(find_first(view, "b", 1), find_first(before, "b", 1));
        view_release(view);
        expect_trouble(&world, "\"a\"");
        expect_dir(&world, "a/1/0");
        clients[0].shard_count = 1;
        announce(world.coord, clients, 2);
        view_release(wait_view(&world, 0, 0));
    }
    view_release(before);
    close_world(&world);
}

static void only_listed_shards_are_followed(void **state)
{
    static const uint32_t shards[] = {1, 5};
    struct replica_state seen = {0};
    struct follower_options options;
    struct world world;
    struct err err = {0};

    (void)state;
    open_world(&world, "memory:");
    make_topic(world.topics, "index.c.1", 3);
    announce_one(&world, 3);
    options = (struct follower_options){.topics = world.topics,
                                        .coord = world.coord,
                                        .clock = clock_system(),
                                        .dir = world.dir,
                                        .shards = shards,
                                        .shard_count = 2};
    assert_int_equal(follower_start(&options, &world.follower, &err), 0);
    wait_until(&world, 1, 1, is_ready_at, 0, &seen);
    assert_false(look(&world, 1, 0, &seen));
    assert_false(look(&world, 1, 2, &seen));
    close_world(&world);
}

/* ---- readers beside the apply threads ---- */

struct asking {
    struct world *world;
    struct front front;
    _Atomic bool is_over;
    atomic_ulong count, refused;
};

static void *read_on(void *arg)
{
    struct asking *asking = arg;

    while (!atomic_load(&asking->is_over)) {
        struct arena *arena = arena_new();
        Torg__V1__QueryStage stage = TORG__V1__QUERY_STAGE__INIT;
        Torg__V1__QueryStage *stages[] = {&stage};
        Torg__V1__Query query = TORG__V1__QUERY__INIT;
        Torg__V1__SearchRequest request = TORG__V1__SEARCH_REQUEST__INIT;
        Torg__V1__SearchResponse response = TORG__V1__SEARCH_RESPONSE__INIT;
        struct err err = {0};

        stage.text = "велосипед";
        query.stages = stages;
        query.n_stages = 1;
        request.query = &query;
        if (front_search(&asking->front, "c", &request,
                         clock_mono_us(clock_system()) + 60 * SECOND_US, arena, &response, &err))
            atomic_fetch_add(&asking->refused, 1);
        else
            atomic_fetch_add(&asking->count, 1);
        arena_free(arena);
    }
    return NULL;
}

/* Only an epoch with a schema answers, and none of those below has one for long. */
static void wait_answered(struct asking *asking)
{
    int64_t until_us = clock_mono_us(clock_system()) + (int64_t)WAIT_MS * MS_US;

    while (!atomic_load(&asking->count)) {
        assert_true(clock_mono_us(clock_system()) < until_us);
        usleep(1000);
    }
}

static void readers_and_epochs_go_on_beside_each_other(void **state)
{
    struct asking asking = {0};
    struct replica_state seen = {0};
    struct rng rng = test_seed();
    pthread_t threads[3];
    struct world world;

    (void)state;
    open_world(&world, "memory:");
    make_topic(world.topics, "index.c.1", 2);
    announce_one(&world, 2);
    follow(&world);
    wait_until(&world, 1, 0, is_ready_at, 0, &seen);
    asking.world = &world;
    asking.front =
        (struct front){.follower = world.follower,
                       .gatherer = {.workers = workers_new("shards", 4, 64, NULL, clock_system())},
                       .clock = clock_system()};
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_on, &asking), 0);
    for (int64_t epoch = 1; epoch < 6; epoch++) {
        const struct announced next = {"c", 2, {{epoch, KEPT}, {epoch + 1, SERVING}}};
        char topic[32];

        snprintf(topic, sizeof(topic), "index.c.%jd", (intmax_t)epoch);
        send_to(world.topics, topic, 0, message_schema(1, world.arena));
        send_to(world.topics, topic, 1, message_schema(1, world.arena));
        for (uint32_t i = 0; i < 300; i++)
            send_to(world.topics, topic, i % 2,
                    message_put(1, (uint32_t)rng_below(&rng, 100), "pk", rng_below(&rng, 3),
                                rng_next(&rng), world.arena));
        wait_answered(&asking);
        snprintf(topic, sizeof(topic), "index.c.%jd", (intmax_t)epoch + 1);
        make_topic(world.topics, topic, 2);
        announce(world.coord, &next, 1);
        wait_until(&world, epoch + 1, 1, is_ready_at, 0, &seen);
    }
    atomic_store(&asking.is_over, true);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("# %lu searches, %lu told that nothing is ready\n", atomic_load(&asking.count),
           atomic_load(&asking.refused));
    workers_free(asking.front.gatherer.workers);
    close_world(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_sent_is_found_and_a_restart_keeps_it),
        cmocka_unit_test(a_restart_replays_nothing),
        cmocka_unit_test(a_message_that_cannot_be_applied_stops_nobody),
        cmocka_unit_test(a_shard_is_not_ready_before_it_has_what_there_was),
        cmocka_unit_test(what_waits_for_a_refusal_keeps_nothing_else_back),
        cmocka_unit_test(a_second_outage_is_news),
        cmocka_unit_test(a_document_ends_at_its_time),
        cmocka_unit_test(what_ended_while_it_was_down_is_not_shown),
        cmocka_unit_test(what_is_over_is_not_shown_by_a_replay),
        cmocka_unit_test(lost_messages_make_a_shard_unready),
        cmocka_unit_test(a_pour_makes_a_shard_ready_again),
        cmocka_unit_test(another_pour_begins_with_an_empty_shard),
        cmocka_unit_test(a_shard_ahead_of_its_topic_begins_anew),
        cmocka_unit_test(a_damaged_directory_is_replayed),
        cmocka_unit_test(a_retired_epoch_leaves_nothing),
        cmocka_unit_test(a_new_epoch_takes_no_place_from_what_runs),
        cmocka_unit_test(what_the_map_says_wrongly_ends_nothing),
        cmocka_unit_test(only_listed_shards_are_followed),
        cmocka_unit_test(readers_and_epochs_go_on_beside_each_other),
    };

    log_setup(LOG_FORMAT_HUMAN, LOG_LEVEL_ERROR, STDERR_FILENO);
    return cmocka_run_group_tests_name("follower", tests, NULL, NULL);
}
