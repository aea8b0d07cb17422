/* SPDX-License-Identifier: Apache-2.0 */
/* events.c - see events.h. */
#include "feeds/apply/events.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/log_pace.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/object.h"
#include "base/task.h"
#include "codec/message.h"
#include "feeds/apply/apply.h"
#include "feeds/apply/intake.h"
#include "feeds/apply/keep.h"
#include "feeds/bounds.h"
#include "feeds/tasks/rules.h"
#include "model/topics.h"
#include "offers/bounds.h"
#include "stage/reader.h"

enum { FEED_EVENTS_MAGIC = OBJECT_MAGIC('f', 'e', 'v', 't') };

struct feed_events {
    uint32_t magic;
    const struct offers *offers;
    struct stage_reader *reader;
    struct task keeping_task;
    struct log_pace keeping_pace;
    struct feed_intake intake; /* of one task; its arena is NULL when there is none */
    const struct topic_message *sources[FEED_BATCH_COUNT]; /* of what is in it */
    size_t source_count;
    struct counter *applied;
    struct counter *refused;
    struct counter *errors;
    struct counter *resumed;
    struct counter *held;
    struct counter *forgotten;
};

/* --- records --- */

/* What can never be written: each for itself. */
static int park_all(struct feed_events *self, const char *reason, struct err *err)
{
    const struct feed_key *key = &self->intake.key;
    char *text = arena_printf(self->intake.arena, "%s/%s", key->seller, key->feed);
    size_t done = 0;
    int rc = 0;

    while (done < self->source_count && !rc) {
        const struct topic_message *message = self->sources[done];

        rc = stage_reader_park(self->reader, message, text, message->value, reason, err);
        done += !rc;
    }
    counter_add(self->refused, done);
    self->source_count -= done;
    memmove(self->sources, self->sources + done, self->source_count * sizeof(self->sources[0]));
    return rc;
}

/* Writes what waits. */
static int apply_waiting(struct feed_events *self, struct err *err)
{
    struct err reason;
    int rc;

    if (!self->intake.arena)
        return 0;
    rc = feed_intake_flush(&self->intake, &reason);
    if (err_is_passing(rc)) {
        *err = reason;
        return rc;
    }
    if (rc)
        rc = park_all(self, reason.text, err);
    else
        counter_add(self->applied, self->source_count);
    if (rc)
        return rc;
    self->source_count = 0;
    feed_intake_release(&self->intake);
    return 0;
}

static int flush(void *arg, uint32_t partition, bool is_forced, bool *is_flushed, struct err *err)
{
    (void)partition; /* a batch is of one task, and that of one partition */
    (void)is_forced;
    *is_flushed = true;
    return apply_waiting(arg, err);
}

static int decode(const struct topic_message *message, struct arena *arena,
                  Torg__V1__FeedEvent **event, struct feed_key *key, struct err *err)
{
    struct violations violations = violations_in(arena);
    ProtobufCMessage *decoded;
    int rc =
        message_decode(message->value, &torg__v1__feed_event__descriptor, arena, &decoded, err);

    *event = (Torg__V1__FeedEvent *)decoded;
    if (rc)
        return rc;
    *key = (struct feed_key){
        .seller = (*event)->seller, .feed = (*event)->feed, .task_id = (*event)->task_id};
    rc = feed_key_check(key, &violations, err);
    return rc ? rc : feed_event_check(*event, &violations, err);
}

static bool is_of(const struct feed_intake *intake, const struct feed_key *key)
{
    return intake->arena && intake->key.task_id == key->task_id &&
           strcmp(intake->key.seller, key->seller) == 0 && strcmp(intake->key.feed, key->feed) == 0;
}

