/* SPDX-License-Identifier: Apache-2.0 */
/* replica.c - see replica.h: life, visits, what is told. */
#include "searcher/replica/replica.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "index/bounds.h"
#include "model/topics.h"
#include "searcher/replica/replica_parts.h"
#include "searcher/replica/tail.h"

enum { PATH_SIZE = 4096 };

/* ---- life ---- */

static struct counter *applied(const char *labels, const char *way)
{
    char all[256];

    snprintf(all, sizeof(all), "%s,way=\"%s\"", labels, way);
    return metrics_counter("torg_searcher_messages_total", all,
                           "Messages of index topics by what became of them.");
}

static void make_metrics(struct replica *replica)
{
    const struct replica_options *options = &replica->options;
    struct replica_metrics *metrics = &replica->metrics;
    char labels[192];

    snprintf(labels, sizeof(labels), "client=\"%s\",epoch=\"%jd\",shard=\"%u\"", options->client,
             (intmax_t)options->epoch, options->shard);
    metrics->put = applied(labels, "put");
    metrics->change = applied(labels, "change");
    metrics->remove = applied(labels, "remove");
    metrics->stale = applied(labels, "stale");
    metrics->skipped = applied(labels, "skipped");
    metrics->foreign = applied(labels, "foreign");
    metrics->passed = applied(labels, "passed");
    metrics->reset = metrics_counter("torg_searcher_resets_total", labels,
                                     "How often a shard was thrown away to be replayed.");
    metrics->lag = metrics_gauge("torg_searcher_lag_messages", labels,
                                 "Messages of the topic that are not searchable yet.");
    metrics->lag_ms = metrics_gauge("torg_searcher_lag_milliseconds", labels,
                                    "Age of the message that was shown last, while behind.");
    metrics->latency = metrics_histogram("torg_searcher_show_seconds", labels,
                                         "From a message's time to its being searchable.");
}

static void name_places(struct replica *replica, const char *dir)
{
    char second[PATH_SIZE];

    snprintf(second, sizeof(second), "%s.b", dir);
    replica->places[0] = mem_strdup(dir);
    replica->places[1] = mem_strdup(second);
}

struct replica *replica_new(const struct replica_options *options)
{
    struct replica *replica = mem_zero(sizeof(*replica));
    const struct task_options task = {
        .name = "replica", .run = replica_follow, .arg = replica, .clock = options->clock};

    object_begin(replica, REPLICA_MAGIC);
    replica->options = *options;
    replica->options.client = mem_strdup(options->client);
    replica->options.dir = NULL; /* its places instead */
    if (options->dir)
        name_places(replica, options->dir);
    index_topic_name(options->client, options->epoch, replica->topic);
    atomic_store(&replica->refs, 1);
    pthread_mutex_init(&replica->lock, NULL);
    condition_init(&replica->changed, options->clock);
    snprintf(replica->state.reason, sizeof(replica->state.reason), "it is being opened");
    make_metrics(replica);
    replica->arrivals = arrivals_new();
    if (task_start(&replica->task, &task, NULL))
        abort(); /* as without memory */
    return replica;
}

void replica_stop(struct replica *replica, bool remove)
{
    object_check(replica, REPLICA_MAGIC);
    pthread_mutex_lock(&replica->lock);
    if (remove)
        atomic_store(&replica->is_removed, true);
    task_ask_stop(&replica->task);
    condition_broadcast(&replica->changed);
    pthread_mutex_unlock(&replica->lock);
}

struct replica *replica_ref(struct replica *replica)
{
    object_check(replica, REPLICA_MAGIC);
    assert(atomic_load(&replica->refs) > 0); /* somebody holds it, so that it is there */
    atomic_fetch_add(&replica->refs, 1);
    return replica;
}

