/* SPDX-License-Identifier: Apache-2.0 */
/* waiters.c - callers who wait for writes: so many and no more, and others search meanwhile. */
#include "searcher/replica/waiters.h"
#include "base/clock.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "index_messages.h"
#include "model/change_token.h"
#include "patience.h"
#include "searcher/bounds.h"
#include "searcher/front/front.h"

/* The pool that asks shards has fewer threads than may wait. */
enum { SHARD_COUNT = 3, WAIT_MS = PATIENCE_MS, POOL_COUNT = 2, DOC_COUNT = 30 };

struct world {
    struct topics *topics;
    struct coord *coord;
    struct follower *follower;
    struct workers *workers;
    struct front front;
    struct arena *arena;
    char *token; /* of a write that is not there yet */
};

static int64_t deadline(void)
{
    return clock_mono_us(clock_system()) + (int64_t)WAIT_MS * MS_US;
}

static void open_world(struct world *world)
{
    static const struct announced clients[] = {
        {"other", 1, {{1, TORG__V1__INDEX_MAP__EPOCH__STATE__SERVING}}},
        {"shop", SHARD_COUNT, {{1, TORG__V1__INDEX_MAP__EPOCH__STATE__SERVING}}},
    };
    const struct change_token token = {.client_id = 2, .lane = 0, .shard = 1, .idx = 5};
    struct follower_options options = {.clock = clock_system()};
    struct err err = {0};

    *world = (struct world){.arena = arena_new()};
    if (topics_open("memory:", NULL, &world->topics, &err) ||
        coord_open("memory:waiters", "test", NULL, &world->coord, &err))
        fail_msg("%s", err.text);
    make_topic(world->topics, "index.other.1", 1);
    make_topic(world->topics, "index.shop.1", SHARD_COUNT);
    for (uint32_t i = 0; i < SHARD_COUNT; i++) {
        send_to(world->topics, "index.shop.1", i, message_schema(1, world->arena));
        for (uint32_t k = 0; k < DOC_COUNT; k++)
            send_to(world->topics, "index.shop.1", i,
                    message_titled(1, k, arena_printf(world->arena, "pk%u-%u", i, k), "bicycle", 1,
                                   0, world->arena));
        send_to(world->topics, "index.shop.1", i, message_progress(1, 0, 1, world->arena));
    }
    announce(world->coord, clients, ARRAY_COUNT(clients));
    world->workers = workers_new("shards", POOL_COUNT, 64, NULL, clock_system());
    options.topics = world->topics;
    options.coord = world->coord;
    assert_int_equal(follower_start(&options, &world->follower, &err), 0);
    world->front = (struct front){.follower = world->follower,
                                  .gatherer = {.workers = world->workers},
                                  .clock = clock_system()};
    world->token = change_token_text(&token, &(struct seal){{0}}, world->arena);
}

static void close_world(struct world *world)
{
    workers_free(world->workers);
    follower_stop(world->follower);
    coord_close(world->coord);
    topics_close(world->topics);
    arena_free(world->arena);
}

static int ask(struct world *world, const char *client, char *token, bool looks,
               struct arena *arena, Torg__V1__SearchResponse *response, struct err *err)
{
    Torg__V1__SearchRequest request = TORG__V1__SEARCH_REQUEST__INIT;
    Torg__V1__QueryStage stage = TORG__V1__QUERY_STAGE__INIT;
    Torg__V1__Query query = TORG__V1__QUERY__INIT;
    Torg__V1__QueryStage *stages[] = {&stage};

    stage.text = "bicycle";
    query.stages = stages;
    query.n_stages = 1;
    request.query = &query;
    request.wait = &token;
    request.n_wait = token != NULL;
    request.looks = looks;
    return front_search(&world->front, client, &request, deadline(), arena, response, err);
}

static int search(struct world *world, const char *client, char *token, struct arena *arena,
                  Torg__V1__SearchResponse *response, struct err *err)
{
    return ask(world, client, token, false, arena, response, err);
}

struct waiting {
    pthread_t thread;
    struct world *world;
    const char *client;
    int rc;
    uint64_t total;
};

static void *wait_for_write(void *arg)
{
    struct waiting *waiting = arg;
    Torg__V1__SearchResponse response = TORG__V1__SEARCH_RESPONSE__INIT;
    struct arena *arena = arena_new();
    struct err err = {0};

    waiting->rc =
        search(waiting->world, waiting->client, waiting->world->token, arena, &response, &err);
    waiting->total = waiting->rc ? 0 : response.answer->stages[0]->total;
    arena_free(arena);
    return NULL;
}

static void wait_until_waiting(int64_t count)
{
    const struct gauge *gauge = metrics_gauge("torg_searcher_waiters", NULL, "");
    int64_t until_us = deadline();

    while (gauge->value < count) {
        assert_true(clock_mono_us(clock_system()) < until_us);
        usleep(1000);
    }
}

