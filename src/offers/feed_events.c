/* SPDX-License-Identifier: Apache-2.0 */
/* feed_events.c - see feed_events.h. */
#include "offers/feed_events.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/log_pace.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/task.h"
#include "net/message.h"
#include "offers/feed_apply.h"
#include "offers/feed_intake.h"
#include "offers/feed_keep.h"
#include "offers/feed_rules.h"

struct feed_events {
    const struct offers *offers;
    struct consumer *consumer;
    struct task topic_task;
    struct task keeping_task;
    struct log_pace pace, keeping_pace;
    struct counter *applied;
    struct counter *refused;
    struct counter *errors;
    struct counter *resumed;
    struct counter *held;
    struct counter *forgotten;
};

/* --- a batch of records --- */

struct polled {
    struct feed_events *self;
    const struct topic_message *messages;
    size_t count;
    size_t done;  /* these are durable, or will never be applied */
    size_t taken; /* these are in the intake, or done */
    struct arena *arena;
    struct feed_intake intake; /* of one task; its arena is NULL when there is none */
};

static bool is_passing(int rc)
{
    return rc == ERR_UNAVAILABLE || rc == ERR_CONFLICT || rc == ERR_TIMEOUT;
}

static void pass_over(struct feed_events *self, const struct topic_message *message,
                      const struct err *err)
{
    counter_add(self->refused, 1);
    log_warn("an event of a feed is passed over", LOG_INT("partition", message->partition),
             LOG_INT("offset", (int64_t)message->offset), LOG_TEXT("error", err->text));
}

/* Writes what waits; what can never be written is passed over. ERR_CANCELLED: it is time to stop.
 */
static int settle(struct polled *polled, struct err *err)
{
    struct feed_events *self = polled->self;
    int rc = 0;

    if (polled->intake.arena) {
        do {
            rc = feed_intake_flush(&polled->intake, err);
            if (!is_passing(rc))
                break;
            counter_add(self->errors, 1);
            log_warn("events of a feed are tried again", LOG_TEXT("error", err->text));
            task_pause(&self->topic_task, FEED_RETRY_MS * MS_US);
        } while (!task_is_stopping(&self->topic_task));
        if (is_passing(rc))
            return ERR_CANCELLED;
        for (size_t i = polled->done; rc && i < polled->taken; i++)
            pass_over(self, &polled->messages[i], err);
        if (!rc)
            counter_add(self->applied, polled->taken - polled->done);
        feed_intake_release(&polled->intake);
    }
    polled->done = polled->taken;
    return 0;
}

static int decode(struct polled *polled, const struct topic_message *message,
                  Torg__V1__FeedEvent **event, struct feed_key *key, struct err *err)
{
    struct violations violations = violations_in(polled->arena);
    ProtobufCMessage *decoded;
    int rc = message_decode(message->value, &torg__v1__feed_event__descriptor, polled->arena,
                            &decoded, err);

    *event = (Torg__V1__FeedEvent *)decoded;
    if (rc)
        return rc;
    *key = (struct feed_key){(*event)->seller, (*event)->feed, (*event)->task_id};
    rc = feed_key_check(key, &violations, err);
    return rc ? rc : feed_event_check(*event, &violations, err);
}

static bool is_of(const struct feed_intake *intake, const struct feed_key *key)
{
    return intake->arena && intake->key.task_id == key->task_id &&
           strcmp(intake->key.seller, key->seller) == 0 && strcmp(intake->key.feed, key->feed) == 0;
}