/* An end with more to delete than one poll has time for is gone on with by the next. */
static int add(struct feed_events *self, const Torg__V1__FeedEvent *event,
               const struct feed_key *key, bool is_row, struct arena *arena, struct err *err)
{
    const struct clock *clock = self->offers->clock;
    const struct feed_patience patience = {.clock = clock,
                                           .until_us = clock_mono_us(clock) +
                                                       feed_rules_of(self->offers)->slice_us,
                                           .stopping = stage_reader_stopping(self->reader)};
    struct feed_task task = {0};
    int rc;

    if (!self->intake.arena)
        feed_intake_init(&self->intake, self->offers, LANGUAGE_RU, key);
    rc = feed_intake_add(&self->intake, event, &patience, arena, &task, err);
    if (!is_row && !err_is_passing(rc)) /* nothing of it waits */
        feed_intake_release(&self->intake);
    if (!rc && task.message && task.message->state == TORG__V1__FEED_TASK__STATE__ENDING)
        rc = STAGE_READER_NOT_YET;
    return rc;
}

static int use_record(void *arg, const struct topic_message *message, struct arena *arena,
                      struct err *err)
{
    struct feed_events *self = arg;
    Torg__V1__FeedEvent *event;
    struct feed_key key;
    bool is_row;
    int rc = decode(message, arena, &event, &key, err);

    object_check(self, FEED_EVENTS_MAGIC);
    if (rc) {
        counter_add(self->refused, 1);
        return rc;
    }
    is_row = event->event_case == TORG__V1__FEED_EVENT__EVENT_UPSERT ||
             event->event_case == TORG__V1__FEED_EVENT__EVENT_DELETE;
    /* What may wait to be written is rows of one task, and never more than a batch. */
    if (!is_of(&self->intake, &key) || !is_row || self->intake.count == FEED_BATCH_COUNT ||
        self->intake.size >= FEED_BATCH_SIZE)
        rc = apply_waiting(self, err);
    if (!rc)
        rc = add(self, event, &key, is_row, arena, err);
    if (!rc && is_row)
        self->sources[self->source_count++] = message;
    else if (!rc)
        counter_add(self->applied, 1);
    else if (rc < 0 && !err_is_passing(rc))
        counter_add(self->refused, 1);
    return rc;
}

/* --- keeping --- */

static void run_keeping(struct task *task, void *arg)
{
    struct feed_events *self = arg;
    struct err err = {0};

    object_check(self, FEED_EVENTS_MAGIC);
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
        counter_add(self->errors, kept.failed);
    } while (task_pause(task, KEEPING_PERIOD_MS * MS_US));
}

/* --- life --- */

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

static int start_reader(struct feed_events *self, struct topics *topics, struct err *err)
{
    static const struct stage_reader_handler handler = {.take = use_record, .flush = flush};
    const struct stage_reader_options options = {.stage = PARKED_BY_FEEDS,
                                                 .topic = TOPIC_FEED_EVENTS,
                                                 .group = "offers-feeds",
                                                 .handler = &handler,
                                                 .arg = self,
                                                 .topics = topics,
                                                 .store = self->offers->store,
                                                 .clock = self->offers->clock,
                                                 .order = PARKED_ASIDE,
                                                 .poll_count = FEED_POLL_COUNT};

    return stage_reader_start(&options, &self->reader, err);
}

int feed_events_start(const struct offers *offers, struct topics *topics,
                      struct feed_events **events, struct err *err)
{
    struct feed_events *self = mem_zero(sizeof(*self));
    const struct task_options keeping = {
        .name = "feed-keeper", .run = run_keeping, .arg = self, .clock = offers->clock};
    int rc;

    object_begin(self, FEED_EVENTS_MAGIC);
    *events = NULL;
    self->offers = offers;
    make_metrics(self);
    rc = start_reader(self, topics, err);
    if (!rc)
        rc = task_start(&self->keeping_task, &keeping, err);
    if (rc)
        feed_events_stop(self);
    else
        *events = self;
    return rc;
}

void feed_events_stop(struct feed_events *events)
{
    if (!events)
        return;
    object_check(events, FEED_EVENTS_MAGIC);
    task_ask_stop(&events->keeping_task);
    stage_reader_stop(events->reader);
    task_stop(&events->keeping_task);
    feed_intake_release(&events->intake);
    object_end(events, FEED_EVENTS_MAGIC);
    free(events);
}