static void expect_found(struct world *world)
{
    Torg__V1__SearchResponse response;
    struct arena *arena = arena_new();
    struct err err = {0};
    int64_t until_us = deadline();
    int rc;

    do { /* the shards may still be replaying */
        torg__v1__search_response__init(&response);
        rc = search(world, "shop", NULL, arena, &response, &err);
        if (clock_mono_us(clock_system()) > until_us)
            fail_msg("%d, partial %d: %s", rc, response.is_partial, err.text);
    } while (rc == ERR_UNAVAILABLE || (!rc && response.is_partial));
    if (rc)
        fail_msg("%s", err.text);
    assert_int_equal(response.answer->stages[0]->total, SHARD_COUNT * DOC_COUNT);
    arena_free(arena);
}

static void start_all(struct world *world, const char *client, struct waiting *all)
{
    for (int i = 0; i < SEARCHER_WAITER_COUNT_MAX; i++) {
        all[i] = (struct waiting){.world = world, .client = client};
        assert_int_equal(pthread_create(&all[i].thread, NULL, wait_for_write, &all[i]), 0);
    }
    wait_until_waiting(SEARCHER_WAITER_COUNT_MAX);
}

static void expect_refused(struct world *world, const char *client)
{
    Torg__V1__SearchResponse response = TORG__V1__SEARCH_RESPONSE__INIT;
    struct arena *arena = arena_new();
    struct err err = {0};

    assert_int_equal(search(world, client, world->token, arena, &response, &err), ERR_LIMIT);
    assert_non_null(strstr(err.text, "16 callers are already waiting"));
    arena_free(arena);
}

static void many_wait_one_more_is_told_and_others_search(void **state)
{
    static const struct announced nobody = {
        "nobody", 1, {{1, TORG__V1__INDEX_MAP__EPOCH__STATE__SERVING}}};
    static struct waiting all[SEARCHER_WAITER_COUNT_MAX];
    struct world world;
    struct waiting late = {.world = &world, .client = "shop"};

    (void)state;
    open_world(&world);
    expect_found(&world);
    start_all(&world, "shop", all);
    expect_refused(&world, "shop");
    expect_found(&world); /* the threads that ask shards are not taken by those who wait */
    send_to(world.topics, "index.shop.1", 1, message_progress(1, 0, 5, world.arena));
    for (int i = 0; i < SEARCHER_WAITER_COUNT_MAX; i++) {
        pthread_join(all[i].thread, NULL);
        assert_int_equal(all[i].rc, 0);
        assert_int_equal(all[i].total, SHARD_COUNT * DOC_COUNT);
    }
    /* what is in already is not waited for, and needs no place among the waiters */
    start_all(&world, "nobody", all);
    expect_refused(&world, "nobody");
    wait_for_write(&late);
    assert_int_equal(late.rc, 0);
    announce(world.coord, &nobody, 1);
    for (int i = 0; i < SEARCHER_WAITER_COUNT_MAX; i++) {
        pthread_join(all[i].thread, NULL);
        assert_int_equal(all[i].rc, ERR_INVALID); /* another client's token */
    }
    close_world(&world);
}

/* Which would be for minutes. */
static void who_looks_does_not_wait(void **state)
{
    static struct waiting all[SEARCHER_WAITER_COUNT_MAX];
    Torg__V1__SearchResponse response = TORG__V1__SEARCH_RESPONSE__INIT;
    struct world world;
    struct arena *arena = arena_new();
    struct err err = {0};

    (void)state;
    open_world(&world);
    expect_found(&world);
    assert_int_equal(ask(&world, "shop", world.token, true, arena, &response, &err), ERR_TIMEOUT);
    assert_non_null(strstr(err.text, "is not searchable yet"));
    assert_int_equal(ask(&world, "nobody", world.token, true, arena, &response, &err), ERR_TIMEOUT);
    assert_int_equal(ask(&world, "nobody", NULL, true, arena, &response, &err), ERR_NOT_FOUND);
    start_all(&world, "shop", all); /* and needs no place among those who do */
    assert_int_equal(ask(&world, "shop", world.token, true, arena, &response, &err), ERR_TIMEOUT);
    send_to(world.topics, "index.shop.1", 1, message_progress(1, 0, 5, world.arena));
    for (int i = 0; i < SEARCHER_WAITER_COUNT_MAX; i++) {
        pthread_join(all[i].thread, NULL);
        assert_int_equal(all[i].rc, 0);
    }
    assert_int_equal(ask(&world, "shop", world.token, true, arena, &response, &err), 0);
    assert_int_equal(response.answer->stages[0]->total, SHARD_COUNT * DOC_COUNT);
    close_world(&world);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_wait_one_more_is_told_and_others_search),
        cmocka_unit_test(who_looks_does_not_wait),
    };

    return cmocka_run_group_tests_name("waiters", tests, NULL, NULL);
}
