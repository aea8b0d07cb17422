/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_offers.c - the check OFFERS: the registry has of every offer the document that its newest
 * change makes, and no document without an offer.
 *
 *   offers in order of ids, then the registry's rows in order of hashes
 *     │ a page without bodies: (id, time of the change) beside (version, alive)
 *     └ what is not plainly equal is a suspect: offer, row, outbox and parked are read together
 *
 * With digests the rows are summed up by the check REGISTRY, which comes between the two parts, and
 * only ranges whose sum is not that of the rows that offers were found to have are gone through;
 * and of the offers that are in turn the document is composed, and its content compared with the
 * row's.
 *
 * A change on its way is no difference. When it is over is not guessed by a time but followed: the
 * outbox has nothing of the offer; then the composer has read all that offer-updates had; then the
 * receiver has read all that documents had; whoever still differs then has been lost.
 *
 * cursor: 0, the last id; or 1, the last hash
 */
#include <inttypes.h>
#include <string.h>

#include "catalog/catalog.h"
#include "codec/moment.h"
#include "documents/composer.h"
#include "documents/offer_document.h"
#include "inspect/bounds.h"
#include "inspect/verify/digests.h"
#include "inspect/verify/verify_parts.h"
#include "model/offer_fields.h"
#include "model/topics.h"
#include "numerator/numerator.h"
#include "offers/bounds.h"
#include "offers/change/offer_save.h"
#include "offers/record/offer_record.h"
#include "offers/record/offer_status.h"
#include "registry/receiving/document_inbox.h"
#include "registry/receiving/rows.h"
#include "stage/parked.h"
#include "topic/bounds.h"
#include "topic/topic.h"

enum { PART_OFFERS, PART_ROWS };

/* --- pages --- */

struct glance {
    offerid id;
    int64_t updated_us;
    bool is_deleted;
    struct bytes pk;
};

struct page {
    struct verifying *verifying;
    int64_t after;
    int64_t last; /* of rows */
    struct glance *glances;
    struct row *rows;
    size_t count;
};

static int find_rows(struct store_tx *tx, const struct verifying *verifying,
                     const struct bytes *pks, size_t count, struct row *rows, struct err *err)
{
    memset(rows, 0, count * sizeof(*rows));
    if (!count || !verifying->client)
        return 0;
    return rows_find(tx, verifying->client->id, pks, count, false, verifying->arena, rows, err);
}

static int read_offers(struct store_tx *tx, void *arg, struct err *err)
{
    struct page *page = arg;
    struct arena *arena = page->verifying->arena;
    struct bytes *pks = arena_array(arena, VERIFY_OFFER_COUNT, sizeof(*pks));
    struct store_rows rows = store_select(
        tx,
        "SELECT id, updated_us, CASE WHEN category_id IS NULL THEN 1 ELSE 0 END FROM offer "
        "WHERE id > $1 AND kind = 'offer' ORDER BY id LIMIT $2",
        STORE_WITH(STORE_V_INT(page->after), STORE_V_INT(VERIFY_OFFER_COUNT)));
    int rc;

    for (page->count = 0; store_next(&rows); page->count++) { /* it may be run again */
        struct glance *glance = &page->glances[page->count];

        *glance = (struct glance){.id = rows.columns[0].integer,
                                  .updated_us = rows.columns[1].integer,
                                  .is_deleted = rows.columns[2].integer != 0};
        pks[page->count] = glance->pk = bytes_of(offer_id_text(arena, glance->id));
    }
    rc = store_rows_end(&rows, err);
    return rc ? rc : find_rows(tx, page->verifying, pks, page->count, page->rows, err);
}

/* Versions are moments of changes: a living document of the same one was made of it. */
static bool is_plainly_equal(const struct glance *glance, const struct row *row)
{
    if (row->status == ROW_ALIVE)
        return !glance->is_deleted && row->order.version == glance->updated_us;
    return glance->is_deleted && (!row->status || row->order.version == glance->updated_us);
}

static void end_offers(struct verifying *verifying)
{
    if (verifying->by->digests)
        digests_end_offers(verifying->by->digests);
    cursor_next(verifying, PART_ROWS, INT64_MIN, BYTES_EMPTY);
}

