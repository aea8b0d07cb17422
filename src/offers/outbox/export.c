/* SPDX-License-Identifier: Apache-2.0 */
/* export.c - see export.h. */
#include "offers/outbox/export.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "model/offer_fields.h"
#include "model/topics.h"
#include "offers/change/own_uploads.h"
#include "offers/change/photos.h"
#include "offers/record/offer_record.h"
#include "stage/make_topics.h"
#include "store/fence.h"
#include "torg/v1/document.pb-c.h"
#include "torg/v1/offer_update.pb-c.h"

enum { FENCE_NAME_SIZE = 32, VALUE_SIZE_MAX = OFFER_STORED_SIZE_MAX + 1024, TOPIC_COUNT = 5 };

/* In the order in which they are sent to: what is to be gone does not wait for what is to come. */
enum { TO_TAKEDOWNS, TO_UPDATES, TO_MODERATORS, TO_PHOTOGRAPHERS, TO_LOOKERS };
static const char *const receivers[TOPIC_COUNT] = {[TO_TAKEDOWNS] = TOPIC_TAKEDOWNS,
                                                   [TO_UPDATES] = TOPIC_OFFER_UPDATES,
                                                   [TO_MODERATORS] = TOPIC_MODERATION_REQUESTS,
                                                   [TO_PHOTOGRAPHERS] = TOPIC_PHOTO_REQUESTS,
                                                   [TO_LOOKERS] = TOPIC_PHOTO_RESULTS};

struct change {
    uint32_t place; /* of its shard, in the list of those owned */
    int64_t seq;
    bool adjacent; /* no row of the queue is between it and the change before */
    offerid offer;
    int64_t revision;
    uint32_t sent; /* bits of the receivers that have it */
    struct bytes key;
    struct bytes values[TOPIC_COUNT]; /* by receiver; with no bytes: nothing is sent */
};

enum { BATCH_MAGIC = OBJECT_MAGIC('x', 'b', 'a', 't') };

struct batch {
    uint32_t magic;
    struct exporter *exporter;
    const struct coord_shard *owned;
    size_t owned_count;
    struct arena *arena;
    bool waiting[OFFER_SHARD_COUNT]; /* shards with rows, whoever owns them */
    bool urgent[OFFER_SHARD_COUNT];  /* and those with takedowns among them */
    size_t urgent_count;             /* changes at the front: takedowns and what precedes them */
    size_t count;
    size_t size;
    size_t deleted;
    bool more;                                 /* a shard may have rows that were not looked at */
    bool lost[OFFER_SHARD_COUNT];              /* by place: found out before sending */
    bool stale[OFFER_SHARD_COUNT];             /* by place: found out when deleting */
    struct change changes[EXPORT_BATCH_COUNT]; /* last: they are not cleared before they are set */
};

/* --- topics and tickets --- */

int exporter_init(struct exporter *exporter, const struct offers *offers, struct topics *topics,
                  struct coord_shards *shards, struct err *err)
{
    int rc = 0;

    assert(offers->store && offers->clock);
    *exporter = (struct exporter){.offers = offers, .topics = topics, .shards = shards};
    exporter->exported = metrics_counter("torg_export_changes_total", NULL,
                                         "Changes of offers sent, and out of the queue.");
    exporter->skipped = metrics_counter("torg_export_skipped_total", NULL,
                                        "Times a change was left because its offer is damaged.");
    for (size_t i = 0; i < TOPIC_COUNT && !rc; i++)
        rc = stage_make_topic(topics, receivers[i], err);
    return rc;
}

static int check_ticket(struct store_tx *tx, const struct coord_shard *shard, struct err *err)
{
    char name[FENCE_NAME_SIZE];

    snprintf(name, sizeof(name), EXPORT_SET "/%u", shard->shard);
    return store_check_fence(tx, name, (int64_t)shard->ticket, err);
}

static int record_tickets(struct store_tx *tx, void *arg, struct err *err)
{
    struct batch *batch = arg;
    int rc = 0;

    object_check(batch, BATCH_MAGIC);
    for (size_t i = 0; i < batch->owned_count && !rc; i++) {
        const struct coord_shard *shard = &batch->owned[i];

        batch->lost[i] = false;
        if (batch->exporter->tickets[shard->shard] == shard->ticket)
            continue;
        rc = check_ticket(tx, shard, err);
        batch->lost[i] = rc == ERR_STALE;
        rc = rc == ERR_STALE ? 0 : rc;
    }
    return rc;
}

