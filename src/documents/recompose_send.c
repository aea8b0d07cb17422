/* SPDX-License-Identifier: Apache-2.0 */
/* recompose_send.c - see recompose_send.h. */
#include "documents/recompose_send.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "documents/bounds.h"
#include "documents/composer.h"
#include "documents/offer_document.h"
#include "model/offer_fields.h"
#include "model/topics.h"
#include "stage/bounds.h"
#include "stage/parked.h"
#include "topic/bounds.h"

_Static_assert((int)RECOMPOSE_PARKED_COUNT_MAX < (int)PARKED_COUNT_MAX, "room for live changes");

/* A document that is ready, and where it goes. */
struct ready {
    Torg__V1__RawDocument *document;
    uint32_t partition; /* of offer-updates */
    Torg__V1__QueueLane__Name lane;
};

/* An offer that cannot be composed. */
struct failure {
    const char *offer;
    const char *reason;
};

/* A page on its way. */
struct sending {
    struct recompose_sender *sender;
    const struct catalog *catalog;
    struct arena *arena;
    struct recompose_mark *mark;
    struct failure *failures;
    size_t failure_count;
};

/* Records of a page: runs of documents of one partition and lane. */
struct parcel {
    struct topic_record *records;
    uint64_t *offsets;
    size_t count;
};

int recompose_sender_init(struct recompose_sender *sender, struct topics *topics,
                          struct store *store, const struct clock *clock, const char *taker_group,
                          struct task *task, struct err *err)
{
    const char *name = "torg_composer_catalog_documents_total";
    const char *help = "Offers composed again because the catalogue has changed.";
    struct topic_config source, target;
    int rc = topic_describe(topics, TOPIC_OFFER_UPDATES, &source, err);

    if (!rc)
        rc = topic_describe(topics, TOPIC_DOCUMENTS, &target, err);
    if (rc)
        return rc;
    *sender = (struct recompose_sender){.topics = topics,
                                        .store = store,
                                        .clock = clock,
                                        .taker_group = taker_group,
                                        .task = task,
                                        .source_count = source.partition_count,
                                        .target_count = target.partition_count,
                                        .sent = metrics_counter(name, "event=\"upsert\"", help),
                                        .hidden = metrics_counter(name, "event=\"delete\"", help),
                                        .failed = metrics_counter(name, "event=\"failed\"", help)};
    return 0;
}

/* --- offers of categories that are gone --- */

static bool is_hidden(const struct catalog *catalog, const Torg__V1__Offer *offer)
{
    return offer->status == TORG__V1__OFFER__STATUS__ACTIVE &&
           !category_find(catalog, offer->content->category);
}

int64_t recompose_hold_us(const struct recompose_sender *sender, const struct catalog *catalog,
                          const struct recompose_page *page)
{
    const int64_t recent_us = (int64_t)RECOMPOSE_RECENT_S * SECOND_US;
    int64_t now_us = clock_wall_us(sender->clock);
    int64_t hold_us = 0;

    for (size_t i = 0; i < page->count; i++) {
        const Google__Protobuf__Timestamp *time = page->offers[i]->update_time;
        int64_t left_us;

        if (!time || !is_hidden(catalog, page->offers[i]))
            continue;
        left_us = moment_own_us(time) + recent_us - now_us;
        hold_us = left_us > hold_us ? left_us : hold_us;
    }
    return hold_us < recent_us ? hold_us : recent_us;
}

/* Which of the hidden ones are parked. */
struct asking_parked {
    const struct catalog *catalog;
    const struct recompose_page *page;
    struct arena *arena;
    bool *is_parked; /* by place in the page */
};

static int read_parked(struct store_tx *tx, void *arg, struct err *err)
{
    struct asking_parked *asking = arg;
    int rc = 0;

    for (size_t i = 0; i < asking->page->count && !rc; i++) {
        struct parked parked;

        if (is_hidden(asking->catalog, asking->page->offers[i]))
            rc = parked_find(tx, PARKED_BY_COMPOSER, asking->page->offers[i]->id, asking->arena,
                             &parked, &asking->is_parked[i], err);
    }
    return rc;
}

/* --- composing --- */

