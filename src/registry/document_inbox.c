/* SPDX-License-Identifier: Apache-2.0 */
/* document_inbox.c - see document_inbox.h. */
#include "registry/document_inbox.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/log_pace.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/task.h"
#include "net/message.h"

struct document_inbox {
    const struct receiver *receiver;
    struct topics *topics;
    struct consumer *consumer;
    struct task task;
    struct log_pace pace;
    struct counter *dead;
    struct counter *errors;
    struct gauge *lag;
};

/* Documents of one client and lane that stood one behind the other. */
struct run {
    const char *client;
    enum lane lane;
    Torg__V1__RawDocument *documents[DOCUMENT_BATCH_COUNT_MAX];
    const struct topic_message *sources[DOCUMENT_BATCH_COUNT_MAX];
    size_t count;
};

/* Failures of the world are waited out; false: it is time to stop. */
static bool may_try_again(struct document_inbox *self, const char *what, const struct err *err)
{
    counter_add(self->errors, 1);
    if (log_pace_is_due(&self->pace, err))
        log_warn("the topic of documents waits: tried again", LOG_TEXT("what", what),
                 LOG_TEXT("error", err->text));
    return task_pause(&self->task, DOCUMENT_INBOX_RETRY_MS * MS_US);
}

/* --- dead letters --- */

static int make_topic(struct document_inbox *self, const char *topic, struct err *err)
{
    const struct topic_config config = {.partition_count = 1};

    return topic_ensure(self->topics, topic, &config, err);
}

static int produce_dead(struct document_inbox *self, const char *topic,
                        const Torg__V1__DeadDocument *dead, struct err *err)
{
    struct buf value = BUF_INIT(TOPIC_VALUE_SIZE_MAX);
    int rc = make_topic(self, topic, err);

    if (rc == ERR_LIMIT) { /* no topic more can be made: the one of all was made at the start */
        topic = DOCUMENT_DEAD_TOPIC;
        rc = 0;
    }
    message_encode(&dead->base, &value);
    if (!rc && buf_failed(&value))
        rc = err_set(err, ERR_LIMIT, "larger than a record");
    if (!rc) {
        struct topic_record record = {.key = bytes_of(dead->document ? dead->document->pk : ""),
                                      .value = buf_bytes(&value)};

        if (record.key.size > TOPIC_KEY_SIZE_MAX) /* that is why it is dead */
            record.key.size = TOPIC_KEY_SIZE_MAX;
        rc = topic_produce(self->topics, topic, &record, 1, NULL, err);
    }
    buf_release(&value);
    return rc;
}

/* The beginning of a text, by whole characters. */
static char *beginning_of(const char *text, size_t size_max, struct arena *arena)
{
    size_t size = strlen(text);

    if (size > size_max) {
        size = size_max;
        while (size > 0 && ((uint8_t)text[size] & 0xc0) == 0x80)
            size--;
    }
    return arena_text(arena, bytes_make(text, size));
}

/* What does not fit is kept without its content, and with the beginning of its key. */
static void shrink(Torg__V1__DeadDocument *dead, struct arena *arena)
{
    if (dead->document) {
        Torg__V1__RawDocument *copy = arena_alloc(arena, sizeof(*copy));

        *copy = *dead->document;
        copy->pk = beginning_of(copy->pk, DOCUMENT_PK_SIZE_MAX, arena);
        copy->placement_class = beginning_of(copy->placement_class, DOCUMENT_CLASS_SIZE_MAX, arena);
        copy->n_fields = 0;
        copy->base.n_unknown_fields = 0;
        dead->document = copy;
    }
    dead->verdict->pk = beginning_of(dead->verdict->pk, DOCUMENT_PK_SIZE_MAX, arena);
    dead->record.len = 0;
}

/* Until it is durable. ERR_CANCELLED: it is time to stop. */
static int bury(struct document_inbox *self, const char *topic, Torg__V1__DeadDocument *dead,
                const struct topic_message *source, struct arena *arena)
{
    bool is_whole = true;
    struct err err = {0};
    int rc;

    dead->partition = source->partition;
    dead->offset = source->offset;
    counter_add(self->dead, 1);
    for (;;) {
        rc = produce_dead(self, topic, dead, &err);
        if (!rc)
            return 0;
        if (rc == ERR_LIMIT && is_whole) {
            shrink(dead, arena);
            is_whole = false;
            continue;
        }
        if (!may_try_again(self, topic, &err))
            return ERR_CANCELLED;
    }
}

static int bury_document(struct document_inbox *self, const struct run *run, size_t place,
                         Torg__V1__Verdict *verdict, struct arena *arena)
{
    Torg__V1__DeadDocument *dead =
        (Torg__V1__DeadDocument *)message_new(&torg__v1__dead_document__descriptor, arena);

    dead->client = (char *)run->client;
    dead->document = run->documents[place];
    dead->verdict = verdict;
    return bury(self, arena_printf(arena, DOCUMENT_DEAD_TOPIC ".%s", run->client), dead,
                run->sources[place], arena);
}

