/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replica_follow.c - the apply thread of a replica: opens the shard, keeps reading, and starts
 * again from nothing when that is not possible. See replica.h.
 *
 * Only this thread changes the shard. Others see what it has published: its reported state under
 * the replica's lock, its content by snapshots.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/object.h"
#include "searcher/bounds.h"
#include "searcher/replica/lender.h"
#include "searcher/replica/refusals.h"
#include "searcher/replica/replica_parts.h"
#include "searcher/replica/tail.h"

enum {
    SWEEP_US = SECOND_US,
    RETRY_MS = 500,
    TOPIC_MS_MIN = 10, /* until a topic that is not there is looked for again; doubled with each */
    IDLE_MS = 200,
    TOLD_COUNT = 100, /* messages passed that are logged, then one in so many */
};

struct following {
    struct replica *replica;
    struct opened *opened;
    struct applier *applier;
    struct arena *arena; /* of one batch */
    uint64_t offset;     /* of the next message */
    uint64_t ready_at;
    uint64_t begin_at;           /* an empty shard begins no sooner: a pour begins here */
    int64_t opened_us;           /* monotonic */
    uint64_t poured;             /* behind the end of a pour that was applied last */
    uint64_t end;                /* of the topic, as it was looked up last */
    int64_t last_us;             /* time of the last message applied; 0: none */
    int64_t swept_us;            /* monotonic */
    struct apply_counts counted; /* of the counters */
    bool is_gone;                /* what the shard has does not go on: it begins anew */
    bool is_behind;              /* ... because its topic has let go of what comes next */
    bool is_failing;             /* it cannot go on for now; the replica says why */
    struct refusals refusals;    /* of the batch at hand, or of one that waits for them */
    uint64_t refused_at;         /* the first of them, ... */
    struct progress before;      /* ... and how far all was before it */
};

/* False: stop. */
static bool pause_ms(struct replica *replica, int ms)
{
    int64_t until_us = clock_after_us(replica->options.clock, (int64_t)ms * MS_US);
    bool in_time = true;

    pthread_mutex_lock(&replica->lock);
    while (!task_is_stopping(&replica->task) && in_time)
        in_time = task_wait_on(&replica->task, &replica->changed, &replica->lock, until_us);
    pthread_mutex_unlock(&replica->lock);
    return !task_is_stopping(&replica->task);
}

/* ---- what others see ---- */

/* Nobody is told that the shard is past a message before its refusal is durable. What lies behind
 * that may be seen already: it is applied again after a restart. */
static uint64_t shown_offset(const struct following *following)
{
    return following->refusals.count ? following->refused_at : following->offset;
}

static const struct progress *shown_progress(const struct following *following)
{
    return following->refusals.count ? &following->before : applier_progress(following->applier);
}

static void count(struct following *following)
{
    const struct replica_metrics *metrics = &following->replica->metrics;
    const struct apply_counts *now = applier_counts(following->applier);
    const struct apply_counts *was = &following->counted;
    uint64_t offset = shown_offset(following);

    counter_add(metrics->put, now->put_count - was->put_count);
    counter_add(metrics->change, now->change_count - was->change_count);
    counter_add(metrics->remove, now->remove_count - was->remove_count);
    counter_add(metrics->stale, now->stale_count - was->stale_count);
    counter_add(metrics->skipped, now->skipped_count - was->skipped_count);
    counter_add(metrics->foreign, now->foreign_count - was->foreign_count);
    following->counted = *now;
    gauge_set(metrics->lag, following->end > offset ? (int64_t)(following->end - offset) : 0);
    gauge_set(metrics->lag_ms,
              following->end > offset && following->last_us
                  ? (clock_wall_us(following->replica->options.clock) - following->last_us) / MS_US
                  : 0);
}

/* Why a shard with a gap is not ready. */
static void tell_gap(const struct progress *progress, struct replica_state *state)
{
    if (progress->pour)
        snprintf(state->reason, sizeof(state->reason),
                 "it is being refilled by pour %jd of its topic, for %" PRIu64 " s so far",
                 (intmax_t)progress->pour, state->fill_ms / 1000);
    else
        snprintf(state->reason, sizeof(state->reason),
                 "it lacks what its topic had at the beginning and waits until the indexer has "
                 "poured the documents again, for %" PRIu64 " s so far",
                 state->fill_ms / 1000);
}

