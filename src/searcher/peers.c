/* SPDX-License-Identifier: Apache-2.0 */
/* peers.c - see peers.h. */
#include "searcher/peers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/task.h"
#include "codec/json.h"
#include "codec/message.h"
#include "net/client/http_client.h"
#include "net/status.h"
#include "searcher/bounds.h"
#include "torg/v1/error.pb-c.h"

enum { HTTP_OK = 200, FRESHNESS_SIZE_MAX = 4 << 20 };

struct peer {
    struct peers *peers; /* borrowed */
    char *url;           /* owned */
    struct task task;
    pthread_mutex_t lock;
    bool answers;                    /* under the lock, as what follows */
    struct arena *arena;             /* of its freshness; owned */
    const Torg__V1__Freshness *last; /* NULL: none yet */
};

enum { PEERS_MAGIC = OBJECT_MAGIC('p', 'e', 'e', 'r') };

struct peers {
    uint32_t magic;
    struct http_client *client;
    char *authorization; /* owned; NULL: none */
    struct peer *list;
    uint32_t count;
    atomic_uint turn;
    const struct clock *clock;
};

/* ---- calls ---- */

static int code_of(const char *name)
{
    for (int code = ERR_INVALID; code >= ERR_STALE; code--)
        if (strcmp(status_json_name(status_of_err(code)), name) == 0)
            return code;
    return ERR_INTERNAL;
}

static int take_error(const struct peer *peer, struct bytes body, int status, struct arena *arena,
                      struct err *err)
{
    ProtobufCMessage *message;
    const Torg__V1__Error *error;

    if (json_decode(body, &torg__v1__error__descriptor, arena, &message, NULL, NULL))
        return err_set(err, ERR_UNAVAILABLE, "%s answered with HTTP status %d", peer->url, status);
    error = (const Torg__V1__Error *)message;
    return err_set(err, code_of(error->code), "%s", error->message);
}

int peer_call(struct peer *peer, const char *method, struct bytes request, int64_t timeout_ms,
              struct buf *answer, struct err *err)
{
    struct arena *arena = arena_new();
    const struct http_client_header headers[] = {
        {"content-type", "application/proto"},
        {"authorization", peer->peers->authorization},
    };
    const struct http_client_request sent = {
        .method = "POST",
        .url = arena_printf(arena, "%s/torg.v1.SearcherService/%s", peer->url, method),
        .headers = headers,
        .header_count = peer->peers->authorization ? 2 : 1,
        .body = request,
        .timeout_ms = timeout_ms > 1 ? timeout_ms : 1,
        .response_size_max = answer->limit,
    };
    struct http_client_response response;
    int rc = http_client_send(peer->peers->client, &sent, arena, &response, err);

    if (!rc && response.status != HTTP_OK)
        rc = take_error(peer, response.body, response.status, arena, err);
    else if (!rc)
        buf_put(answer, response.body);
    arena_free(arena);
    return rc;
}

struct peer *peers_find(struct peers *peers, const char *url)
{
    for (uint32_t i = 0; peers && i < peers->count; i++)
        if (strcmp(peers->list[i].url, url) == 0)
            return &peers->list[i];
    return NULL;
}

const char *peer_url(const struct peer *peer)
{
    return peer->url;
}

/* ---- freshness ---- */

static void keep_freshness(struct peer *peer, struct arena *arena,
                           const Torg__V1__Freshness *freshness)
{
    struct arena *old;
    bool is_news;

    pthread_mutex_lock(&peer->lock);
    is_news = !peer->answers;
    peer->answers = true;
    old = peer->arena;
    peer->arena = arena;
    peer->last = freshness;
    pthread_mutex_unlock(&peer->lock);
    arena_free(old);
    if (is_news)
        log_info("another searcher answers", LOG_TEXT("searcher", peer->url));
}

static void note_silence(struct peer *peer, const char *reason)
{
    bool answered;

    pthread_mutex_lock(&peer->lock);
    answered = peer->answers;
    peer->answers = false;
    pthread_mutex_unlock(&peer->lock);
    if (answered)
        log_warn("another searcher does not answer", LOG_TEXT("searcher", peer->url),
                 LOG_TEXT("reason", reason));
}

static void ask(struct peer *peer)
{
    Torg__V1__GetFreshnessRequest request = TORG__V1__GET_FRESHNESS_REQUEST__INIT;
    struct buf packed = BUF_INIT(256);
    struct buf answer = BUF_INIT(FRESHNESS_SIZE_MAX);
    struct arena *arena = arena_new();
    ProtobufCMessage *message = NULL;
    struct err err = {0};
    int rc;

    request.is_passed_on = true;
    message_encode(&request.base, &packed);
    rc = peer_call(peer, "GetFreshness", buf_bytes(&packed), SEARCHER_PEER_POLL_MS, &answer, &err);
    if (!rc)
        rc = message_decode(buf_bytes(&answer), &torg__v1__freshness__descriptor, arena, &message,
                            &err);
    if (rc) {
        note_silence(peer, err.text);
        arena_free(arena);
    } else {
        keep_freshness(peer, arena, (const Torg__V1__Freshness *)message);
    }
    buf_release(&packed);
    buf_release(&answer);
}

static void poll_peer(struct task *task, void *arg)
{
    do {
        task_says(task, "asking another searcher what it has");
        ask(arg);
    } while (task_pause(task, (int64_t)SEARCHER_PEER_POLL_MS * MS_US));
}