static Torg__V1__Verdict *refusal(const char *why, struct arena *arena)
{
    Torg__V1__Verdict *verdict =
        (Torg__V1__Verdict *)message_new(&torg__v1__verdict__descriptor, arena);

    verdict->kind = TORG__V1__VERDICT__KIND__INVALID;
    verdict->reasons = arena_array(arena, 1, sizeof(Torg__V1__Reason *));
    verdict->reasons[0] = (Torg__V1__Reason *)message_new(&torg__v1__reason__descriptor, arena);
    verdict->reasons[verdict->n_reasons++]->text = arena_strdup(arena, why);
    return verdict;
}

static int bury_record(struct document_inbox *self, const struct topic_message *message,
                       const char *why, struct arena *arena)
{
    Torg__V1__DeadDocument *dead =
        (Torg__V1__DeadDocument *)message_new(&torg__v1__dead_document__descriptor, arena);

    log_warn("a record of documents cannot be taken", LOG_INT("partition", message->partition),
             LOG_INT("offset", message->offset), LOG_TEXT("error", why));
    dead->verdict = refusal(why, arena);
    dead->record.data = (uint8_t *)message->value.data;
    dead->record.len = message->value.size;
    return bury(self, DOCUMENT_DEAD_TOPIC, dead, message, arena);
}

/* --- runs --- */

/* Takes the undecided to the front, in order. */
static int settle_verdicts(struct document_inbox *self, struct run *run,
                           Torg__V1__Verdict **verdicts, struct arena *arena)
{
    size_t left = 0;
    int rc = 0;

    for (size_t i = 0; i < run->count && !rc; i++) {
        Torg__V1__Verdict__Kind kind = verdicts[i]->kind;

        if (kind == TORG__V1__VERDICT__KIND__INVALID ||
            kind == TORG__V1__VERDICT__KIND__EPOCH_TOO_OLD)
            rc = bury_document(self, run, i, verdicts[i], arena);
        if (kind != TORG__V1__VERDICT__KIND__UNAVAILABLE)
            continue;
        run->documents[left] = run->documents[i];
        run->sources[left++] = run->sources[i];
    }
    run->count = left;
    return rc;
}

/* The whole run is refused: its client cannot be made, or read. It must not stand in the way of
 * others. */
static int bury_run(struct document_inbox *self, struct run *run, const char *why,
                    struct arena *arena)
{
    int rc = 0;

    for (size_t i = 0; i < run->count && !rc; i++) {
        Torg__V1__DeadDocument *dead =
            (Torg__V1__DeadDocument *)message_new(&torg__v1__dead_document__descriptor, arena);

        dead->client = (char *)run->client;
        dead->document = run->documents[i];
        dead->verdict = refusal(why, arena);
        rc = bury(self, DOCUMENT_DEAD_TOPIC, dead, run->sources[i], arena);
    }
    run->count = 0;
    return rc;
}

/* Until every document of the run is decided on. ERR_CANCELLED: it is time to stop. */
static int settle(struct document_inbox *self, struct run *run, struct arena *arena)
{
    struct err err = {0};
    int rc = 0;

    while (run->count && !rc) {
        struct arena_mark mark = arena_mark(arena); /* a store may be away for hours */
        Torg__V1__Verdict **verdicts;

        rc = receiver_put(self->receiver, run->client, run->lane, run->documents, run->count, arena,
                          &verdicts, &err);
        rc =
            rc ? bury_run(self, run, err.text, arena) : settle_verdicts(self, run, verdicts, arena);
        arena_rewind(arena, mark);
        if (!rc && run->count) {
            err_set(&err, ERR_UNAVAILABLE, "the store did not answer");
            rc = may_try_again(self, run->client, &err) ? 0 : ERR_CANCELLED;
        }
    }
    return rc;
}

static int check_batch(const Torg__V1__QualifiedBatch *batch, struct err *err)
{
    if (batch->n_documents < 1 || batch->n_documents > DOCUMENT_BATCH_COUNT_MAX)
        return err_set(err, ERR_INVALID, "documents: %zu of them; expected 1 to %d",
                       batch->n_documents, DOCUMENT_BATCH_COUNT_MAX);
    if ((unsigned)batch->lane >= LANE_FAILED)
        return err_set(err, ERR_INVALID, "lane: expected MAIN, BACKFILL or EMERGENCY");
    return client_check_name(batch->client, err);
}

static int take_record(struct document_inbox *self, const struct topic_message *message,
                       struct run *run, struct arena *arena)
{
    const Torg__V1__QualifiedBatch *batch;
    ProtobufCMessage *decoded;
    struct err err = {0};
    int rc = message_decode(message->value, &torg__v1__qualified_batch__descriptor, arena, &decoded,
                            &err);

