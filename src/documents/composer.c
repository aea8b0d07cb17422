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

enum { PK_SIZE = 32, PARCEL_COUNT = 2 };

/* A document that waits to be sent, and where it stands in the wire. */
struct piece {
    char pk[PK_SIZE];
    int64_t version;
    size_t start, size;
};

/* A record to be: batches of one document each, which side by side are one batch. */
struct parcel {
    struct buf wire;
    struct piece *pieces; /* batch_count of them */
    uint32_t count;
};

/* What waits to be sent of one partition. */
struct lane {
    struct parcel parcels[PARCEL_COUNT]; /* by is_urgent: they go to different lanes of the queue */
    int64_t sent_us;                     /* the last batch; monotonic */
};

/* A document on its way from a record to a parcel. */
struct made {
    struct buf wire;
    char pk[PK_SIZE];
    int64_t version;
    bool is_delete;
    bool is_urgent; /* a takedown: buyers are not to find it any more, whatever else waits */
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
    struct counter *superseded;
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
        for (size_t i = 0; i < PARCEL_COUNT; i++) {
            struct parcel *parcel = &(*lane)->parcels[i];

            buf_init(&parcel->wire, TOPIC_VALUE_SIZE_MAX);
            parcel->pieces = mem_array(self->options.batch_count, sizeof(*parcel->pieces));
        }
    }
    return *lane;
}

static uint32_t count_of(const struct lane *lane)
{
    return lane->parcels[false].count + lane->parcels[true].count;
}

static int64_t now_us(const struct composer *self)
{
    return clock_mono_us(self->options.clock);
}

/* --- sending --- */

static bool is_full(const struct composer *self, const struct parcel *parcel)
{
    return parcel->count >= self->options.batch_count || parcel->wire.size >= COMPOSER_BATCH_SIZE;
}

static bool is_due(const struct composer *self, const struct lane *lane)
{
    return is_full(self, &lane->parcels[false]) || is_full(self, &lane->parcels[true]) ||
           now_us(self) >= lane->sent_us + self->options.batch_us;
}

/* All documents of a partition stay in one partition, in order, takedowns first. Whatever fails is
 * tried again. */
static int send_lane(struct composer *self, uint32_t partition, struct lane *lane, struct err *err)
{
    char key[KEY_SIZE];
    int size = snprintf(key, sizeof(key), OFFER_CLIENT "/%" PRIu32, partition);
    struct topic_record records[PARCEL_COUNT];
    size_t count = 0;
    struct err failure;

    for (size_t i = PARCEL_COUNT; i > 0; i--) {
        if (lane->parcels[i - 1].count)
            records[count++] =
                (struct topic_record){.key = bytes_make(key, (size_t)size),
                                      .value = buf_bytes(&lane->parcels[i - 1].wire)};
    }
    if (count &&
        topic_produce(self->options.topics, TOPIC_DOCUMENTS, records, count, NULL, &failure))
        return err_set(err, ERR_UNAVAILABLE, "sending documents: %s", failure.text);
    counter_add(self->batches, count);
    for (size_t i = 0; i < PARCEL_COUNT; i++) {
        buf_reset(&lane->parcels[i].wire);
        lane->parcels[i].count = 0;
    }
    lane->sent_us = now_us(self);
    return 0;
}

static int flush(void *arg, uint32_t partition, bool is_forced, bool *is_flushed, struct err *err)
{
    struct composer *self = arg;
    struct lane *lane = lane_of(self, partition);

    object_check(self, COMPOSER_MAGIC);
    *is_flushed = is_forced || !count_of(lane) || is_due(self, lane);
    return *is_flushed && count_of(lane) ? send_lane(self, partition, lane, err) : 0;
}

static int64_t wait_us(void *arg)
{
    struct composer *self = arg;
    int64_t least_us = CLOCK_NEVER;

    object_check(self, COMPOSER_MAGIC);
    for (size_t i = 0; i < TOPIC_PARTITION_COUNT_MAX; i++) {
        const struct lane *lane = self->lanes[i];
        int64_t left_us = lane && count_of(lane)
                              ? lane->sent_us + self->options.batch_us - now_us(self)
                              : CLOCK_NEVER;

        least_us = left_us < least_us ? left_us : least_us;
    }
    return least_us;
}

/* --- one record --- */

static bool is_taken_down(const Torg__V1__Offer *offer)
{
    return offer->status == TORG__V1__OFFER__STATUS__BANNED ||
           offer->status == TORG__V1__OFFER__STATUS__DELETED;
}

/* The document as the wire has it: nothing of the catalogue is needed any more. */
static int encode(struct composer *self, const Torg__V1__Offer *offer, struct made *made,
                  struct err *err)
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
        if (made->is_urgent)
            batch.lane = TORG__V1__QUEUE_LANE__NAME__EMERGENCY;
        made->is_delete = document->event == TORG__V1__RAW_DOCUMENT__EVENT__DELETE;
        made->version = document->version;
        snprintf(made->pk, sizeof(made->pk), "%s", document->pk);
        message_encode(&batch.base, &made->wire);
        if (buf_failed(&made->wire))
            rc = err_set(err, ERR_LIMIT, "the document is larger than a record's %d bytes",
                         TOPIC_VALUE_SIZE_MAX);
    }
    catalog_unref(catalog);
    return rc;
}

static int decode(struct composer *self, const struct topic_message *message,
                  const Torg__V1__OfferUpdate **update, struct err *err)
{
    ProtobufCMessage *decoded;
    int rc = message_decode(message->value, &torg__v1__offer_update__descriptor, self->arena,
                            &decoded, err);

    if (rc)
        return rc;
    *update = (const Torg__V1__OfferUpdate *)decoded;
    return (*update)->offer ? 0 : err_set(err, ERR_INVALID, "the record has no offer");
}

