/* SPDX-License-Identifier: Apache-2.0 */
/* service.c - see service.h: searches, of all shards and of one. */
#include "searcher/service.h"

#include <string.h>

#include "base/memory.h"
#include "base/metrics.h"
#include "searcher/bounds.h"
#include "searcher/local.h"

#define CLIENT_DEFAULT "default"

int searcher_client(const struct call *call, const char *named, const char **client,
                    struct err *err)
{
    const struct identity *identity = call_identity(call);

    *client = *identity->client ? identity->client : *named ? named : CLIENT_DEFAULT;
    if (!*identity->client || !*named || strcmp(identity->client, named) == 0)
        return 0;
    return err_set(err, ERR_DENIED, "the key '%s' is bound to client %s: leave the client out",
                   identity->principal, identity->client);
}

/* The sooner of what the request and the call say. */
static int64_t deadline_of(const struct call *call, uint32_t ms)
{
    const struct searcher *searcher = call_context(call);
    int64_t deadline_us =
        clock_mono_us(searcher->front.clock) + (int64_t)(ms ? ms : SEARCHER_DEADLINE_MS) * MS_US;
    int64_t call_us = call_deadline_us(call);

    return call_us < deadline_us ? call_us : deadline_us;
}

static int check_deadline(uint32_t ms, struct err *err)
{
    if (ms <= SEARCHER_DEADLINE_MS_MAX)
        return 0;
    return err_set(err, ERR_INVALID, "deadlineMs: %u, at most %d is allowed", ms,
                   SEARCHER_DEADLINE_MS_MAX);
}

static int search(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                  struct err *err)
{
    const struct searcher *searcher = call_context(call);
    const Torg__V1__SearchRequest *request = (const Torg__V1__SearchRequest *)message;
    Torg__V1__SearchResponse *response = (Torg__V1__SearchResponse *)answer;
    const char *client;
    int rc = searcher_client(call, request->client, &client, err);

    rc = rc ? rc : check_deadline(request->deadline_ms, err);
    rc =
        rc ? rc
           : front_search(&searcher->front, client, request,
                          deadline_of(call, request->deadline_ms), call_arena(call), response, err);
    if (!rc && response->is_partial)
        counter_add(metrics_counter("torg_searcher_partial_answers_total", NULL,
                                    "Searches answered without some of their shards."),
                    1);
    return rc;
}

/* ---- one shard ---- */

static int find_replica(const struct index_view *view, const Torg__V1__ShardRequest *request,
                        struct replica **replica, struct err *err)
{
    const struct index_client *client = view_find(view, request->client);
    const struct index_epoch *epoch = client ? client_find_epoch(client, request->epoch) : NULL;

    *replica = epoch && request->shard < client->shard_count ? epoch->shards[request->shard] : NULL;
    if (*replica)
        return 0;
    return err_set(err, ERR_NOT_FOUND, "this process has no shard %u of %s, epoch %jd",
                   request->shard, request->client, (intmax_t)request->epoch);
}

static int ask_shard(struct call *call, const Torg__V1__ShardRequest *request,
                     Torg__V1__ShardWords **words, Torg__V1__ShardAnswer **found, struct err *err)
{
    const struct searcher *searcher = call_context(call);
    const struct index_view *view = follower_view(searcher->front.follower);
    int64_t deadline_us = deadline_of(call, request->deadline_ms);
    struct replica *replica;
    const char *client;
    int rc = searcher_client(call, request->client, &client, err);

    rc = rc ? rc : check_deadline(request->deadline_ms, err);
    rc = rc ? rc : find_replica(view, request, &replica, err);
    if (!rc && words)
        rc = local_count_words(replica, request, deadline_us, call_arena(call), words, err);
    else if (!rc)
        rc = local_search(replica, request, deadline_us, call_arena(call), found, err);
    view_release(view);
    return rc;
}

static int count_words(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                       struct err *err)
{
    Torg__V1__ShardWords *words = NULL;
    int rc = ask_shard(call, (const Torg__V1__ShardRequest *)message, &words, NULL, err);

    if (!rc)
        *(Torg__V1__ShardWords *)answer = *words;
    return rc;
}

static int search_shard(struct call *call, const ProtobufCMessage *message,
                        ProtobufCMessage *answer, struct err *err)
{
    Torg__V1__ShardAnswer *found = NULL;
    int rc = ask_shard(call, (const Torg__V1__ShardRequest *)message, NULL, &found, err);

    if (!rc)
        *(Torg__V1__ShardAnswer *)answer = *found;
    return rc;
}

static const struct rpc_method methods[] = {
    {.name = "Search", .unary = search, .scope = "search", .flags = RPC_OF_CLIENT | RPC_COMPUTE},
    {.name = "Explain",
     .unary = searcher_explain,
     .scope = "search",
     .flags = RPC_OF_CLIENT | RPC_COMPUTE},
    {.name = "GetFreshness",
     .unary = searcher_freshness,
     .scope = "search",
     .flags = RPC_OF_CLIENT},
    {.name = "ListIndexed",
     .unary = searcher_list,
     .scope = "pipeline.read",
     .flags = RPC_OF_CLIENT},
    {.name = "CompareEpochs",
     .unary = searcher_compare,
     .scope = "pipeline.read",
     .flags = RPC_OF_CLIENT},
    {.name = "CheckShard",
     .unary = searcher_check,
     .scope = "pipeline.read",
     .flags = RPC_OF_CLIENT},
    {.name = "CountWords",
     .unary = count_words,
     .scope = "search",
     .flags = RPC_OF_CLIENT | RPC_COMPUTE},
    {.name = "SearchShard",
     .unary = search_shard,
     .scope = "search",
     .flags = RPC_OF_CLIENT | RPC_COMPUTE},
};

struct rpc_service searcher_service(struct searcher *searcher)
{
    return RPC_SERVICE(searcher, methods, searcher);
}
