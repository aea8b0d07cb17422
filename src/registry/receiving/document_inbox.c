/* SPDX-License-Identifier: Apache-2.0 */
/* document_inbox.c - see document_inbox.h. A handler of the stage's reader (stage/reader.h). */
#include "registry/receiving/document_inbox.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/metrics.h"
#include "base/object.h"
#include "codec/message.h"
#include "model/topics.h"
#include "registry/bounds.h"
#include "stage/reader.h"
#include "topic/bounds.h"

/* Documents of one client and lane that stood one behind the other. */
struct run {
    const char *client;
    enum lane lane;
    Torg__V1__RawDocument *documents[DOCUMENT_BATCH_COUNT_MAX];
    const struct topic_message *sources[DOCUMENT_BATCH_COUNT_MAX];
    size_t count;
};

enum { DOCUMENT_INBOX_MAGIC = OBJECT_MAGIC('d', 'i', 'n', 'b') };

struct document_inbox {
    uint32_t magic;
    const struct receiver *receiver;
    struct topics *topics;
    struct stage_reader *reader;
    struct run run;
    struct gauge *lag;
};

/* --- what is refused --- */

/* A record of its own that has nothing but the document. */
static int park(struct document_inbox *self, size_t place, const char *reason, struct err *err)
{
    struct run *run = &self->run;
    struct buf key = BUF_INIT(TOPIC_VALUE_SIZE_MAX + CLIENT_NAME_SIZE_MAX + 2);
    struct buf body = BUF_INIT(TOPIC_VALUE_SIZE_MAX);
    Torg__V1__QualifiedBatch batch = TORG__V1__QUALIFIED_BATCH__INIT;
    int rc;

    batch.client = (char *)run->client;
    batch.lane = (Torg__V1__QueueLane__Name)run->lane;
    batch.documents = &run->documents[place];
    batch.n_documents = 1;
    message_encode(&batch.base, &body);
    buf_printf(&key, "%s/%s", run->client, run->documents[place]->pk);
    rc = stage_reader_park(self->reader, run->sources[place], buf_text(&key), buf_bytes(&body),
                           reason, err);
    buf_release(&body);
    buf_release(&key);
    return rc;
}

static const char *reason_of(const Torg__V1__Verdict *verdict, struct arena *arena)
{
    const char *text = verdict->kind == TORG__V1__VERDICT__KIND__EPOCH_TOO_OLD
                           ? "its epoch is too old"
                           : "it is invalid";

    for (size_t i = 0; i < verdict->n_reasons; i++)
        text = arena_printf(arena, "%.200s%s%.100s: %.200s", i ? text : "", i ? "; " : "",
                            verdict->reasons[i]->field, verdict->reasons[i]->text);
    return text;
}

static int decide(struct document_inbox *self, size_t place, const Torg__V1__Verdict *verdict,
                  struct arena *arena, struct err *err)
{
    const struct run *run = &self->run;

    if (verdict->kind == TORG__V1__VERDICT__KIND__INVALID ||
        verdict->kind == TORG__V1__VERDICT__KIND__EPOCH_TOO_OLD)
        return park(self, place, reason_of(verdict, arena), err);
    return stage_reader_used(self->reader, run->sources[place],
                             arena_printf(arena, "%s/%s", run->client, run->documents[place]->pk),
                             err);
}

/* --- runs --- */

/* Those that are not decided on, and from a failure on all, go to the front, in order. */
static int take_verdicts(struct document_inbox *self, Torg__V1__Verdict **verdicts,
                         struct arena *arena, struct err *err)
{
    struct run *run = &self->run;
    size_t left = 0;
    int rc = 0;

    for (size_t i = 0; i < run->count; i++) {
        bool is_open = verdicts[i]->kind == TORG__V1__VERDICT__KIND__UNAVAILABLE;

        if (!rc && !is_open)
            rc = decide(self, i, verdicts[i], arena, err);
        if (!rc && !is_open)
            continue;
        run->documents[left] = run->documents[i];
        run->sources[left++] = run->sources[i];
    }
    run->count = left;
    if (!rc && left)
        rc = err_set(err, ERR_UNAVAILABLE, "the store did not answer");
    return rc;
}

/* The whole run is refused: its client cannot be made, or read. It must not stand in the way of
 * others. */
