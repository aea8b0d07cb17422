/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.c - see reader.h. The thread and its loop; reader_run.c uses the records of a poll,
 * reader_retry.c those that are parked.
 */
#include "stage/reader.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "stage/bounds.h"
#include "stage/make_topics.h"
#include "stage/reader_parts.h"
#include "topic/bounds.h"

/* --- what the parts share --- */

bool stage_reader_is_stopping(const struct stage_reader *reader)
{
    object_check(reader, STAGE_READER_MAGIC);
    return task_is_stopping(&reader->task);
}

const atomic_bool *stage_reader_stopping(const struct stage_reader *reader)
{
    object_check(reader, STAGE_READER_MAGIC);
    return &reader->task.is_stopping;
}

bool stage_reader_is_retry(const struct stage_reader *reader)
{
    object_check(reader, STAGE_READER_MAGIC);
    return reader->retried != NULL;
}

int64_t stage_reader_try_count(const struct stage_reader *reader)
{
    object_check(reader, STAGE_READER_MAGIC);
    return reader->retried ? reader->retried->try_count + 1 : 0;
}

void stage_reader_put_off(struct stage_reader *reader, int64_t pause_us)
{
    object_check(reader, STAGE_READER_MAGIC);
    assert(reader->retried && pause_us > 0);
    reader->put_off_us = pause_us;
}

void stage_reader_tell_fault(struct stage_reader *self, const char *what, const struct err *err)
{
    object_check(self, STAGE_READER_MAGIC);
    counter_add(self->errors, 1);
    if (log_pace_is_due(&self->pace, err))
        log_warn(what, LOG_TEXT("stage", self->options.stage), LOG_TEXT("error", err->text));
}

bool stage_reader_pause(struct stage_reader *self, struct task *task, int ms)
{
    /* A worker is not asked to stop before the reader's thread is through with it. */
    object_check(self, STAGE_READER_MAGIC);
    if (task != &self->task && stage_reader_is_stopping(self))
        return false;
    return task_pause(task, (int64_t)ms * MS_US) && !stage_reader_is_stopping(self);
}

/* --- parked keys --- */

