/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench/pages.c - pages of an index of one and of four local shards, in one process without
 * sockets.
 *
 * For counting instructions: what PAGES more cost, divided by them, is a page.
 *
 *   valgrind --tool=callgrind bench-pages SHARDS PAGES   (SHARDS: 1 or 4)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "codec/json.h"
#include "codec/message.h"
#include "index_messages.h"
#include "searcher/front/front.h"

enum { DOC_COUNT = 1000, SHARD_COUNT = 4, WAIT_MS = 600000 };

/* As a buyer's page asks: all words first, then some of them; filters and what they leave. */
static const char page[] =
    "{\"query\":{\"unknownIsEmpty\":true,\"baseFilter\":{\"exists\":\"price\"},\"stages\":["
    "{\"text\":\"горный велосипед\",\"show\":[\"title\",\"seller\",\"price\"],"
    "\"highlight\":{\"fields\":[\"title\"]},"
    "\"filter\":{\"and\":{\"of\":["
    "{\"range\":{\"field\":\"price\",\"min\":\"100\",\"max\":\"19000\"}},"
    "{\"not\":{\"in\":{\"field\":\"seller\",\"values\":[\"seller1\",\"seller7\"]}}}]}},"
    "\"facets\":[{\"field\":\"seller\",\"limit\":7},{\"field\":\"tags\"},"
    "{\"field\":\"category\",\"kind\":\"TREE\"},{\"field\":\"used\"},{\"field\":\"unheard-of\"},"
    "{\"name\":\"p\",\"field\":\"price\",\"kind\":\"MIN_MAX\"}]},"
    "{\"text\":\"горный велосипед\",\"anyWord\":true,\"notAll\":true,"
    "\"show\":[\"title\",\"seller\",\"price\"],\"limit\":5}]}}";

static void check(int rc, const struct err *err)
{
    if (rc) {
        fprintf(stderr, "bench-pages: %s\n", err->text);
        exit(1);
    }
}

static void fill(struct topics *topics, const char *topic, uint32_t shard_count,
                 struct arena *arena)
{
    struct rng rng = rng_seeded(1);

    make_topic(topics, topic, shard_count);
    for (uint32_t i = 0; i < shard_count; i++)
        send_to(topics, topic, i, message_schema(1, arena));
    for (uint32_t i = 0; i < DOC_COUNT; i++)
        send_to(topics, topic, i % shard_count,
                message_put(1, i, arena_printf(arena, "pk%u", i), rng_next(&rng), rng_next(&rng),
                            arena));
    for (uint32_t i = 0; i < shard_count; i++)
        send_to(topics, topic, i, message_progress(1, 0, 1, arena));
}

static void wait_ready(struct follower *follower, const char *name)
{
    int64_t until_us = clock_mono_us(clock_system()) + (int64_t)WAIT_MS * MS_US;
    const struct index_view *view;
    struct err err = {0};

    check(follower_view_with(follower, name, until_us, &view, &err), &err);
    for (uint32_t i = 0; i < view_find(view, name)->shard_count; i++)
        check(replica_wait(client_find_epoch(view_find(view, name), 1)->shards[i], 0, 1, until_us,
                           &err),
              &err);
    view_release(view);
}

int main(int argc, char **argv)
{
    static const struct announced clients[] = {
        {"1", 1, {{1, TORG__V1__INDEX_MAP__EPOCH__STATE__SERVING}}},
        {"4", SHARD_COUNT, {{1, TORG__V1__INDEX_MAP__EPOCH__STATE__SERVING}}},
    };
    struct arena *arena = arena_new();
    struct front front = {.clock = clock_system()};
    struct follower_options following = {.clock = clock_system()};
    ProtobufCMessage *request;
    struct err err = {0};
    uint64_t pages, hits = 0;

    if (argc != 3 || !text_to_u64(bytes_of(argv[2]), &pages)) {
        fprintf(stderr, "usage: bench-pages 1|4 PAGES\n");
        return 2;
    }
    check(topics_open("memory:", NULL, &following.topics, &err), &err);
    check(coord_open("memory:pages", "bench", NULL, &following.coord, &err), &err);
    fill(following.topics, "index.1.1", 1, arena);
    fill(following.topics, "index.4.1", SHARD_COUNT, arena);
    announce(following.coord, clients, 2);
    check(follower_start(&following, &front.follower, &err), &err);
    front.gatherer.workers = workers_new("shards", SHARD_COUNT, 64, NULL, clock_system());
    wait_ready(front.follower, "1");
    wait_ready(front.follower, "4");
    check(json_decode(bytes_of(page), &torg__v1__search_request__descriptor, arena, &request, NULL,
                      &err),
          &err);
    for (uint64_t i = 0; i < pages; i++) {
        Torg__V1__SearchResponse response = TORG__V1__SEARCH_RESPONSE__INIT;
        struct arena *memory = arena_new();

        check(front_search(&front, argv[1], (const Torg__V1__SearchRequest *)request,
                           clock_mono_us(clock_system()) + (int64_t)WAIT_MS * MS_US, memory,
                           &response, &err),
              &err);
        hits += response.answer->stages[0]->n_hits;
        arena_free(memory);
    }
    printf("%ju hits\n", (uintmax_t)hits);
    workers_free(front.gatherer.workers);
    follower_stop(front.follower);
    coord_close(following.coord);
    topics_close(following.topics);
    arena_free(arena);
    return 0;
}