/* Nothing keeps it from going on: why it is not ready all the same. */
static void tell_state(const struct progress *progress, struct replica_state *state)
{
    if (progress->has_gap)
        tell_gap(progress, state);
    else if (state->is_ready)
        state->reason[0] = 0; /* what comes next is news, though it be the same again */
    else
        snprintf(state->reason, sizeof(state->reason), "it replays its topic");
}

/* Under the lock: of a shard that is not ready, what it shows to those who take an old state. */
static int64_t find_old(const struct following *following, const struct progress *progress)
{
    if (following->replica->old)
        return following->replica->old_us;
    return !progress->has_gap &&
                   shown_offset(following) >= shard_serve_from(following->opened->shard)
               ? progress->time_us
               : 0;
}

static void show_state(struct following *following)
{
    struct replica *replica = following->replica;
    struct replica_state *state = &replica->state;
    const struct progress *progress = shown_progress(following);
    uint64_t offset = shown_offset(following);
    uint32_t doc_count = applier_doc_count(following->applier);
    bool is_news = false;

    if (following->end < following->offset)
        following->end = following->offset;
    pthread_mutex_lock(&replica->lock);
    state->progress = *progress;
    if (progress->has_gap) /* who waits for a write must not take it for searchable */
        memset(state->progress.lanes, 0, sizeof(state->progress.lanes));
    if (!state->is_ready)
        state->fill_ms =
            (uint64_t)((clock_mono_us(replica->options.clock) - following->opened_us) / MS_US);
    replica->poured_offset = following->poured;
    state->counts = *applier_counts(following->applier);
    state->offset = offset;
    state->end = following->end;
    state->doc_count = doc_count;
    if (!progress->has_gap && !state->is_ready && offset >= following->ready_at &&
        offset >= shard_serve_from(following->opened->shard)) {
        state->is_ready = is_news = true;
        replica_replace_old(replica, offset);
    }
    if (!following->is_failing)
        tell_state(progress, state);
    state->old_us = state->is_ready ? 0 : find_old(following, progress);
    condition_broadcast(&replica->changed);
    pthread_mutex_unlock(&replica->lock);
    count(following);
    if (is_news)
        log_info("a shard is ready", LOG_TEXT("client", replica->options.client),
                 LOG_INT("epoch", replica->options.epoch), LOG_INT("shard", replica->options.shard),
                 LOG_INT("offset", offset), LOG_INT("documents", doc_count),
                 LOG_INT("after_ms", state->fill_ms)); /* changed by this thread alone */
}

static void note_passed(struct replica *replica, const struct topic_message *message,
                        const char *pk, const char *reason)
{
    struct replica_state *state = &replica->state;
    struct passed_message *place;
    bool is_told;

    counter_add(replica->metrics.passed, 1);
    pthread_mutex_lock(&replica->lock);
    state->passed_count++;
    if (state->passed_kept == REPLICA_PASSED_COUNT)
        memmove(state->passed, state->passed + 1, --state->passed_kept * sizeof(*place));
    place = &state->passed[state->passed_kept++];
    place->offset = message->offset;
    snprintf(place->pk, sizeof(place->pk), "%s", pk);
    snprintf(place->reason, sizeof(place->reason), "%s", reason);
    is_told = state->passed_count <= TOLD_COUNT || state->passed_count % TOLD_COUNT == 0;
    pthread_mutex_unlock(&replica->lock);
    if (!is_told)
        return;
    log_warn("a message to the index cannot be applied, and goes back to the registry",
             LOG_TEXT("topic", replica->topic), LOG_INT("partition", replica->options.shard),
             LOG_INT("offset", message->offset), LOG_TEXT("pk", pk), LOG_TEXT("reason", reason));
}

/* ---- batches ---- */

static void refuse_one(struct following *following, const struct topic_message *message,
                       const struct apply_refusal *refused)
{
    note_passed(following->replica, message, refused->pk, refused->reason);
    if (*refused->pk) /* what has no key is no document */
        refusals_add(&following->refusals, bytes_of(refused->pk), refused->version,
                     refused->modify_us, refused->reason, following->arena);
}

