/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_run.c - the records of one poll, used in the order of each key; see reader.h.
 *
 * Each record gets an outcome. A partition is done up to its first record that is not, and is read
 * again from there: records after it that another worker has used come again.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "stage/reader_parts.h"

/* One thread's way through a poll. */
struct walk {
    struct stage_reader *reader;
    struct task *task;
    struct arena *arena;                         /* of what is parked, and of what take makes */
    bool is_cut_short;                           /* it is time to stop */
    bool has_stopped[TOPIC_PARTITION_COUNT_MAX]; /* one of the partition waits */
};

/* --- one record --- */

static enum outcome refuse(struct walk *walk, const struct topic_message *message, const char *key,
                           const struct err *reason, struct err *err)
{
    struct stage_reader *self = walk->reader;
    int rc;

    if (self->options.is_strict) {
        *err = *reason;
        return OUTCOME_WAITS;
    }
    do {
        rc = stage_reader_park_as(self, message, key, message->value, reason->text, walk->arena,
                                  err);
        if (!rc)
            return OUTCOME_DONE;
        if (rc == ERR_LIMIT)
            return OUTCOME_WAITS;
        stage_reader_tell_fault(self, "a record could not be parked and is tried again", err);
    } while (stage_reader_pause(self, walk->task, READER_RETRY_MS));
    walk->is_cut_short = true;
    return OUTCOME_NONE;
}

/* A newer one of a parked key was used: the older ones go, before its offset is committed. */
static enum outcome forget_older(struct walk *walk, const struct topic_message *message,
                                 const char *key, struct err *err)
{
    struct stage_reader *self = walk->reader;

    while (self->options.order == PARKED_NEWEST && stage_reader_knows(self, key) &&
           parked_supersede(self->options.store, self->options.stage, key, message->partition,
                            message->offset, err)) {
        stage_reader_tell_fault(self, "an older record stays parked, tried again", err);
        if (!stage_reader_pause(self, walk->task, READER_RETRY_MS)) {
            walk->is_cut_short = true;
            return OUTCOME_NONE;
        }
    }
    return OUTCOME_DONE;
}

static enum outcome use_or_park(struct walk *walk, const struct topic_message *message,
                                struct err *err)
{
    static const struct err behind = {ERR_PRECONDITION, "waits for the record before it"};
    struct stage_reader *self = walk->reader;
    const char *key = parked_key(message->key, message->partition, message->offset, walk->arena);
    struct err reason = {0};

    if (self->options.order == PARKED_IN_ORDER && stage_reader_knows(self, key))
        return refuse(walk, message, key, &behind, err);
    for (;;) {
        int rc = self->options.handler->take(self->options.arg, message, walk->arena, &reason);

        if (!rc)
            return forget_older(walk, message, key, err);
        if (rc == STAGE_READER_NOT_YET)
            return OUTCOME_SOON;
        if (rc != ERR_CANCELLED && !err_is_passing(rc))
            return refuse(walk, message, key, &reason, err);
        if (rc != ERR_CANCELLED)
            stage_reader_tell_fault(self, "a record is tried again", &reason);
        if (!stage_reader_pause(self, walk->task, READER_RETRY_MS)) {
            walk->is_cut_short = true;
            return OUTCOME_NONE;
        }
    }
}

/* --- partitions that wait --- */

static void block(struct stage_reader *self, const struct topic_message *message,
                  enum outcome outcome, const struct err *reason)
{
    struct place *place = &self->places[message->partition];
    int64_t now_us = clock_mono_us(self->options.clock);

    if (outcome == OUTCOME_WAITS && place->told_offset != message->offset + 1)
        log_warn("a partition waits for a record", LOG_TEXT("stage", self->options.stage),
                 LOG_INT("partition", message->partition),
                 LOG_INT("offset", (int64_t)message->offset), LOG_TEXT("reason", reason->text));
    if (outcome == OUTCOME_WAITS) {
        place->told_offset = message->offset + 1;
        counter_add(self->errors, 1);
    }
    assert(message->offset >= place->next_offset || !place->has_news);
    place->is_blocked = true;
    place->is_away = true;
    place->has_gone_back = false;
    place->is_beginning = false;
    place->blocked_offset = message->offset;
    place->blocked_until_us =
        outcome == OUTCOME_WAITS ? now_us + (int64_t)READER_RETRY_MS * MS_US : now_us;
}