/* *unfinished: it is an end with more to delete than one poll has time for. */
static int take(struct polled *polled, const Torg__V1__FeedEvent *event, const struct feed_key *key,
                bool *unfinished, struct err *err)
{
    struct feed_events *self = polled->self;
    const struct feed_patience patience = {.clock = self->offers->clock,
                                           .until_us = clock_mono_us(self->offers->clock) +
                                                       feed_rules_of(self->offers)->slice_us,
                                           .stopping = &self->topic_task.is_stopping};
    bool is_row = event->event_case == TORG__V1__FEED_EVENT__EVENT_UPSERT ||
                  event->event_case == TORG__V1__FEED_EVENT__EVENT_DELETE;
    struct feed_task task = {0};
    int rc = 0;

    *unfinished = false;
    /* What may wait to be written is rows of one task, and never more than a batch. */
    if (!is_of(&polled->intake, key) || !is_row || polled->intake.count == FEED_BATCH_COUNT ||
        polled->intake.size >= FEED_BATCH_SIZE)
        rc = settle(polled, err);
    if (rc)
        return rc;
    if (!polled->intake.arena)
        feed_intake_init(&polled->intake, self->offers, LANGUAGE_RU, key);
    rc = feed_intake_add(&polled->intake, event, &patience, polled->arena, &task, err);
    *unfinished = !rc && task.message && task.message->state == TORG__V1__FEED_TASK__STATE__ENDING;
    return rc;
}

/* Takes one record, until it is taken or will never be. ERR_CANCELLED: it is time to stop. */
static int take_message(struct polled *polled, bool *unfinished, struct err *err)
{
    const struct topic_message *message = &polled->messages[polled->taken];
    struct feed_events *self = polled->self;
    Torg__V1__FeedEvent *event;
    struct feed_key key;
    int rc = decode(polled, message, &event, &key, err);

    *unfinished = false;
    while (!rc) {
        rc = take(polled, event, &key, unfinished, err);
        if (rc == ERR_CANCELLED || (is_passing(rc) && task_is_stopping(&self->topic_task)))
            return ERR_CANCELLED;
        if (!is_passing(rc))
            break;
        counter_add(self->errors, 1);
        log_warn("an event of a feed is tried again", LOG_TEXT("error", err->text));
        task_pause(&self->topic_task, FEED_RETRY_MS * MS_US);
        rc = 0;
    }
    if (*unfinished)
        return 0;
    if (rc) {
        rc = settle(polled, err); /* what was good before it */
        if (rc)
            return rc;
        pass_over(self, message, err);
        polled->done++;
    }
    polled->taken++;
    return 0;
}

/* --- offsets --- */

/* The last of its partition among the first `count`. */
static bool is_last(const struct polled *polled, size_t place, size_t count)
{
    for (size_t i = place + 1; i < count; i++) {
        if (polled->messages[i].partition == polled->messages[place].partition)
            return false;
    }
    return true;
}

static bool is_first_left(const struct polled *polled, size_t place)
{
    for (size_t i = polled->done; i < place; i++) {
        if (polled->messages[i].partition == polled->messages[place].partition)
            return false;
    }
    return true;
}

/* Commits what is done; what is not is read again by the next poll. */
static int commit(struct polled *polled, struct err *err)
{
    struct topic_position *positions = mem_array(polled->count, sizeof(*positions));
    size_t count = 0;
    int rc = 0;

    for (size_t i = 0; i < polled->done; i++) {
        if (is_last(polled, i, polled->done))
            positions[count++] = (struct topic_position){.topic = polled->messages[i].topic,
                                                         .partition = polled->messages[i].partition,
                                                         .offset = polled->messages[i].offset + 1};
    }
    if (count)
        rc = consumer_commit(polled->self->consumer, positions, count, err);
    for (size_t i = polled->done; i < polled->count && !rc; i++) {
        if (is_first_left(polled, i))
            rc = consumer_seek(polled->self->consumer, polled->messages[i].topic,
                               polled->messages[i].partition, polled->messages[i].offset, err);
    }
    free(positions);
    return rc;
}

static int take_batch(struct feed_events *self, struct err *err)
{
    struct polled polled = {.self = self};
    bool unfinished = false;
    int rc = consumer_poll(self->consumer, FEED_POLL_MS, &polled.messages, &polled.count, err);

    if (rc || !polled.count)
        return rc;
    polled.arena = arena_new();
    while (!rc && !unfinished && polled.taken < polled.count)
        rc = take_message(&polled, &unfinished, err);
    if (!rc)
        rc = settle(&polled, err);
    if (rc != ERR_CANCELLED || polled.done)
        rc = commit(&polled, err);
    else
        rc = 0; /* nothing of it is committed: it comes again */
    feed_intake_release(&polled.intake);
    arena_free(polled.arena);
    return rc;
}

