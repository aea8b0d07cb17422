/* SPDX-License-Identifier: Apache-2.0 */
/* composer.c - see composer.h. A handler of the stage's reader (stage/reader.h). */
#include "documents/composer.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/object.h"
#include "codec/message.h"
#include "documents/bounds.h"
#include "documents/offer_document.h"
#include "model/offer_fields.h"
#include "model/topics.h"
#include "stage/make_topics.h"
#include "stage/reader.h"
#include "topic/bounds.h"
#include "torg/v1/offer_update.pb-c.h"

enum { KEY_SIZE = 32 };

/* What waits to be sent of one partition. */
struct lane {
    struct buf wire; /* batches of one document each: side by side they are one batch */
    uint32_t count;  /* documents in it */
    int64_t sent_us; /* the last batch; monotonic */
};

enum { COMPOSER_MAGIC = OBJECT_MAGIC('c', 'o', 'm', 'p') };

struct composer {
    uint32_t magic;
    struct composer_options options;
    struct stage_reader *reader;
    struct lane *lanes[TOPIC_PARTITION_COUNT_MAX];
    struct arena *arena; /* of one record */

    struct counter *upserts;
    struct counter *deletes;
    struct counter *fetched;
    struct counter *batches;
    struct histogram *latency;
};

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
    return is_full(self, lane) || now_us(self) >= lane->sent_us + self->options.batch_us;
}

/* All documents of a partition stay in one partition, in order. Whatever fails is tried again. */
static int send_lane(struct composer *self, uint32_t partition, struct lane *lane, struct err *err)
{
    char key[KEY_SIZE];
    int size = snprintf(key, sizeof(key), OFFER_CLIENT "/%" PRIu32, partition);
    const struct topic_record record = {.key = bytes_make(key, (size_t)size),
                                        .value = buf_bytes(&lane->wire)};
    struct err failure;

    if (lane->count &&
        topic_produce(self->options.topics, TOPIC_DOCUMENTS, &record, 1, NULL, &failure))
        return err_set(err, ERR_UNAVAILABLE, "sending documents: %s", failure.text);
    if (lane->count)
        counter_add(self->batches, 1);
    buf_reset(&lane->wire);
    lane->count = 0;
    lane->sent_us = now_us(self);
    return 0;
}

static int flush(void *arg, uint32_t partition, bool is_forced, bool *is_flushed, struct err *err)
{
    struct composer *self = arg;
    struct lane *lane = lane_of(self, partition);

    object_check(self, COMPOSER_MAGIC);
    *is_flushed = is_forced || !lane->count || is_due(self, lane);
    return *is_flushed && lane->count ? send_lane(self, partition, lane, err) : 0;
}