static int park_run(struct document_inbox *self, const char *why, struct err *err)
{
    struct run *run = &self->run;
    size_t done = 0;
    int rc = 0;

    while (done < run->count && !rc) {
        rc = park(self, done, why, err);
        done += !rc;
    }
    run->count -= done;
    memmove(run->documents, run->documents + done, run->count * sizeof(run->documents[0]));
    memmove(run->sources, run->sources + done, run->count * sizeof(run->sources[0]));
    return rc;
}

static int put_run(struct document_inbox *self, struct err *err)
{
    struct run *run = &self->run;
    struct arena *arena;
    Torg__V1__Verdict **verdicts;
    struct err refusal;
    int rc;

    if (!run->count)
        return 0;
    arena = arena_new();
    rc = receiver_put(self->receiver, run->client, run->lane, run->documents, run->count, arena,
                      &verdicts, &refusal);
    rc = rc ? park_run(self, refusal.text, err) : take_verdicts(self, verdicts, arena, err);
    arena_free(arena);
    return rc;
}

static int flush(void *arg, uint32_t partition, bool is_forced, bool *is_flushed, struct err *err)
{
    (void)partition; /* runs are of all of them */
    (void)is_forced;
    *is_flushed = true;
    return put_run(arg, err);
}

/* --- records --- */

static int check_batch(const Torg__V1__QualifiedBatch *batch, struct err *err)
{
    if (batch->n_changes > DOCUMENT_BATCH_COUNT_MAX)
        return err_set(err, ERR_INVALID, "changes: %zu of them; expected at most %d",
                       batch->n_changes, DOCUMENT_BATCH_COUNT_MAX);
    if ((!batch->n_documents && !batch->n_changes) || batch->n_documents > DOCUMENT_BATCH_COUNT_MAX)
        return err_set(err, ERR_INVALID, "documents: %zu of them; expected 1 to %d",
                       batch->n_documents, DOCUMENT_BATCH_COUNT_MAX);
    if ((unsigned)batch->lane >= LANE_FAILED)
        return err_set(err, ERR_INVALID, "lane: expected MAIN, BACKFILL or EMERGENCY");
    return client_check_name(batch->client, err);
}

/* --- changes of side fields --- */

/* A record of its own that has nothing but the change. */
static int park_change(struct document_inbox *self, const struct topic_message *message,
                       const char *client, Torg__V1__FieldChange *change, const char *reason,
                       struct err *err)
{
    struct buf body = BUF_INIT(TOPIC_VALUE_SIZE_MAX);
    Torg__V1__QualifiedBatch batch = TORG__V1__QUALIFIED_BATCH__INIT;
    int rc;

    batch.client = (char *)client;
    batch.changes = &change;
    batch.n_changes = 1;
    message_encode(&batch.base, &body);
    rc = stage_reader_park(self->reader, message, "", buf_bytes(&body), reason, err);
    buf_release(&body);
    return rc;
}

/* After the documents that stand before them. What is parked has no key: later changes have orders
 * of their own and need not wait for it. A record that is taken again is harmless. */
static int use_changes(struct document_inbox *self, const struct topic_message *message,
                       const Torg__V1__QualifiedBatch *batch, struct arena *arena, struct err *err)
{
    Torg__V1__Verdict **verdicts;
    int rc = put_run(self, err);

    if (!rc)
        rc = receiver_put_fields(self->receiver, batch->client, batch->changes, batch->n_changes,
                                 arena, &verdicts, err);
    for (size_t i = 0; i < batch->n_changes && !rc; i++) {
        Torg__V1__FieldChange *change = batch->changes[i];

        if (verdicts[i]->kind == TORG__V1__VERDICT__KIND__UNAVAILABLE)
            rc = err_set(err, ERR_UNAVAILABLE, "the store did not answer");
        else if (verdicts[i]->kind == TORG__V1__VERDICT__KIND__INVALID)
            rc = park_change(self, message, batch->client, change, reason_of(verdicts[i], arena),
                             err);
        else if (verdicts[i]->kind == TORG__V1__VERDICT__KIND__NOT_FOUND && !change->if_there)
            rc = park_change(self, message, batch->client, change,
                             "there is no such document: it will be retried", err);
    }
    return rc;
}

static int use_record(void *arg, const struct topic_message *message, struct arena *arena,
                      struct err *err)
{
    struct document_inbox *self = arg;
    struct run *run = &self->run;
    const Torg__V1__QualifiedBatch *batch;
    ProtobufCMessage *decoded;
    struct err refusal;
    int rc = message_decode(message->value, &torg__v1__qualified_batch__descriptor, arena, &decoded,
                            &refusal);

