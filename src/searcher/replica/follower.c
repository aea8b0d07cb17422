/* SPDX-License-Identifier: Apache-2.0 */
/* follower.c - see follower.h. */
#include "searcher/replica/follower.h"

#include <assert.h>
#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/condition.h"
#include "base/file.h"
#include "base/log.h"
#include "base/log_pace.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/task.h"
#include "base/text.h"
#include "codec/message.h"
#include "searcher/bounds.h"

enum { WATCH_MS = 500, RETRY_MS = 1000, PATH_SIZE = 4096 };

struct held_view {
    struct index_view view; /* first: callers know this part alone */
    atomic_uint refs;
    struct arena *arena; /* owned; everything of it is there */
};

enum { FOLLOWER_MAGIC = OBJECT_MAGIC('f', 'o', 'l', 'l') };

struct follower {
    uint32_t magic;
    struct follower_options options; /* dir and shards are owned */
    struct waiters waiters;
    struct old_states old;
    struct gauge *left, *skipped; /* of the map in use */
    struct task watcher, keeper;
    pthread_mutex_t lock;
    struct condition changed; /* callers wait for an index that is to come */
    struct log_pace pace;     /* of the watcher */
    bool has_map;
    bool has_looked;        /* for the map, be it that there is none */
    uint64_t version;       /* of the map in use; the watcher's, once it runs */
    struct held_view *view; /* counted; never NULL */
};

/* ---- views ---- */

static struct held_view *view_new(void)
{
    struct arena *arena = arena_new();
    struct held_view *view = arena_zero(arena, sizeof(*view));

    view->arena = arena;
    atomic_store(&view->refs, 1);
    return view;
}

void view_release(const struct index_view *view)
{
    struct held_view *held = (struct held_view *)view;

    if (atomic_fetch_sub(&held->refs, 1) != 1)
        return;
    for (uint32_t i = 0; i < view->client_count; i++) {
        const struct index_client *client = &view->clients[i];

        for (uint32_t k = 0; k < client->epoch_count; k++)
            for (uint32_t s = 0; s < client->epochs[k].shard_count; s++)
                replica_unref(client->epochs[k].shards[s]);
    }
    arena_free(held->arena);
}

const struct index_view *follower_view(struct follower *follower)
{
    struct held_view *view;

    object_check(follower, FOLLOWER_MAGIC);
    pthread_mutex_lock(&follower->lock);
    view = follower->view;
    atomic_fetch_add(&view->refs, 1);
    pthread_mutex_unlock(&follower->lock);
    return &view->view;
}

int follower_view_with(struct follower *follower, const char *client, int64_t deadline_us,
                       const struct index_view **view, struct err *err)
{
    bool is_waiting = false;
    bool in_time = true;
    int rc = 0;

    object_check(follower, FOLLOWER_MAGIC);
    pthread_mutex_lock(&follower->lock);
    if (!view_find(&follower->view->view, client) &&
        clock_mono_us(follower->options.clock) < deadline_us) {
        rc = waiters_enter(&follower->waiters, err);
        is_waiting = !rc;
    }
    while (is_waiting && !view_find(&follower->view->view, client) && in_time &&
           !task_is_stopping(&follower->watcher))
        in_time = condition_wait_until(&follower->changed, &follower->lock, deadline_us);
    *view = &follower->view->view;
    atomic_fetch_add(&follower->view->refs, 1);
    pthread_mutex_unlock(&follower->lock);
    if (is_waiting)
        waiters_leave(&follower->waiters);
    return rc;
}

bool follower_has_map(struct follower *follower)
{
    bool has_map;

    object_check(follower, FOLLOWER_MAGIC);
    pthread_mutex_lock(&follower->lock);
    has_map = follower->has_map;
    pthread_mutex_unlock(&follower->lock);
    return has_map;
}

bool follower_has_looked(struct follower *follower)
{
    bool has_looked;

    object_check(follower, FOLLOWER_MAGIC);
    pthread_mutex_lock(&follower->lock);
    has_looked = follower->has_looked;
    pthread_mutex_unlock(&follower->lock);
    return has_looked;
}