/* It is passed, and told to the registry: of each document that it was refused for. */
static void refuse(struct following *following, const struct topic_message *message, const char *pk,
                   const struct err *err)
{
    struct apply_refusal whole = {.pk = *pk ? pk : arena_text(following->arena, message->key),
                                  .reason = err->text};
    size_t count;
    const struct apply_refusal *refused = applier_refused(following->applier, &count);

    applier_last_order(following->applier, &whole.version, &whole.modify_us);
    for (size_t i = 0; i < count; i++)
        refuse_one(following, message, &refused[i]);
    if (!count)
        refuse_one(following, message, &whole);
}

/* ERR_UNAVAILABLE: a failure of the world, as of the disk. The message is left for later, and what
 * came before it is shown meanwhile. */
static int apply_message(struct following *following, const struct topic_message *message,
                         struct err *err)
{
    struct replica *replica = following->replica;
    const struct progress before = *applier_progress(following->applier);
    const char *pk = "";
    struct err why;
    int rc;

    shard_begin_message(following->opened->shard, message->offset);
    rc = applier_apply(following->applier, message->value, following->arena, &pk, &why);
    if (rc && rc != ERR_CORRUPT && !applier_is_final(rc)) {
        shard_leave_message(following->opened->shard);
        return err_set(err, ERR_UNAVAILABLE, "%s", why.text);
    }
    if (rc == ERR_CORRUPT)
        return err_set(err, rc, "%s", why.text);
    if (rc && !following->refusals.count) {
        following->refused_at = message->offset;
        following->before = before;
    }
    if (applier_is_overtaken(following->applier)) {
        following->begin_at = message->offset;
        return err_set(err, ERR_STALE, "another pour has begun than the one it waits for");
    }
    if (applier_has_poured(following->applier))
        following->poured = message->offset + 1;
    if (rc)
        refuse(following, message, pk, &why);
    else if (applier_last_id(following->applier) != UINT32_MAX)
        arrivals_note(replica->arrivals, applier_last_id(following->applier),
                      message->timestamp_us);
    shard_end_message(following->opened->shard, message->offset);
    following->offset = message->offset + 1;
    following->last_us = message->timestamp_us;
    applier_progress(following->applier)->time_us = message->timestamp_us;
    return 0;
}

static int read_some(struct following *following, size_t max, int timeout_ms, size_t *count,
                     struct err *err)
{
    struct replica *replica = following->replica;
    const struct topic_message *messages = NULL;
    size_t found = 0;
    int rc =
        topic_read(replica->options.topics, replica->topic, replica->options.shard,
                   following->offset, max, timeout_ms, following->arena, &messages, &found, err);

    for (size_t i = 0; i < found && !rc; i++)
        rc = apply_message(following, &messages[i], err);
    *count += found;
    return rc;
}

/* Of the world, which is tried again with the shard as it is. */
static bool is_passing(int rc)
{
    return rc == ERR_UNAVAILABLE || rc == ERR_TIMEOUT;
}

/* Ends are told in whole seconds, rounded down: a document is over when that second is. */
static int64_t ended_by(const struct following *following)
{
    return clock_wall_us(following->replica->options.clock) / SECOND_US - 1;
}

static uint32_t expire(struct following *following)
{
    return shard_expire(following->opened->shard, ended_by(following));
}

/* Shows what was applied. ERR_UNAVAILABLE: it is shown, and what comes next has to wait: for
 * refusals that cannot be sent, or for room in the shard. */
static int publish(struct following *following, struct err *err)
{
    struct err why;
    int unsent = refusals_send(&following->refusals, &why);
    int rc;

    following->is_failing |= unsent != 0;
    (void)expire(following); /* what was over before it came, as in a replay, is never shown */
    rc = applier_publish_at(following->applier, shown_offset(following), shown_progress(following),
                            err);
    if (rc && rc != ERR_UNAVAILABLE)
        return rc;
    following->is_failing |= rc != 0;
    arrivals_show(following->replica->arrivals, clock_wall_us(following->replica->options.clock));
    show_state(following);
    return unsent ? err_set(err, ERR_UNAVAILABLE, "%s", why.text) : rc;
}