    object_check(self, DOCUMENT_INBOX_MAGIC);
    batch = (const Torg__V1__QualifiedBatch *)decoded;
    if (!rc)
        rc = check_batch(batch, &refusal);
    if (rc) /* as a whole, and for itself: its key is that of other documents, too */
        return stage_reader_park(self->reader, message, "", message->value, refusal.text, err);
    if (run->count &&
        (strcmp(run->client, batch->client) != 0 || run->lane != (enum lane)batch->lane ||
         run->count + batch->n_documents > DOCUMENT_BATCH_COUNT_MAX))
        rc = put_run(self, err);
    if (rc)
        return rc;
    run->client = batch->client;
    run->lane = (enum lane)batch->lane;
    for (size_t i = 0; i < batch->n_documents; i++) {
        run->documents[run->count] = batch->documents[i];
        run->sources[run->count++] = message;
    }
    return batch->n_changes ? use_changes(self, message, batch, arena, err) : 0;
}

/* What cannot be asked stays as it was: a sum over some is no lag, and to wait for one partition
 * after the other, seconds for each, would keep the inbox from its stop, and out of its group. */
static void measure_lag(void *arg, struct consumer *consumer)
{
    struct document_inbox *self = arg;
    struct topic_position ours[TOPIC_PARTITION_COUNT_MAX]; /* others may have made the topic */
    size_t count = 0;
    int64_t lag = 0;

    object_check(self, DOCUMENT_INBOX_MAGIC);
    if (consumer_assignment(consumer, ours, ARRAY_COUNT(ours), &count, NULL))
        return;
    for (size_t i = 0; i < count && i < ARRAY_COUNT(ours); i++) {
        struct topic_lag one;

        if (topic_lag(self->topics, DOCUMENT_GROUP, TOPIC_DOCUMENTS, ours[i].partition, &one, NULL))
            return;
        lag += (int64_t)one.lag;
    }
    gauge_set(self->lag, lag);
}

/* --- life --- */

static int start(const struct receiver *receiver, struct topics *topics,
                 struct stage_reader_options options, struct document_inbox **inbox,
                 struct err *err)
{
    struct document_inbox *self = mem_zero(sizeof(*self));
    int rc;

    assert(receiver->store && receiver->clock && receiver->clients);
    object_begin(self, DOCUMENT_INBOX_MAGIC);
    *inbox = NULL;
    self->receiver = receiver;
    self->topics = topics;
    options.arg = self;
    options.topics = topics;
    options.store = receiver->store;
    options.clock = receiver->clock;
    options.order = PARKED_NEWEST;
    self->lag = metrics_gauge("torg_registry_topic_lag", NULL,
                              "Records of the topic of documents that wait for this receiver.");
    rc = stage_reader_start(&options, &self->reader, err);
    if (rc)
        document_inbox_stop(self);
    else
        *inbox = self;
    return rc;
}

int document_inbox_start(const struct receiver *receiver, struct topics *topics,
                         struct document_inbox **inbox, struct err *err)
{
    static const struct stage_reader_handler handler = {
        .take = use_record, .flush = flush, .look = measure_lag};
    const struct stage_reader_options options = {.stage = PARKED_BY_RECEIVER,
                                                 .topic = TOPIC_DOCUMENTS,
                                                 .group = DOCUMENT_GROUP,
                                                 .handler = &handler};

    return start(receiver, topics, options, inbox, err);
}

int takedown_inbox_start(const struct receiver *receiver, struct topics *topics,
                         struct document_inbox **inbox, struct err *err)
{
    static const struct stage_reader_handler handler = {.take = use_record, .flush = flush};
    const struct stage_reader_options options = {.stage = PARKED_BY_TAKEDOWNS,
                                                 .topic = TOPIC_TAKEDOWNS,
                                                 .group = TAKEDOWN_GROUP,
                                                 .handler = &handler};

    return start(receiver, topics, options, inbox, err);
}

void document_inbox_stop(struct document_inbox *inbox)
{
    if (!inbox)
        return;
    object_check(inbox, DOCUMENT_INBOX_MAGIC);
    stage_reader_stop(inbox->reader);
    object_end(inbox, DOCUMENT_INBOX_MAGIC);
    free(inbox);
}
