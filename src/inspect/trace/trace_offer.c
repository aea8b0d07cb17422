/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_offer.c - see trace.h: what an offer goes through before it is a document.
 *
 * The store tells what waits for the export and what is parked; the newest records of the topics
 * tell when it was exported and composed. What lies
 * further back than TRACE_RECORD_COUNT records is followed from what comes after: a document that
 * was received was composed.
 */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "codec/message.h"
#include "codec/moment.h"
#include "documents/composer.h"
#include "inspect/bounds.h"
#include "inspect/trace/trace.h"
#include "inspect/trace/trace_parts.h"
#include "model/offer_fields.h"
#include "model/topics.h"
#include "offers/change/offer_save.h"
#include "offers/outbox/export.h"
#include "offers/record/offer_record.h"
#include "offers/record/offer_status.h"
#include "stage/parked.h"
#include "topic/topic.h"
#include "torg/v1/offer_update.pb-c.h"

#define STATE(name) TORG__V1__TRACE_STEP__STATE__##name

enum { READ_COUNT = 50, READ_MS = 2000 };

/* A record of a topic that is about the offer as it is. */
struct spotted {
    bool is_found;
    uint32_t partition;
    uint64_t offset;
    int64_t time_us;
};

struct tracing {
    const struct inspect *inspect;
    struct arena *arena;
    Torg__V1__Trace *trace;
    offerid id;
    const char *id_text;
    Torg__V1__Offer *offer; /* NULL: there is none */
    int64_t version;        /* of its document */
    int64_t queued_us;      /* since when it waits for the export; 0: it does not */
    int64_t ahead_count;    /* of its shard, in the queue */
    struct parked parked;
    bool is_parked;
    struct parked refused; /* by the receiver */
    bool is_refused;
    int64_t row_version; /* what the registry has; -1: nothing */
    struct spotted exported, composed;
};

/* --- the store --- */

/* Of several rows the last: before it has gone, not all was sent. */
static int find_queued(struct store_tx *tx, struct tracing *tracing, struct err *err)
{
    struct store_rows rows = store_select(
        tx,
        "SELECT (SELECT COUNT(*) FROM queue AS earlier WHERE earlier.shard_id = $1 "
        "AND earlier.seq < mine.seq), mine.changed_us FROM queue AS mine "
        "WHERE mine.shard_id = $1 AND mine.offer_id = $2 "
        "ORDER BY mine.seq DESC LIMIT 1",
        STORE_WITH(STORE_V_INT(seller_shard(tracing->offer->seller)), STORE_V_INT(tracing->id)));

    if (store_next(&rows)) {
        tracing->ahead_count = rows.columns[0].integer;
        tracing->queued_us = rows.columns[1].integer;
    }
    return store_rows_end(&rows, err);
}

static int read_offer(struct store_tx *tx, void *arg, struct err *err)
{
    struct tracing *tracing = arg;
    int rc = record_find(tx, tracing->id, tracing->arena, &tracing->offer, err);

    tracing->queued_us = 0;
    if (!rc && tracing->offer)
        rc = find_queued(tx, tracing, err);
    if (!rc)
        rc = parked_find(tx, PARKED_BY_COMPOSER, tracing->id_text, tracing->arena, &tracing->parked,
                         &tracing->is_parked, err);
    if (!rc)
        rc = parked_find(tx, PARKED_BY_RECEIVER,
                         arena_printf(tracing->arena, OFFER_CLIENT "/%s", tracing->id_text),
                         tracing->arena, &tracing->refused, &tracing->is_refused, err);
    return rc;
}

static int find_row(struct tracing *tracing, struct err *err)
{
    const struct client_view *client;
    struct row row = {0};
    bool found;
    int rc = clients_find(tracing->inspect->clients, OFFER_CLIENT, true, &client, err);

    tracing->row_version = -1;
    if (rc)
        return rc == ERR_NOT_FOUND ? 0 : rc;
    rc = row_read(tracing->inspect->store, client->id, bytes_of(tracing->id_text), false,
                  tracing->arena, &row, &found, err);
    if (!rc && found)
        tracing->row_version = row.order.version;
    client_unref(client);
    return rc;
}

/* --- topics --- */

typedef bool (*fits_fn)(struct tracing *tracing, const struct topic_message *message,
                        struct arena *arena, struct spotted *spotted);

static bool fits_update(struct tracing *tracing, const struct topic_message *message,
                        struct arena *arena, struct spotted *spotted)
{
    const Torg__V1__OfferUpdate *update;
    ProtobufCMessage *decoded;

    (void)spotted;
    if (!bytes_equal_text(message->key, tracing->id_text) ||
        message_decode(message->value, &torg__v1__offer_update__descriptor, arena, &decoded, NULL))
        return false;
    update = (const Torg__V1__OfferUpdate *)decoded;
    return update->offer && update->offer->revision >= tracing->offer->revision;
}

