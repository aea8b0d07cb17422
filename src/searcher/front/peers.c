/* SPDX-License-Identifier: Apache-2.0 */
/* peers.c - see peers.h. */
#include "searcher/front/peers.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/log_pace.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/task.h"
#include "codec/message.h"
#include "coord/bounds.h"
#include "searcher/bounds.h"
#include "searcher/front/announce.h"
#include "torg/v1/index_message.pb-c.h"

enum { FRESHNESS_SIZE_MAX = 4 << 20, WATCH_MS = 500 };

struct peer {
    struct peers *peers;       /* borrowed */
    _Atomic(const char *) url; /* of the peers' names */
    bool is_fixed;             /* by the settings, and not by an announcement */
    struct task task;
    pthread_mutex_t lock;
    bool is_named; /* under the lock, as what follows: it is one of them now */
    bool answers;
    struct arena *arena;             /* of its freshness; owned */
    const Torg__V1__Freshness *last; /* NULL: none yet */
};

enum { PEERS_MAGIC = OBJECT_MAGIC('p', 'e', 'e', 'r') };

struct peers {
    uint32_t magic;
    struct peer_caller caller; /* owned */
    struct peer *list[SEARCHER_PEER_COUNT_MAX];
    atomic_uint count; /* grows alone */
    atomic_uint turn;
    const struct clock *clock;
    /* Of who watches the announcements. */
    struct task task;
    struct coord *coord; /* NULL: there are none */
    const char *own;
    struct arena *names;
    uint64_t version;
    bool has_looked;
    struct log_pace pace;
};

/* ---- calls ---- */

int peer_call(struct peer *peer, const char *method, struct bytes request, int64_t timeout_ms,
              struct buf *answer, struct err *err)
{
    const struct peer_caller *caller = &peer->peers->caller;

    return caller->call(caller->arg, peer->url, method, request, timeout_ms, answer, err);
}

struct peer *peers_find(struct peers *peers, const char *url)
{
    for (uint32_t i = 0; peers && i < atomic_load(&peers->count); i++)
        if (strcmp(peers->list[i]->url, url) == 0)
            return peers->list[i];
    return NULL;
}

const char *peer_url(const struct peer *peer)
{
    return peer->url;
}

/* ---- freshness ---- */

static void keep_freshness(struct peer *peer, const char *url, struct arena *arena,
                           const Torg__V1__Freshness *freshness)
{
    struct arena *old;
    bool is_news;

    pthread_mutex_lock(&peer->lock);
    if (!peer->is_named || peer->url != url) { /* it has gone meanwhile */
        pthread_mutex_unlock(&peer->lock);
        arena_free(arena);
        return;
    }
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
    const char *url = peer->url;
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
        keep_freshness(peer, url, arena, (const Torg__V1__Freshness *)message);
    }
    buf_release(&packed);
    buf_release(&answer);
}

static bool is_named(struct peer *peer)
{
    bool is_named;

    pthread_mutex_lock(&peer->lock);
    is_named = peer->is_named;
    pthread_mutex_unlock(&peer->lock);
    return is_named;
}

static void poll_peer(struct task *task, void *arg)
{
    do {
        task_says(task, "asking another searcher what it has");
        if (is_named(arg))
            ask(arg);
    } while (task_pause(task, (int64_t)SEARCHER_PEER_POLL_MS * MS_US));
}

/* What it last said of the shard; NULL: nothing. */
static const Torg__V1__ShardFreshness *find_shard(const struct peer *peer, const char *client,
                                                  int64_t epoch, uint32_t shard)
{
    for (size_t i = 0; peer->answers && i < peer->last->n_shards; i++) {
        const Torg__V1__ShardFreshness *one = peer->last->shards[i];

        if (one->shard == shard && one->epoch == epoch && strcmp(one->client, client) == 0)
            return one;
    }
    return NULL;
}

