/* SPDX-License-Identifier: Apache-2.0 */
/*
 * searcherd.c - a searcher alone, on topics of its own memory, for tests of several of them.
 *
 *     searcherd --port N [--shards "0 2"] [--replicas "URL URL"] [--documents N]
 *     searcherd --port N --fronts "URL URL"
 *
 * It has client "bazaar" (id 1) of three shards with the same documents in every process; shards 9
 * alone are none. Each line on its standard input, "SHARD IDX TITLE", sends one more document to
 * the shard, behind which the lane MAIN is at IDX. Prints its port when it listens.
 *
 * With --fronts it has no index: it asks those searchers, as the role search does.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "index_messages.h"
#include "net/client/caller.h"
#include "net/server/server.h"
#include "searcher/front/fronts.h"
#include "searcher/service.h"
#include "searcher/service_plain.h"

enum { SHARD_COUNT = 3, LIST_MAX = 16, DRAIN_MS = 1000, LINE_SIZE = 512, FIRST_NEW = 100000 };

struct options {
    const char *port;
    uint32_t shards[LIST_MAX];
    uint32_t shard_count;
    bool has_shards;
    const char *replicas[LIST_MAX];
    uint32_t replica_count;
    bool is_relay; /* replicas are asked for whole searches */
    uint32_t document_count;
};

static void bad(const char *what)
{
    fprintf(stderr, "searcherd: %s\n", what);
    exit(2);
}

static void read_options(int argc, char **argv, struct options *options)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        char *value = argv[i + 1];
        char *rest = value;
        char *word;

        if (strcmp(argv[i], "--port") == 0) {
            options->port = value;
        } else if (strcmp(argv[i], "--documents") == 0) {
            options->document_count = (uint32_t)strtoul(value, NULL, 10);
        } else if (strcmp(argv[i], "--shards") == 0) {
            options->has_shards = true;
            for (word = strsep(&rest, " "); word; word = strsep(&rest, " "))
                options->shards[options->shard_count++ % LIST_MAX] =
                    (uint32_t)strtoul(word, NULL, 10);
        } else if (strcmp(argv[i], "--replicas") == 0 || strcmp(argv[i], "--fronts") == 0) {
            options->is_relay = strcmp(argv[i], "--fronts") == 0;
            for (word = strsep(&rest, " "); word; word = strsep(&rest, " "))
                options->replicas[options->replica_count++ % LIST_MAX] = word;
        } else {
            bad(argv[i]);
        }
    }
    if (!options->port)
        bad("--port is missing");
}

static void fill(struct topics *topics, struct coord *coord, uint32_t count)
{
    static const struct announced client = {
        "bazaar", SHARD_COUNT, {{1, TORG__V1__INDEX_MAP__EPOCH__STATE__SERVING}}};
    struct arena *arena = arena_new();
    struct rng rng = rng_seeded(7);

    make_topic(topics, "index.bazaar.1", SHARD_COUNT);
    for (uint32_t i = 0; i < SHARD_COUNT; i++)
        send_to(topics, "index.bazaar.1", i, message_schema(1, arena));
    for (uint32_t i = 0; i < count; i++) {
        send_to(topics, "index.bazaar.1", i % SHARD_COUNT,
                message_put(1, i, arena_printf(arena, "pk%u", i), rng_next(&rng), rng_next(&rng),
                            arena));
        arena_reset(arena);
    }
    announce(coord, &client, 1);
    arena_free(arena);
}

/* Until the end of the standard input. */
static void serve_lines(struct topics *topics)
{
    char line[LINE_SIZE];
    uint32_t id = FIRST_NEW;

    while (fgets(line, sizeof(line), stdin)) {
        struct arena *arena = arena_new();
        char *title = NULL;
        uint32_t shard = (uint32_t)strtoul(line, &title, 10) % SHARD_COUNT;
        int64_t idx = strtoll(title, &title, 10);

        title[strcspn(title, "\n")] = 0;
        send_to(topics, "index.bazaar.1", shard,
                message_titled(1, id, arena_printf(arena, "new%u", id), title, 1, 0, arena));
        send_to(topics, "index.bazaar.1", shard, message_progress(1, 0, idx, arena));
        id++;
        arena_free(arena);
    }
}

