/* SPDX-License-Identifier: Apache-2.0 */
/* service.c - see service.h: searches, of all shards and of one. */
#include "searcher/service.h"

#include <string.h>

#include "base/memory.h"
#include "base/metrics.h"
#include "base/workers.h"
#include "codec/json.h"
#include "searcher/bounds.h"
#include "searcher/front/local.h"

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

int64_t searcher_deadline_us(const struct call *call, uint32_t ms)
{
    const struct searcher *searcher = call_context(call);
    int64_t begun_us = call_begun_us(call);
    int64_t call_us = call_deadline_us(call);
    int64_t deadline_us;

    if (!begun_us)
        begun_us = clock_mono_us(searcher->front.clock);
    deadline_us =
        ms ? begun_us + ms * (int64_t)MS_US : front_deadline_us(&searcher->front, begun_us);
    return call_us < deadline_us ? call_us : deadline_us;
}

static int check_deadline(uint32_t ms, struct err *err)
{
    if (ms <= SEARCHER_DEADLINE_MS_MAX)
        return 0;
    return err_set(err, ERR_INVALID, "deadlineMs: %u, at most %d is allowed", ms,
                   SEARCHER_DEADLINE_MS_MAX);
}

/* Until a write is looked for again: the longer it has not been there, the longer. */
static int64_t pause_of(int64_t waited_us)
{
    int64_t pause_us = waited_us / 2;

    if (pause_us < SEARCHER_PAUSE_MS_MIN * MS_US)
        return SEARCHER_PAUSE_MS_MIN * MS_US;
    return pause_us > SEARCHER_PAUSE_MS_MAX * MS_US ? SEARCHER_PAUSE_MS_MAX * MS_US : pause_us;
}

enum searcher_wait searcher_wait(struct call *call, int64_t deadline_us)
{
    const struct searcher *searcher = call_context(call);
    int64_t now_us = clock_mono_us(searcher->front.clock);

    if (now_us >= deadline_us)
        return WAIT_OVER;
    return call_come_back(call, pause_of(now_us - call_begun_us(call))) ? WAIT_COMES_BACK
                                                                        : WAIT_HERE;
}

int searcher_search(struct call *call, const char *client, const Torg__V1__SearchRequest *request,
                    int64_t deadline_us, Torg__V1__SearchResponse *response, struct err *err)
{
    const struct searcher *searcher = call_context(call);
    Torg__V1__SearchRequest looking = *request;
    int rc;

    looking.looks = true;
    rc = front_search(&searcher->front, client, &looking, deadline_us, call_arena(call), response,
                      err);
    if (rc != ERR_TIMEOUT || request->looks || (!request->n_wait && !request->seen.len) ||
        searcher_wait(call, deadline_us) == WAIT_COMES_BACK)
        return rc;
    /* It waits here, or is told what was not there in the end: maybe the client itself. */
    return front_search(&searcher->front, client, request, deadline_us, call_arena(call), response,
                        err);
}

/* Faults of a query are told by their paths in it; the request has it as `query`. */
static void name_fault(struct call *call, int rc, const struct err *err)
{
    size_t size = json_field_path_size(err->text, &torg__v1__query__descriptor);

    if (size && (rc == ERR_INVALID || rc == ERR_LIMIT || rc == ERR_RANGE))
        call_violation(call, arena_printf(call_arena(call), "query.%.*s", (int)size, err->text),
                       "%s", err->text + size + strlen(": "));
}

static int search(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                  struct err *err)
{
    const Torg__V1__SearchRequest *request = (const Torg__V1__SearchRequest *)message;
    Torg__V1__SearchResponse *response = (Torg__V1__SearchResponse *)answer;
    const char *client;
    int rc = searcher_client(call, request->client, &client, err);

    rc = rc ? rc : check_deadline(request->deadline_ms, err);
    if (rc)
        return rc;
    rc = searcher_search(call, client, request, searcher_deadline_us(call, request->deadline_ms),
                         response, err);
    if (rc)
        name_fault(call, rc, err);
    if (!rc && response->is_partial)
        counter_add(metrics_counter("torg_searcher_partial_answers_total", NULL,
                                    "Searches answered without some of their shards."),
                    1);
    return rc;
}

static int explain(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                   struct err *err)
{
    int rc = searcher_explain(call, message, answer, err);

    if (rc)
        name_fault(call, rc, err);
    return rc;
}

/* ---- one shard ---- */

static int find_replica(const struct index_view *view, const Torg__V1__ShardRequest *request,
                        struct replica **replica, struct err *err)
{
    const struct index_client *client = view_find(view, request->client);
    const struct index_epoch *epoch = client ? client_find_epoch(client, request->epoch) : NULL;

    *replica = epoch && request->shard < epoch->shard_count ? epoch->shards[request->shard] : NULL;
    if (*replica)
        return 0;
    return err_set(err, ERR_NOT_FOUND, "this process has no shard %u of %s, epoch %jd",
                   request->shard, request->client, (intmax_t)request->epoch);
}

static int ask_replica(struct call *call, const Torg__V1__ShardRequest *request,
                       int64_t deadline_us, Torg__V1__ShardWords **words,
                       Torg__V1__ShardAnswer **found, struct err *err)
{
    const struct searcher *searcher = call_context(call);
    const struct index_view *view = follower_view(searcher->front.follower);
    struct reading reading;
    struct replica *replica;
    int rc = find_replica(view, request, &replica, err);

    reading_init(&reading, request->query, request->now, call_arena(call));
    if (!rc && words)
        rc = local_count_words(replica, request, &reading, deadline_us, call_arena(call), words,
                               err);
    else if (!rc)
        rc = local_search(replica, request, &reading, deadline_us, call_arena(call), found, err);
    reading_release(&reading);
    view_release(view);
    return rc;
}

/* words NULL: it is searched. */
static int ask_shard(struct call *call, const Torg__V1__ShardRequest *request,
                     Torg__V1__ShardWords **words, Torg__V1__ShardAnswer **found, struct err *err)
{
    Torg__V1__ShardRequest looking = *request;
    int64_t deadline_us = searcher_deadline_us(call, request->deadline_ms);
    const char *client;
    int rc = searcher_client(call, request->client, &client, err);

    rc = rc ? rc : check_deadline(request->deadline_ms, err);
    if (rc)
        return rc;
    looking.looks = true;
    rc = ask_replica(call, &looking, deadline_us, words, found, err);
    if (rc != ERR_TIMEOUT || request->looks || searcher_wait(call, deadline_us) != WAIT_HERE)
        return rc;
    return ask_replica(call, request, deadline_us, words, found, err);
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
    int64_t begun_us = worker_cpu_us();
    Torg__V1__ShardAnswer *found = NULL;
    int rc = ask_shard(call, (const Torg__V1__ShardRequest *)message, NULL, &found, err);

    if (!rc) {
        *(Torg__V1__ShardAnswer *)answer = *found;
        ((Torg__V1__ShardAnswer *)answer)->cpu_microseconds =
            (uint64_t)(worker_cpu_us() - begun_us);
    }
    return rc;
}

static const struct rpc_method methods[] = {
    {.name = "Search", .unary = search, .scope = "search", .flags = RPC_OF_CLIENT | RPC_COMPUTE},
    {.name = "Explain", .unary = explain, .scope = "search", .flags = RPC_OF_CLIENT | RPC_COMPUTE},
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
