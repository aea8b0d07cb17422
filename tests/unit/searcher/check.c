/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.c - what a shard tells of itself as a whole: its content while messages come, its files,
 * times of its newest documents; and a view that is waited for until it has a client.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/log.h"
#include "index_messages.h"
#include "patience.h"
#include "searcher/bounds.h"
#include "searcher/replica/arrivals.h"
#include "searcher/replica/follower.h"
#include "test_dir.h"

enum { WAIT_MS = PATIENCE_MS, DOC_COUNT = 300, ASKER_COUNT = 3 };

#define TOPIC "index.shop.1"

struct world {
    struct topics *topics;
    struct coord *coord;
    struct follower *follower;
    struct arena *arena;
    char dir[TEST_DIR_SIZE];
};

static int64_t deadline_us(int ms)
{
    return clock_mono_us(clock_system()) + (int64_t)ms * MS_US;
}

static void open_world(struct world *world)
{
    struct follower_options options = {.clock = clock_system()};
    struct err err = {0};

    *world = (struct world){.arena = arena_new()};
    assert_true(test_dir_make(world->dir));
    if (topics_open("memory:", NULL, &world->topics, &err) ||
        coord_open("memory:check", "test", NULL, &world->coord, &err))
        fail_msg("%s", err.text);
    make_topic(world->topics, TOPIC, 1);
    options.topics = world->topics;
    options.coord = world->coord;
    options.dir = world->dir;
    assert_int_equal(follower_start(&options, &world->follower, &err), 0);
}

static void close_world(struct world *world)
{
    follower_stop(world->follower);
    coord_close(world->coord);
    topics_close(world->topics);
    dir_remove(world->dir, NULL);
    arena_free(world->arena);
}

static void announce_shop(struct world *world)
{
    const struct announced client = {"shop", 1, {{1, TORG__V1__INDEX_MAP__EPOCH__STATE__SERVING}}};

    announce(world->coord, &client, 1);
}

static struct replica *replica_at(struct world *world, const struct index_view **view, int64_t idx)
{
    struct replica *replica;
    struct err err = {0};

    assert_int_equal(follower_view_with(world->follower, "shop", deadline_us(WAIT_MS), view, &err),
                     0);
    assert_int_equal((*view)->client_count, 1);
    replica = (*view)->clients[0].epochs[0].shards[0];
    if (replica_wait(replica, 0, idx, deadline_us(WAIT_MS), &err))
        fail_msg("%s", err.text);
    return replica;
}

static void send(struct world *world, struct bytes message)
{
    send_to(world->topics, TOPIC, 0, message);
}

static void send_documents(struct world *world, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++)
        send(world, message_put(1, i, arena_printf(world->arena, "pk%u", i), i, i, world->arena));
    send(world, message_progress(1, 0, first + count, world->arena));
}

/* --- content --- */

static uint64_t content_of(struct replica *replica, int64_t idx)
{
    struct replica_state state;
    struct err err = {0};
    uint64_t content;

    if (replica_content(replica, deadline_us(WAIT_MS), &content, &state, &err))
        fail_msg("%s", err.text);
    assert_int_equal(state.progress.lanes[0], idx);
    return content;
}

static void content_is_of_the_documents_and_not_of_their_way(void **state)
{
    const struct index_view *view;
    struct replica *replica;
    struct world world;
    uint64_t before, more;
    struct err err = {0};

    (void)state;
    open_world(&world);
    announce_shop(&world);
    send(&world, message_schema(1, world.arena));
    send_documents(&world, 0, DOC_COUNT);
    replica = replica_at(&world, &view, DOC_COUNT);
    before = content_of(replica, DOC_COUNT);
    send_documents(&world, DOC_COUNT, 1);
    replica_wait(replica, 0, DOC_COUNT + 1, deadline_us(WAIT_MS), &err);
    more = content_of(replica, DOC_COUNT + 1);
    assert_true(more != before);
    send(&world,
         message_remove(1, DOC_COUNT, arena_printf(world.arena, "pk%u", DOC_COUNT), world.arena));
    send(&world, message_progress(1, 0, DOC_COUNT + 2, world.arena));
    replica_wait(replica, 0, DOC_COUNT + 2, deadline_us(WAIT_MS), &err);
    assert_true(content_of(replica, DOC_COUNT + 2) == before);
    assert_int_equal(replica_check_files(replica, &err), 0);
    view_release(view);
    close_world(&world);
}

/* --- many at once --- */

struct asking {
    struct replica *replica;
    atomic_bool *is_ended;
    int rc;
};