static void measure_latency(const struct following *following)
{
    int64_t now_us = clock_wall_us(following->replica->options.clock);

    if (following->last_us && now_us > following->last_us)
        histogram_add(following->replica->metrics.latency, now_us - following->last_us);
}

/* Reads, applies and shows one batch; *count: messages of it. One whose refusals could not be sent
 * is gone on with first. */
static int take_batch(struct following *following, size_t *count, struct err *err)
{
    bool is_behind = following->end > following->offset + SEARCHER_BATCH_COUNT;
    size_t max = is_behind ? SEARCHER_REPLAY_COUNT : SEARCHER_BATCH_COUNT;
    const struct clock *clock = following->replica->options.clock;
    int64_t began_us;
    int rc;

    *count = 0;
    if (following->refusals.count) {
        following->is_failing = false;
        rc = publish(following, err);
        if (rc)
            return rc;
    }
    arena_reset(following->arena);
    rc = read_some(following, max, IDLE_MS, count, err);
    began_us = clock_mono_us(clock);
    while (!rc && *count && *count < max) {
        int64_t left_us = began_us + SEARCHER_BATCH_MS * MS_US - clock_mono_us(clock);

        if (left_us < MS_US)
            break;
        rc = read_some(following, max - *count, (int)(left_us / MS_US), count, err);
    }
    following->is_failing = is_passing(rc);
    if (*count && (!rc || rc == ERR_RANGE || is_passing(rc))) {
        struct err why;
        int shown = publish(following, &why);

        if (!shown)
            measure_latency(following);
        if (shown)
            rc = err_set(err, shown, "%s", why.text);
    }
    return rc;
}

/* Once a second: ends of documents, the topic's end. */
static int sweep(struct following *following, struct err *err)
{
    struct replica *replica = following->replica;
    int64_t now_us = clock_mono_us(replica->options.clock);
    uint64_t first, end;
    int rc;

    if (now_us - following->swept_us < SWEEP_US)
        return 0;
    following->swept_us = now_us;
    replica_tend_old(replica, ended_by(following));
    rc = topic_range(replica->options.topics, replica->topic, replica->options.shard, &first, &end,
                     err);
    if (!rc)
        following->end = end;
    if (expire(following))
        return publish(following, err);
    show_state(following);
    return 0;
}

/* ---- opening ---- */

static int open_shard(struct replica *replica, uint32_t place, struct shard **shard,
                      struct err *err)
{
    const uint32_t *numbers = replica->options.numbers;
    const struct shard_options options = {.dir = replica->places[place],
                                          .clock = replica->options.clock,
                                          .epoch = (uint64_t)replica->options.epoch,
                                          .place = {numbers[0], numbers[1], numbers[2], 0},
                                          .background = true};
    int rc = shard_open(&options, shard, err);

    if (rc != ERR_CORRUPT && rc != ERR_PRECONDITION)
        return rc;
    log_error("a shard's directory is thrown away, and replayed from its topic",
              LOG_TEXT("reason", err->text));
    counter_add(replica->metrics.reset, 1);
    rc = dir_remove(options.dir, err);
    return rc ? rc : shard_open(&options, shard, err);
}

int replica_open_shard(struct replica *replica, uint32_t place, struct shard **shard,
                       struct err *err)
{
    const struct replica_options *options = &replica->options;
    int rc = open_shard(replica, place, shard, err);

    if (!rc) /* before anybody asks it */
        lender_serve(options->lender, options->client, options->numbers, options->shard, *shard);
    return rc;
}

/* A shard without content, whose topic does not begin with 0: it looks for a pour. */
static int begin_anew(struct following *following, uint64_t first, struct err *err)
{
    struct replica *replica = following->replica;

    following->offset = following->begin_at > first ? following->begin_at : first;
    applier_progress(following->applier)->has_gap = true;
    log_warn("a shard has nothing, and its topic begins later than it: it is filled by the next "
             "pour of all documents, and not ready until then",
             LOG_TEXT("topic", replica->topic), LOG_INT("partition", replica->options.shard),
             LOG_INT("first", following->offset));
    return applier_publish(following->applier, following->offset, err);
}