static bool fits_batch(struct tracing *tracing, const struct topic_message *message,
                       struct arena *arena, struct spotted *spotted)
{
    const Torg__V1__QualifiedBatch *batch;
    ProtobufCMessage *decoded;

    (void)spotted;
    if (message_decode(message->value, &torg__v1__qualified_batch__descriptor, arena, &decoded,
                       NULL))
        return false;
    batch = (const Torg__V1__QualifiedBatch *)decoded;
    for (size_t i = 0; i < batch->n_documents && strcmp(batch->client, OFFER_CLIENT) == 0; i++) {
        if (strcmp(batch->documents[i]->pk, tracing->id_text) == 0 &&
            batch->documents[i]->version >= tracing->version)
            return true;
    }
    return false;
}

/* The last among the newest records of the partition. What cannot be read is not told. */
static void spot(struct tracing *tracing, const char *topic, uint32_t partition, fits_fn fits,
                 struct spotted *spotted)
{
    struct topics *topics = tracing->inspect->topics;
    struct arena *arena = arena_new();
    uint64_t first, end;

    if (topic_range(topics, topic, partition, &first, &end, NULL))
        end = first = 0;
    if (end - first > TRACE_RECORD_COUNT)
        first = end - TRACE_RECORD_COUNT;
    while (first < end) {
        const struct topic_message *messages;
        size_t count;

        arena_reset(arena);
        if (topic_read(topics, topic, partition, first, READ_COUNT, READ_MS, arena, &messages,
                       &count, NULL) ||
            !count)
            break;
        for (size_t i = 0; i < count; i++) {
            if (!fits(tracing, &messages[i], arena, spotted))
                continue;
            spotted->is_found = true;
            spotted->partition = partition;
            spotted->offset = messages[i].offset;
            spotted->time_us = messages[i].timestamp_us;
        }
        first = messages[count - 1].offset + 1;
    }
    arena_free(arena);
}

/* False: the topic is not there, or cannot be asked; nothing is looked for in another partition. */
static bool find_partition(const struct tracing *tracing, const char *topic, const char *key,
                           uint32_t *partition)
{
    struct topic_config config;

    if (topic_describe(tracing->inspect->topics, topic, &config, NULL))
        return false;
    *partition = topic_partition(bytes_of(key), config.partition_count);
    return true;
}

static void look_at_topics(struct tracing *tracing)
{
    const char *key;
    uint32_t updates, documents;

    if (!tracing->inspect->topics ||
        !find_partition(tracing, TOPIC_OFFER_UPDATES, tracing->id_text, &updates))
        return;
    spot(tracing, TOPIC_OFFER_UPDATES, updates, fits_update, &tracing->exported);
    key = arena_printf(tracing->arena, OFFER_CLIENT "/%" PRIu32, updates);
    if (find_partition(tracing, TOPIC_DOCUMENTS, key, &documents))
        spot(tracing, TOPIC_DOCUMENTS, documents, fits_batch, &tracing->composed);
}

/* --- steps --- */

static void tell_saved(const struct tracing *tracing)
{
    const Torg__V1__Offer *offer = tracing->offer;

    if (!offer)
        trace_add(tracing->trace, "saved", STATE(ABSENT), 0,
                  arena_strdup(tracing->arena, "there is no offer of this id"), tracing->arena);
    else
        trace_add(tracing->trace, "saved", STATE(DONE), tracing->version,
                  arena_printf(tracing->arena, "revision %" PRId64 ", %s%s", offer->revision,
                               offer_status_name((enum offer_status)offer->status),
                               offer->status == TORG__V1__OFFER__STATUS__ACTIVE ? ""
                                                                                : ": not shown to "
                                                                                  "buyers"),
                  tracing->arena);
}

static char *place_text(const struct tracing *tracing, const char *topic,
                        const struct spotted *spotted)
{
    return spotted->is_found
               ? arena_printf(tracing->arena, "topic %s, partition %" PRIu32 ", offset %" PRIu64,
                              topic, spotted->partition, spotted->offset)
               : arena_printf(tracing->arena, "topic %s", topic);
}

static void tell_exported(const struct tracing *tracing)
{
    bool is_past = tracing->exported.is_found || tracing->row_version >= tracing->version;

    if (!tracing->offer)
        trace_add(tracing->trace, "exported", STATE(ABSENT), 0,
                  arena_strdup(tracing->arena, "there was nothing to export"), tracing->arena);
    else if (tracing->queued_us && !is_past)
        trace_add(tracing->trace, "exported", STATE(WAITING), tracing->queued_us,
                  arena_printf(tracing->arena,
                               "in the queue of shard %" PRIu32 ", behind %" PRId64
                               " others; an offers-worker takes it",
                               seller_shard(tracing->offer->seller), tracing->ahead_count),
                  tracing->arena);
    else
        trace_add(tracing->trace, "exported", STATE(DONE), tracing->exported.time_us,
                  place_text(tracing, TOPIC_OFFER_UPDATES, &tracing->exported), tracing->arena);
}

