/* SPDX-License-Identifier: Apache-2.0 */
/* composer.c - see composer.h. */
#include "documents/composer.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/log_pace.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/task.h"
#include "documents/offer_document.h"
#include "documents/parked.h"
#include "model/offer_fields.h"
#include "net/message.h"
#include "torg/v1/offer_update.pb-c.h"

enum { KEY_SIZE = 32, BLOCKED_PAUSE_MS = 20 };

/* What waits to be sent of one partition. */
struct lane {
    struct buf wire;      /* batches of one document each: side by side they are one batch */
    uint32_t count;       /* documents in it */
    uint64_t next_offset; /* everything below is in wire, or was sent */
    bool has_news;        /* next_offset is not committed */
    int64_t sent_us;      /* the last batch; monotonic */
    bool is_blocked;      /* strict: from this record on, until the time has come */
    uint64_t blocked_offset;
    int64_t blocked_until_us;
    bool is_away;       /* the way back to it has failed */
    uint64_t sought_no; /* poll that it was last tried in */
};

struct composer {
    struct composer_options options;
    struct consumer *consumer;
    struct lane *lanes[TOPIC_PARTITION_COUNT_MAX];
    uint64_t *parked; /* hashes of ids, as the store had them last */
    size_t parked_count;
    int64_t looked_us; /* at parked ones; monotonic */
    uint64_t poll_no;
    struct arena *arena;
    struct task task;

    struct log_pace pace;
    struct counter *upserts;
    struct counter *deletes;
    struct counter *fetched;
    struct counter *parkings;
    struct counter *batches;
    struct counter *errors;
    struct gauge *parked_now;
    struct histogram *latency;
};

/* True: it is time to stop. */
static bool wait_a_little(struct composer *self, int ms)
{
    return !task_pause(&self->task, (int64_t)ms * MS_US);
}

static void tell_fault(struct composer *self, const char *what, const struct err *err)
{
    counter_add(self->errors, 1);
    if (log_pace_is_due(&self->pace, err))
        log_warn(what, LOG_TEXT("error", err->text));
}

static struct lane *lane_of(struct composer *self, uint32_t partition)
{
    struct lane **lane = &self->lanes[partition];

    assert(partition < TOPIC_PARTITION_COUNT_MAX);
    if (!*lane) {
        *lane = mem_zero(sizeof(**lane));
        buf_init(&(*lane)->wire, TOPIC_VALUE_SIZE_MAX);
    }
    return *lane;
}

static int64_t now_us(const struct composer *self)
{
    return clock_mono_us(self->options.clock);
}

/* --- sending --- */

static bool is_full(const struct composer *self, const struct lane *lane)
{
    return lane->count >= self->options.batch_count || lane->wire.size >= COMPOSER_BATCH_SIZE;
}

static bool is_due(const struct composer *self, const struct lane *lane)
{
    return lane->has_news &&
           (is_full(self, lane) || now_us(self) >= lane->sent_us + self->options.batch_us);
}

/* All documents of a partition stay in one partition, in order. */
static struct bytes key_of(uint32_t partition, char text[KEY_SIZE])
{
    int size = snprintf(text, KEY_SIZE, OFFER_CLIENT "/%" PRIu32, partition);

    return bytes_make(text, (size_t)size);
}

static int produce(struct composer *self, uint32_t partition, struct bytes wire, struct err *err)
{
    char key[KEY_SIZE];
    const struct topic_record record = {.key = key_of(partition, key), .value = wire};

    return topic_produce(self->options.topics, COMPOSER_TARGET, &record, 1, NULL, err);
}

/* A partition that is not ours any more is read again by whoever has it. */
static int commit(struct composer *self, uint32_t partition, uint64_t offset, struct err *err)
{
    const struct topic_position position = {
        .topic = COMPOSER_SOURCE, .partition = partition, .offset = offset};
    int rc = consumer_commit(self->consumer, &position, 1, err);

    return rc == ERR_STALE ? 0 : rc;
}

/* Until it is sent and committed. False: it is time to stop. */
static bool send_lane(struct composer *self, uint32_t partition, struct lane *lane)
{
    struct err err;

    while (lane->count && produce(self, partition, buf_bytes(&lane->wire), &err)) {
        tell_fault(self, "sending documents failed and is tried again", &err);
        if (wait_a_little(self, COMPOSER_RETRY_MS))
            return false;
    }
    if (lane->count)
        counter_add(self->batches, 1);
    buf_reset(&lane->wire);
    lane->count = 0;
    lane->sent_us = now_us(self);
    while (commit(self, partition, lane->next_offset, &err)) {
        tell_fault(self, "committing an offset failed and is tried again", &err);
        if (wait_a_little(self, COMPOSER_RETRY_MS))
            return false;
    }
    lane->has_news = false;
    return true;
}