static bool has_ready(const struct peer *peer, const char *client, int64_t epoch, uint32_t shard)
{
    for (size_t i = 0; peer->answers && i < peer->last->n_shards; i++) {
        const Torg__V1__ShardFreshness *one = peer->last->shards[i];

        if (one->is_ready && one->shard == shard && one->epoch == epoch &&
            strcmp(one->client, client) == 0)
            return true;
    }
    return false;
}

uint32_t peers_with(struct peers *peers, const char *client, int64_t epoch, uint32_t shard,
                    struct peer **found, uint32_t max)
{
    uint32_t turn = peers ? atomic_fetch_add(&peers->turn, 1) : 0;
    uint32_t count = 0;

    for (uint32_t i = 0; peers && i < peers->count && count < max; i++) {
        struct peer *peer = &peers->list[(turn + i) % peers->count];

        pthread_mutex_lock(&peer->lock);
        if (has_ready(peer, client, epoch, shard))
            found[count++] = peer;
        pthread_mutex_unlock(&peer->lock);
    }
    return count;
}

static bool is_answering(struct peer *peer)
{
    bool answers;

    pthread_mutex_lock(&peer->lock);
    answers = peer->answers;
    pthread_mutex_unlock(&peer->lock);
    return answers;
}

uint32_t peers_all(struct peers *peers, struct peer **found, uint32_t max)
{
    uint32_t turn = atomic_fetch_add(&peers->turn, 1);
    uint32_t count = 0;
    uint32_t silent = 0;
    struct peer *others[SEARCHER_PEER_COUNT_MAX];

    object_check(peers, PEERS_MAGIC);
    for (uint32_t i = 0; i < peers->count; i++) {
        struct peer *peer = &peers->list[(turn + i) % peers->count];

        if (!is_answering(peer))
            others[silent++] = peer;
        else if (count < max)
            found[count++] = peer;
    }
    for (uint32_t i = 0; i < silent && count < max; i++)
        found[count++] = others[i];
    return count;
}

static Torg__V1__ShardFreshness *copy_shard(const struct peer *peer,
                                            const Torg__V1__ShardFreshness *from,
                                            struct arena *arena)
{
    struct buf wire = BUF_INIT(FRESHNESS_SIZE_MAX);
    ProtobufCMessage *message = NULL;
    Torg__V1__ShardFreshness *copy;

    message_encode(&from->base, &wire);
    if (buf_failed(&wire) ||
        message_decode(buf_bytes(&wire), from->base.descriptor, arena, &message, NULL))
        message = message_new(from->base.descriptor, arena);
    buf_release(&wire);
    copy = (Torg__V1__ShardFreshness *)message;
    copy->replica = arena_strdup(arena, peer->url);
    return copy;
}

void peers_freshness(struct peers *peers, const char *client, struct arena *arena,
                     Torg__V1__ShardFreshness ***shards, size_t *count)
{
    for (uint32_t i = 0; peers && i < peers->count; i++) {
        struct peer *peer = &peers->list[i];
        Torg__V1__ShardFreshness **all;

        pthread_mutex_lock(&peer->lock);
        all = arena_array(arena, *count + (peer->last ? peer->last->n_shards : 0) + 1,
                          sizeof(all[0]));
        if (*count)
            memcpy(all, *shards, *count * sizeof(all[0]));
        *shards = all;
        for (size_t k = 0; peer->answers && k < peer->last->n_shards; k++)
            if (strcmp(peer->last->shards[k]->client, client) == 0)
                all[(*count)++] = copy_shard(peer, peer->last->shards[k], arena);
        pthread_mutex_unlock(&peer->lock);
    }
}

/* ---- life ---- */

int peers_open(const struct peers_options *options, struct peers **out, struct err *err)
{
    const struct http_client_options client = {.ca_file = options->ca_file};
    struct peers *peers;

    *out = NULL;
    if (options->count > SEARCHER_PEER_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "%u other searchers, at most %d are asked", options->count,
                       SEARCHER_PEER_COUNT_MAX);
    peers = mem_zero(sizeof(*peers));
    object_begin(peers, PEERS_MAGIC);
    peers->client = http_client_new(&client);
    if (options->key) {
        size_t size = strlen(options->key) + sizeof("Bearer ");

        peers->authorization = mem_alloc(size);
        snprintf(peers->authorization, size, "Bearer %s", options->key);
    }
    peers->list = mem_array(options->count + 1, sizeof(*peers->list));
    peers->count = options->count;
    peers->clock = clock_or_system(options->clock);
    for (uint32_t i = 0; i < peers->count; i++) {
        struct peer *peer = &peers->list[i];
        const struct task_options task = {
            .name = "peer", .run = poll_peer, .arg = peer, .clock = peers->clock};

        peer->peers = peers;
        peer->url = mem_strdup(options->urls[i]);
        pthread_mutex_init(&peer->lock, NULL);
        if (task_start(&peer->task, &task, NULL))
            abort(); /* as without memory */
    }
    *out = peers;
    return 0;
}

const struct clock *peers_clock(const struct peers *peers)
{
    object_check(peers, PEERS_MAGIC);
    return peers->clock;
}

void peers_close(struct peers *peers)
{
    if (!peers)
        return;
    object_check(peers, PEERS_MAGIC);
    for (uint32_t i = 0; i < peers->count; i++)
        task_ask_stop(&peers->list[i].task);
    for (uint32_t i = 0; i < peers->count; i++) {
        task_stop(&peers->list[i].task);
        pthread_mutex_destroy(&peers->list[i].lock);
        arena_free(peers->list[i].arena);
        free(peers->list[i].url);
    }
    http_client_free(peers->client);
    free(peers->authorization);
    free(peers->list);
    object_end(peers, PEERS_MAGIC);
    free(peers);
}