/* ---- the same by searchers of other processes ---- */

static int relay(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                 struct err *err)
{
    const Torg__V1__SearchRequest *request = (const Torg__V1__SearchRequest *)message;

    return fronts_search(call_context(call), request,
                         clock_mono_us(clock_system()) + (int64_t)request->deadline_ms * MS_US,
                         call_arena(call), (Torg__V1__SearchResponse *)answer, err);
}

static const struct rpc_method relayed[] = {{.name = "Search", .unary = relay}};

static struct peer_caller make_caller(void)
{
    const struct caller_options options = {.service = torg__v1__searcher_service__descriptor.name};

    return (struct peer_caller){caller_call, caller_free, caller_new(&options)};
}

static int run_relay(const struct options *options, const struct server_options *serving)
{
    const struct peers_options others = {
        .urls = options->replicas, .count = options->replica_count, .caller = make_caller()};
    struct rpc_service service = {.descriptor = &torg__v1__searcher_service__descriptor,
                                  .methods = relayed,
                                  .method_count = ARRAY_COUNT(relayed)};
    struct peers *peers;
    struct server *server;
    struct err err = {0};
    char line[LINE_SIZE];

    if (peers_open(&others, &peers, &err) || server_new(serving, &server, &err))
        bad(err.text);
    service.context = peers;
    server_add_service(server, &service);
    if (server_start(server, &err))
        bad(err.text);
    printf("%u\n", server_port(server));
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin))
        ;
    server_drain(server, DRAIN_MS);
    server_free(server);
    peers_close(peers);
    return 0;
}

int main(int argc, char **argv)
{
    struct options options = {.document_count = 600};
    struct follower_options following = {.clock = clock_system()};
    struct peers_options others = {.urls = options.replicas};
    struct server_options serving = {0};
    struct searcher searcher = {.front = {.clock = clock_system()}};
    struct rpc_service service;
    struct rest_service plain;
    struct server *server;
    struct err err = {0};
    char listen[64];

    read_options(argc, argv, &options);
    log_setup(LOG_FORMAT_HUMAN, LOG_LEVEL_WARN, STDERR_FILENO);
    snprintf(listen, sizeof(listen), "127.0.0.1:%s", options.port);
    serving.listen = listen;
    if (options.is_relay)
        return run_relay(&options, &serving);
    others.count = options.replica_count;
    if (others.count)
        others.caller = make_caller();
    if (topics_open("memory:", NULL, &following.topics, &err) ||
        coord_open("memory:searcherd", "searcherd", NULL, &following.coord, &err))
        bad(err.text);
    fill(following.topics, following.coord, options.document_count);
    following.shards = options.has_shards ? options.shards : NULL;
    following.shard_count = options.shard_count;
    if (follower_start(&following, &searcher.front.follower, &err) ||
        (others.count && peers_open(&others, &searcher.front.gatherer.peers, &err)) ||
        server_new(&serving, &server, &err))
        bad(err.text);
    searcher.front.gatherer.workers = workers_new("shards", 16, 256, NULL, clock_system());
    service = searcher_service(&searcher);
    plain = plain_search_service(&searcher);
    server_add_service(server, &service);
    server_add_rest(server, &plain);
    if (server_start(server, &err))
        bad(err.text);
    printf("%u\n", server_port(server));
    fflush(stdout);
    serve_lines(following.topics);
    server_drain(server, DRAIN_MS);
    server_free(server);
    workers_free(searcher.front.gatherer.workers);
    peers_close(searcher.front.gatherer.peers);
    follower_stop(searcher.front.follower);
    coord_close(following.coord);
    topics_close(following.topics);
    return 0;
}