static size_t place_of_hash(const struct stage_reader *self, uint64_t hash)
{
    size_t low = 0, high = self->known_count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (self->known[middle] < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool stage_reader_knows(struct stage_reader *self, const char *key)
{
    uint64_t hash = hash64(bytes_of(key));
    size_t place;
    bool found;

    object_check(self, STAGE_READER_MAGIC);
    pthread_mutex_lock(&self->lock);
    place = place_of_hash(self, hash);
    found = place < self->known_count && self->known[place] == hash;
    pthread_mutex_unlock(&self->lock);
    return found;
}

static void learn(struct stage_reader *self, const char *key)
{
    uint64_t hash = hash64(bytes_of(key));
    size_t place;

    pthread_mutex_lock(&self->lock);
    place = place_of_hash(self, hash);
    if (place == self->known_count || self->known[place] != hash) {
        self->known = mem_grow(self->known, self->known_count + 1, sizeof(self->known[0]),
                               &self->known_capacity);
        memmove(&self->known[place + 1], &self->known[place],
                (self->known_count - place) * sizeof(self->known[0]));
        self->known[place] = hash;
        self->known_count++;
        assert(place == 0 || self->known[place - 1] < hash);
        assert(place + 1 == self->known_count || hash < self->known[place + 1]);
    }
    pthread_mutex_unlock(&self->lock);
}

/* Those known before stay known when it fails: the record that has to wait may come. */
int stage_reader_refresh(struct stage_reader *self, struct err *err)
{
    struct parked_total total;
    uint64_t *hashes;
    size_t count;
    int rc = parked_total(self->options.store, self->options.stage, &total, err);

    object_check(self, STAGE_READER_MAGIC);
    if (rc)
        return rc;
    gauge_set(self->parked_now, total.count);
    self->total_count = total.count;
    if (self->is_loaded && total.change_no == self->change_no)
        return 0;
    rc = parked_hashes(self->options.store, self->options.stage, &hashes, &count, err);
    if (rc)
        return rc;
    pthread_mutex_lock(&self->lock);
    free(self->known);
    self->known = hashes;
    self->known_count = self->known_capacity = count;
    pthread_mutex_unlock(&self->lock);
    self->change_no = total.change_no;
    self->is_loaded = true;
    return 0;
}

int stage_reader_park_as(struct stage_reader *self, const struct topic_message *message,
                         const char *key, struct bytes body, const char *reason,
                         struct arena *arena, struct err *err)
{
    int64_t now_us = clock_wall_us(self->options.clock);
    const struct parked parked = {
        .stage = self->options.stage,
        .key = key,
        .topic = self->options.topic,
        .partition = message->partition,
        .offset = message->offset,
        .body = body,
        .reason = arena_printf(arena, "%.*s", PARKED_REASON_SIZE_MAX, reason),
        .first_us = now_us,
        .next_us = stage_reader_due_us(self, now_us, 0, (int64_t)READER_RETRY_MS * MS_US),
    };
    int rc = parked_add(self->options.store, &parked, self->options.order, err);

    object_check(self, STAGE_READER_MAGIC);
    if (rc)
        return rc;
    learn(self, key);
    counter_add(self->parkings, 1);
    log_warn("a record is parked", LOG_TEXT("stage", self->options.stage), LOG_TEXT("key", key),
             LOG_INT("partition", message->partition), LOG_INT("offset", (int64_t)message->offset),
             LOG_TEXT("reason", reason));
    return 0;
}

int stage_reader_park(struct stage_reader *self, const struct topic_message *message,
                      const char *key, struct bytes body, const char *reason, struct err *err)
{
    struct arena *arena;
    int rc;

    object_check(self, STAGE_READER_MAGIC);
    if (self->retried && message->partition == self->retried->partition &&
        message->offset == self->retried->offset) {
        self->is_refused_again = true;
        err_set(&self->refusal, ERR_INVALID, "%s", reason);
        return 0;
    }
    arena = arena_new();
    key = parked_key(bytes_of(key), message->partition, message->offset, arena);
    rc = self->options.is_strict
             ? err_set(err, ERR_UNAVAILABLE, "%.100s: %.300s", key, reason)
             : stage_reader_park_as(self, message, key, body, reason, arena, err);
    if (rc == ERR_LIMIT) /* it waits for room */
        rc = ERR_UNAVAILABLE;
    arena_free(arena);
    return rc;
}

int stage_reader_used(struct stage_reader *self, const struct topic_message *message,
                      const char *key, struct err *err)
{
    struct arena *arena;
    int rc = 0;

    object_check(self, STAGE_READER_MAGIC);
    assert(self->options.order == PARKED_NEWEST);
    if (self->retried) /* its own row goes when it is known that all of it was used */
        return 0;
    arena = arena_new();
    key = parked_key(bytes_of(key), message->partition, message->offset, arena);
    if (stage_reader_knows(self, key))
        rc = parked_supersede(self->options.store, self->options.stage, key, message->partition,
                              message->offset, err);
    arena_free(arena);
    return rc;
}

/* --- offsets --- */

/* Stale: another has the partition, and reads it again. */
static int commit_each(struct stage_reader *self, const struct topic_position *positions,
                       size_t count, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < count && !rc; i++) {
        rc = consumer_commit(self->consumer, &positions[i], 1, err);
        rc = rc == ERR_STALE ? 0 : rc;
    }
    return rc;
}

static int commit(struct stage_reader *self, struct err *err)
{
    struct topic_position positions[TOPIC_PARTITION_COUNT_MAX];
    size_t count = 0;
    int rc = 0;

    for (uint32_t i = 0; i < TOPIC_PARTITION_COUNT_MAX; i++) {
        const struct place *place = &self->places[i];

        if (place->has_news && place->is_flushed)
            positions[count++] = (struct topic_position){
                .topic = self->options.topic, .partition = i, .offset = place->next_offset};
    }
    if (count)
        rc = consumer_commit(self->consumer, positions, count, err);
    if (rc == ERR_STALE)
        rc = commit_each(self, positions, count, err);
    for (size_t i = 0; i < count && !rc; i++) {
        assert(self->places[positions[i].partition].has_news);
        self->places[positions[i].partition].has_news = false;
    }
    return rc;
}

static int flush_place(struct stage_reader *self, uint32_t partition, bool is_forced,
                       struct err *err)
{
    const struct stage_reader_handler *handler = self->options.handler;
    struct place *place = &self->places[partition];

    place->is_flushed = true;
    return handler->flush
               ? handler->flush(self->options.arg, partition, is_forced, &place->is_flushed, err)
               : 0;
}

/* Until it is flushed and committed. False: it is time to stop, and that was not to be. */
bool stage_reader_settle(struct stage_reader *self, bool is_forced)
{
    int last_count = 0; /* tries since it is time to stop */
    struct err err = {0};

    object_check(self, STAGE_READER_MAGIC);
    for (;;) {
        int rc = 0;

        for (uint32_t i = 0; i < TOPIC_PARTITION_COUNT_MAX && !rc; i++)
            if (self->places[i].has_news)
                rc = flush_place(self, i, is_forced, &err);
        if (!rc)
            rc = commit(self, &err);
        if (!rc)
            return true;
        if (rc != ERR_CANCELLED)
            stage_reader_tell_fault(self, "what was read is not committed yet; tried again", &err);
        if (!stage_reader_pause(self, &self->task, READER_RETRY_MS) &&
            ++last_count >= READER_LAST_TRY_COUNT)
            return false;
    }
}

/* --- the loop --- */

static int wait_ms(const struct stage_reader *self)
{
    int64_t most_us = (int64_t)READER_POLL_MS * MS_US;
    int64_t wait_us = self->options.handler->wait_us
                          ? self->options.handler->wait_us(self->options.arg)
                          : most_us;

    wait_us = wait_us < most_us ? wait_us : most_us;
    return wait_us > 0 ? (int)((wait_us + MS_US - 1) / MS_US) : 0;
}

/* Until records may be used. False: it is time to stop. */
static bool begin(struct stage_reader *self)
{
    const struct stage_reader_handler *handler = self->options.handler;
    struct err err = {0};

    while (handler->begin && handler->begin(self->options.arg, &err)) {
        if (log_pace_is_due(&self->pace, &err))
            log_warn("records wait", LOG_TEXT("stage", self->options.stage),
                     LOG_TEXT("error", err.text));
        if (!stage_reader_pause(self, &self->task, READER_BLOCKED_PAUSE_MS))
            return false;
    }
    return true;
}

/* The partitions were dealt anew: what their last owners have parked has to be known. */
static bool know_all(struct stage_reader *self)
{
    uint64_t generation = consumer_generation(self->consumer);
    struct err err = {0};

    while (!self->is_loaded || generation != self->generation) {
        int rc = stage_reader_refresh(self, &err);

        if (!rc) {
            self->generation = generation;
            break;
        }
        stage_reader_tell_fault(self, "parked records are not known yet, tried again", &err);
        if (!stage_reader_pause(self, &self->task, READER_RETRY_MS))
            return false;
    }
    return true;
}

static int take_poll(struct stage_reader *self, struct err *err)
{
    const struct topic_message *messages;
    size_t settled = 0;
    size_t count;
    int rc;

    stage_reader_go_back(self);
    rc = consumer_poll(self->consumer, wait_ms(self), &messages, &count, err);
    if (rc)
        return rc;
    if (count && know_all(self) && stage_reader_look_for_lost(self, messages, count) && begin(self))
        settled = stage_reader_run(self, messages, count);
    if (!stage_reader_settle(self, stage_reader_is_stopping(self)))
        return 0;
    arena_reset(self->arena);
    if (count && !settled)
        stage_reader_pause(self, &self->task, READER_BLOCKED_PAUSE_MS);
    return 0;
}

static void run(struct task *task, void *arg)
{
    struct stage_reader *self = arg;
    const struct stage_reader_handler *handler = self->options.handler;
    int64_t looked_us = INT64_MIN / 2;
    struct err err = {0};

    object_check(self, STAGE_READER_MAGIC);
    while (!task_is_stopping(task)) {
        int64_t now_us = clock_mono_us(task->clock);
        int rc;

        task_says(task, "reading its topic");
        rc = take_poll(self, &err);
        if (!rc && now_us - looked_us >= (int64_t)READER_RETRY_MS * MS_US) {
            task_says(task, "looking at what is parked");
            rc = begin(self) ? stage_reader_retry(self, &err) : 0;
            if (handler->look)
                handler->look(self->options.arg, self->consumer);
            looked_us = now_us;
        }
        if (rc && rc != ERR_STALE && rc != ERR_CANCELLED) {
            stage_reader_tell_fault(self, "reading a topic failed and is tried again", &err);
            task_pause(task, (int64_t)READER_RETRY_MS * MS_US);
        }
    }
    stage_reader_settle(self, true);
}

/* --- life --- */

static void open_metrics(struct stage_reader *self)
{
    char labels[64];

    snprintf(labels, sizeof(labels), "stage=\"%s\"", self->options.stage);
    self->parked_now = metrics_gauge("torg_parked", labels, "Records that are parked.");
    self->waiting = metrics_gauge("torg_stage_waiting_partitions", labels,
                                  "Partitions that wait for a record: strict mode, or no room.");
    self->parkings = metrics_counter("torg_stage_parkings_total", labels, "Records parked.");
    self->lost = metrics_counter("torg_stage_lost_total", labels,
                                 "Records that retention deleted before they were read.");
    self->errors =
        metrics_counter("torg_stage_errors_total", labels, "Failures to read or use, tried again.");
}

static int start_threads(struct stage_reader *self, struct err *err)
{
    const struct task_options task = {
        .name = self->options.stage, .run = run, .arg = self, .clock = self->options.clock};
    int rc = stage_reader_start_workers(self, err);

    return rc ? rc : task_start(&self->task, &task, err);
}

int stage_reader_start(const struct stage_reader_options *options, struct stage_reader **reader,
                       struct err *err)
{
    const struct consumer_options joining = {.group = options->group,
                                             .topics = &options->topic,
                                             .topic_count = 1,
                                             .start = TOPIC_START_EARLIEST,
                                             .poll_count = options->poll_count};
    struct stage_reader *self = mem_zero(sizeof(*self));
    int rc;

    assert(options->worker_count <= READER_WORKER_COUNT_MAX);
    assert(!options->worker_count || !options->handler->flush);
    object_begin(self, STAGE_READER_MAGIC);
    self->options = *options;
    self->arena = arena_new();
    self->retry_arena = arena_new();
    pthread_mutex_init(&self->lock, NULL);
    condition_init(&self->given, options->clock);
    condition_init(&self->taken, options->clock);
    open_metrics(self);
    rc = stage_make_topic(options->topics, options->topic, err);
    if (!rc)
        rc = consumer_open(options->topics, &joining, &self->consumer, err);
    *reader = self;
    if (!rc)
        rc = start_threads(self, err);
    if (rc) {
        stage_reader_stop(self);
        *reader = NULL;
    }
    return rc;
}

void stage_reader_stop(struct stage_reader *self)
{
    if (!self)
        return;
    object_check(self, STAGE_READER_MAGIC);
    task_ask_stop(&self->task);
    for (size_t i = 0; i < self->options.worker_count; i++)
        if (task_is_started(&self->workers[i].task))
            task_wake(&self->workers[i].task); /* it may pause before another try */
    task_stop(&self->task);
    stage_reader_stop_workers(self);
    consumer_close(self->consumer);
    condition_release(&self->taken);
    condition_release(&self->given);
    pthread_mutex_destroy(&self->lock);
    arena_free(self->retry_arena);
    arena_free(self->arena);
    free(self->known);
    object_end(self, STAGE_READER_MAGIC);
    free(self);
}