/* How far the composer is in the offer's partition. */
static char *composer_text(const struct tracing *tracing)
{
    struct topic_lag lag;
    uint32_t partition;

    if (!tracing->inspect->topics ||
        !find_partition(tracing, TOPIC_OFFER_UPDATES, tracing->id_text, &partition) ||
        topic_lag(tracing->inspect->topics, COMPOSER_GROUP, TOPIC_OFFER_UPDATES, partition, &lag,
                  NULL))
        return arena_strdup(tracing->arena, "the composer takes it");
    return arena_printf(tracing->arena,
                        "the composer is at offset %" PRIu64 " of %" PRIu64
                        " of partition %" PRIu32,
                        lag.has_committed ? lag.committed : lag.first, lag.end, partition);
}

static char *parked_text(const struct tracing *tracing, const struct parked *parked,
                         const char *how)
{
    return arena_printf(tracing->arena,
                        "%s; retried %" PRId64 " times, next retry at %s: %s (torg parked show, "
                        "replay)",
                        how, parked->try_count, trace_moment(parked->next_us, tracing->arena),
                        parked->reason);
}

static void tell_composed(const struct tracing *tracing)
{
    bool is_past = tracing->composed.is_found || tracing->row_version >= tracing->version;

    if (!tracing->offer)
        trace_add(tracing->trace, "composed", STATE(ABSENT), 0,
                  arena_strdup(tracing->arena, "there was nothing to compose"), tracing->arena);
    else if (is_past)
        trace_add(tracing->trace, "composed", STATE(DONE), tracing->composed.time_us,
                  place_text(tracing, TOPIC_DOCUMENTS, &tracing->composed), tracing->arena);
    else if (tracing->is_parked)
        trace_add(tracing->trace, "composed", STATE(STUCK), tracing->parked.first_us,
                  parked_text(tracing, &tracing->parked, "parked"), tracing->arena);
    else
        trace_add(tracing->trace, "composed", STATE(WAITING), 0, composer_text(tracing),
                  tracing->arena);
}

/* --- the document --- */

/* No document of any offer was received: there is no client of the registry to ask. */
static void tell_no_document(const struct tracing *tracing)
{
    static const char *const stages[] = {"received", "queued",  "numbered",
                                         "sent",     "indexed", "searchable"};

    for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++)
        trace_add(tracing->trace, stages[i], tracing->offer ? STATE(WAITING) : STATE(ABSENT), 0,
                  arena_strdup(tracing->arena, i ? "waits for the stage above that is not done"
                                                 : "no document of an offer was received yet"),
                  tracing->arena);
}

static int tell_document(const struct tracing *tracing, struct err *err)
{
    size_t first = tracing->trace->n_steps;
    int rc = trace_steps(tracing->inspect, OFFER_CLIENT, tracing->id_text, tracing->version,
                         tracing->arena, tracing->trace, err);

    if (rc == ERR_NOT_FOUND) {
        tell_no_document(tracing);
        rc = 0;
    }
    if (!rc && tracing->is_refused && tracing->row_version < tracing->version) {
        Torg__V1__TraceStep *received = tracing->trace->steps[first];

        received->state = (Torg__V1__TraceStep__State)STATE(STUCK);
        received->text = parked_text(tracing, &tracing->refused, "refused");
    }
    return rc;
}

int trace_offer(const struct inspect *inspect, const char *offer_id, struct arena *arena,
                Torg__V1__Trace *trace, struct err *err)
{
    struct tracing tracing = {.inspect = inspect, .arena = arena, .trace = trace};
    int rc = offer_id_parse(bytes_of(offer_id), &tracing.id, err);

    assert(inspect->store && inspect->clients && inspect->clock);
    if (rc)
        return rc;
    tracing.id_text = offer_id_text(arena, tracing.id);
    trace_begin(OFFER_CLIENT, tracing.id_text, arena, trace);
    rc = store_read(inspect->store, read_offer, &tracing, err);
    if (!rc && tracing.offer)
        tracing.version = moment_own_us(tracing.offer->update_time);
    if (!rc)
        rc = find_row(&tracing, err);
    if (rc)
        return rc;
    if (tracing.offer)
        look_at_topics(&tracing);
    tell_saved(&tracing);
    tell_exported(&tracing);
    tell_composed(&tracing);
    return tell_document(&tracing, err);
}