const struct index_client *view_find(const struct index_view *view, const char *client)
{
    for (uint32_t i = 0; i < view->client_count; i++)
        if (strcmp(view->clients[i].name, client) == 0)
            return &view->clients[i];
    return NULL;
}

const struct index_epoch *client_find_epoch(const struct index_client *client, int64_t epoch)
{
    for (uint32_t i = 0; i < client->epoch_count; i++)
        if (client->epochs[i].epoch == epoch)
            return &client->epochs[i];
    return NULL;
}

bool client_feeds(const struct index_client *client, const struct index_epoch *epoch,
                  uint32_t queue_shard, uint32_t shard)
{
    return shard / (epoch->shard_count / client->shard_count) == queue_shard;
}

const struct index_epoch *client_serving(const struct index_client *client)
{
    for (uint32_t i = 0; i < client->epoch_count; i++)
        if (client->epochs[i].state == TORG__V1__INDEX_MAP__EPOCH__STATE__SERVING)
            return &client->epochs[i];
    return NULL;
}

/* ---- from the map to a view ---- */

static uint32_t replica_count_max(const struct follower *follower)
{
    uint32_t max = follower->options.replica_count_max;

    return max ? max : SEARCHER_REPLICA_COUNT_MAX;
}

static void tell_trouble(struct held_view *view, const char *trouble)
{
    if (!view->view.trouble)
        view->view.trouble = trouble;
}

static bool is_ours(const struct follower *follower, uint32_t shard)
{
    if (!follower->options.shards)
        return true;
    for (uint32_t i = 0; i < follower->options.shard_count; i++)
        if (follower->options.shards[i] == shard)
            return true;
    return false;
}

static struct replica *find_replica(const struct index_view *view, const char *name, int64_t epoch,
                                    uint32_t shard, uint32_t shard_count)
{
    const struct index_client *client = view_find(view, name);
    const struct index_epoch *there = client ? client_find_epoch(client, epoch) : NULL;

    if (!there || there->shard_count != shard_count)
        return NULL;
    return there->shards[shard];
}

static struct replica *start_replica(struct follower *follower, const char *client,
                                     const struct index_epoch *epoch, uint32_t shard)
{
    char dir[PATH_SIZE];
    const struct replica_options options = {
        .topics = follower->options.topics,
        .clock = follower->options.clock,
        .dir = follower->options.dir ? dir : NULL,
        .client = client,
        .epoch = epoch->epoch,
        .shard = shard,
        .numbers = {epoch->numbers[0], epoch->shard_count, epoch->numbers[2]},
        .waiters = &follower->waiters,
        .old = &follower->old,
        .lender = follower->options.lender};

    snprintf(dir, sizeof(dir), "%s/%s/%jd/%u", follower->options.dir, client,
             (intmax_t)epoch->epoch, shard);
    return replica_new(&options);
}

static bool is_client_name(const char *name)
{
    size_t size = strlen(name);

    return size >= 1 && size <= SEARCHER_CLIENT_SIZE_MAX &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == size;
}

/* A shard of the queue feeds as many of an epoch as any other. */
static bool are_shards_right(const Torg__V1__IndexMap__Client *client)
{
    bool are_right = client->shard_count >= 1 && client->shard_count <= SEARCHER_SHARD_COUNT_MAX;

    for (size_t i = 0; i < client->n_epochs && are_right; i++)
        are_right = client->epochs[i]->shard_count <= SEARCHER_SHARD_COUNT_MAX &&
                    client->epochs[i]->shard_count % client->shard_count == 0;
    return are_right;
}

/* Whether the map gives an epoch that is followed other shards than it had: they lie in the same
 * directories. */