/* old_max: 0 for those that are ready, else for those that are not and answer nevertheless. */
static uint32_t find_peers(struct peers *peers, const char *client, int64_t epoch, uint32_t shard,
                           uint32_t old_max, struct peer **found, uint32_t max)
{
    uint32_t turn = peers ? atomic_fetch_add(&peers->turn, 1) : 0;
    uint32_t all = peers ? atomic_load(&peers->count) : 0;
    uint32_t count = 0;

    for (uint32_t i = 0; i < all && count < max; i++) {
        struct peer *peer = peers->list[(turn + i) % all];
        const Torg__V1__ShardFreshness *one;

        pthread_mutex_lock(&peer->lock);
        one = find_shard(peer, client, epoch, shard);
        if (one && (old_max ? !one->is_ready && one->old_seconds && one->old_seconds <= old_max
                            : one->is_ready))
            found[count++] = peer;
        pthread_mutex_unlock(&peer->lock);
    }
    return count;
}

uint32_t peers_with_old(struct peers *peers, const Torg__V1__ShardRequest *request,
                        struct peer **found, uint32_t max)
{
    assert(request->old_max_seconds);
    return find_peers(peers, request->client, request->epoch, request->shard,
                      request->old_max_seconds, found, max);
}

uint32_t peers_with(struct peers *peers, const char *client, int64_t epoch, uint32_t shard,
                    struct peer **found, uint32_t max)
{
    return find_peers(peers, client, epoch, shard, 0, found, max);
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
    uint32_t all = atomic_load(&peers->count);
    uint32_t count = 0;
    uint32_t silent = 0;
    struct peer *others[SEARCHER_PEER_COUNT_MAX];