static int offers_page(struct verifying *verifying, int64_t after, struct err *err)
{
    struct page page = {.verifying = verifying, .after = after};
    struct digests *digests = verifying->by->digests;
    int rc;

    page.glances = arena_array(verifying->arena, VERIFY_OFFER_COUNT, sizeof(*page.glances));
    page.rows = arena_array(verifying->arena, VERIFY_OFFER_COUNT, sizeof(*page.rows));
    rc = store_read(verifying->inspect->store, read_offers, &page, err);
    if (rc)
        return rc;
    if (digests && after < 0)
        digests_begin_rows(digests);
    for (size_t i = 0; i < page.count; i++) {
        bool is_turn = digests && page.rows[i].status == ROW_ALIVE &&
                       digests_is_turn(digests, (uint64_t)page.glances[i].id);

        if (digests && page.rows[i].status == ROW_ALIVE)
            digests_add_row(digests, page.rows[i].hash, page.rows[i].order.version);
        if (is_turn || !is_plainly_equal(&page.glances[i], &page.rows[i]))
            suspect_add(verifying, page.glances[i].pk, NUMBER_NONE)->with_content = is_turn;
        if (is_turn)
            digests->content_count++;
    }
    verifying->checked_count = page.count;
    if (digests)
        digests->looked_count += page.count;
    if (page.count == VERIFY_OFFER_COUNT)
        cursor_next(verifying, PART_OFFERS, page.glances[page.count - 1].id, BYTES_EMPTY);
    else if (verifying->client)
        end_offers(verifying);
    return 0;
}

/* Whether there is the offer of a key. */
static int find_offer(struct store_tx *tx, struct bytes pk, bool *is_there, struct err *err)
{
    int64_t found = 0;
    offerid id;
    int rc = 0;

    if (!offer_id_parse(pk, &id, NULL))
        rc = store_find_integer(tx, "SELECT 1 FROM offer WHERE id = $1 AND kind = 'offer'",
                                STORE_WITH(STORE_V_INT(id)), &found, err);
    *is_there = found != 0;
    return rc;
}

static int read_rows(struct store_tx *tx, void *arg, struct err *err)
{
    struct page *page = arg;
    const struct verifying *verifying = page->verifying;
    int rc = rows_scan(tx, verifying->client->id, page->after, page->last, VERIFY_ROW_COUNT, false,
                       verifying->arena, &page->rows, &page->count, err);

    page->verifying->count = 0;
    for (size_t i = 0; i < page->count && i < SUSPECT_PAGE_COUNT && !rc; i++) {
        bool is_there = true;

        if (page->rows[i].status == ROW_ALIVE)
            rc = find_offer(tx, page->rows[i].pk, &is_there, err);
        if (!rc && !is_there)
            suspect_add(page->verifying, page->rows[i].pk, NUMBER_NONE);
    }
    return rc;
}

static int rows_page(struct verifying *verifying, int64_t after, struct err *err)
{
    const struct digests *digests = verifying->by->digests;
    struct page page = {.verifying = verifying, .after = after, .last = INT64_MAX};
    int64_t first;
    int rc;

    if (digests && after == INT64_MAX)
        return 0;
    if (digests && digests->has_rows) {
        if (!digests_next_rows(digests, after == INT64_MIN ? after : after + 1, &first, &page.last))
            return 0;
        page.after = first > after && first > INT64_MIN ? first - 1 : after;
    }
    rc = store_read(verifying->inspect->store, read_rows, &page, err);
    if (!rc && page.count)
        cursor_next(verifying, PART_ROWS, page.rows[page.count - 1].hash, BYTES_EMPTY);
    else if (!rc && page.last < INT64_MAX)
        cursor_next(verifying, PART_ROWS, page.last, BYTES_EMPTY);
    return rc;
}

static int page(struct verifying *verifying, struct err *err)
{
    struct cursor cursor;
    int rc = cursor_parse(verifying, &cursor, err);

    if (rc)
        return rc;
    if (cursor.a == PART_ROWS && verifying->client)
        return rows_page(verifying, cursor.b, err);
    return offers_page(verifying, cursor.is_begin ? -1 : cursor.b, err);
}

/* --- looks: what the store has --- */

struct looked {
    Torg__V1__Offer *offer; /* NULL: there is none, or it cannot be read */
    struct err unreadable;
    bool is_unreadable;
    uint32_t shard;
    bool is_queued;
    struct parked parked;
    bool is_parked;
};

struct looking {
    struct verifying *verifying;
    struct looked *looked; /* by place of the suspect, as the rows */
    struct row *rows;
    struct catalog *catalog; /* NULL: not known */
    /* Of both topics, asked for once a look; by partition. */
    struct topic_lag lags[2][TOPIC_PARTITION_COUNT_MAX];
    bool has_lag[2][TOPIC_PARTITION_COUNT_MAX];
};