/* Shuts out the owners before; shards that are already another's are marked as lost. */
static int claim(struct batch *batch, struct err *err)
{
    uint64_t *tickets = batch->exporter->tickets;
    bool fresh = false;
    int rc;

    for (size_t i = 0; i < batch->owned_count; i++)
        fresh = fresh || tickets[batch->owned[i].shard] != batch->owned[i].ticket;
    if (!fresh)
        return 0;
    rc = store_write(batch->exporter->offers->store, record_tickets, batch, err);
    for (size_t i = 0; i < batch->owned_count && !rc; i++) {
        if (!batch->lost[i])
            tickets[batch->owned[i].shard] = batch->owned[i].ticket;
    }
    return rc;
}

/* --- reading --- */

/* From shard to shard along the key: an empty queue, the usual state, costs one question. */
static int find_shards(struct store_tx *tx, const char *sql, bool found[OFFER_SHARD_COUNT],
                       bool *is_any, struct err *err)
{
    int64_t at = -1;

    *is_any = false;
    memset(found, 0, OFFER_SHARD_COUNT * sizeof(found[0]));
    for (;;) {
        int64_t next = -1;
        int rc = store_find_integer(tx, sql, STORE_WITH(STORE_V_INT(at)), &next, err);

        if (rc || next < 0)
            return rc;
        assert(next > at);
        at = next;
        *is_any = true;
        if (at < OFFER_SHARD_COUNT)
            found[at] = true;
    }
}

static int find_waiting(struct store_tx *tx, struct batch *batch, struct err *err)
{
    bool is_any;
    int rc = find_shards(tx,
                         "SELECT shard_id FROM queue WHERE shard_id > $1 "
                         "ORDER BY shard_id LIMIT 1",
                         batch->waiting, &is_any, err);

    memset(batch->urgent, 0, sizeof(batch->urgent));
    if (!rc && is_any)
        rc = find_shards(tx,
                         "SELECT shard_id FROM queue WHERE shard_id > $1 AND urgent > 0 "
                         "ORDER BY shard_id LIMIT 1",
                         batch->urgent, &is_any, err);
    return rc;
}

struct row {
    int64_t seq;
    offerid offer;
    int64_t revision;
    bool is_urgent;
    struct bytes body; /* the offer at that revision; empty: the newest state is it, or it is a
                          later row of the same offer */
};

struct window {
    struct row rows[EXPORT_WINDOW_COUNT];
    size_t count;
    bool is_sparse; /* there may be others between its rows */
    bool is_cut;    /* the batch has bytes enough without those behind */
};

static bool is_earlier(const struct window *window, size_t place)
{
    for (size_t i = 0; i < place; i++) {
        if (window->rows[i].offer == window->rows[place].offer)
            return true;
    }
    return false;
}

/* A later one of the same offer: that one first. */
static bool must_wait(const struct batch *batch, const struct window *window, size_t place)
{
    for (size_t i = 0; i < batch->urgent_count; i++) {
        if (batch->changes[i].offer == window->rows[place].offer)
            return true;
    }
    return is_earlier(window, place);
}

static struct bytes encode(struct batch *batch, const ProtobufCMessage *message)
{
    struct buf wire = BUF_INIT(VALUE_SIZE_MAX);
    struct bytes value;

    message_encode(message, &wire);
    assert(!buf_failed(&wire)); /* what is stored was measured when it was saved */
    value = arena_copy(batch->arena, buf_bytes(&wire));
    buf_release(&wire);
    batch->size += value.size;
    return value;
}

/* Those photos that the row's revision asked for and that are still wanted; NULL: none. */
static int find_request(struct store_tx *tx, struct batch *batch, const struct row *row,
                        const Torg__V1__Offer *offer, const Torg__V1__PhotoRequest **request,
                        struct err *err)
{
    Torg__V1__Offer *newest = NULL;
    int rc = 0;

