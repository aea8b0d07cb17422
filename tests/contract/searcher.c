/* SPDX-License-Identifier: Apache-2.0 */
/* searcher.c - replicas on every kind of topics: memory, files, and Kafka (TORG_TEST_KAFKA). */
#include "contract/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "index_messages.h"
#include "patience.h"
#include "searcher/replica/follower.h"
#include "test_dir.h"

enum { WAIT_MS = PATIENCE_MS, DOC_COUNT = 400, SHARD_COUNT = 2, URL_SIZE = 300 };

struct place {
    struct topics *topics;
    struct coord *coord;
    struct follower *follower;
    struct arena *arena;
    char client[32];
    char topic[64];
    char topics_dir[TEST_DIR_SIZE];
    char dir[TEST_DIR_SIZE];
};

static bool make_url(const char *backend, struct place *place, char url[URL_SIZE])
{
    if (strcmp(backend, "kafka") == 0) {
        const char *kafka = server_address(backend);

        snprintf(url, URL_SIZE, "kafka://%s", kafka ? kafka : "");
        return kafka != NULL;
    }
    if (strcmp(backend, "file") == 0)
        snprintf(url, URL_SIZE, "file:%s", place->topics_dir);
    else
        snprintf(url, URL_SIZE, "memory:");
    return true;
}

static void follow(struct place *place)
{
    const struct follower_options options = {
        .topics = place->topics, .coord = place->coord, .clock = clock_system(), .dir = place->dir};
    struct err err = {0};

    assert_int_equal(follower_start(&options, &place->follower, &err), 0);
}

static int set_up(void **state)
{
    struct place *place = mem_zero(sizeof(*place));
    struct announced client = {
        place->client, SHARD_COUNT, {{1, TORG__V1__INDEX_MAP__EPOCH__STATE__SERVING}}};
    struct err err = {0};
    char url[URL_SIZE];
    const char *backend = *state;

    assert_true(test_dir_make(place->dir) && test_dir_make(place->topics_dir));
    place->arena = arena_new();
    *state = place;
    if (!make_url(backend, place, url))
        return 0;
    snprintf(place->client, sizeof(place->client), "c%jx", (uintmax_t)random_u64());
    snprintf(place->topic, sizeof(place->topic), "index.%s.1", place->client);
    if (topics_open(url, NULL, &place->topics, &err) ||
        coord_open("memory:contract", "test", NULL, &place->coord, &err))
        fail_msg("%s", err.text);
    make_topic(place->topics, place->topic, SHARD_COUNT);
    announce(place->coord, &client, 1);
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;

    follower_stop(place->follower);
    if (place->topics) {
        coord_close(place->coord);
        topics_close(place->topics);
    }
    dir_remove(place->dir, NULL);
    dir_remove(place->topics_dir, NULL);
    arena_free(place->arena);
    free(place);
    return 0;
}

static void send_documents(struct place *place, uint32_t first, uint32_t count)
{
    struct rng rng = rng_seeded(first + 1);

    for (uint32_t i = 0; i < SHARD_COUNT; i++)
        send_to(place->topics, place->topic, i, message_schema(1, place->arena));
    for (uint32_t i = first; i < first + count; i++)
        send_to(place->topics, place->topic, i % SHARD_COUNT,
                message_put(1, i, arena_printf(place->arena, "pk%u", i), rng_next(&rng),
                            rng_next(&rng), place->arena));
    for (uint32_t i = 0; i < SHARD_COUNT; i++)
        send_to(place->topics, place->topic, i,
                message_progress(1, 0, first + count, place->arena));
}

/* Documents of both shards, once their lanes are there. */
static uint32_t count_at(struct place *place, int64_t idx)
{
    int64_t until_us = clock_mono_us(clock_system()) + (int64_t)WAIT_MS * MS_US;
    const struct index_view *view;
    uint32_t count = 0;

    while (!follower_has_map(place->follower) && clock_mono_us(clock_system()) < until_us)
        usleep(1000);
    view = follower_view(place->follower);
    assert_int_equal(view->client_count, 1);
    for (uint32_t i = 0; i < SHARD_COUNT; i++) {
        struct replica *replica = view->clients[0].epochs[0].shards[i];
        struct replica_state seen;
        struct err err = {0};

        if (replica_wait(replica, 0, idx, until_us, &err))
            fail_msg("%s", err.text);
        replica_state(replica, &seen);
        assert_true(seen.is_ready);
        count += seen.doc_count;
    }
    view_release(view);
    return count;
}

static void checkpoint(struct place *place)
{
    const struct index_view *view = follower_view(place->follower);
    struct err err = {0};

    for (uint32_t i = 0; i < SHARD_COUNT; i++)
        if (replica_checkpoint(view->clients[0].epochs[0].shards[i], &err))
            fail_msg("%s", err.text);
    view_release(view);
}

static void a_replica_follows_and_goes_on_after_restarts(void **state)
{
    struct place *place = *state;

    if (!place->topics)
        skip();
    send_documents(place, 0, DOC_COUNT);
    follow(place);
    assert_int_equal(count_at(place, DOC_COUNT), DOC_COUNT);
    send_documents(place, DOC_COUNT, 10); /* while it follows */
    assert_int_equal(count_at(place, DOC_COUNT + 10), DOC_COUNT + 10);
    checkpoint(place);
    follower_stop(place->follower);
    place->follower = NULL;
    send_documents(place, DOC_COUNT + 10, 10); /* while it is away */
    follow(place);
    assert_int_equal(count_at(place, DOC_COUNT + 20), DOC_COUNT + 20);
    follower_stop(place->follower); /* back to the checkpoint once more */
    place->follower = NULL;
    follow(place);
    assert_int_equal(count_at(place, DOC_COUNT + 20), DOC_COUNT + 20);
}

static const struct test_case cases[] = {CASE(a_replica_follows_and_goes_on_after_restarts)};

int main(int argc, char **argv)
{
    static const char *const backends[] = {"memory", "file", "kafka"};
    static struct case_list list = {.name = "searcher", .set_up = set_up, .tear_down = tear_down};

    log_setup(LOG_FORMAT_HUMAN, LOG_LEVEL_ERROR, STDERR_FILENO);
    for (size_t i = 0; i < ARRAY_COUNT(backends); i++)
        cases_add(&list, cases, ARRAY_COUNT(cases), backends[i], backends[i]);
    return cases_run(&list, argc, argv);
}