void stage_reader_go_back(struct stage_reader *self)
{
    int64_t waiting = 0;
    struct err err;

    object_check(self, STAGE_READER_MAGIC);
    for (uint32_t i = 0; i < TOPIC_PARTITION_COUNT_MAX; i++) {
        struct place *place = &self->places[i];
        uint64_t first, end;
        int rc = 0;

        if (place->is_blocked && place->is_away)
            rc = consumer_seek(self->consumer, self->options.topic, i, place->blocked_offset, &err);
        if (rc == ERR_STALE) /* not ours any more */
            place->is_blocked = false;
        else if (rc)
            stage_reader_tell_fault(self, "going back to a record failed and is tried again", &err);
        if (rc == ERR_RANGE && /* it waited for longer than the topic keeps it */
            !topic_range(self->options.topics, self->options.topic, i, &first, &end, &err) &&
            (first <= place->blocked_offset ||
             !stage_reader_note_lost(self, i, place->blocked_offset, first, &err)))
            stage_reader_wait_for_first(place, first);
        place->has_gone_back |= place->is_blocked && place->is_away && !rc;
        place->is_away = place->is_away && rc && rc != ERR_STALE;
        waiting += place->is_blocked;
    }
    gauge_set(self->waiting, waiting);
}

/* Whether the record may be used: its partition waits for no other, and long enough. */
static bool may_use(struct stage_reader *self, const struct topic_message *message)
{
    struct place *place = &self->places[message->partition];

    if (!place->is_blocked)
        return true;
    if (message->offset != place->blocked_offset ||
        clock_mono_us(self->options.clock) < place->blocked_until_us) {
        place->is_away = true;
        return false;
    }
    place->is_blocked = false;
    return true;
}

/* --- a poll --- */

static void go(struct walk *walk, size_t number, size_t worker_count, struct err *first)
{
    struct stage_reader *self = walk->reader;
    struct err err = {0};

    for (size_t i = 0; i < self->count && !walk->is_cut_short; i++) {
        const struct topic_message *message = &self->messages[i];

        assert(message->partition < TOPIC_PARTITION_COUNT_MAX);
        if (worker_count && hash64(message->key) % worker_count != number)
            continue;
        if (self->outcomes[i] == OUTCOME_WAITS || walk->has_stopped[message->partition])
            continue;
        if (walk->arena != self->arena)
            arena_reset(walk->arena);
        assert(self->outcomes[i] == OUTCOME_NONE); /* each record is settled by one */
        self->outcomes[i] = use_or_park(walk, message, &err);
        if (self->outcomes[i] == OUTCOME_DONE)
            continue;
        walk->has_stopped[message->partition] = true;
        if (self->outcomes[i] == OUTCOME_WAITS) {
            pthread_mutex_lock(&self->lock);
            *first = err;
            pthread_mutex_unlock(&self->lock);
        }
    }
}

/* Each partition goes on up to its first record that is not done. */
static size_t conclude(struct stage_reader *self, const struct err *reason)
{
    bool has_ended[TOPIC_PARTITION_COUNT_MAX] = {false};
    size_t done = 0;

    for (size_t i = 0; i < self->count; i++) {
        const struct topic_message *message = &self->messages[i];
        struct place *place = &self->places[message->partition];

        if (has_ended[message->partition])
            continue;
        if (self->outcomes[i] == OUTCOME_DONE) {
            place->next_offset = place->due_offset = message->offset + 1;
            place->has_news = true;
            done++;
            continue;
        }
        has_ended[message->partition] = true;
        if (!place->is_blocked || self->outcomes[i] == OUTCOME_SOON)
            block(self, message, self->outcomes[i] ? self->outcomes[i] : OUTCOME_SOON, reason);
    }
    return done;
}