static int read_parked(struct store_tx *tx, struct arena *arena, const char *id,
                       struct looked *looked, struct err *err)
{
    int rc =
        parked_find(tx, PARKED_BY_COMPOSER, id, arena, &looked->parked, &looked->is_parked, err);

    if (!rc && !looked->is_parked)
        rc = parked_find(tx, PARKED_BY_RECEIVER, arena_printf(arena, OFFER_CLIENT "/%s", id), arena,
                         &looked->parked, &looked->is_parked, err);
    return rc;
}

static int read_offer(struct store_tx *tx, struct arena *arena, const struct suspect *suspect,
                      struct looked *looked, struct err *err)
{
    offerid id;
    int rc;

    *looked = (struct looked){.offer = NULL};
    if (offer_id_parse(suspect->pk, &id, NULL))
        return 0;
    rc = record_find(tx, id, arena, &looked->offer, &looked->unreadable);
    looked->is_unreadable = rc == ERR_CORRUPT;
    if (rc && rc != ERR_CORRUPT) {
        *err = looked->unreadable;
        return rc;
    }
    if (looked->offer)
        looked->shard = seller_shard(looked->offer->seller);
    return 0;
}

/* What waits for the export of one shard. */
static int mark_queued(struct store_tx *tx, struct looking *looking, uint32_t shard,
                       struct err *err)
{
    const struct verifying *verifying = looking->verifying;
    struct store_rows rows =
        store_select(tx, "SELECT offer_id FROM queue WHERE shard_id = $1 ORDER BY seq LIMIT $2",
                     STORE_WITH(STORE_V_INT(shard), STORE_V_INT(VERIFY_EXPORT_COUNT)));
    size_t count = 0;

    for (; store_next(&rows); count++) {
        char text[OFFER_ID_TEXT_SIZE];

        offer_id_format(rows.columns[0].integer, text);
        for (size_t i = 0; i < verifying->count; i++)
            looking->looked[i].is_queued |= bytes_equal_text(verifying->suspects[i].pk, text);
    }
    for (size_t i = 0; i < verifying->count && count == VERIFY_EXPORT_COUNT; i++)
        looking->looked[i].is_queued |= looking->looked[i].shard == shard;
    return store_rows_end(&rows, err);
}

static bool is_active(const Torg__V1__Offer *offer)
{
    return offer->status == TORG__V1__OFFER__STATUS__ACTIVE;
}

/* Sold, expired, withdrawn, and known as such: most of those that a page could not tell. */
static bool is_plainly_hidden(const struct looked *looked, const struct row *row)
{
    return looked->offer && !is_active(looked->offer) && row->status != ROW_ALIVE &&
           (!row->status || row->order.version == moment_own_us(looked->offer->update_time));
}

static int read_all(struct store_tx *tx, void *arg, struct err *err)
{
    struct looking *looking = arg;
    const struct verifying *verifying = looking->verifying;
    struct arena *arena = verifying->arena;
    struct bytes *pks = arena_array(arena, verifying->count, sizeof(*pks));
    bool is_asked[OFFER_SHARD_COUNT] = {false};
    int rc;

    for (size_t i = 0; i < verifying->count; i++)
        pks[i] = verifying->suspects[i].pk;
    rc = find_rows(tx, verifying, pks, verifying->count, looking->rows, err);
    for (size_t i = 0; i < verifying->count && !rc; i++)
        rc = read_offer(tx, arena, &verifying->suspects[i], &looking->looked[i], err);
    for (size_t i = 0; i < verifying->count && !rc; i++) {
        struct looked *looked = &looking->looked[i];

        if (is_plainly_hidden(looked, &looking->rows[i]))
            continue;
        rc = read_parked(tx, arena, arena_text(arena, pks[i]), looked, err);
        if (rc || !looked->offer || is_asked[looked->shard])
            continue;
        is_asked[looked->shard] = true;
        rc = mark_queued(tx, looking, looked->shard, err);
    }
    return rc;
}

/* --- looks: what follows from it --- */

/* A deletion of the offer's own version may be right: its time is over, its category is gone, or
 * somebody has taken it out of the search, whose write is newer than what composing would make. */
static bool may_be_deleted(const struct looking *looking, const Torg__V1__Offer *offer,
                           const struct row *row)
{
    int64_t now_us = clock_wall_us(looking->verifying->inspect->clock);

    if (offer->expire_time && moment_own_us(offer->expire_time) <= now_us)
        return true;
    if (!looking->catalog || !offer->content)
        return true;
    return !category_find(looking->catalog, offer->content->category) ||
           row->order.modify_us > row->order.version + catalog_version(looking->catalog);
}