static Torg__V1__QueueLane__Name lane_of(const struct recompose_sender *sender,
                                         const Torg__V1__RawDocument *document)
{
    int64_t age_us = clock_wall_us(sender->clock) - document->version;

    return age_us < RECOMPOSE_RECENT_S * SECOND_US ? TORG__V1__QUEUE_LANE__NAME__MAIN
                                                   : TORG__V1__QUEUE_LANE__NAME__BACKFILL;
}

static void note_failure(struct sending *sending, const char *offer, const char *reason)
{
    sending->failures[sending->failure_count++] =
        (struct failure){offer, arena_strdup(sending->arena, reason)};
    sending->mark->failed_count++;
    counter_add(sending->sender->failed, 1);
    log_warn("an offer cannot be composed again", LOG_TEXT("offer", offer),
             LOG_TEXT("reason", reason));
}

/* False: it is not in the index, or cannot be made. */
static bool compose(struct sending *sending, const Torg__V1__Offer *offer, bool is_parked,
                    struct ready *ready)
{
    const struct recompose_sender *sender = sending->sender;
    const struct catalog *catalog = sending->catalog;
    struct arena *arena = sending->arena;
    bool hides = is_hidden(catalog, offer);
    struct err err;
    int rc;

    if (offer->status != TORG__V1__OFFER__STATUS__ACTIVE && !sender->has_every_status)
        return false; /* whatever the catalogue, it is not to be found */
    rc = hides ? offer_document_hidden(offer, catalog, is_parked, arena, &ready->document, &err)
               : offer_document(offer, catalog, arena, &ready->document, &err);
    if (rc) {
        note_failure(sending, offer->id, err.text);
        return false;
    }
    sending->mark->hidden_count += hides;
    sending->mark->sent_count += !hides;
    ready->partition = topic_partition(bytes_of(offer->id), sender->source_count);
    ready->lane = lane_of(sender, ready->document);
    return true;
}

static int compare_ready(const void *a, const void *b)
{
    const struct ready *left = a;
    const struct ready *right = b;

    if (left->partition != right->partition)
        return left->partition < right->partition ? -1 : 1;
    return (left->lane > right->lane) - (left->lane < right->lane);
}

/* --- sending --- */

static void close_record(struct parcel *parcel, const struct ready *ready, struct buf *wire,
                         struct arena *arena)
{
    if (!wire->size)
        return;
    parcel->records[parcel->count++] = (struct topic_record){
        .key = bytes_of(arena_printf(arena, OFFER_CLIENT "/%" PRIu32, ready->partition)),
        .value = arena_copy(arena, buf_bytes(wire))};
    buf_reset(wire);
}

/* Batches of one document each: side by side they are one batch. */
static void put(struct sending *sending, struct ready *ready, struct buf *wire)
{
    Torg__V1__QualifiedBatch batch = TORG__V1__QUALIFIED_BATCH__INIT;
    struct buf one = BUF_INIT(TOPIC_VALUE_SIZE_MAX - COMPOSER_BATCH_SIZE);

    batch.client = (char *)OFFER_CLIENT;
    batch.documents = &ready->document;
    batch.n_documents = 1;
    batch.lane = ready->lane;
    message_encode(&batch.base, &one);
    if (buf_failed(&one)) {
        sending->mark->sent_count--;
        note_failure(sending, ready->document->pk, "its document is too large for a batch");
    } else {
        buf_put(wire, buf_bytes(&one));
    }
    buf_release(&one);
}

static void pack(struct sending *sending, struct ready *list, size_t count, struct parcel *parcel)
{
    struct arena *arena = sending->arena;
    struct buf wire = BUF_INIT(TOPIC_VALUE_SIZE_MAX);

    qsort(list, count, sizeof(*list), compare_ready);
    parcel->records = arena_array(arena, count, sizeof(*parcel->records));
    parcel->offsets = arena_array(arena, count, sizeof(*parcel->offsets));
    for (size_t i = 0; i < count; i++) {
        if (i && (compare_ready(&list[i - 1], &list[i]) != 0 || wire.size >= COMPOSER_BATCH_SIZE))
            close_record(parcel, &list[i - 1], &wire, arena);
        put(sending, &list[i], &wire);
    }
    if (count)
        close_record(parcel, &list[count - 1], &wire, arena);
    buf_release(&wire);
}