    batch = (const Torg__V1__QualifiedBatch *)decoded;
    if (!rc)
        rc = check_batch(batch, &err);
    if (rc)
        return bury_record(self, message, err.text, arena);
    if (run->count &&
        (strcmp(run->client, batch->client) != 0 || run->lane != (enum lane)batch->lane ||
         run->count + batch->n_documents > DOCUMENT_BATCH_COUNT_MAX))
        rc = settle(self, run, arena);
    run->client = batch->client;
    run->lane = (enum lane)batch->lane;
    for (size_t i = 0; i < batch->n_documents && !rc; i++) {
        run->documents[run->count] = batch->documents[i];
        run->sources[run->count++] = message;
    }
    return rc;
}

static int take_poll(struct document_inbox *self, struct arena *arena, struct err *err)
{
    struct run *run = arena_zero(arena, sizeof(*run));
    const struct topic_message *messages;
    size_t count;
    int rc = consumer_poll(self->consumer, DOCUMENT_INBOX_POLL_MS, &messages, &count, err);

    if (rc || !count)
        return rc;
    for (size_t i = 0; i < count && !rc; i++)
        rc = take_record(self, &messages[i], run, arena);
    if (!rc)
        rc = settle(self, run, arena);
    if (rc == ERR_CANCELLED)
        return 0; /* nothing of this poll is committed: it comes again */
    return rc ? rc : consumer_commit_polled(self->consumer, err);
}

/* What cannot be asked stays as it was: a sum over some is no lag, and to wait for one partition
 * after the other, seconds for each, would keep the inbox from its stop, and out of its group. */
static void measure_lag(struct document_inbox *self)
{
    struct topic_position ours[TOPIC_PARTITION_COUNT_MAX]; /* others may have made the topic */
    size_t count = 0;
    int64_t lag = 0;

    if (consumer_assignment(self->consumer, ours, ARRAY_COUNT(ours), &count, NULL))
        return;
    for (size_t i = 0; i < count && i < ARRAY_COUNT(ours); i++) {
        struct topic_lag one;

        if (topic_lag(self->topics, DOCUMENT_GROUP, DOCUMENT_TOPIC, ours[i].partition, &one, NULL))
            return;
        lag += (int64_t)one.lag;
    }
    gauge_set(self->lag, lag);
}

static void run_inbox(struct task *task, void *arg)
{
    struct document_inbox *self = arg;
    struct arena *arena = arena_new();
    int64_t measured_us = 0;
    struct err err = {0};

    while (!task_is_stopping(task)) {
        int64_t now_us = clock_mono_us(task->clock);
        int rc;

        task_says(task, "reading documents");
        rc = take_poll(self, arena, &err);

        if (rc && rc != ERR_STALE) /* stale: another has the partition, and reads it again */
            may_try_again(self, DOCUMENT_TOPIC, &err);
        if (now_us - measured_us > SECOND_US) {
            measure_lag(self);
            measured_us = now_us;
        }
        arena_reset(arena);
    }
    arena_free(arena);
}

static int open_consumer(struct document_inbox *self, struct err *err)
{
    const char *const names[] = {DOCUMENT_TOPIC};
    const struct topic_config config = {.partition_count = DOCUMENT_TOPIC_PARTITION_COUNT,
                                        .retention_ms = (int64_t)DOCUMENT_TOPIC_RETENTION_S * 1000};
    const struct consumer_options options = {.group = DOCUMENT_GROUP,
                                             .topics = names,
                                             .topic_count = ARRAY_COUNT(names),
                                             .start = TOPIC_START_EARLIEST};
    int rc = topic_ensure(self->topics, DOCUMENT_TOPIC, &config, err);

    if (!rc)
        rc = make_topic(self, DOCUMENT_DEAD_TOPIC, err);
    return rc ? rc : consumer_open(self->topics, &options, &self->consumer, err);
}

int document_inbox_start(const struct receiver *receiver, struct topics *topics,
                         struct document_inbox **inbox, struct err *err)
{
    struct document_inbox *self = mem_zero(sizeof(*self));
    const struct task_options task = {
        .name = "documents", .run = run_inbox, .arg = self, .clock = receiver->clock};
    int rc;

    *inbox = NULL;
    self->receiver = receiver;
    self->topics = topics;
    rc = open_consumer(self, err);
    if (rc) {
        free(self);
        return rc;
    }
    self->dead = metrics_counter("torg_registry_dead_documents_total", NULL,
                                 "Documents of the topic that were refused and kept apart.");
    self->errors = metrics_counter("torg_registry_topic_errors_total", NULL,
                                   "Failures while the topic of documents was read; tried again.");
    self->lag = metrics_gauge("torg_registry_topic_lag", NULL,
                              "Records of the topic of documents that wait for this receiver.");
    rc = task_start(&self->task, &task, err);
    if (rc)
        document_inbox_stop(self);
    else
        *inbox = self;
    return rc;
}

void document_inbox_stop(struct document_inbox *inbox)
{
    if (!inbox)
        return;
    task_stop(&inbox->task);
    consumer_close(inbox->consumer);
    free(inbox);
}
