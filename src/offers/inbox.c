/* SPDX-License-Identifier: Apache-2.0 */
/* inbox.c - see inbox.h. */
#include "offers/inbox.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/memory.h"

struct inbox {
    struct inbox_options options;
    struct consumer *consumer;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t stopped;
    atomic_bool stopping;
};

static void wait_a_little(struct inbox *self)
{
    struct timespec until;
    int rc = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += INBOX_RETRY_S;
    pthread_mutex_lock(&self->lock);
    while (!atomic_load(&self->stopping) && !rc)
        rc = pthread_cond_timedwait(&self->stopped, &self->lock, &until);
    pthread_mutex_unlock(&self->lock);
}

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
static bool settle(struct inbox *self, const struct topic_message *message)
{
    struct err err = {0};

    while (!atomic_load(&self->stopping)) {
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
        log_warn("a record is tried again", LOG_TEXT("what", self->options.what),
                 LOG_TEXT("error", err.text));
        wait_a_little(self);
    }
    return false;
}

static int take_batch(struct inbox *self, struct err *err)
{
    const struct topic_message *messages;
    size_t count;
    int rc = consumer_poll(self->consumer, INBOX_POLL_MS, &messages, &count, err);

    if (rc || !count)
        return rc;
    for (size_t i = 0; i < count; i++) {
        if (!settle(self, &messages[i]))
            return 0; /* nothing of this batch is committed: it comes again */
    }
    return consumer_commit_polled(self->consumer, err);
}

static void *run(void *arg)
{
    struct inbox *self = arg;
    struct err err = {0};

    while (!atomic_load(&self->stopping)) {
        int rc = take_batch(self, &err);

        if (rc && rc != ERR_STALE) { /* stale: another has the partition, and reads it again */
            counter_add(self->options.errors, 1);
            log_warn("reading a topic failed and is tried again",
                     LOG_TEXT("topic", self->options.topic), LOG_TEXT("error", err.text));
            wait_a_little(self);
        }
    }
    return NULL;
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

int inbox_start(const struct inbox_options *options, struct topics *topics, struct inbox **inbox,
                struct err *err)
{
    struct inbox *self = mem_zero(sizeof(*self));
    pthread_condattr_t attributes;
    int rc;

    *inbox = NULL;
    self->options = *options;
    rc = open_consumer(self, topics, err);
    if (rc) {
        free(self);
        return rc;
    }
    pthread_mutex_init(&self->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&self->stopped, &attributes);
    pthread_condattr_destroy(&attributes);
    rc = pthread_create(&self->thread, NULL, run, self);
    assert(!rc);
    *inbox = self;
    return 0;
}

void inbox_stop(struct inbox *inbox)
{
    if (!inbox)
        return;
    pthread_mutex_lock(&inbox->lock);
    atomic_store(&inbox->stopping, true);
    pthread_cond_signal(&inbox->stopped);
    pthread_mutex_unlock(&inbox->lock);
    pthread_join(inbox->thread, NULL);
    consumer_close(inbox->consumer);
    pthread_cond_destroy(&inbox->stopped);
    pthread_mutex_destroy(&inbox->lock);
    free(inbox);
}