/* Gives the poll to the workers and waits for them. */
static void give(struct stage_reader *self)
{
    pthread_mutex_lock(&self->lock);
    assert(self->working_count == 0 && self->options.worker_count <= READER_WORKER_COUNT_MAX);
    self->working_count = self->options.worker_count;
    self->poll_number++;
    condition_broadcast(&self->given);
    while (self->working_count)
        condition_wait(&self->taken, &self->lock);
    pthread_mutex_unlock(&self->lock);
}

size_t stage_reader_run(struct stage_reader *self, const struct topic_message *messages,
                        size_t count)
{
    struct walk walk = {.reader = self, .task = &self->task, .arena = self->arena};
    bool has_ended[TOPIC_PARTITION_COUNT_MAX] = {false};
    size_t done;

    object_check(self, STAGE_READER_MAGIC);
    assert(!self->outcomes && count > 0); /* one poll at a time */
    self->messages = messages;
    self->count = count;
    self->outcomes = mem_array(count, sizeof(self->outcomes[0]));
    memset(self->outcomes, 0, count * sizeof(self->outcomes[0]));
    for (size_t i = 0; i < count; i++) {
        uint32_t partition = messages[i].partition;

        has_ended[partition] = has_ended[partition] || !may_use(self, &messages[i]);
        if (has_ended[partition])
            self->outcomes[i] = OUTCOME_WAITS;
    }
    self->reason = (struct err){0};
    if (self->options.worker_count && count > READER_ALONE_COUNT_MAX)
        give(self);
    else
        go(&walk, 0, 0, &self->reason);
    assert(self->working_count == 0);
    done = conclude(self, &self->reason);
    assert(done <= count);
    free(self->outcomes);
    self->outcomes = NULL;
    return done;
}

/* --- workers --- */

/* Waits for the poll after `number`; false: there will be none. */
static bool worker_wait(struct worker *worker, uint64_t *number)
{
    struct stage_reader *self = worker->reader;
    bool is_ending;

    pthread_mutex_lock(&self->lock);
    while (self->poll_number == *number && !self->is_ending)
        task_wait_on(&worker->task, &self->given, &self->lock, CLOCK_NEVER);
    *number = self->poll_number;
    is_ending = self->is_ending;
    pthread_mutex_unlock(&self->lock);
    return !is_ending;
}

static void run_worker(struct task *task, void *arg)
{
    struct worker *worker = arg;
    struct stage_reader *self = worker->reader;
    uint64_t number = 0;

    while (worker_wait(worker, &number)) {
        struct walk walk = {.reader = self, .task = task, .arena = worker->arena};
        object_check(self, STAGE_READER_MAGIC);
        assert(&self->workers[worker->number] == worker);

        task_says(task, "using records");
        go(&walk, worker->number, self->options.worker_count, &self->reason);
        pthread_mutex_lock(&self->lock);
        assert(self->working_count > 0 && number == self->poll_number);
        self->working_count--;
        if (!self->working_count)
            condition_signal(&self->taken);
        pthread_mutex_unlock(&self->lock);
    }
}

int stage_reader_start_workers(struct stage_reader *self, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < self->options.worker_count && !rc; i++) {
        struct worker *worker = &self->workers[i];
        object_check(self, STAGE_READER_MAGIC);
        const struct task_options task = {.name = self->options.stage,
                                          .run = run_worker,
                                          .arg = worker,
                                          .clock = self->options.clock};

        worker->reader = self;
        worker->number = i;
        worker->arena = arena_new();
        rc = task_start(&worker->task, &task, err);
    }
    return rc;
}

void stage_reader_stop_workers(struct stage_reader *self)
{
    object_check(self, STAGE_READER_MAGIC);
    pthread_mutex_lock(&self->lock);
    self->is_ending = true;
    condition_broadcast(&self->given);
    pthread_mutex_unlock(&self->lock);
    for (size_t i = 0; i < self->options.worker_count; i++) {
        task_stop(&self->workers[i].task);
        arena_free(self->workers[i].arena);
    }
}