static bool has_other_shards(const struct follower *follower,
                             const Torg__V1__IndexMap__Client *client)
{
    const struct index_client *there = view_find(&follower->view->view, client->name);

    for (size_t i = 0; there && i < client->n_epochs; i++) {
        const Torg__V1__IndexMap__Epoch *message = client->epochs[i];
        const struct index_epoch *epoch = client_find_epoch(there, message->epoch);

        if (epoch && epoch->shard_count !=
                         (message->shard_count ? message->shard_count : client->shard_count))
            return true;
    }
    return false;
}

static void read_epoch(struct held_view *view, const Torg__V1__IndexMap__Client *client,
                       const Torg__V1__IndexMap__Epoch *message, struct index_epoch *epoch)
{
    *epoch = (struct index_epoch){.epoch = message->epoch,
                                  .state = message->state,
                                  .space = message->space ? message->space : client->id,
                                  .shard_count = message->shard_count ? message->shard_count
                                                                      : client->shard_count};
    for (size_t i = 0; i < message->n_numbers && i < ARRAY_COUNT(epoch->numbers); i++)
        epoch->numbers[i] = message->numbers[i];
    epoch->shards = arena_array(view->arena, epoch->shard_count + 1, sizeof(struct replica *));
}

/* Its shards find their places later, as those of the next. */
static struct index_client read_client(struct held_view *view,
                                       const Torg__V1__IndexMap__Client *message)
{
    struct index_epoch *epochs = arena_array(view->arena, message->n_epochs + 1, sizeof(*epochs));

    for (size_t i = 0; i < message->n_epochs; i++)
        read_epoch(view, message, message->epochs[i], &epochs[i]);
    return (struct index_client){.name = arena_strdup(view->arena, message->name),
                                 .id = message->id,
                                 .shard_count = message->shard_count,
                                 .epochs = epochs,
                                 .epoch_count = (uint32_t)message->n_epochs};
}

/* As it was: what the map says of it cannot be used, which is no reason to end what it has. */
static struct index_client keep_client(struct held_view *view, const struct index_client *there)
{
    struct index_epoch *epochs = arena_array(view->arena, there->epoch_count + 1, sizeof(*epochs));
    struct index_client client = *there;

    for (uint32_t i = 0; i < there->epoch_count; i++) {
        epochs[i] = there->epochs[i];
        epochs[i].shards =
            arena_array(view->arena, epochs[i].shard_count + 1, sizeof(struct replica *));
    }
    client.name = arena_strdup(view->arena, there->name);
    client.epochs = epochs;
    return client;
}

/* Places in this process are given in turns: what runs keeps its own whatever else the map has, so
 * that a new epoch of one client never ends the index of another. */
enum turn { TURN_RUNNING, TURN_SERVING, TURN_OTHERS, TURN_COUNT };

static void place_shard(struct follower *follower, struct held_view *view,
                        const struct index_client *client, const struct index_epoch *epoch,
                        uint32_t shard, enum turn turn)
{
    struct replica *there =
        find_replica(&follower->view->view, client->name, epoch->epoch, shard, epoch->shard_count);
    bool has_room = view->view.replica_count < replica_count_max(follower);

    if (epoch->shards[shard] || !is_ours(follower, shard))
        return;
    if (turn == TURN_RUNNING && there) {
        assert(has_room); /* no more than there were */
        epoch->shards[shard] = replica_ref(there);
    } else if (has_room && (turn == TURN_OTHERS ||
                            (turn == TURN_SERVING &&
                             epoch->state == TORG__V1__INDEX_MAP__EPOCH__STATE__SERVING))) {
        epoch->shards[shard] = start_replica(follower, client->name, epoch, shard);
    } else if (turn == TURN_OTHERS && !view->view.left_count++) {
        tell_trouble(view, arena_printf(view->arena,
                                        "this process follows %u shards and no more (shard %u of "
                                        "%s, epoch %jd, is the first that it leaves out): list "
                                        "those that it is to follow in searcher.shards",
                                        replica_count_max(follower), shard, client->name,
                                        (intmax_t)epoch->epoch));
    }
    view->view.replica_count += epoch->shards[shard] != NULL;
}

