/* SPDX-License-Identifier: Apache-2.0 */
/* verify_registry.c - the check REGISTRY: rows can be read, lie where they belong, have numbers. */
#include <string.h>

#include "inspect/bounds.h"
#include "inspect/trace/row_fits.h"
#include "inspect/verify/digests.h"
#include "inspect/verify/verify_parts.h"
#include "model/offer_fields.h"
#include "numerator/numerator.h"

struct page {
    struct verifying *verifying;
    int64_t after, last;
    struct row *rows;
    struct number_ask *asks; /* of a light check */
    size_t count;
};

static int scan(struct store_tx *tx, void *arg, struct err *err)
{
    struct page *page = arg;
    const struct verifying *verifying = page->verifying;
    int rc = rows_scan(tx, verifying->client->id, page->after, page->last, VERIFY_ROW_COUNT, false,
                       verifying->arena, &page->rows, &page->count, err);

    if (rc || !verifying->by->is_light)
        return rc;
    page->asks = arena_array(verifying->arena, page->count + 1, sizeof(*page->asks));
    for (size_t i = 0; i < page->count; i++)
        page->asks[i] = (struct number_ask){.key = page->rows[i].pk, .doc_id = NUMBER_NONE};
    return page->count ? numbers_find(tx, verifying->numbering.space, verifying->check->shard,
                                      page->asks, (uint32_t)page->count, err)
                       : 0;
}

/* A page of rows that are not read has few to look at. */
static bool is_plainly_right(const struct page *page, size_t place)
{
    const struct row *row = &page->rows[place];

    return page->verifying->by->is_light && number_key_hash(row->pk) == row->hash &&
           (row->status != ROW_ALIVE || page->asks[place].doc_id != NUMBER_NONE);
}

/* What searchers are to have of it; and what offers should have, where it is of offers. */
static void sum_up(const struct page *page, bool is_begin)
{
    const struct verifying *verifying = page->verifying;
    struct digests *digests = verifying->by->digests;
    bool is_of_offers = strcmp(verifying->client->name, OFFER_CLIENT) == 0;

    if (!digests || !verifying->by->is_light)
        return;
    if (is_begin)
        digests_begin_numbers(digests, verifying->numbering.space, verifying->check->shard);
    for (size_t i = 0; i < page->count; i++) {
        const struct row *row = &page->rows[i];

        if (row->status == ROW_ALIVE && page->asks[i].doc_id != NUMBER_NONE)
            digests_add_number(digests, page->asks[i].doc_id, row->order.version);
        if (row->status == ROW_ALIVE && is_of_offers)
            digests_take_row(digests, row->hash, row->order.version);
    }
}

static int registry_page(struct verifying *verifying, struct err *err)
{
    struct page page = {.verifying = verifying};
    struct cursor cursor;
    int64_t first;
    int rc = cursor_parse(verifying, &cursor, err);

    number_shard_range(verifying->check->shard, verifying->numbering.scheme, &first, &page.last);
    page.after = !cursor.is_begin ? cursor.a : first == INT64_MIN ? first : first - 1;
    if (!rc)
        rc = store_read(verifying->inspect->store, scan, &page, err);
    if (rc)
        return rc;
    sum_up(&page, cursor.is_begin);
    for (size_t i = 0; i < page.count && i < SUSPECT_PAGE_COUNT; i++) {
        struct suspect *suspect;

        if (is_plainly_right(&page, i))
            continue;
        suspect = suspect_add(verifying, page.rows[i].pk, NUMBER_NONE);
        if (number_key_hash(suspect->pk) == page.rows[i].hash)
            continue;
        suspect->is_stable = true;
        suspect_tell(suspect, "its row is not where its hash says: no reader finds it");
    }
    verifying->checked_count = page.count;
    if (page.count)
        cursor_next(verifying, page.rows[page.count - 1].hash, 0, BYTES_EMPTY);
    return 0;
}

struct looking {
    struct verifying *verifying;
    struct bytes *pks;
    struct number_ask *asks;
    struct row *rows;
};

static int read_rows(struct store_tx *tx, void *arg, struct err *err)
{
    struct looking *looking = arg;
    const struct verifying *verifying = looking->verifying;
    int rc = rows_find(tx, verifying->client->id, looking->pks, verifying->count,
                       !verifying->by->is_light, verifying->arena, looking->rows, err);

    if (!rc)
        rc = numbers_find(tx, verifying->numbering.space, verifying->check->shard, looking->asks,
                          (uint32_t)verifying->count, err);
    return rc;
}

/* One that does not fit the epoch has a number if it has had one in another epoch of the same
 * numbers, and may have none. */
static int blame_missing(const struct verifying *verifying, struct suspect *suspect,
                         struct err *err)
{
    int64_t epoch =
        verifying->check->epoch ? verifying->check->epoch : verifying->client->serving_epoch;
    bool fits = true;
    int rc = 0;

    if (verifying->client->numbering_count > 1 || verifying->numbering.rebuild)
        rc = row_fits(verifying->inspect, verifying->client, epoch, suspect->pk, verifying->arena,
                      &fits, err);
    if (!rc && fits)
        suspect_blame(suspect, "missing", "it lives, and has no number");
    return rc;
}

static int look_at(const struct verifying *verifying, const struct row *row,
                   const struct number_ask *ask, struct suspect *suspect, struct err *err)
{
    struct arena_mark mark = arena_mark(verifying->arena);
    Torg__V1__RawDocument *document;
    struct err unreadable;
    /* who has ended is not sent, and is swept within a second */
    bool is_ending =
        row->expires_us && row->expires_us - SECOND_US <= clock_wall_us(verifying->inspect->clock);

    int rc = 0;

    suspect->now = row->order;
    suspect->doc_id = ask->doc_id;
    if (row->status == 0)
        return 0; /* a tombstone that was forgotten meanwhile */
    if (!verifying->by->is_light &&
        row_unpack(verifying->inspect->dictionaries, verifying->client->id, row, verifying->arena,
                   &document, &unreadable))
        suspect_blame(suspect, "unreadable", "it cannot be read: %.160s", unreadable.text);
    else if (row->status == ROW_ALIVE && ask->doc_id == NUMBER_NONE && !is_ending)
        rc = blame_missing(verifying, suspect, err);
    arena_rewind(verifying->arena, mark);
    return rc;
}

static int registry_look(struct verifying *verifying, struct err *err)
{
    struct looking looking = {.verifying = verifying};
    int rc;

    looking.pks = arena_array(verifying->arena, verifying->count, sizeof(*looking.pks));
    looking.asks = arena_array(verifying->arena, verifying->count, sizeof(*looking.asks));
    looking.rows = arena_array(verifying->arena, verifying->count, sizeof(*looking.rows));
    for (size_t i = 0; i < verifying->count; i++) {
        looking.pks[i] = verifying->suspects[i].pk;
        looking.asks[i].key = verifying->suspects[i].pk;
    }
    rc = store_read(verifying->inspect->store, read_rows, &looking, err);
    for (size_t i = 0; i < verifying->count && !rc; i++)
        rc = look_at(verifying, &looking.rows[i], &looking.asks[i], &verifying->suspects[i], err);
    return rc;
}

const struct verify_kind verify_registry = {.page = registry_page, .look = registry_look};