static void send_due(struct composer *self, bool all)
{
    for (uint32_t i = 0; i < TOPIC_PARTITION_COUNT_MAX; i++) {
        struct lane *lane = self->lanes[i];

        if (lane && (is_due(self, lane) || (all && lane->has_news)) && !send_lane(self, i, lane))
            return;
    }
}

/* --- one record --- */

/* The document as the wire has it: nothing of the catalogue is needed any more. */
static int encode(struct composer *self, const Torg__V1__Offer *offer, struct buf *wire,
                  bool *is_delete, struct err *err)
{
    Torg__V1__QualifiedBatch batch = TORG__V1__QUALIFIED_BATCH__INIT;
    struct catalog *catalog = self->options.catalog(self->options.catalog_arg);
    Torg__V1__RawDocument *document;
    int rc;

    if (!catalog)
        return err_set(err, ERR_UNAVAILABLE, "there is no catalogue yet");
    rc = offer_document(offer, catalog, self->arena, &document, err);
    if (!rc) {
        batch.client = (char *)OFFER_CLIENT;
        batch.documents = &document;
        batch.n_documents = 1;
        *is_delete = document->event == TORG__V1__RAW_DOCUMENT__EVENT__DELETE;
        message_encode(&batch.base, wire);
        if (buf_failed(wire))
            rc = err_set(err, ERR_LIMIT, "the document is larger than a record's %d bytes",
                         TOPIC_VALUE_SIZE_MAX);
    }
    catalog_unref(catalog);
    return rc;
}

static int decode(struct composer *self, const struct topic_message *message,
                  Torg__V1__Offer **offer, struct err *err)
{
    ProtobufCMessage *decoded;
    int rc = message_decode(message->value, &torg__v1__offer_update__descriptor, self->arena,
                            &decoded, err);

    if (rc)
        return rc;
    *offer = ((Torg__V1__OfferUpdate *)decoded)->offer;
    return *offer ? 0 : err_set(err, ERR_INVALID, "the record has no offer");
}

/* The newest offer instead of the one that could not be used; the first reason is kept. */
static int encode_newest(struct composer *self, const char *offer_id, struct buf *wire,
                         bool *is_delete, struct err *err)
{
    const struct err first = *err;
    Torg__V1__Offer *offer;
    struct err second;
    int rc = self->options.fetch(self->options.fetch_arg, offer_id, self->arena, &offer, &second);

    if (!rc)
        rc = encode(self, offer, wire, is_delete, &second);
    if (!rc)
        counter_add(self->fetched, 1);
    else if (rc == ERR_NOT_FOUND)
        *err = second;
    else
        err_set(err, rc, "%.200s; the newest: %.200s", first.text, second.text);
    return rc;
}

/* ERR_CANCELLED: it is time to stop, and what is there was not sent: there is no room. */
static int append(struct composer *self, uint32_t partition, struct lane *lane, struct buf *wire,
                  bool is_delete)
{
    if (lane->wire.size + wire->size > TOPIC_VALUE_SIZE_MAX && !send_lane(self, partition, lane))
        return ERR_CANCELLED;
    buf_put(&lane->wire, buf_bytes(wire));
    lane->count++;
    counter_add(is_delete ? self->deletes : self->upserts, 1);
    return 0;
}