static void place_shards(struct follower *follower, struct held_view *view, enum turn turn)
{
    for (uint32_t i = 0; i < view->view.client_count; i++) {
        const struct index_client *client = &view->view.clients[i];

        for (uint32_t k = 0; k < client->epoch_count; k++)
            for (uint32_t s = 0; s < client->epochs[k].shard_count; s++)
                place_shard(follower, view, client, &client->epochs[k], s, turn);
    }
}

static struct held_view *make_view(struct follower *follower, const Torg__V1__IndexMap *map)
{
    struct held_view *view = view_new();
    struct index_client *clients = arena_array(view->arena, map->n_clients + 1, sizeof(*clients));
    uint32_t count = 0;

    for (size_t i = 0; i < map->n_clients; i++) {
        const Torg__V1__IndexMap__Client *message = map->clients[i];
        const struct index_client *there = view_find(&follower->view->view, message->name);

        if (is_client_name(message->name) && are_shards_right(message) &&
            !has_other_shards(follower, message)) {
            clients[count++] = read_client(view, message);
            continue;
        }
        view->view.skipped_count++;
        tell_trouble(view, arena_printf(view->arena,
                                        "what the index map says of the client \"%.40s\" cannot be "
                                        "used (%u shards): %s",
                                        message->name, message->shard_count,
                                        there ? "it stays as it was" : "it is left out"));
        if (there)
            clients[count++] = keep_client(view, there);
    }
    view->view.clients = clients;
    view->view.client_count = count;
    for (enum turn turn = TURN_RUNNING; turn < TURN_COUNT; turn++)
        place_shards(follower, view, turn);
    return view;
}

/* Replicas of `old` that the new view does not have end, and their directories go: the map, which
 * was read whole, has no such client or epoch any more. What finds no place, or cannot be read, is
 * in the view as it was (make_view). */
static void stop_others(const struct index_view *old, const struct index_view *now)
{
    for (uint32_t i = 0; i < old->client_count; i++) {
        const struct index_client *client = &old->clients[i];

        for (uint32_t k = 0; k < client->epoch_count; k++)
            for (uint32_t s = 0; s < client->epochs[k].shard_count; s++) {
                struct replica *replica = client->epochs[k].shards[s];

                if (replica && find_replica(now, client->name, client->epochs[k].epoch, s,
                                            client->epochs[k].shard_count) != replica) {
                    log_info("an index is retired", LOG_TEXT("client", client->name),
                             LOG_INT("epoch", client->epochs[k].epoch), LOG_INT("shard", s));
                    replica_stop(replica, true);
                }
            }
    }
}

/* Directories of epochs that a client does not have any more: a kill may have left them. */
static void remove_leftovers(const struct follower *follower, const struct index_client *client)
{
    char path[PATH_SIZE];
    DIR *entries;
    const struct dirent *entry;
    int64_t epoch;

    if (!follower->options.dir)
        return;
    snprintf(path, sizeof(path), "%s/%s", follower->options.dir, client->name);
    entries = opendir(path);
    for (entry = entries ? readdir(entries) : NULL; entry; entry = readdir(entries)) {
        if (!text_to_i64(bytes_of(entry->d_name), &epoch) || client_find_epoch(client, epoch))
            continue;
        snprintf(path, sizeof(path), "%s/%s/%s", follower->options.dir, client->name,
                 entry->d_name);
        if (!dir_remove(path, NULL))
            log_info("what a retired index left is removed", LOG_TEXT("dir", path));
    }
    if (entries)
        closedir(entries);
}

/* What of the map is not followed: logged when it is something else than before. */
static void tell_what_is_left(struct follower *follower, const struct index_view *old,
                              const struct index_view *now)
{
    gauge_set(follower->left, now->left_count);
    gauge_set(follower->skipped, now->skipped_count);
    if (now->trouble && (!old->trouble || strcmp(old->trouble, now->trouble) != 0))
        log_error("not all of the index map is followed", LOG_TEXT("reason", now->trouble),
                  LOG_INT("shards", now->left_count), LOG_INT("clients", now->skipped_count));
}