/* At least once, however late it is begun. */
static void *ask(void *arg)
{
    struct asking *asking = arg;
    struct replica_state state;
    struct err err = {0};
    uint64_t content;

    do {
        asking->rc = replica_content(asking->replica, deadline_us(WAIT_MS), &content, &state, &err);
        if (!asking->rc)
            asking->rc = replica_check_files(asking->replica, &err);
    } while (!atomic_load(asking->is_ended) && !asking->rc);
    return NULL;
}

static void many_ask_while_documents_come(void **state)
{
    struct asking askings[ASKER_COUNT];
    pthread_t threads[ASKER_COUNT];
    const struct index_view *view;
    atomic_bool is_ended = false;
    struct replica *replica;
    struct world world;
    int64_t sent_us, shown_us;

    (void)state;
    open_world(&world);
    announce_shop(&world);
    send(&world, message_schema(1, world.arena));
    send_documents(&world, 0, 10);
    replica = replica_at(&world, &view, 10);
    for (int i = 0; i < ASKER_COUNT; i++) {
        askings[i] = (struct asking){.replica = replica, .is_ended = &is_ended};
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &askings[i]), 0);
    }
    for (uint32_t i = 0; i < 20; i++)
        send_documents(&world, 10 + i * 10, 10);
    view_release(view);
    replica = replica_at(&world, &view, 210);
    atomic_store(&is_ended, true);
    for (int i = 0; i < ASKER_COUNT; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(askings[i].rc, 0);
    }
    assert_true(replica_arrival(replica, 205, &sent_us, &shown_us));
    assert_true(sent_us > 0 && shown_us >= sent_us);
    assert_false(replica_arrival(replica, 211, &sent_us, &shown_us));
    view_release(view);
    close_world(&world);
}

/* --- the map --- */

static void *announce_late(void *arg)
{
    usleep(50 * 1000); /* the other is waiting by then, or finds it at once: both are right */
    announce_shop(arg);
    return NULL;
}

static void a_view_is_waited_for_until_it_has_the_client(void **state)
{
    const struct index_view *view;
    struct err err = {0};
    struct world world;
    pthread_t thread;

    (void)state;
    open_world(&world);
    assert_int_equal(follower_view_with(world.follower, "shop", deadline_us(20), &view, &err), 0);
    assert_int_equal(view->client_count, 0);
    view_release(view);
    assert_int_equal(pthread_create(&thread, NULL, announce_late, &world), 0);
    assert_int_equal(follower_view_with(world.follower, "shop", deadline_us(WAIT_MS), &view, &err),
                     0);
    pthread_join(thread, NULL);
    assert_int_equal(view->client_count, 1);
    view_release(view);
    close_world(&world);
}

/* --- times --- */

static void arrivals_keep_the_newest(void **state)
{
    struct arrivals *arrivals = arrivals_new();
    int64_t sent_us, shown_us;

    (void)state;
    assert_false(arrivals_find(arrivals, 0, &sent_us, &shown_us));
    arrivals_note(arrivals, 0, 100);
    assert_true(arrivals_find(arrivals, 0, &sent_us, &shown_us));
    assert_int_equal(sent_us, 100);
    assert_int_equal(shown_us, 0);
    arrivals_show(arrivals, 150);
    arrivals_note(arrivals, 7, 160);
    assert_true(arrivals_find(arrivals, 0, &sent_us, &shown_us));
    assert_int_equal(shown_us, 150);
    assert_true(arrivals_find(arrivals, 7, &sent_us, &shown_us));
    assert_int_equal(shown_us, 0);
    arrivals_note(arrivals, SEARCHER_ARRIVAL_COUNT, 170); /* takes the place of number 0 */
    assert_false(arrivals_find(arrivals, 0, &sent_us, &shown_us));
    for (int i = 0; i < SEARCHER_SHOWING_COUNT; i++)
        arrivals_show(arrivals, 200 + i);
    assert_true(arrivals_find(arrivals, 7, &sent_us, &shown_us));
    assert_int_equal(shown_us, 200);
    arrivals_show(arrivals, 1); /* its moment is forgotten */
    assert_false(arrivals_find(arrivals, 7, &sent_us, &shown_us));
    arrivals_free(arrivals);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(content_is_of_the_documents_and_not_of_their_way),
        cmocka_unit_test(many_ask_while_documents_come),
        cmocka_unit_test(a_view_is_waited_for_until_it_has_the_client),
        cmocka_unit_test(arrivals_keep_the_newest),
    };

    log_setup(LOG_FORMAT_HUMAN, LOG_LEVEL_ERROR, STDERR_FILENO);
    return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