void replica_unref(struct replica *replica)
{
    if (!replica)
        return;
    object_check(replica, REPLICA_MAGIC);
    if (atomic_fetch_sub(&replica->refs, 1) != 1)
        return;
    replica_stop(replica, false);
    task_stop(&replica->task);
    assert(!replica->opened && !replica->old && !replica->replaced);
    for (int i = 0; i < REPLICA_PLACE_COUNT && atomic_load(&replica->is_removed); i++) {
        struct err err;

        if (replica->places[i] && dir_remove(replica->places[i], &err))
            log_warn("the directory of a retired index stays", LOG_TEXT("reason", err.text));
    }
    condition_release(&replica->changed);
    pthread_mutex_destroy(&replica->lock);
    arrivals_free(replica->arrivals);
    free((char *)replica->options.client);
    for (int i = 0; i < REPLICA_PLACE_COUNT; i++)
        free(replica->places[i]);
    object_end(replica, REPLICA_MAGIC);
    free(replica);
}

uint32_t replica_shard(const struct replica *replica)
{
    object_check(replica, REPLICA_MAGIC);
    return replica->options.shard;
}

const char *replica_client(const struct replica *replica)
{
    object_check(replica, REPLICA_MAGIC);
    return replica->options.client;
}

int64_t replica_epoch(const struct replica *replica)
{
    object_check(replica, REPLICA_MAGIC);
    return replica->options.epoch;
}

/* ---- visits ---- */

struct opened *opened_new(struct shard *shard)
{
    struct opened *opened = mem_zero(sizeof(*opened));

    object_begin(opened, OPENED_MAGIC);
    opened->shard = shard;
    pthread_mutex_init(&opened->lock, NULL);
    condition_init(&opened->left, shard_clock(shard));
    return opened;
}

static void free_visit(struct visit *visit)
{
    query_engine_free(visit->engine);
    shard_reader_free(visit->reader);
    object_end(visit, VISIT_MAGIC);
    free(visit);
}

static void close_opened(struct opened *opened)
{
    struct visit *visit = opened->resting;

    assert(opened->visit_count == 0);
    while (visit) {
        struct visit *next = visit->next;

        free_visit(visit);
        visit = next;
    }
    shard_close(opened->shard);
    condition_release(&opened->left);
    pthread_mutex_destroy(&opened->lock);
    object_end(opened, OPENED_MAGIC);
    free(opened);
}

void replica_close_shard(struct replica *replica, struct opened *opened)
{
    object_check(replica, REPLICA_MAGIC);
    if (!opened)
        return;
    object_check(opened, OPENED_MAGIC);
    pthread_mutex_lock(&replica->lock);
    if (replica->opened == opened)
        replica->opened = NULL;
    pthread_mutex_unlock(&replica->lock);
    pthread_mutex_lock(&opened->lock);
    while (opened->visit_count)
        condition_wait(&opened->left, &opened->lock);
    pthread_mutex_unlock(&opened->lock);
    close_opened(opened);
}

/* Under the replica's lock. NULL is nobody. */
static struct opened *hold(struct opened *opened)
{
    if (!opened)
        return NULL;
    object_check(opened, OPENED_MAGIC);
    pthread_mutex_lock(&opened->lock);
    opened->visit_count++;
    pthread_mutex_unlock(&opened->lock);
    return opened;
}

/* visit: may be NULL; it rests until the next call. */
static void let_go(struct opened *opened, struct visit *visit)
{
    object_check(opened, OPENED_MAGIC);
    pthread_mutex_lock(&opened->lock);
    assert(opened->visit_count > 0 && (!visit || visit->opened == opened));
    if (visit) {
        visit->next = opened->resting;
        opened->resting = visit;
    }
    if (--opened->visit_count == 0)
        condition_broadcast(&opened->left);
    pthread_mutex_unlock(&opened->lock);
}

const uint32_t *replica_numbers(const struct replica *replica)
{
    object_check(replica, REPLICA_MAGIC);
    return replica->options.numbers;
}

void replica_each_shard(struct replica *replica, void (*call)(void *arg, struct shard *shard),
                        void *arg)
{
    struct opened *opened[2];

    object_check(replica, REPLICA_MAGIC);
    pthread_mutex_lock(&replica->lock);
    opened[0] = hold(replica->opened);
    opened[1] = hold(replica->old);
    pthread_mutex_unlock(&replica->lock);
    for (int i = 0; i < 2; i++)
        if (opened[i]) {
            call(arg, opened[i]->shard);
            let_go(opened[i], NULL);
        }
}