/* The topic has let go of what the checkpoint needs to be whole: if that was kept beside it, it is
 * applied, and saved, as a stop in order would have left it. */
static int apply_tail(struct following *following, struct err *err)
{
    struct replica *replica = following->replica;
    struct shard *shard = following->opened->shard;
    struct tail tail = {.offset = following->offset, .end = shard_serve_from(shard)};
    struct err lack;
    int rc = 0;

    arena_reset(following->arena);
    if (tail.offset >= tail.end || !replica->places[replica->place] ||
        tail_load(replica->places[replica->place], &tail, following->arena, &lack))
        return 0;
    for (uint64_t i = 0; i < tail.end - tail.offset && !rc; i++)
        rc = apply_message(following, &tail.messages[i], err);
    following->refusals.count = 0; /* they were told when it was applied before */
    if (!rc)
        rc = applier_publish(following->applier, following->offset, err);
    if (!rc)
        rc = shard_checkpoint(shard, err);
    log_info("a shard has read what its checkpoint lacks from the file beside it",
             LOG_TEXT("topic", replica->topic), LOG_INT("partition", replica->options.shard),
             LOG_INT("from", tail.offset), LOG_INT("to", following->offset));
    return rc;
}

static int open_following(struct following *following, struct err *err)
{
    struct replica *replica = following->replica;
    struct shard *shard = NULL;
    uint64_t first = 0, end = 0;
    int rc = topic_range(replica->options.topics, replica->topic, replica->options.shard, &first,
                         &end, err);

    if (rc && rc != ERR_NOT_FOUND) /* no topic yet: nothing was ever sent */
        return rc;
    replica->place = replica_choose_place(replica, first);
    rc = replica_open_shard(replica, replica->place, &shard, err);
    if (rc)
        return rc;
    following->opened = opened_new(shard);
    following->offset = shard_offset(shard);
    following->end = following->ready_at = end;
    following->opened_us = clock_mono_us(replica->options.clock);
    following->poured = 0;
    rc = applier_new(shard, &following->applier, err);
    if (!rc)
        applier_set_numbers(following->applier, replica->options.numbers);
    if (!rc && following->offset < first)
        rc = apply_tail(following, err);
    following->is_behind = following->offset < first;
    following->is_gone = following->is_behind || following->offset > end;
    if (!rc && following->is_gone && following->offset == 0) {
        following->is_gone = false;
        rc = begin_anew(following, first, err);
    }
    if (!rc && applier_progress(following->applier)->pour < 0)
        following->is_gone = true;
    if (!rc && !following->is_gone && expire(following)) /* while it was down */
        rc = applier_publish(following->applier, following->offset, err);
    if (rc || following->is_gone)
        return rc;
    pthread_mutex_lock(&replica->lock);
    replica->opened = following->opened;
    replica->opened_place = replica->place;
    replica->checkpoint_offset = following->offset;
    pthread_mutex_unlock(&replica->lock);
    show_state(following);
    return 0;
}

static void close_following(struct following *following)
{
    struct replica *replica = following->replica;

    pthread_mutex_lock(&replica->lock);
    replica->state.is_ready = false;
    replica->state.old_us = replica->old ? replica->old_us : 0;
    pthread_mutex_unlock(&replica->lock);
    applier_free(following->applier);
    replica_close_shard(replica, following->opened);
    following->applier = NULL;
    following->opened = NULL;
    following->refusals.count = 0; /* of messages that come again */
    following->is_failing = false;
    following->counted = (struct apply_counts){0};
}

/* What the shard has is whole, but old: it is served until there is something better. */
static bool keep_old(struct following *following)
{
    struct replica *replica = following->replica;

    if (!following->is_behind ||
        !replica_keep_old(replica, following->opened, applier_progress(following->applier),
                          following->offset))
        return false;
    following->opened = NULL; /* the replica's now */
    return true;
}