/* The newest state of the offer; ERR_NOT_FOUND: there is none. */
static int encode_newest(struct composer *self, const char *offer_id, struct made *made,
                         struct err *err)
{
    Torg__V1__Offer *offer;
    int rc = self->options.fetch(self->options.fetch_arg, offer_id, self->arena, &offer, err);

    if (rc)
        return rc;
    made->is_urgent = is_taken_down(offer);
    rc = encode(self, offer, made, err);
    return rc == ERR_NOT_FOUND ? ERR_INVALID : rc;
}

/* What the record says, or the newest offer instead of one that cannot be used; the first reason is
 * kept. A parked one has waited: only the newest is worth it. */
static int compose(struct composer *self, const struct topic_message *message, const char *offer_id,
                   struct made *made, struct err *err)
{
    const Torg__V1__OfferUpdate *update = NULL;
    struct err first, second;
    int rc;

    if (stage_reader_is_retry(self->reader))
        return encode_newest(self, offer_id, made, err);
    rc = decode(self, message, &update, &first);
    if (!rc) {
        made->is_urgent = update->urgent;
        rc = encode(self, update->offer, made, &first);
    }
    if (!rc)
        return 0;
    buf_reset(&made->wire);
    rc = encode_newest(self, offer_id, made, &second);
    if (!rc)
        counter_add(self->fetched, 1);
    else if (rc == ERR_NOT_FOUND)
        *err = second;
    else
        err_set(err, rc, "%.200s; the newest: %.200s", first.text, second.text);
    return rc;
}

/* --- what waits of an offer --- */

static struct piece *find_piece(struct parcel *parcel, const char *pk)
{
    for (uint32_t i = 0; i < parcel->count; i++) {
        if (strcmp(parcel->pieces[i].pk, pk) == 0)
            return &parcel->pieces[i];
    }
    return NULL;
}

static void drop_piece(struct parcel *parcel, struct piece *piece)
{
    uint32_t place = (uint32_t)(piece - parcel->pieces);
    size_t size = piece->size;
    size_t end = piece->start + size;

    assert(place < parcel->count && end <= parcel->wire.size);
    memmove(parcel->wire.data + piece->start, parcel->wire.data + end, parcel->wire.size - end);
    parcel->wire.size -= size;
    parcel->count--;
    memmove(piece, piece + 1, (parcel->count - place) * sizeof(*piece));
    for (uint32_t i = place; i < parcel->count; i++)
        parcel->pieces[i].start -= size;
}

/* Of an offer's revisions that wait together only the newest is worth indexing. False: it waits
 * already. */
static bool supersede(struct composer *self, struct lane *lane, const struct made *made)
{
    for (size_t i = 0; i < PARCEL_COUNT; i++) {
        struct piece *piece = find_piece(&lane->parcels[i], made->pk);

        if (!piece)
            continue;
        counter_add(self->superseded, 1);
        if (piece->version > made->version)
            return false;
        drop_piece(&lane->parcels[i], piece);
    }
    return true;
}

static int append(struct composer *self, const struct topic_message *message, struct made *made,
                  struct err *err)
{
    struct lane *lane = lane_of(self, message->partition);
    struct parcel *parcel = &lane->parcels[made->is_urgent];
    struct piece *piece;
    int rc = 0;

    if (!supersede(self, lane, made))
        return 0;
    if (is_full(self, parcel) || parcel->wire.size + made->wire.size > TOPIC_VALUE_SIZE_MAX)
        rc = send_lane(self, message->partition, lane, err);
    if (rc)
        return rc;
    piece = &parcel->pieces[parcel->count++];
    *piece = (struct piece){
        .version = made->version, .start = parcel->wire.size, .size = made->wire.size};
    memcpy(piece->pk, made->pk, sizeof(piece->pk));
    buf_put(&parcel->wire, buf_bytes(&made->wire));
    counter_add(made->is_delete ? self->deletes : self->upserts, 1);
    if (!stage_reader_is_retry(self->reader))
        histogram_add(self->latency, clock_wall_us(self->options.clock) - message->timestamp_us);
    return 0;
}

static int use_record(void *arg, const struct topic_message *message, struct arena *arena,
                      struct err *err)
{
    struct composer *self = arg;
    struct made made = {.wire = BUF_INIT(TOPIC_VALUE_SIZE_MAX)};
    const char *offer_id;
    int rc;

    object_check(self, COMPOSER_MAGIC);
    (void)arena; /* its own is reset with each record: documents are large */
    arena_reset(self->arena);
    offer_id = arena_text(self->arena, message->key);
    rc = compose(self, message, offer_id, &made, err);
    if (!rc)
        rc = append(self, message, &made, err);
    if (rc == ERR_NOT_FOUND) { /* an offer is never forgotten: the record is of another store */
        log_warn("a record is passed over", LOG_TEXT("offer", offer_id),
                 LOG_TEXT("error", err->text));
        rc = 0;
    }
    buf_release(&made.wire);
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
    self->superseded = metrics_counter("torg_composer_superseded_total", NULL,
                                       "Documents not sent: a newer one of the offer was ready.");
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
        for (size_t k = 0; k < PARCEL_COUNT && self->lanes[i]; k++) {
            buf_release(&self->lanes[i]->parcels[k].wire);
            free(self->lanes[i]->parcels[k].pieces);
        }
        free(self->lanes[i]);
    }
    arena_free(self->arena);
    object_end(self, COMPOSER_MAGIC);
    free(self);
}