static void run_topic(struct task *task, void *arg)
{
    struct feed_events *self = arg;
    struct err err = {0};

    while (!task_is_stopping(task)) {
        int rc;

        task_says(task, "reading feeds");
        rc = take_batch(self, &err);

        if (rc && rc != ERR_STALE) { /* stale: another has the partition, and reads it again */
            counter_add(self->errors, 1);
            if (log_pace_is_due(&self->pace, &err))
                log_warn("reading feeds failed and is tried again", LOG_TEXT("error", err.text));
            task_pause(task, FEED_RETRY_MS * MS_US);
        }
    }
}

static void run_keeping(struct task *task, void *arg)
{
    struct feed_events *self = arg;
    struct err err = {0};

    do {
        struct feed_kept kept = {0};

        task_says(task, "keeping feeds");
        if (feed_keep(self->offers, &task->is_stopping, &kept, &err)) {
            counter_add(self->errors, 1);
            if (log_pace_is_due(&self->keeping_pace, &err))
                log_warn("keeping feeds failed and is tried again", LOG_TEXT("error", err.text));
        }
        counter_add(self->resumed, kept.resumed);
        counter_add(self->held, kept.held);
        counter_add(self->forgotten, kept.forgotten);
    } while (task_pause(task, KEEPING_PERIOD_MS * MS_US));
}

/* --- life --- */

static int open_consumer(struct feed_events *self, struct topics *topics, struct err *err)
{
    static const char *const names[] = {FEED_EVENTS_TOPIC};
    const struct topic_config config = {.partition_count = EXPORT_PARTITION_COUNT,
                                        .retention_ms = (int64_t)EXPORT_RETENTION_S * 1000};
    const struct consumer_options options = {.group = "offers-feeds",
                                             .topics = names,
                                             .topic_count = ARRAY_COUNT(names),
                                             .start = TOPIC_START_EARLIEST,
                                             .poll_count = FEED_POLL_COUNT};
    struct topic_config found;
    int rc = topic_describe(topics, FEED_EVENTS_TOPIC, &found, err);

    if (rc == ERR_NOT_FOUND)
        rc = topic_create(topics, FEED_EVENTS_TOPIC, &config, err);
    return rc ? rc : consumer_open(topics, &options, &self->consumer, err);
}

static void make_metrics(struct feed_events *self)
{
    static const char help[] = "Events of feeds read from the topic.";

    self->applied = metrics_counter("torg_feed_events_total", "result=\"applied\"", help);
    self->refused = metrics_counter("torg_feed_events_total", "result=\"passed over\"", help);
    self->errors = metrics_counter("torg_feed_errors_total", NULL,
                                   "Failures to read, apply or keep feeds, tried again.");
    self->resumed = metrics_counter("torg_feed_tasks_resumed_total", NULL,
                                    "Tasks whose deletion or undoing a worker went on with.");
    self->held = metrics_counter("torg_feed_tasks_held_total", NULL,
                                 "Tasks held because their rows stopped coming.");
    self->forgotten = metrics_counter("torg_feed_rows_forgotten_total", NULL,
                                      "Rows of old reports, and names of deleted offers.");
}

int feed_events_start(const struct offers *offers, struct topics *topics,
                      struct feed_events **events, struct err *err)
{
    struct feed_events *self = mem_zero(sizeof(*self));
    const struct task_options topic = {
        .name = "feed-events", .run = run_topic, .arg = self, .clock = offers->clock};
    const struct task_options keeping = {
        .name = "feed-keeper", .run = run_keeping, .arg = self, .clock = offers->clock};
    int rc = open_consumer(self, topics, err);

    *events = NULL;
    if (rc) {
        free(self);
        return rc;
    }
    self->offers = offers;
    make_metrics(self);
    rc = task_start(&self->topic_task, &topic, err);
    if (!rc)
        rc = task_start(&self->keeping_task, &keeping, err);
    if (rc) {
        feed_events_stop(self);
        return rc;
    }
    *events = self;
    return 0;
}

void feed_events_stop(struct feed_events *events)
{
    if (!events)
        return;
    task_ask_stop(&events->keeping_task);
    task_stop(&events->topic_task);
    task_stop(&events->keeping_task);
    consumer_close(events->consumer);
    free(events);
}