    *request = photos_request(offer, row->revision, batch->arena);
    if (*request)
        rc = record_find(tx, row->offer, batch->arena, &newest, err);
    if (newest)
        *request = photos_request(newest, row->revision, batch->arena);
    return rc == ERR_CORRUPT ? 0 : rc;
}

/* The deletion of its document, for the registry itself: the topics between are read in order, and
 * a long feed may lie in them. It needs no catalogue; the composer's own, which comes later, is
 * just newer, and what comes of the time before is older. */
static struct bytes encode_takedown(struct batch *batch, const Torg__V1__Offer *offer)
{
    Torg__V1__RawDocument document = TORG__V1__RAW_DOCUMENT__INIT;
    Torg__V1__RawDocument *documents[] = {&document};
    Torg__V1__QualifiedBatch message = TORG__V1__QUALIFIED_BATCH__INIT;

    document.pk = offer->id;
    document.version = moment_own_us(offer->update_time);
    document.modify_timestamp = offer->update_time;
    document.event = TORG__V1__RAW_DOCUMENT__EVENT__DELETE;
    message.client = OFFER_CLIENT;
    message.lane = TORG__V1__QUEUE_LANE__NAME__EMERGENCY;
    message.documents = documents;
    message.n_documents = 1;
    return encode(batch, &message.base);
}

static int fill_change(struct store_tx *tx, struct batch *batch, struct change *change,
                       Torg__V1__Offer *offer, const struct row *row, struct err *err)
{
    Torg__V1__OfferUpdate update = TORG__V1__OFFER_UPDATE__INIT;
    const Torg__V1__PhotoResult *settled = own_uploads_result(offer, row->revision, batch->arena);
    const Torg__V1__PhotoRequest *request;
    int rc = find_request(tx, batch, row, offer, &request, err);

    if (rc)
        return rc;
    update.offer = offer;
    update.shard = batch->owned[change->place].shard;
    update.seq = change->seq;
    update.urgent = row->is_urgent;
    change->key = bytes_of(offer->id);
    change->values[TO_UPDATES] = change->values[TO_MODERATORS] = encode(batch, &update.base);
    if (request)
        change->values[TO_PHOTOGRAPHERS] = encode(batch, &request->base);
    if (settled) /* it is in the offer: whoever looks at answers does at these, too */
        change->values[TO_LOOKERS] = encode(batch, &settled->base);
    if (row->is_urgent && offer->status != TORG__V1__OFFER__STATUS__ACTIVE && offer->update_time)
        change->values[TO_TAKEDOWNS] = encode_takedown(batch, offer);
    return 0;
}

/* Whether the row is in the log already: rounds come every few milliseconds, and it stays. */
static bool is_told(struct exporter *exporter, const struct row *row)
{
    uint64_t hash =
        hash64(bytes_make((const int64_t[]){row->offer, row->seq}, 2 * sizeof(int64_t)));
    uint64_t *place = &exporter->told[hash % EXPORT_TOLD_COUNT];
    bool is_known = *place == hash;

    *place = hash;
    return is_known;
}

/* One damaged offer holds up nobody but itself. */
static void skip_damaged(struct batch *batch, const struct row *row, const struct err *err)
{
    counter_add(batch->exporter->skipped, 1);
    if (is_told(batch->exporter, row))
        return;
    log_error("an offer cannot be exported", LOG_INT("offer", row->offer), LOG_INT("seq", row->seq),
              LOG_TEXT("error", err->text));
}

/* As it was at the row's revision: the newest, unless the row has another. The newest, too, where
 * that is damaged: better than that later changes of the offer wait behind it, a ban among them. */
static int find_offer(struct store_tx *tx, struct batch *batch, const struct row *row,
                      Torg__V1__Offer **offer, struct err *err)
{
    int rc = ERR_CORRUPT;

    if (row->body.size)
        rc = record_open_offer(row->offer, row->body, batch->arena, offer, err);
    if (!rc)
        return 0;
    rc = record_find(tx, row->offer, batch->arena, offer, err);
    if (!rc && !*offer)
        rc = err_set(err, ERR_CORRUPT, "the queue names an offer that is not there");
    if (!rc && row->body.size)
        log_error("a row of the export is damaged: the newest state is sent instead",
                  LOG_INT("offer", row->offer), LOG_INT("seq", row->seq));
    return rc;
}