/* What the offer says now, by the catalogue in use, beside what the registry was told. A document
 * of another catalogue is the recomposer's to bring. */
static void look_at_content(const struct looking *looking, const Torg__V1__Offer *offer,
                            const struct row *row, struct suspect *suspect)
{
    const struct verifying *verifying = looking->verifying;
    struct row made = {.status = ROW_ALIVE};
    Torg__V1__RawDocument *document;
    struct err err;

    if (!looking->catalog || !category_find(looking->catalog, offer->content->category))
        return;
    if (offer_document(offer, looking->catalog, verifying->arena, &document, &err)) {
        suspect_blame(suspect, "uncomposed", "it cannot be composed: %.200s", err.text);
        return;
    }
    if (document->event != TORG__V1__RAW_DOCUMENT__EVENT__UPSERT ||
        moment_own_us(document->modify_timestamp) != row->order.modify_us)
        return;
    made.expires_us = document->expire_time ? moment_own_us(document->expire_time) : 0;
    if (!row_pack(verifying->inspect->dictionaries, 0, document, verifying->arena, &made, &err) &&
        made.content != row->content)
        suspect_blame(suspect, "content",
                      "the registry has version %" PRId64 " with another content than the offer",
                      row->order.version);
}

static void look_at_document(const struct looking *looking, const Torg__V1__Offer *offer,
                             const struct row *row, struct suspect *suspect)
{
    const char *status = offer_status_name((enum offer_status)offer->status);
    int64_t version = moment_own_us(offer->update_time);
    bool is_moved;

    if (!suspect->is_seen)
        suspect->seen.version = version;
    suspect->is_seen = true;
    is_moved = version > suspect->seen.version;
    if (!row->status && !is_active(offer))
        return; /* nothing to be taken away, or its tombstone was forgotten */
    if (!row->status)
        suspect_blame(suspect, "missing",
                      "the offer is %s at revision %" PRId64 ", and the registry does not have it",
                      status, offer->revision);
    else if (row->order.version > version)
        suspect_blame(suspect, "ahead",
                      "the registry has version %" PRId64 ", and the offer is only at %" PRId64,
                      row->order.version, version);
    else if (row->order.version < suspect->seen.version)
        suspect_blame(suspect, "behind",
                      "the offer is %s at revision %" PRId64 ", version %" PRId64
                      "; the registry has version %" PRId64 ", %s",
                      status, offer->revision, version, row->order.version,
                      row->status == ROW_ALIVE ? "alive" : "deleted");
    else if (!is_moved && row->status == ROW_ALIVE && !is_active(offer))
        suspect_blame(suspect, "shown", "the offer is %s, and the registry has it as living",
                      status);
    else if (!is_moved && row->status != ROW_ALIVE && is_active(offer) &&
             !may_be_deleted(looking, offer, row))
        suspect_blame(suspect, "hidden", "the offer is %s, and the registry has it as deleted",
                      status);
    else if (suspect->with_content && row->status == ROW_ALIVE && is_active(offer) &&
             row->order.version == version)
        look_at_content(looking, offer, row, suspect);
}

static void look_at(const struct looking *looking, size_t place)
{
    struct suspect *suspect = &looking->verifying->suspects[place];
    const struct looked *looked = &looking->looked[place];
    const struct row *row = &looking->rows[place];

    if (looked->is_unreadable)
        suspect_blame(suspect, "unreadable", "%.200s", looked->unreadable.text);
    else if (!looked->offer && row->status == ROW_ALIVE)
        suspect_blame(suspect, "orphan",
                      "the registry has it as living at version %" PRId64
                      ", and there is no such offer",
                      row->order.version);
    else if (looked->offer)
        look_at_document(looking, looked->offer, row, suspect);
    if (!*suspect->text)
        return;
    suspect->is_parked = looked->is_parked;
    suspect->is_stable = looked->is_parked || looked->is_unreadable;
}

/* --- looks: how far the chain is --- */

static const struct {
    const char *topic;
    const char *group;
} links[] = {{TOPIC_OFFER_UPDATES, COMPOSER_GROUP}, {TOPIC_DOCUMENTS, DOCUMENT_GROUP}};

/* The partition that the suspect's changes go by. Documents go where those of its partition of
 * offer-updates go. */