    object_check(peers, PEERS_MAGIC);
    for (uint32_t i = 0; i < all; i++) {
        struct peer *peer = peers->list[(turn + i) % all];

        if (!is_named(peer))
            continue;
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
    for (uint32_t i = 0; peers && i < atomic_load(&peers->count); i++) {
        struct peer *peer = peers->list[i];
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

/* ---- who they are ---- */

static void add_peer(struct peers *peers, const char *url, bool is_fixed)
{
    struct peer *peer = mem_zero(sizeof(*peer));
    const struct task_options task = {
        .name = "peer", .run = poll_peer, .arg = peer, .clock = peers->clock};
    uint32_t count = atomic_load(&peers->count);

    assert(count < SEARCHER_PEER_COUNT_MAX);
    peer->peers = peers;
    peer->url = arena_strdup(peers->names, url);
    peer->is_fixed = is_fixed;
    peer->is_named = true;
    pthread_mutex_init(&peer->lock, NULL);
    if (task_start(&peer->task, &task, NULL))
        abort(); /* as without memory */
    peers->list[count] = peer;
    atomic_store(&peers->count, count + 1);
}

/* The place of one that is gone. */
static struct peer *find_place(struct peers *peers)
{
    for (uint32_t i = 0; i < atomic_load(&peers->count); i++)
        if (!is_named(peers->list[i]))
            return peers->list[i];
    return NULL;
}

static void name_peer(struct peers *peers, const char *url)
{
    struct peer *peer = peers_find(peers, url);

    if (peer && is_named(peer))
        return;
    if (!peer)
        peer = find_place(peers);
    if (!peer && atomic_load(&peers->count) == SEARCHER_PEER_COUNT_MAX) {
        log_warn("another searcher is not asked: there are too many", LOG_TEXT("searcher", url),
                 LOG_INT("limit", SEARCHER_PEER_COUNT_MAX));
        return;
    }
    log_info("another searcher has announced itself", LOG_TEXT("searcher", url));
    if (!peer) {
        add_peer(peers, url, false);
        return;
    }
    pthread_mutex_lock(&peer->lock);
    if (strcmp(peer->url, url) != 0)
        peer->url = arena_strdup(peers->names, url);
    peer->is_named = true;
    peer->answers = false;
    pthread_mutex_unlock(&peer->lock);
}

static bool is_listed(const Torg__V1__SearcherList *list, const char *url)
{
    for (size_t i = 0; i < list->n_searchers; i++)
        if (strcmp(list->searchers[i]->address, url) == 0)
            return true;
    return false;
}

static void name_peers(struct peers *peers, const Torg__V1__SearcherList *list)
{
    for (uint32_t i = 0; i < atomic_load(&peers->count); i++) {
        struct peer *peer = peers->list[i];

        if (peer->is_fixed || !is_named(peer) || is_listed(list, peer->url))
            continue;
        log_info("another searcher has gone", LOG_TEXT("searcher", peer->url));
        pthread_mutex_lock(&peer->lock);
        peer->is_named = peer->answers = false;
        pthread_mutex_unlock(&peer->lock);
    }
    for (size_t i = 0; i < list->n_searchers; i++)
        if (!peers->own || strcmp(list->searchers[i]->address, peers->own) != 0)
            name_peer(peers, list->searchers[i]->address);
}

static int read_list(struct peers *peers, struct err *err)
{
    struct buf bytes = BUF_INIT(COORD_VALUE_SIZE_MAX);
    struct arena *arena = arena_new();
    ProtobufCMessage *message = NULL;
    int rc = coord_get(peers->coord, ANNOUNCE_KEY, &bytes, &peers->version, err);

    if (rc == ERR_NOT_FOUND)
        rc = 0; /* nobody ever has */
    if (!rc)
        rc = message_decode(buf_bytes(&bytes), &torg__v1__searcher_list__descriptor, arena,
                            &message, err);
    if (!rc)
        name_peers(peers, (const Torg__V1__SearcherList *)message);
    peers->has_looked |= !rc;
    arena_free(arena);
    buf_release(&bytes);
    return rc;
}

static void watch(struct task *task, void *arg)
{
    struct peers *peers = arg;

    object_check(peers, PEERS_MAGIC);
    while (!task_is_stopping(task)) {
        struct err err = {0};
        int rc = 0;

        task_says(task, "watching which searchers there are");
        if (peers->has_looked)
            rc = coord_watch(peers->coord, ANNOUNCE_KEY, peers->version, WATCH_MS, &err);
        if (!rc)
            rc = read_list(peers, &err);
        if (rc && rc != ERR_TIMEOUT) {
            if (log_pace_is_due(&peers->pace, &err))
                log_warn("the list of searchers cannot be read; who is known stays",
                         LOG_TEXT("reason", err.text));
            (void)task_pause(task, ANNOUNCE_RETRY_MS * (int64_t)MS_US);
        }
    }
}

/* ---- life ---- */

int peers_open(const struct peers_options *options, struct peers **out, struct err *err)
{
    struct peers *peers;
    int rc = 0;

    *out = NULL;
    assert(options->count <= SEARCHER_PEER_COUNT_MAX);
    peers = mem_zero(sizeof(*peers));
    object_begin(peers, PEERS_MAGIC);
    peers->caller = options->caller;
    peers->clock = clock_or_system(options->clock);
    peers->names = arena_new();
    peers->coord = options->coord;
    peers->own = options->own ? arena_strdup(peers->names, options->own) : NULL;
    for (uint32_t i = 0; i < options->count; i++)
        add_peer(peers, options->urls[i], true);
    if (peers->coord) {
        const struct task_options task = {
            .name = "searchers", .run = watch, .arg = peers, .clock = peers->clock};

        rc = task_start(&peers->task, &task, err);
    }
    if (rc) {
        peers->coord = NULL;
        peers_close(peers);
        return rc;
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
    if (peers->coord)
        task_stop(&peers->task);
    for (uint32_t i = 0; i < peers->count; i++)
        task_ask_stop(&peers->list[i]->task);
    for (uint32_t i = 0; i < peers->count; i++) {
        task_stop(&peers->list[i]->task);
        pthread_mutex_destroy(&peers->list[i]->lock);
        arena_free(peers->list[i]->arena);
        free(peers->list[i]);
    }
    peers->caller.free(peers->caller.arg);
    arena_free(peers->names);
    object_end(peers, PEERS_MAGIC);
    free(peers);
}