static int gather_window(struct store_tx *tx, struct batch *batch, uint32_t place,
                         const struct window *window, struct err *err)
{
    bool adjacent = false;
    int rc = 0;

    for (size_t i = 0; i < window->count && !rc; i++) {
        struct change *change = &batch->changes[batch->count];
        const struct row *row = &window->rows[i];
        Torg__V1__Offer *offer;

        if (batch->count == EXPORT_BATCH_COUNT || batch->size >= EXPORT_BATCH_SIZE) {
            batch->more = true;
            break;
        }
        if (must_wait(batch, window, i)) {
            adjacent = false;
            batch->more = true; /* it is the next round's */
            continue;
        }
        rc = find_offer(tx, batch, row, &offer, err);
        if (rc == ERR_CORRUPT) {
            skip_damaged(batch, row, err);
            adjacent = false;
            rc = 0;
            continue;
        }
        if (rc)
            break;
        *change = (struct change){.place = place,
                                  .seq = row->seq,
                                  .adjacent = adjacent,
                                  .offer = row->offer,
                                  .revision = row->revision};
        rc = fill_change(tx, batch, change, offer, row, err);
        batch->count += !rc;
        adjacent = !window->is_sparse;
    }
    return rc;
}

#define ROWS                                                                                       \
    "SELECT seq, offer_id, revision, urgent, body FROM queue WHERE shard_id = $1 AND seq > $3 "
#define TAKEDOWNS                                                                                  \
    " FROM queue WHERE shard_id = $1 AND urgent > 0 ORDER BY seq LIMIT $2) AS takedowns) "

static const char oldest_rows[] = ROWS "ORDER BY seq LIMIT $2";
/* The oldest takedowns, and what waits of their offers before them: revisions stay in order. */
static const char urgent_rows[] = ROWS
    "AND seq <= (SELECT MAX(seq) FROM (SELECT seq" TAKEDOWNS
    "AND offer_id IN (SELECT offer_id FROM (SELECT seq, offer_id" TAKEDOWNS "ORDER BY seq LIMIT $2";

/* params: the shard, how many, behind which */
static int read_window(struct store_tx *tx, struct batch *batch, const char *sql,
                       const struct store_value params[3], struct window *window, struct err *err)
{
    struct store_rows rows = store_select(tx, sql, params, 3);
    size_t size = batch->size;

    window->is_cut = false;
    window->is_sparse = sql != oldest_rows;
    for (window->count = 0; !window->is_cut && store_next(&rows); window->count++) {
        struct row *row = &window->rows[window->count];

        assert(window->count < EXPORT_WINDOW_COUNT);
        *row = (struct row){.seq = rows.columns[0].integer,
                            .offer = rows.columns[1].integer,
                            .revision = rows.columns[2].integer,
                            .is_urgent = rows.columns[3].integer > 0};
        if (!must_wait(batch, window, window->count))
            row->body = arena_copy(batch->arena, rows.columns[4].bytes);
        size += row->body.size;
        window->is_cut = size >= EXPORT_BATCH_SIZE;
    }
    return store_rows_end(&rows, err);
}

/* The oldest rows; where all of them are of damaged offers, those after them. */
static int gather_shard(struct store_tx *tx, struct batch *batch, uint32_t place, struct err *err)
{
    size_t before = batch->count;
    struct window window;
    int64_t last = 0;
    int rc = 0;

    for (int i = 0; i < EXPORT_DAMAGED_WINDOW_MAX && !rc; i++) {
        const struct store_value params[] = {STORE_V_INT(batch->owned[place].shard),
                                             STORE_V_INT(EXPORT_WINDOW_COUNT), STORE_V_INT(last)};

        rc = read_window(tx, batch, oldest_rows, params, &window, err);
        if (!rc)
            rc = gather_window(tx, batch, place, &window, err);
        if (batch->count > before || (window.count < EXPORT_WINDOW_COUNT && !window.is_cut) ||
            batch->size >= EXPORT_BATCH_SIZE || batch->count == EXPORT_BATCH_COUNT)
            break;
        last = window.rows[window.count - 1].seq;
    }
    batch->more = batch->more || window.count == EXPORT_WINDOW_COUNT || window.is_cut;
    return rc;
}