static int find_partition(const struct looking *looking, int link, struct bytes pk,
                          uint32_t *partition, struct err *err)
{
    const struct verifying *verifying = looking->verifying;
    struct topic_config config;
    int rc = topic_describe(verifying->inspect->topics, TOPIC_OFFER_UPDATES, &config, err);

    if (rc)
        return rc;
    *partition = topic_partition(pk, config.partition_count);
    if (link == 0)
        return 0;
    rc = topic_describe(verifying->inspect->topics, TOPIC_DOCUMENTS, &config, err);
    if (!rc)
        *partition = topic_partition(
            bytes_of(arena_printf(verifying->arena, OFFER_CLIENT "/%" PRIu32, *partition)),
            config.partition_count);
    return rc;
}

/* A topic that is not there has nothing. */
static int find_lag(struct looking *looking, int link, struct bytes pk,
                    const struct topic_lag **lag, struct err *err)
{
    static const struct topic_lag none;
    uint32_t partition;
    int rc = find_partition(looking, link, pk, &partition, err);

    *lag = &none;
    if (rc)
        return rc == ERR_NOT_FOUND ? 0 : rc;
    if (!looking->has_lag[link][partition])
        rc = topic_lag(looking->verifying->inspect->topics, links[link].group, links[link].topic,
                       partition, &looking->lags[link][partition], err);
    looking->has_lag[link][partition] = !rc;
    *lag = &looking->lags[link][partition];
    return rc;
}

/* Asked anew: what another suspect was told may be older than what this one has passed. */
static int find_end(struct looking *looking, int link, struct suspect *suspect, struct err *err)
{
    const struct topic_lag *lag;
    int rc;

    memset(looking->has_lag[link], 0, sizeof(looking->has_lag[link]));
    rc = find_lag(looking, link, suspect->pk, &lag, err);
    suspect->mark = rc ? 0 : lag->end;
    return rc;
}

static int is_read(struct looking *looking, int link, const struct suspect *suspect, bool *is_read,
                   struct err *err)
{
    const struct topic_lag *lag;
    int rc = find_lag(looking, link, suspect->pk, &lag, err);

    *is_read = !rc && (lag->has_committed ? lag->committed : lag->first) >= suspect->mark;
    return rc;
}

/* One stage a look at the most: what is asked here is asked after the store was read, and may have
 * changed it meanwhile. */
static int follow(struct looking *looking, struct suspect *suspect, bool is_queued, struct err *err)
{
    bool has_read = false;
    int rc = 0;

    if (is_queued) {
        suspect->stage = CHAIN_EXPORT;
        return 0;
    }
    if (!looking->verifying->inspect->topics || suspect->stage == CHAIN_OVER) {
        suspect->is_stable = suspect->stage == CHAIN_OVER;
        suspect->stage = CHAIN_OVER;
        return 0;
    }
    if (suspect->stage == CHAIN_EXPORT) {
        suspect->stage = CHAIN_COMPOSE;
        return find_end(looking, 0, suspect, err);
    }
    rc = is_read(looking, suspect->stage == CHAIN_COMPOSE ? 0 : 1, suspect, &has_read, err);
    if (rc || !has_read)
        return rc;
    if (suspect->stage == CHAIN_COMPOSE)
        rc = find_end(looking, 1, suspect, err);
    suspect->stage++;
    return rc;
}

/* The client is made with the first document: it may have come into being since the page. */
static int find_client(struct verifying *verifying, struct err *err)
{
    int rc = verifying->client ? 0
                               : clients_find(verifying->inspect->clients, OFFER_CLIENT, true,
                                              &verifying->client, err);

    return rc == ERR_NOT_FOUND ? 0 : rc;
}

static int look(struct verifying *verifying, struct err *err)
{
    const struct inspect *inspect = verifying->inspect;
    struct looking *looking = arena_alloc(verifying->arena, sizeof(*looking));
    int rc = find_client(verifying, err);

    if (rc)
        return rc;
    memset(looking, 0, sizeof(*looking));
    looking->verifying = verifying;
    looking->looked = arena_array(verifying->arena, verifying->count, sizeof(*looking->looked));
    looking->rows = arena_array(verifying->arena, verifying->count, sizeof(*looking->rows));
    looking->catalog = inspect->catalog ? inspect->catalog(inspect->catalog_arg) : NULL;
    rc = store_read(inspect->store, read_all, looking, err);
    for (size_t i = 0; i < verifying->count && !rc; i++) {
        struct suspect *suspect = &verifying->suspects[i];

        if (suspect->is_stable)
            continue;
        look_at(looking, i);
        if (*suspect->text && !suspect->is_stable)
            rc = follow(looking, suspect, looking->looked[i].is_queued, err);
    }
    catalog_unref(looking->catalog);
    return rc;
}

const struct verify_kind verify_offers = {.page = page, .look = look, .fix = verify_offers_fix};