static void use_map(struct follower *follower, const Torg__V1__IndexMap *map)
{
    struct held_view *view = make_view(follower, map);
    struct held_view *old = follower->view; /* changed by this thread alone */
    bool is_first;

    pthread_mutex_lock(&follower->lock);
    is_first = !follower->has_map;
    follower->view = view;
    follower->has_map = true;
    condition_broadcast(&follower->changed);
    pthread_mutex_unlock(&follower->lock);
    tell_what_is_left(follower, &old->view, &view->view);
    stop_others(&old->view, &view->view);
    view_release(&old->view);
    for (uint32_t i = 0; i < view->view.client_count && is_first; i++)
        remove_leftovers(follower, &view->view.clients[i]);
}

static int read_map(struct follower *follower, struct err *err)
{
    struct buf bytes = BUF_INIT(SEARCHER_MAP_SIZE_MAX);
    struct arena *arena = arena_new();
    ProtobufCMessage *message = NULL;
    uint64_t version = 0;
    int rc = coord_get(follower->options.coord, SEARCHER_MAP_KEY, &bytes, &version, err);

    if (rc == ERR_NOT_FOUND) /* no client yet */
        rc = 0;
    else if (!rc)
        rc = message_decode(buf_bytes(&bytes), &torg__v1__index_map__descriptor, arena, &message,
                            err);
    if (!rc && message)
        use_map(follower, (const Torg__V1__IndexMap *)message);
    if (!rc) {
        follower->version = version; /* of what is used: the next watch is for more than that */
        pthread_mutex_lock(&follower->lock);
        follower->has_looked = true;
        pthread_mutex_unlock(&follower->lock);
    } else if (log_pace_is_due(&follower->pace, err)) {
        log_warn("the index map cannot be read; what is known stays",
                 LOG_TEXT("reason", err->text));
    }
    arena_free(arena);
    buf_release(&bytes);
    return rc;
}

/* ---- threads ---- */

static void watch(struct task *task, void *arg)
{
    struct follower *follower = arg;

    object_check(follower, FOLLOWER_MAGIC);
    while (!task_is_stopping(task)) {
        struct err err = {0};
        int rc;

        task_says(task, "watching the index map");
        rc = follower_has_looked(follower) ? coord_watch(follower->options.coord, SEARCHER_MAP_KEY,
                                                         follower->version, WATCH_MS, &err)
                                           : 0;

        if (!rc)
            rc = read_map(follower, &err);
        else if (rc != ERR_TIMEOUT && log_pace_is_due(&follower->pace, &err))
            log_warn("the index map cannot be watched; what is known stays",
                     LOG_TEXT("reason", err.text));
        if (rc && rc != ERR_TIMEOUT)
            (void)task_pause(task, RETRY_MS * MS_US);
    }
}

/* is_all: not only those that want one. */
static void checkpoint_all(struct follower *follower, bool is_all)
{
    const struct index_view *view = follower_view(follower);

    for (uint32_t i = 0; i < view->client_count; i++)
        for (uint32_t k = 0; k < view->clients[i].epoch_count; k++)
            for (uint32_t s = 0; s < view->clients[i].epochs[k].shard_count; s++) {
                struct replica *replica = view->clients[i].epochs[k].shards[s];
                struct err err;

                task_says(&follower->keeper, "writing checkpoints");
                if (!replica || task_is_stopping(&follower->keeper))
                    continue;
                if ((is_all || replica_wants_checkpoint(replica)) &&
                    replica_checkpoint(replica, &err))
                    log_warn("a checkpoint failed; it is tried again later",
                             LOG_TEXT("client", view->clients[i].name), LOG_INT("shard", s),
                             LOG_TEXT("reason", err.text));
                replica_keep_tail(replica);
            }
    view_release(view);
}