/* Under the lock. */
static int refuse(const struct replica *replica, struct err *err)
{
    const struct replica_state *state = &replica->state;

    return err_set(err, ERR_UNAVAILABLE,
                   "shard %u of %s, epoch %jd, is not ready: %s (message %" PRIu64 " of %" PRIu64
                   "); try again later",
                   replica->options.shard, replica->options.client,
                   (intmax_t)replica->options.epoch, state->reason, state->offset, state->end);
}

static int make_visit(struct opened *opened, struct visit **out, struct err *err)
{
    struct visit *visit = mem_zero(sizeof(*visit));
    int rc = shard_reader_new(opened->shard, &visit->reader, err);

    object_begin(visit, VISIT_MAGIC);
    if (rc) {
        object_end(visit, VISIT_MAGIC);
        free(visit);
        return rc;
    }
    visit->shard = opened->shard;
    visit->opened = opened;
    visit->engine = query_engine_new(opened->shard, visit->reader);
    *out = visit;
    return 0;
}

int replica_visit(struct replica *replica, uint64_t old_max_seconds, struct visit **visit,
                  struct err *err)
{
    struct opened *opened = NULL;
    uint64_t old_seconds = 0;
    int rc = 0;

    object_check(replica, REPLICA_MAGIC);
    *visit = NULL;
    pthread_mutex_lock(&replica->lock);
    if (!replica->state.is_ready)
        old_seconds = replica_old_seconds(replica, &replica->state);
    if (replica->state.is_ready)
        opened = hold(replica->opened);
    else if (old_seconds && old_seconds <= old_max_seconds)
        opened = hold(replica->old ? replica->old : replica->opened);
    if (!opened)
        rc = refuse(replica, err);
    pthread_mutex_unlock(&replica->lock);
    if (rc)
        return rc;
    pthread_mutex_lock(&opened->lock);
    *visit = opened->resting;
    if (*visit) {
        object_check(*visit, VISIT_MAGIC);
        assert((*visit)->opened == opened);
        opened->resting = (*visit)->next;
    }
    pthread_mutex_unlock(&opened->lock);
    if (!*visit)
        rc = make_visit(opened, visit, err);
    if (rc)
        let_go(opened, NULL);
    else
        (*visit)->old_seconds = old_seconds;
    return rc;
}

void visit_end(struct visit *visit)
{
    if (!visit)
        return;
    object_check(visit, VISIT_MAGIC);
    let_go(visit->opened, visit);
}

static int64_t reached_by(const struct replica *replica, unsigned lane)
{
    return lane == REPLICA_OFFSET ? (int64_t)replica->state.offset
                                  : replica->state.progress.lanes[lane];
}

int replica_wait(struct replica *replica, unsigned lane, int64_t idx, int64_t deadline_us,
                 struct err *err)
{
    bool is_waiting = false;
    bool in_time = true;
    int64_t reached;
    int rc = 0;

    object_check(replica, REPLICA_MAGIC);
    assert(lane <= REPLICA_OFFSET);
    pthread_mutex_lock(&replica->lock);
    if (reached_by(replica, lane) < idx && clock_mono_us(replica->options.clock) < deadline_us) {
        rc = waiters_enter(replica->options.waiters, err);
        is_waiting = !rc;
    }
    while (is_waiting && reached_by(replica, lane) < idx && in_time &&
           !task_is_stopping(&replica->task))
        in_time = condition_wait_until(&replica->changed, &replica->lock, deadline_us);
    reached = reached_by(replica, lane);
    pthread_mutex_unlock(&replica->lock);
    if (is_waiting)
        waiters_leave(replica->options.waiters);
    if (rc || reached >= idx)
        return rc;
    return err_set(err, ERR_TIMEOUT,
                   "shard %u is at change %jd of the %s, and %jd was waited for: it is not "
                   "searchable yet",
                   replica->options.shard, (intmax_t)reached,
                   lane == REPLICA_OFFSET ? "index topic" : "lane", (intmax_t)idx);
}

/* ---- what people are told ---- */

void replica_state(struct replica *replica, struct replica_state *state)
{
    object_check(replica, REPLICA_MAGIC);
    pthread_mutex_lock(&replica->lock);
    *state = replica->state;
    pthread_mutex_unlock(&replica->lock);
}