/* Takedowns of the shard: however long its queue is, they are in the next round. */
static int gather_urgent(struct store_tx *tx, struct batch *batch, uint32_t place, struct err *err)
{
    const struct store_value params[] = {STORE_V_INT(batch->owned[place].shard),
                                         STORE_V_INT(EXPORT_WINDOW_COUNT), STORE_V_INT(0)};
    struct window window;
    int rc = read_window(tx, batch, urgent_rows, params, &window, err);

    if (!rc)
        rc = gather_window(tx, batch, place, &window, err);
    batch->more = batch->more || window.count == EXPORT_WINDOW_COUNT || window.is_cut;
    return rc;
}

static int gather(struct store_tx *tx, void *arg, struct err *err)
{
    struct batch *batch = arg;
    int rc;

    object_check(batch, BATCH_MAGIC);
    batch->count = 0;
    batch->size = 0;
    batch->more = false;
    batch->urgent_count = 0;
    rc = find_waiting(tx, batch, err);
    for (uint32_t i = 0; i < batch->owned_count && !rc; i++) {
        if (batch->urgent[batch->owned[i].shard] && !batch->lost[i])
            rc = gather_urgent(tx, batch, i, err);
    }
    batch->urgent_count = batch->count;
    for (size_t i = 0; i < batch->owned_count && !rc; i++) {
        uint32_t place = (uint32_t)((batch->exporter->first + i) % batch->owned_count);

        if (batch->waiting[batch->owned[place].shard] && !batch->lost[place])
            rc = gather_shard(tx, batch, place, err);
    }
    return rc;
}

/* --- what a round that failed has sent --- */

/* Numbers of rows may come again when a store is restored: revisions tell them apart. */
static struct export_sent *sent_place(const struct batch *batch, const struct change *change,
                                      bool *is_its)
{
    uint32_t shard = batch->owned[change->place].shard;
    uint64_t hash = hash64(bytes_make((const int64_t[]){change->seq, shard}, 2 * sizeof(int64_t)));
    struct export_sent *sent = &batch->exporter->sent[hash % EXPORT_SENT_COUNT];

    *is_its = sent->seq == change->seq && sent->shard == shard && sent->offer == change->offer &&
              sent->revision == change->revision;
    return sent;
}

static void recall_sent(struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        bool is_its;
        const struct export_sent *sent = sent_place(batch, &batch->changes[i], &is_its);

        batch->changes[i].sent = is_its ? sent->topics : 0;
    }
}

static void note_sent(struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct change *change = &batch->changes[i];
        bool is_its;

        if (change->sent)
            *sent_place(batch, change, &is_its) =
                (struct export_sent){.seq = change->seq,
                                     .offer = change->offer,
                                     .revision = change->revision,
                                     .shard = batch->owned[change->place].shard,
                                     .topics = change->sent};
    }
}

/* --- sending --- */

static bool is_for(const struct batch *batch, const struct change *change, size_t topic)
{
    return !batch->lost[change->place] && change->values[topic].size &&
           !(change->sent & 1u << topic);
}

static int send_to(struct batch *batch, size_t topic, struct err *err)
{
    struct topic_record *records = arena_array(batch->arena, batch->count, sizeof(*records));
    size_t count = 0;
    int rc;

    for (size_t i = 0; i < batch->count; i++) {
        const struct change *change = &batch->changes[i];

        if (is_for(batch, change, topic))
            records[count++] =
                (struct topic_record){.key = change->key, .value = change->values[topic]};
    }
    if (!count)
        return 0;
    rc = topic_produce(batch->exporter->topics, receivers[topic], records, count, NULL, err);
    for (size_t i = 0; i < batch->count && !rc; i++)
        if (is_for(batch, &batch->changes[i], topic))
            batch->changes[i].sent |= 1u << topic;
    return rc;
}

/* One call a topic: the embedded one then syncs each partition once, and Kafka is sent to in
 * parallel all the same. Returns when each record was answered, however many failed. */