/* The shard itself writes a checkpoint after many changes; this is for those that change little,
 * and after a pour, so that a topic's retention or its trimming does not overtake them. */
static void keep(struct task *task, void *arg)
{
    struct follower *follower = arg;
    const struct clock *clock = follower->options.clock;
    int64_t period_us = follower->options.checkpoint_us;
    int64_t step_us = (int64_t)SEARCHER_POURED_MS * MS_US;
    int64_t next_us;

    object_check(follower, FOLLOWER_MAGIC);
    period_us = period_us ? period_us : (int64_t)SEARCHER_CHECKPOINT_MS * MS_US;
    next_us = clock_after_us(clock, period_us);
    while (task_pause(task, step_us < period_us ? step_us : period_us)) {
        bool is_all = clock_mono_us(clock) >= next_us;

        if (is_all)
            next_us = clock_after_us(clock, period_us);
        if (follower->options.dir)
            checkpoint_all(follower, is_all);
    }
}

/* ---- life ---- */

int follower_start(const struct follower_options *options, struct follower **out, struct err *err)
{
    struct follower *follower = mem_zero(sizeof(*follower));
    const struct task_options watcher = {
        .name = "index-map", .run = watch, .arg = follower, .clock = options->clock};
    const struct task_options keeper = {
        .name = "index-saver", .run = keep, .arg = follower, .clock = options->clock};
    uint32_t *shards = NULL;
    struct err later;

    object_begin(follower, FOLLOWER_MAGIC);
    (void)err;
    follower->options = *options;
    follower->options.dir = options->dir ? mem_strdup(options->dir) : NULL;
    if (options->shards) {
        shards = mem_array(options->shard_count + 1, sizeof(*shards));
        memcpy(shards, options->shards, options->shard_count * sizeof(*shards));
    }
    follower->options.shards = shards;
    pthread_mutex_init(&follower->lock, NULL);
    condition_init(&follower->changed, options->clock);
    follower->view = view_new();
    waiters_init(&follower->waiters);
    atomic_init(&follower->old.count, 0);
    follower->old.now = metrics_gauge("torg_searcher_old_states", NULL,
                                      "Shards that hold an old state beside the one that is to "
                                      "replace it.");
    follower->left = metrics_gauge("torg_searcher_shards_left_out", NULL,
                                   "Shards of the index map that this process should follow and "
                                   "has no room for.");
    follower->skipped = metrics_gauge("torg_searcher_map_clients_skipped", NULL,
                                      "Clients of the index map whose entry cannot be used.");
    (void)read_map(follower, &later); /* before the first search; the watcher tries again */
    if (task_start(&follower->watcher, &watcher, NULL) ||
        task_start(&follower->keeper, &keeper, NULL))
        abort(); /* as without memory */
    *out = follower;
    return 0;
}

static void stop_all(const struct index_view *view)
{
    for (uint32_t i = 0; i < view->client_count; i++)
        for (uint32_t k = 0; k < view->clients[i].epoch_count; k++)
            for (uint32_t s = 0; s < view->clients[i].epochs[k].shard_count; s++)
                if (view->clients[i].epochs[k].shards[s])
                    replica_stop(view->clients[i].epochs[k].shards[s], false);
}

void follower_stop(struct follower *follower)
{
    if (!follower)
        return;
    object_check(follower, FOLLOWER_MAGIC);
    pthread_mutex_lock(&follower->lock);
    task_ask_stop(&follower->watcher);
    task_ask_stop(&follower->keeper);
    condition_broadcast(&follower->changed);
    pthread_mutex_unlock(&follower->lock);
    task_stop(&follower->watcher);
    task_stop(&follower->keeper);
    stop_all(&follower->view->view); /* all at once, then each is waited for */
    view_release(&follower->view->view);
    condition_release(&follower->changed);
    pthread_mutex_destroy(&follower->lock);
    free((char *)follower->options.dir);
    free((uint32_t *)follower->options.shards);
    object_end(follower, FOLLOWER_MAGIC);
    free(follower);
}