/* Until the receiver has decided on them. */
static int wait_until_taken(struct recompose_sender *sender, const struct parcel *parcel,
                            struct err *err)
{
    for (size_t i = 0; i < parcel->count; i++) {
        uint32_t partition = topic_partition(parcel->records[i].key, sender->target_count);

        for (;;) {
            struct topic_lag lag;
            int rc = topic_lag(sender->topics, sender->taker_group, TOPIC_DOCUMENTS, partition,
                               &lag, err);

            if (rc)
                return rc;
            if (lag.has_committed && lag.committed > parcel->offsets[i])
                break;
            if (!task_pause(sender->task, RECOMPOSE_TAKEN_MS * 1000LL))
                return err_set(err, ERR_CANCELLED, "it is time to stop");
        }
    }
    return 0;
}

/* --- what cannot be composed --- */

static int look_for_parked(struct store_tx *tx, void *arg, struct err *err)
{
    const struct sending *sending = arg;
    int rc = 0;

    for (size_t i = 0; i < sending->failure_count && !rc; i++) {
        struct failure *failure = &sending->failures[i];
        struct parked parked;
        bool found = false;

        if (failure->reason)
            rc = parked_find(tx, PARKED_BY_COMPOSER, failure->offer, sending->arena, &parked,
                             &found, err);
        if (found)
            failure->reason = NULL;
    }
    return rc;
}

/* As records that the composer could not use: it tries them again, with the newest of each offer,
 * and people see why. Older than any record: one that is used replaces it. Those behind the limit
 * are told by the log alone, and by the auditor. */
static int park(struct sending *sending, struct err *err)
{
    const struct recompose_sender *sender = sending->sender;
    int64_t now_us = clock_wall_us(sender->clock);
    struct parked_total total;
    int rc = parked_total(sender->store, PARKED_BY_COMPOSER, &total, err);

    if (!rc)
        rc = store_read(sender->store, look_for_parked, sending, err);
    for (size_t i = 0;
         i < sending->failure_count && !rc && total.count < RECOMPOSE_PARKED_COUNT_MAX; i++) {
        const struct failure *failure = &sending->failures[i];
        const struct parked parked = {
            .stage = PARKED_BY_COMPOSER,
            .key = failure->offer,
            .topic = TOPIC_OFFER_UPDATES,
            .partition = topic_partition(bytes_of(failure->offer), sender->source_count),
            .reason = failure->reason,
            .first_us = now_us,
            .next_us = now_us};

        if (!failure->reason) /* it is parked already */
            continue;
        rc = parked_add(sender->store, &parked, PARKED_NEWEST, err);
        total.count++;
        if (rc == ERR_LIMIT) /* the room is full of bytes */
            return 0;
    }
    return rc;
}

int recompose_send(struct recompose_sender *sender, const struct catalog *catalog,
                   const struct recompose_page *page, struct arena *arena,
                   struct recompose_mark *mark, struct err *err)
{
    struct ready *list = arena_array(arena, page->count + 1, sizeof(*list));
    int64_t sent_count = mark->sent_count;
    int64_t hidden_count = mark->hidden_count;
    struct asking_parked asking = {.catalog = catalog, .page = page, .arena = arena};
    struct sending sending = {.sender = sender, .catalog = catalog, .arena = arena, .mark = mark};
    struct parcel parcel = {0};
    size_t count = 0;
    int rc;

    asking.is_parked = arena_array(arena, page->count + 1, sizeof(bool));
    sending.failures = arena_array(arena, page->count + 1, sizeof(*sending.failures));
    rc = store_read(sender->store, read_parked, &asking, err);
    if (rc)
        return rc;

    mark->seen_count += (int64_t)(page->count + page->damaged_count);
    mark->failed_count += (int64_t)page->damaged_count;
    for (size_t i = 0; i < page->count; i++)
        count += compose(&sending, page->offers[i], asking.is_parked[i], &list[count]);
    pack(&sending, list, count, &parcel);
    if (sending.failure_count)
        rc = park(&sending, err);
    if (!rc && parcel.count)
        rc = topic_produce(sender->topics, TOPIC_DOCUMENTS, parcel.records, parcel.count,
                           parcel.offsets, err);
    if (!rc && sender->taker_group)
        rc = wait_until_taken(sender, &parcel, err);
    if (rc)
        return rc;
    counter_add(sender->sent, (uint64_t)(mark->sent_count - sent_count));
    counter_add(sender->hidden, (uint64_t)(mark->hidden_count - hidden_count));
    return 0;
}