static int64_t wait_us(void *arg)
{
    struct composer *self = arg;
    int64_t least_us = CLOCK_NEVER;

    object_check(self, COMPOSER_MAGIC);
    for (size_t i = 0; i < TOPIC_PARTITION_COUNT_MAX; i++) {
        const struct lane *lane = self->lanes[i];
        int64_t left_us = lane && lane->count
                              ? lane->sent_us + self->options.batch_us - now_us(self)
                              : CLOCK_NEVER;

        least_us = left_us < least_us ? left_us : least_us;
    }
    return least_us;
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

/* The newest state of the offer; ERR_NOT_FOUND: there is none. */
static int encode_newest(struct composer *self, const char *offer_id, struct buf *wire,
                         bool *is_delete, struct err *err)
{
    Torg__V1__Offer *offer;
    int rc = self->options.fetch(self->options.fetch_arg, offer_id, self->arena, &offer, err);

    if (rc)
        return rc;
    rc = encode(self, offer, wire, is_delete, err);
    return rc == ERR_NOT_FOUND ? ERR_INVALID : rc;
}

/* What the record says, or the newest offer instead of one that cannot be used; the first reason is
 * kept. A parked one has waited: only the newest is worth it. */
static int compose(struct composer *self, const struct topic_message *message, const char *offer_id,
                   struct buf *wire, bool *is_delete, struct err *err)
{
    Torg__V1__Offer *offer = NULL;
    struct err first, second;
    int rc;

    if (stage_reader_is_retry(self->reader))
        return encode_newest(self, offer_id, wire, is_delete, err);
    rc = decode(self, message, &offer, &first);
    if (!rc)
        rc = encode(self, offer, wire, is_delete, &first);
    if (!rc)
        return 0;
    buf_reset(wire);
    rc = encode_newest(self, offer_id, wire, is_delete, &second);
    if (!rc)
        counter_add(self->fetched, 1);
    else if (rc == ERR_NOT_FOUND)
        *err = second;
    else
        err_set(err, rc, "%.200s; the newest: %.200s", first.text, second.text);
    return rc;
}

static int append(struct composer *self, const struct topic_message *message, struct buf *wire,
                  bool is_delete, struct err *err)
{
    struct lane *lane = lane_of(self, message->partition);
    int rc = 0;

    if (is_full(self, lane) || lane->wire.size + wire->size > TOPIC_VALUE_SIZE_MAX)
        rc = send_lane(self, message->partition, lane, err);
    if (rc)
        return rc;
    buf_put(&lane->wire, buf_bytes(wire));
    lane->count++;
    counter_add(is_delete ? self->deletes : self->upserts, 1);
    if (!stage_reader_is_retry(self->reader))
        histogram_add(self->latency, clock_wall_us(self->options.clock) - message->timestamp_us);
    return 0;
}

static int use_record(void *arg, const struct topic_message *message, struct arena *arena,
                      struct err *err)
{
    struct composer *self = arg;
    struct buf wire = BUF_INIT(TOPIC_VALUE_SIZE_MAX);
    bool is_delete = false;
    const char *offer_id;
    int rc;

    object_check(self, COMPOSER_MAGIC);
    (void)arena; /* its own is reset with each record: documents are large */
    arena_reset(self->arena);
    offer_id = arena_text(self->arena, message->key);
    rc = compose(self, message, offer_id, &wire, &is_delete, err);
    if (!rc)
        rc = append(self, message, &wire, is_delete, err);
    if (rc == ERR_NOT_FOUND) { /* an offer is never forgotten: the record is of another store */
        log_warn("a record is passed over", LOG_TEXT("offer", offer_id),
                 LOG_TEXT("error", err->text));
        rc = 0;
    }
    buf_release(&wire);
    return rc;
}

/* What was read before this says yes was saved before a newer catalogue came into use, or shortly
 * after: recomposer.h relies on that. */
static int begin(void *arg, struct err *err)
{
    const struct composer *self = arg;
    const struct composer_options *options = &self->options;

    object_check(self, COMPOSER_MAGIC);
    if (options->sure_us &&
        now_us(self) - options->sure_us(options->catalog_arg) > COMPOSER_SURE_MS * 1000LL)
        return err_set(err, ERR_UNAVAILABLE, "the catalogue may not be the newest one");
    return 0;
}

/* --- life --- */

static void open_metrics(struct composer *self)
{
    const char *name = "torg_composer_documents_total";
    const char *help = "Documents made of offers and sent.";

    self->upserts = metrics_counter(name, "event=\"upsert\"", help);
    self->deletes = metrics_counter(name, "event=\"delete\"", help);
    self->fetched = metrics_counter("torg_composer_fetched_total", NULL,
                                    "Records that could not be used, their newest offer could.");
    self->batches = metrics_counter("torg_composer_batches_total", NULL, "Batches sent.");
    self->latency = metrics_histogram("torg_composer_delay_seconds", NULL,
                                      "From a change's record to its document.");
}

static int start_reader(struct composer *self, struct err *err)
{
    static const struct stage_reader_handler handler = {
        .take = use_record, .flush = flush, .begin = begin, .wait_us = wait_us};
    const struct stage_reader_options options = {.stage = PARKED_BY_COMPOSER,
                                                 .topic = TOPIC_OFFER_UPDATES,
                                                 .group = COMPOSER_GROUP,
                                                 .handler = &handler,
                                                 .arg = self,
                                                 .topics = self->options.topics,
                                                 .store = self->options.store,
                                                 .clock = self->options.clock,
                                                 .order = PARKED_NEWEST,
                                                 .is_strict = self->options.is_strict};
    int rc = stage_make_topic(self->options.topics, TOPIC_DOCUMENTS, err);

    return rc ? rc : stage_reader_start(&options, &self->reader, err);
}

int composer_start(const struct composer_options *options, struct composer **composer,
                   struct err *err)
{
    struct composer *self = mem_zero(sizeof(*self));
    int rc;

    object_begin(self, COMPOSER_MAGIC);
    *composer = NULL;
    self->options = *options;
    if (!self->options.batch_count)
        self->options.batch_count = COMPOSER_BATCH_COUNT;
    if (!self->options.batch_us)
        self->options.batch_us = (int64_t)COMPOSER_BATCH_MS * 1000;
    self->arena = arena_new();
    open_metrics(self);
    rc = start_reader(self, err);
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
    object_check(self, COMPOSER_MAGIC);
    stage_reader_stop(self->reader);
    for (size_t i = 0; i < TOPIC_PARTITION_COUNT_MAX; i++) {
        if (self->lanes[i])
            buf_release(&self->lanes[i]->wire);
        free(self->lanes[i]);
    }
    arena_free(self->arena);
    object_end(self, COMPOSER_MAGIC);
    free(self);
}