static int send(struct batch *batch, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < TOPIC_COUNT && !rc; i++)
        rc = send_to(batch, i, err);
    return rc;
}

/* --- deleting --- */

/* Rows next to each other go by one statement: numbers grow, so none can come between them. */
static int delete_run(struct store_tx *tx, struct batch *batch, size_t first, size_t last,
                      struct err *err)
{
    int64_t deleted = 0;
    int rc = store_exec(tx, "DELETE FROM queue WHERE shard_id = $1 AND seq >= $2 AND seq <= $3",
                        STORE_WITH(STORE_V_INT(batch->owned[batch->changes[first].place].shard),
                                   STORE_V_INT(batch->changes[first].seq),
                                   STORE_V_INT(batch->changes[last].seq)),
                        &deleted, err);

    batch->deleted += (size_t)deleted;
    return rc;
}

static int delete_sent(struct store_tx *tx, void *arg, struct err *err)
{
    struct batch *batch = arg;
    size_t last;
    int rc = 0;

    object_check(batch, BATCH_MAGIC);
    batch->deleted = 0;
    memset(batch->stale, 0, sizeof(batch->stale));
    for (size_t first = 0; first < batch->count && !rc; first = last + 1) {
        uint32_t place = batch->changes[first].place;

        last = first;
        while (last + 1 < batch->count && batch->changes[last + 1].place == place &&
               batch->changes[last + 1].adjacent)
            last++;
        if (batch->lost[place] || batch->stale[place])
            continue;
        rc = check_ticket(tx, &batch->owned[place], err);
        if (!rc)
            rc = delete_run(tx, batch, first, last, err);
        batch->stale[place] = rc == ERR_STALE;
        rc = rc == ERR_STALE ? 0 : rc; /* the others' rows go all the same */
    }
    return rc;
}

/* --- a round --- */

/* Any time may have passed since the list was made. */
static void drop_lost(struct batch *batch)
{
    struct coord_shards *shards = batch->exporter->shards;

    for (size_t i = 0; i < batch->owned_count && shards; i++) {
        const struct coord_shard *shard = &batch->owned[i];

        batch->lost[i] = batch->lost[i] || !coord_valid(shards, shard->shard, shard->ticket);
    }
}

static int refuse_stale(const struct batch *batch, struct err *err)
{
    for (size_t i = 0; i < batch->owned_count; i++) {
        if (batch->stale[i] || batch->lost[i])
            return err_set(err, ERR_STALE, "shard %u of " EXPORT_SET " has a new owner",
                           batch->owned[i].shard);
    }
    return 0;
}

static int run_batch(struct batch *batch, struct err *err)
{
    struct store *store = batch->exporter->offers->store;
    int rc = claim(batch, err);

    if (!rc)
        rc = store_read(store, gather, batch, err);
    if (!rc)
        drop_lost(batch);
    if (!rc)
        recall_sent(batch);
    if (!rc && batch->count)
        rc = send(batch, err);
    if (!rc && batch->count)
        rc = store_write(store, delete_sent, batch, err);
    if (rc) {
        batch->deleted = 0;
        note_sent(batch);
    }
    return rc ? rc : refuse_stale(batch, err);
}

int exporter_round(struct exporter *exporter, const struct coord_shard *owned, size_t owned_count,
                   size_t *count, struct err *err)
{
    struct batch *batch;
    int rc;

    *count = 0;
    assert(owned_count <= OFFER_SHARD_COUNT);
    if (!owned_count)
        return 0;
    batch = mem_alloc(sizeof(*batch));
    memset(batch, 0, offsetof(struct batch, changes));
    object_begin(batch, BATCH_MAGIC);
    batch->exporter = exporter;
    batch->owned = owned;
    batch->owned_count = owned_count;
    batch->arena = arena_new();
    rc = run_batch(batch, err);
    *count = batch->deleted;
    exporter->more = batch->more;
    counter_add(exporter->exported, batch->deleted);
    if (batch->count) /* a full batch may have left out the shards after its last */
        exporter->first = batch->changes[batch->count - 1].place + 1;
    arena_free(batch->arena);
    object_end(batch, BATCH_MAGIC);
    free(batch);
    return rc;
}
