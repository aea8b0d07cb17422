/* SPDX-License-Identifier: Apache-2.0 */
/* inbox.c - see inbox.h. */
#include "offers/inbox.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/condition.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/log_pace.h"
#include "base/memory.h"
#include "base/task.h"

enum { ALONE_COUNT_MAX = 3 }; /* a batch this small is not worth waking the lanes */

/* Applies those records of a batch whose keys are its own, in their order. */
struct lane {
    struct inbox *inbox;
    size_t number;
    struct task task;
};

struct inbox {
    struct log_pace pace; /* of failures that are tried again */
    struct inbox_options options;
    struct consumer *consumer;
    struct task task;
    struct lane lanes[INBOX_LANE_COUNT_MAX];
    pthread_mutex_t lock;
    struct condition given;               /* to the lanes: a batch, or the end */
    struct condition taken;               /* by the last lane */
    const struct topic_message *messages; /* guarded by lock, as all below: the batch */
    size_t count;
    uint64_t batch_number;
    size_t working_count; /* lanes that are not through with it */
    bool is_cut_short;    /* some of it was not applied: it is time to stop */
    bool is_ending;       /* no batch will come any more */
};

static int apply(struct inbox *self, const struct topic_message *message, struct err *err)
{
    struct arena *arena = arena_new();
    bool changed = false;
    int rc = self->options.apply(self->options.arg, message->value, arena, &changed, err);

    if (!rc)
        counter_add(changed ? self->options.applied : self->options.stale, 1);
    arena_free(arena);
    return rc;
}

/* Until it is applied, or will never be. False: it is time to stop. */
static bool settle(struct inbox *self, struct task *task, const struct topic_message *message)
{
    struct err err = {0};

    while (!task_is_stopping(task)) {
        int rc = apply(self, message, &err);

        if (!rc)
            return true;
        if (rc != ERR_UNAVAILABLE && rc != ERR_CONFLICT && rc != ERR_TIMEOUT) {
            counter_add(self->options.refused, 1);
            log_warn("a record is passed over", LOG_TEXT("what", self->options.what),
                     LOG_INT("partition", message->partition), LOG_INT("offset", message->offset),
                     LOG_TEXT("error", err.text));
            return true;
        }
        counter_add(self->options.errors, 1);
        if (log_pace_is_due(&self->pace, &err))
            log_warn("a record is tried again", LOG_TEXT("what", self->options.what),
                     LOG_TEXT("error", err.text));
        task_pause(task, (int64_t)INBOX_RETRY_S * SECOND_US);
    }
    return false;
}

/* Waits for the batch after `number`; false: there will be none. */
static bool lane_wait(struct inbox *self, struct task *task, uint64_t *number)
{
    bool is_ending;

    pthread_mutex_lock(&self->lock);
    while (self->batch_number == *number && !self->is_ending)
        task_wait_on(task, &self->given, &self->lock, CLOCK_NEVER);
    *number = self->batch_number;
    is_ending = self->is_ending;
    pthread_mutex_unlock(&self->lock);
    return !is_ending;
}

static void lane_done(struct inbox *self, bool whole)
{
    pthread_mutex_lock(&self->lock);
    self->is_cut_short = self->is_cut_short || !whole;
    self->working_count--;
    if (!self->working_count)
        condition_signal(&self->taken);
    pthread_mutex_unlock(&self->lock);
}

static void run_lane(struct task *task, void *arg)
{
    struct lane *lane = arg;
    struct inbox *self = lane->inbox;
    uint64_t number = 0;

    while (lane_wait(self, task, &number)) {
        bool whole = true;

        for (size_t i = 0; i < self->count && whole; i++) {
            if (hash64(self->messages[i].key) % self->options.lane_count == lane->number)
                whole = settle(self, task, &self->messages[i]);
        }
        lane_done(self, whole);
    }
}

/* Gives the batch to the lanes and waits for them; true: all of it was applied, or passed. */
static bool apply_batch(struct inbox *self, const struct topic_message *messages, size_t count)
{
    bool whole;

    pthread_mutex_lock(&self->lock);
    self->messages = messages;
    self->count = count;
    self->working_count = self->options.lane_count;
    self->is_cut_short = false;
    self->batch_number++;
    condition_broadcast(&self->given);
    while (self->working_count)
        condition_wait(&self->taken, &self->lock);
    whole = !self->is_cut_short;
    pthread_mutex_unlock(&self->lock);
    return whole;
}

