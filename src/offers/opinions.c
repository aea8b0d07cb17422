/* SPDX-License-Identifier: Apache-2.0 */
/* opinions.c - see opinions.h. */
#include "offers/opinions.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "net/message.h"
#include "offers/moderation.h"

struct opinions {
    const struct offers *offers;
    struct consumer *consumer;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t stopped;
    atomic_bool stopping;
    struct counter *applied;
    struct counter *stale;
    struct counter *refused;
    struct counter *errors;
};

static void wait_a_little(struct opinions *self)
{
    struct timespec until;
    int rc = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += OPINION_RETRY_S;
    pthread_mutex_lock(&self->lock);
    while (!atomic_load(&self->stopping) && !rc)
        rc = pthread_cond_timedwait(&self->stopped, &self->lock, &until);
    pthread_mutex_unlock(&self->lock);
}

static int apply(struct opinions *self, const struct topic_message *message, struct err *err)
{
    struct arena *arena = arena_new();
    struct violations violations = violations_in(arena);
    Torg__V1__GiveOpinionResponse answer = TORG__V1__GIVE_OPINION_RESPONSE__INIT;
    Torg__V1__ModerationOpinion *opinion;
    ProtobufCMessage *decoded;
    int rc = message_decode(message->value, &torg__v1__moderation_opinion__descriptor, arena,
                            &decoded, err);

    opinion = (Torg__V1__ModerationOpinion *)decoded;
    if (!rc && opinion_check(opinion, &violations))
        rc = err_set(err, ERR_INVALID, "%s: %s", violations.first->field, violations.first->reason);
    if (!rc)
        rc = moderation_apply(self->offers, opinion, arena, &answer, err);
    if (!rc)
        counter_add(answer.applied ? self->applied : self->stale, 1);
    arena_free(arena);
    return rc;
}

/* Until it is applied, or will never be. False: it is time to stop. */
static bool settle(struct opinions *self, const struct topic_message *message)
{
    struct err err = {0};

    while (!atomic_load(&self->stopping)) {
        int rc = apply(self, message, &err);

        if (!rc)
            return true;
        if (rc != ERR_UNAVAILABLE && rc != ERR_CONFLICT && rc != ERR_TIMEOUT) {
            counter_add(self->refused, 1);
            log_warn("an opinion is passed over", LOG_INT("partition", message->partition),
                     LOG_INT("offset", message->offset), LOG_TEXT("error", err.text));
            return true;
        }
        counter_add(self->errors, 1);
        log_warn("an opinion is tried again", LOG_TEXT("error", err.text));
        wait_a_little(self);
    }
    return false;
}

static int take_batch(struct opinions *self, struct err *err)
{
    const struct topic_message *messages;
    size_t count;
    int rc = consumer_poll(self->consumer, OPINION_POLL_MS, &messages, &count, err);

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
    struct opinions *self = arg;
    struct err err = {0};

    while (!atomic_load(&self->stopping)) {
        int rc = take_batch(self, &err);

        if (rc && rc != ERR_STALE) { /* stale: another has the partition, and reads it again */
            counter_add(self->errors, 1);
            log_warn("reading opinions failed and is tried again", LOG_TEXT("error", err.text));
            wait_a_little(self);
        }
    }
    return NULL;
}

static int open_consumer(struct opinions *self, struct topics *topics, struct err *err)
{
    static const char *const names[] = {OPINIONS_TOPIC};
    const struct topic_config config = {.partition_count = EXPORT_PARTITION_COUNT,
                                        .retention_ms = (int64_t)EXPORT_RETENTION_S * 1000};
    const struct consumer_options options = {.group = "offers-moderation",
                                             .topics = names,
                                             .topic_count = ARRAY_COUNT(names),
                                             .start = TOPIC_START_EARLIEST};
    struct topic_config found;
    int rc = topic_describe(topics, OPINIONS_TOPIC, &found, err);

    if (rc == ERR_NOT_FOUND)
        rc = topic_create(topics, OPINIONS_TOPIC, &config, err);
    return rc ? rc : consumer_open(topics, &options, &self->consumer, err);
}

int opinions_start(const struct offers *offers, struct topics *topics, struct opinions **opinions,
                   struct err *err)
{
    struct opinions *self = mem_zero(sizeof(*self));
    pthread_condattr_t attributes;
    int rc = open_consumer(self, topics, err);

    *opinions = NULL;
    if (rc) {
        free(self);
        return rc;
    }
    self->offers = offers;
    self->applied =
        metrics_counter("torg_moderation_opinions_total", "result=\"applied\"", "Opinions read.");
    self->stale =
        metrics_counter("torg_moderation_opinions_total", "result=\"stale\"", "Opinions read.");
    self->refused =
        metrics_counter("torg_moderation_opinions_total", "result=\"refused\"", "Opinions read.");
    self->errors = metrics_counter("torg_moderation_errors_total", NULL,
                                   "Failures to read or apply opinions, tried again.");
    pthread_mutex_init(&self->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&self->stopped, &attributes);
    pthread_condattr_destroy(&attributes);
    rc = pthread_create(&self->thread, NULL, run, self);
    assert(!rc);
    *opinions = self;
    return 0;
}

void opinions_stop(struct opinions *opinions)
{
    if (!opinions)
        return;
    pthread_mutex_lock(&opinions->lock);
    atomic_store(&opinions->stopping, true);
    pthread_cond_signal(&opinions->stopped);
    pthread_mutex_unlock(&opinions->lock);
    pthread_join(opinions->thread, NULL);
    consumer_close(opinions->consumer);
    pthread_cond_destroy(&opinions->stopped);
    pthread_mutex_destroy(&opinions->lock);
    free(opinions);
}