/* The topic does not have what the shard needs next, or what it has is of no use otherwise. */
static void throw_away(struct following *following)
{
    struct replica *replica = following->replica;
    struct err err;

    counter_add(replica->metrics.reset, 1);
    pthread_mutex_lock(&replica->lock);
    replica->state.reset_count++;
    pthread_mutex_unlock(&replica->lock);
    if (keep_old(following)) {
        close_following(following);
        return;
    }
    log_error("a shard does not go on where its topic does: its state is thrown away",
              LOG_TEXT("topic", replica->topic), LOG_INT("partition", replica->options.shard),
              LOG_INT("offset", following->offset));
    close_following(following);
    if (replica->places[0] && dir_remove(replica->places[replica->place], &err)) {
        replica_tell(replica, err.text);
        (void)pause_ms(replica, RETRY_MS);
    }
}

/* Whether the topic begins behind the next message; else it ends before it. */
static bool is_let_go(const struct following *following)
{
    const struct replica_options *options = &following->replica->options;
    uint64_t first, end;

    return !topic_range(options->topics, following->replica->topic, options->shard, &first, &end,
                        NULL) &&
           following->offset < first;
}

/* Until the stop, or a failure that a new opening may mend. */
static int follow(struct following *following, struct err *err)
{
    struct replica *replica = following->replica;
    int topic_ms = TOPIC_MS_MIN;
    size_t count;
    int rc = 0;

    while (!rc && !task_is_stopping(&replica->task)) {
        task_says(&replica->task, "following its topic");
        if (!following->refusals.count) /* else it has more than it tells */
            replica_answer(replica, following->opened->shard);
        rc = take_batch(following, &count, err);
        if (rc == ERR_RANGE || rc == ERR_STALE) {
            following->is_gone = true;
            following->is_behind = rc == ERR_RANGE && is_let_go(following);
            return 0;
        }
        if (rc == ERR_NOT_FOUND || is_passing(rc)) {
            bool has_topic = rc != ERR_NOT_FOUND;

            if (has_topic)
                replica_tell(replica, err->text);
            (void)pause_ms(replica, has_topic ? RETRY_MS : topic_ms);
            topic_ms = 2 * topic_ms < RETRY_MS ? 2 * topic_ms : RETRY_MS;
            rc = 0;
        }
        if (!rc && !task_is_stopping(&replica->task)) /* a broker that is away takes its time */
            rc = sweep(following, err);
        rc = is_passing(rc) ? 0 : rc; /* met again, and told, by the next batch */
    }
    return rc;
}

/* So that the next start replays next to nothing: searches are answered as soon as it is open. As
 * nothing is applied any more, what is written needs no message of the topic to be whole, and is
 * served even when the topic has gone on without it. One that fails is no loss but time. */
static void save_at_end(struct following *following)
{
    struct replica *replica = following->replica;
    struct err err;

    if (!replica->places[0] || atomic_load(&replica->is_removed))
        return;
    task_says(&replica->task, "writing its last checkpoint");
    if (replica_checkpoint(replica, &err))
        log_warn("a checkpoint failed at the end; the next start replays more",
                 LOG_TEXT("client", replica->options.client),
                 LOG_INT("shard", replica->options.shard), LOG_TEXT("reason", err.text));
}

void replica_follow(struct task *task, void *arg)
{
    struct replica *replica = arg;
    struct following following = {.replica = replica,
                                  .arena = arena_new(),
                                  .refusals = {.topics = replica->options.topics,
                                               .client = replica->options.client,
                                               .epoch = replica->options.epoch,
                                               .shard = replica->options.shard}};

    object_check(replica, REPLICA_MAGIC);
    while (!task_is_stopping(task)) {
        struct err err = {0};
        int rc;

        task_says(task, "opening its shard");
        rc = open_following(&following, &err);

        if (!rc && !following.is_gone)
            rc = follow(&following, &err);
        if (!rc && following.is_gone) {
            throw_away(&following);
            continue;
        }
        if (rc && rc != ERR_CANCELLED)
            replica_tell(replica, err.text);
        else if (!rc)
            save_at_end(&following);
        close_following(&following);
        if (rc)
            (void)pause_ms(replica, RETRY_MS);
    }
    replica_end_old(replica);
    refusals_release(&following.refusals);
    arena_free(following.arena);
}