static int park(struct composer *self, const struct topic_message *message, const char *offer_id,
                const struct err *reason, struct err *err)
{
    int64_t wall_us = clock_wall_us(self->options.clock);
    const struct parked parked = {
        .offer_id = offer_id,
        .partition = message->partition,
        .offset = message->offset,
        .first_us = wall_us,
        .next_us = wall_us + (int64_t)COMPOSER_RETRY_MS * 1000,
        .reason = arena_printf(self->arena, "%.*s", COMPOSER_REASON_SIZE_MAX, reason->text)};
    int rc = parked_add(self->options.store, &parked, err);

    if (rc)
        return rc;
    counter_add(self->parkings, 1);
    log_warn("an offer is parked", LOG_TEXT("offer", offer_id), LOG_TEXT("reason", reason->text));
    return 0;
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

static bool is_parked(const struct composer *self, const char *offer_id)
{
    uint64_t hash = hash64(bytes_of(offer_id));

    return bsearch(&hash, self->parked, self->parked_count, sizeof(hash), compare_hashes) != NULL;
}

/* Back to the record that the partition waits for, once a poll. When that fails, what was read
 * behind it is not taken either, and it is tried again with the next poll. */
static void go_back(struct composer *self, uint32_t partition, struct lane *lane)
{
    uint64_t first, end;
    struct err err;
    int rc;

    if (lane->sought_no == self->poll_no)
        return;
    lane->sought_no = self->poll_no;
    rc = consumer_seek(self->consumer, COMPOSER_SOURCE, partition, lane->blocked_offset, &err);
    lane->is_away = rc != 0;
    if (rc)
        tell_fault(self, "going back to a record failed and is tried again", &err);
    if (rc == ERR_STALE) /* not ours any more */
        lane->is_blocked = false;
    if (rc == ERR_RANGE && /* it waited for longer than the topic keeps it */
        !topic_range(self->options.topics, COMPOSER_SOURCE, partition, &first, &end, &err))
        lane->blocked_offset = first;
}

static void go_back_all(struct composer *self)
{
    for (uint32_t i = 0; i < TOPIC_PARTITION_COUNT_MAX; i++)
        if (self->lanes[i] && self->lanes[i]->is_blocked && self->lanes[i]->is_away)
            go_back(self, i, self->lanes[i]);
}

/* Strict: the partition is read from this record on again, later. */
static void block(struct composer *self, struct lane *lane, const struct topic_message *message,
                  const struct err *reason)
{
    if (!lane->is_blocked || lane->blocked_offset != message->offset) {
        lane->blocked_offset = message->offset;
        log_warn("a partition waits for an offer", LOG_INT("partition", message->partition),
                 LOG_INT("offset", message->offset), LOG_TEXT("reason", reason->text));
    }
    lane->is_blocked = true;
    lane->blocked_until_us = now_us(self) + (int64_t)COMPOSER_RETRY_MS * 1000;
    counter_add(self->errors, 1);
    go_back(self, message->partition, lane);
}

/* 0: it is in the lane, or parked. ERR_PRECONDITION: the partition waits. ERR_CANCELLED: as in
 * append. */
static int take(struct composer *self, struct lane *lane, const struct topic_message *message,
                struct err *err)
{
    const char *offer_id = arena_text(self->arena, message->key);
    struct buf wire = BUF_INIT(TOPIC_VALUE_SIZE_MAX);
    Torg__V1__Offer *offer = NULL;
    bool is_delete = false;
    int rc = decode(self, message, &offer, err);

    if (!rc)
        rc = encode(self, offer, &wire, &is_delete, err);
    if (rc)
        rc = encode_newest(self, offer_id, &wire, &is_delete, err);
    if (!rc) {
        if (is_parked(self, offer_id)) /* first: what fails is tried again, and is appended once */
            rc = parked_remove(self->options.store, offer_id, message->offset, err);
        if (!rc)
            rc = append(self, message->partition, lane, &wire, is_delete);
        if (!rc)
            histogram_add(self->latency,
                          clock_wall_us(self->options.clock) - message->timestamp_us);
    } else if (rc == ERR_NOT_FOUND) {
        rc = 0; /* an offer is never forgotten: the record is of another store */
        log_warn("a record is passed over", LOG_TEXT("offer", offer_id),
                 LOG_TEXT("error", err->text));
    } else if (self->options.is_strict) {
        block(self, lane, message, err);
        rc = ERR_PRECONDITION;
    } else {
        const struct err reason = *err;

        rc = park(self, message, offer_id, &reason, err);
    }
    buf_release(&wire);
    return rc;
}

/* Until it is dealt with. False: it is time to stop, or the partition waits. */
static bool settle(struct composer *self, const struct topic_message *message)
{
    struct lane *lane = lane_of(self, message->partition);
    struct err err;
    int rc;

    if (lane->is_blocked) {
        if (message->offset != lane->blocked_offset || now_us(self) < lane->blocked_until_us)
            go_back(self, message->partition, lane);
        else
            lane->is_blocked = false;
        if (lane->is_blocked)
            return false;
    }
    for (;;) {
        arena_reset(self->arena);
        rc = take(self, lane, message, &err);
        if (rc == ERR_PRECONDITION || (rc == ERR_CANCELLED && task_is_stopping(&self->task)))
            return false;
        if (!rc)
            break;
        tell_fault(self, "a record could not be parked and is tried again", &err);
        if (wait_a_little(self, COMPOSER_RETRY_MS))
            return false;
    }
    lane->next_offset = message->offset + 1;
    lane->has_news = true;
    if (is_full(self, lane))
        send_lane(self, message->partition, lane);
    return true;
}

/* --- parked offers --- */

static int64_t backoff_us(int64_t attempt_count)
{
    int64_t seconds = attempt_count < 10 ? 1LL << attempt_count : COMPOSER_BACKOFF_S_MAX;

    return (seconds < COMPOSER_BACKOFF_S_MAX ? seconds : COMPOSER_BACKOFF_S_MAX) * SECOND_US;
}

static int retry_one(struct composer *self, const struct parked *parked, struct err *err)
{
    struct buf wire = BUF_INIT(TOPIC_VALUE_SIZE_MAX);
    struct parked later = *parked;
    struct err reason = {0};
    Torg__V1__Offer *offer;
    bool is_delete = false;
    int rc = self->options.fetch(self->options.fetch_arg, parked->offer_id, self->arena, &offer,
                                 &reason);
    bool is_unknown = rc == ERR_NOT_FOUND; /* the offer; a topic may be missing, too */

    if (!rc)
        rc = encode(self, offer, &wire, &is_delete, &reason);
    if (!rc)
        rc = produce(self, parked->partition, buf_bytes(&wire), &reason);
    if (!rc || is_unknown) {
        counter_add(is_delete ? self->deletes : self->upserts, rc ? 0 : 1);
        rc = parked_remove(self->options.store, parked->offer_id, parked->offset, err);
    } else {
        later.attempt_count++;
        later.next_us = clock_wall_us(self->options.clock) + backoff_us(later.attempt_count);
        later.reason = arena_printf(self->arena, "%.*s", COMPOSER_REASON_SIZE_MAX, reason.text);
        rc = parked_delay(self->options.store, &later, err);
    }
    buf_release(&wire);
    return rc;
}

static int look_at_parked(struct composer *self, struct err *err)
{
    struct parked *list;
    size_t count;
    int64_t all = 0;
    int rc;

    arena_reset(self->arena);
    rc = parked_due(self->options.store, clock_wall_us(self->options.clock), COMPOSER_RETRY_COUNT,
                    self->arena, &list, &count, err);
    for (size_t i = 0; i < count && !rc && !task_is_stopping(&self->task); i++)
        rc = retry_one(self, &list[i], err);
    if (!rc)
        rc = parked_count(self->options.store, &all, err);
    if (rc)
        return rc;
    gauge_set(self->parked_now, all);
    rc = parked_list(self->options.store, "", COMPOSER_KNOWN_COUNT_MAX, self->arena, &list, &count,
                     err);
    if (rc)
        return rc; /* those known before stay known: the record that ends one's parking may come */
    for (size_t i = 0; i < count; i++)
        self->parked[i] = hash64(bytes_of(list[i].offer_id));
    self->parked_count = count;
    qsort(self->parked, count, sizeof(self->parked[0]), compare_hashes);
    return 0;
}

/* --- the thread --- */

static int wait_ms(const struct composer *self)
{
    int64_t least_us = (int64_t)COMPOSER_POLL_MS * 1000;

    for (size_t i = 0; i < TOPIC_PARTITION_COUNT_MAX; i++) {
        const struct lane *lane = self->lanes[i];
        int64_t left_us = lane && lane->has_news
                              ? lane->sent_us + self->options.batch_us - now_us(self)
                              : least_us;

        least_us = left_us < least_us ? left_us : least_us;
    }
    return least_us > 0 ? (int)((least_us + 999) / 1000) : 0;
}

/* What was read before this says yes was saved before a newer catalogue came into use, or shortly
 * after: recomposer.h relies on that. False: it is time to stop. */
static bool wait_for_catalog(struct composer *self)
{
    const struct composer_options *options = &self->options;

    while (options->sure_us &&
           now_us(self) - options->sure_us(options->catalog_arg) > COMPOSER_SURE_MS * 1000LL) {
        if (wait_a_little(self, BLOCKED_PAUSE_MS))
            return false;
    }
    return true;
}

static int take_batch(struct composer *self, struct err *err)
{
    const struct topic_message *messages;
    size_t settled = 0;
    size_t count;
    int rc;

    self->poll_no++;
    go_back_all(self);
    rc = consumer_poll(self->consumer, wait_ms(self), &messages, &count, err);
    if (rc)
        return rc;
    self->poll_no++;
    if (count && !wait_for_catalog(self))
        return 0;
    for (size_t i = 0; i < count && !task_is_stopping(&self->task); i++)
        settled += settle(self, &messages[i]);
    send_due(self, false);
    if (count && !settled)
        wait_a_little(self, BLOCKED_PAUSE_MS);
    return 0;
}

static void run(struct task *task, void *arg)
{
    struct composer *self = arg;
    struct err err;

    while (!task_is_stopping(&self->task)) {
        int rc;

        task_says(task, "composing documents");
        rc = take_batch(self, &err);
        if (!rc && now_us(self) >= self->looked_us + (int64_t)COMPOSER_RETRY_MS * 1000) {
            rc = wait_for_catalog(self) ? look_at_parked(self, &err) : 0;
            self->looked_us = now_us(self);
        }
        if (rc && rc != ERR_STALE) {
            tell_fault(self, "composing failed and is tried again", &err);
            wait_a_little(self, COMPOSER_RETRY_MS);
        }
    }
    send_due(self, true);
}

static int open_topics(struct composer *self, struct err *err)
{
    const char *const names[] = {COMPOSER_SOURCE};
    const struct topic_config config = {.partition_count = COMPOSER_PARTITION_COUNT,
                                        .retention_ms = (int64_t)EXPORT_RETENTION_S * 1000};
    const struct consumer_options options = {.group = COMPOSER_GROUP,
                                             .topics = names,
                                             .topic_count = ARRAY_COUNT(names),
                                             .start = TOPIC_START_EARLIEST};
    const char *const needed[] = {COMPOSER_SOURCE, COMPOSER_TARGET};
    int rc = 0;

    for (size_t i = 0; i < ARRAY_COUNT(needed) && !rc; i++)
        rc = topic_ensure(self->options.topics, needed[i], &config, err);
    return rc ? rc : consumer_open(self->options.topics, &options, &self->consumer, err);
}

static void open_metrics(struct composer *self)
{
    const char *name = "torg_composer_documents_total";
    const char *help = "Documents made of offers and sent.";

    self->upserts = metrics_counter(name, "event=\"upsert\"", help);
    self->deletes = metrics_counter(name, "event=\"delete\"", help);
    self->fetched = metrics_counter("torg_composer_fetched_total", NULL,
                                    "Records that could not be used, their newest offer could.");
    self->parkings = metrics_counter("torg_composer_parkings_total", NULL, "Offers parked.");
    self->batches = metrics_counter("torg_composer_batches_total", NULL, "Batches sent.");
    self->errors = metrics_counter("torg_composer_errors_total", NULL, "Failures, tried again.");
    self->parked_now = metrics_gauge("torg_composer_parked", NULL, "Offers that are parked.");
    self->latency = metrics_histogram("torg_composer_delay_seconds", NULL,
                                      "From a change's record to its document.");
}

static void free_composer(struct composer *self)
{
    for (size_t i = 0; i < TOPIC_PARTITION_COUNT_MAX; i++) {
        if (self->lanes[i])
            buf_release(&self->lanes[i]->wire);
        free(self->lanes[i]);
    }
    arena_free(self->arena);
    free(self->parked);
    free(self);
}

int composer_start(const struct composer_options *options, struct composer **composer,
                   struct err *err)
{
    struct composer *self = mem_zero(sizeof(*self));
    const struct task_options task = {
        .name = "composer", .run = run, .arg = self, .clock = options->clock};
    int rc;

    *composer = NULL;
    self->options = *options;
    if (!self->options.batch_count)
        self->options.batch_count = COMPOSER_BATCH_COUNT;
    if (!self->options.batch_us)
        self->options.batch_us = (int64_t)COMPOSER_BATCH_MS * 1000;
    self->arena = arena_new();
    self->parked = mem_array(COMPOSER_KNOWN_COUNT_MAX, sizeof(self->parked[0]));
    open_metrics(self);
    rc = open_topics(self, err);
    if (rc) {
        free_composer(self);
        return rc;
    }
    rc = task_start(&self->task, &task, err);
    if (rc)
        composer_stop(self);
    else
        *composer = self;
    return rc;
}

void composer_stop(struct composer *self)
{
    if (!self)
        return;
    task_stop(&self->task);
    consumer_close(self->consumer);
    free_composer(self);
}