static bool apply_alone(struct inbox *self, const struct topic_message *messages, size_t count)
{
    bool whole = true;

    for (size_t i = 0; i < count && whole; i++)
        whole = settle(self, &self->task, &messages[i]);
    return whole;
}

static int take_batch(struct inbox *self, struct err *err)
{
    const struct topic_message *messages;
    size_t count;
    int rc = consumer_poll(self->consumer, INBOX_POLL_MS, &messages, &count, err);

    if (rc || !count)
        return rc;
    if (!(count > ALONE_COUNT_MAX ? apply_batch(self, messages, count)
                                  : apply_alone(self, messages, count)))
        return 0; /* nothing of this batch is committed: it comes again */
    return consumer_commit_polled(self->consumer, err);
}

static void run(struct task *task, void *arg)
{
    struct inbox *self = arg;
    struct err err = {0};

    while (!task_is_stopping(task)) {
        int rc;

        task_says(task, "reading its topic");
        rc = take_batch(self, &err);

        if (rc && rc != ERR_STALE) { /* stale: another has the partition, and reads it again */
            counter_add(self->options.errors, 1);
            if (log_pace_is_due(&self->pace, &err))
                log_warn("reading a topic failed and is tried again",
                         LOG_TEXT("topic", self->options.topic), LOG_TEXT("error", err.text));
            task_pause(task, (int64_t)INBOX_RETRY_S * SECOND_US);
        }
    }
}

static int open_consumer(struct inbox *self, struct topics *topics, struct err *err)
{
    const char *const names[] = {self->options.topic};
    const struct topic_config config = {.partition_count = EXPORT_PARTITION_COUNT,
                                        .retention_ms = (int64_t)EXPORT_RETENTION_S * 1000};
    const struct consumer_options options = {.group = self->options.group,
                                             .topics = names,
                                             .topic_count = ARRAY_COUNT(names),
                                             .start = TOPIC_START_EARLIEST};
    struct topic_config found;
    int rc = topic_describe(topics, self->options.topic, &found, err);

    if (rc == ERR_NOT_FOUND)
        rc = topic_create(topics, self->options.topic, &config, err);
    return rc ? rc : consumer_open(topics, &options, &self->consumer, err);
}

static int start_tasks(struct inbox *self, struct err *err)
{
    struct task_options options = {
        .name = self->options.group, .run = run_lane, .clock = self->options.clock};
    int rc = 0;

    for (size_t i = 0; i < self->options.lane_count && !rc; i++) {
        self->lanes[i] = (struct lane){.inbox = self, .number = i};
        options.arg = &self->lanes[i];
        rc = task_start(&self->lanes[i].task, &options, err);
    }
    options.name = self->options.topic;
    options.run = run;
    options.arg = self;
    return rc ? rc : task_start(&self->task, &options, err);
}

int inbox_start(const struct inbox_options *options, struct topics *topics, struct inbox **inbox,
                struct err *err)
{
    struct inbox *self = mem_zero(sizeof(*self));
    int rc;

    assert(options->lane_count && options->lane_count <= INBOX_LANE_COUNT_MAX);
    *inbox = NULL;
    self->options = *options;
    rc = open_consumer(self, topics, err);
    if (rc) {
        free(self);
        return rc;
    }
    pthread_mutex_init(&self->lock, NULL);
    condition_init(&self->given, options->clock);
    condition_init(&self->taken, options->clock);
    rc = start_tasks(self, err);
    if (rc) {
        inbox_stop(self);
        return rc;
    }
    *inbox = self;
    return 0;
}

void inbox_stop(struct inbox *inbox)
{
    if (!inbox)
        return;
    for (size_t i = 0; i < inbox->options.lane_count; i++)
        task_ask_stop(&inbox->lanes[i].task);
    task_stop(&inbox->task);
    pthread_mutex_lock(&inbox->lock);
    inbox->is_ending = true;
    condition_broadcast(&inbox->given);
    pthread_mutex_unlock(&inbox->lock);
    for (size_t i = 0; i < inbox->options.lane_count; i++)
        task_stop(&inbox->lanes[i].task);
    consumer_close(inbox->consumer);
    condition_release(&inbox->taken);
    condition_release(&inbox->given);
    pthread_mutex_destroy(&inbox->lock);
    free(inbox);
}