uint64_t replica_old_seconds(const struct replica *replica, const struct replica_state *state)
{
    int64_t now_us = clock_wall_us(replica->options.clock);

    if (state->is_ready || !state->old_us)
        return 0;
    return now_us > state->old_us ? (uint64_t)((now_us - state->old_us) / SECOND_US) + 1 : 1;
}

void replica_tell(struct replica *replica, const char *reason)
{
    bool is_news;

    object_check(replica, REPLICA_MAGIC);
    pthread_mutex_lock(&replica->lock);
    is_news = strcmp(replica->state.reason, reason) != 0;
    snprintf(replica->state.reason, sizeof(replica->state.reason), "%s", reason);
    pthread_mutex_unlock(&replica->lock);
    if (is_news)
        log_warn("a shard cannot go on", LOG_TEXT("client", replica->options.client),
                 LOG_INT("epoch", replica->options.epoch), LOG_INT("shard", replica->options.shard),
                 LOG_TEXT("reason", reason));
}

int replica_checkpoint(struct replica *replica, struct err *err)
{
    struct opened *opened = NULL;
    uint64_t offset;
    int rc;

    object_check(replica, REPLICA_MAGIC);
    pthread_mutex_lock(&replica->lock);
    offset = replica->state.offset;
    if (offset != replica->checkpoint_offset)
        opened = hold(replica->opened);
    pthread_mutex_unlock(&replica->lock);
    if (!opened)
        return 0;
    rc = shard_checkpoint(opened->shard, err);
    let_go(opened, NULL);
    pthread_mutex_lock(&replica->lock);
    if (!rc)
        replica->checkpoint_offset = offset;
    replica->has_failed_to_save = rc && rc != ERR_TIMEOUT && rc != ERR_CANCELLED;
    pthread_mutex_unlock(&replica->lock);
    return rc;
}

/* Where the shard lies that is followed, if it has a checkpoint that lacks a tail; held then. */
static struct opened *hold_without_tail(struct replica *replica, const char **dir, uint64_t *offset,
                                        uint64_t *end)
{
    struct buf note = BUF_INIT(SHARD_NOTE_SIZE_MAX);
    struct opened *opened = NULL;

    pthread_mutex_lock(&replica->lock);
    *dir = replica->places[replica->opened_place];
    if (!replica->is_saving_tail && *dir)
        opened = hold(replica->opened);
    replica->is_saving_tail = replica->is_saving_tail || opened;
    pthread_mutex_unlock(&replica->lock);
    if (opened && (shard_peek(*dir, offset, end, &note, NULL) ||
                   (*offset == replica->tail_offset && *end == replica->tail_end))) {
        pthread_mutex_lock(&replica->lock);
        replica->is_saving_tail = false;
        pthread_mutex_unlock(&replica->lock);
        let_go(opened, NULL);
        opened = NULL;
    }
    buf_release(&note);
    return opened;
}

void replica_keep_tail(struct replica *replica)
{
    const struct replica_options *options = &replica->options;
    struct opened *opened;
    uint64_t offset, end;
    const char *dir;
    struct err err;

    object_check(replica, REPLICA_MAGIC);
    opened = hold_without_tail(replica, &dir, &offset, &end);
    if (!opened)
        return;
    if (tail_save(dir, options->topics, replica->topic, options->shard, offset, end, &err))
        log_warn("a checkpoint needs messages of its topic that could not be kept beside it",
                 LOG_TEXT("topic", replica->topic), LOG_INT("partition", options->shard),
                 LOG_INT("from", offset), LOG_INT("to", end), LOG_TEXT("reason", err.text));
    pthread_mutex_lock(&replica->lock);
    replica->tail_offset = offset; /* it is not tried again: the next checkpoint comes soon */
    replica->tail_end = end;
    replica->is_saving_tail = false;
    pthread_mutex_unlock(&replica->lock);
    let_go(opened, NULL);
}

bool replica_wants_checkpoint(struct replica *replica)
{
    bool wants;

    object_check(replica, REPLICA_MAGIC);
    pthread_mutex_lock(&replica->lock);
    wants = replica->checkpoint_offset < replica->poured_offset;
    pthread_mutex_unlock(&replica->lock);
    return wants;
}
