/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_queue.c - the check QUEUE: behind a lane's offset its elements follow each other without a
 * gap up to the newest, and each is of a document that the registry has, not older than it says.
 *
 * What waits is read once, with the rows and the numbers allotted, in one transaction: nothing of
 * it settles by waiting.
 */
#include <inttypes.h>
#include <stdio.h>

#include "inspect/bounds.h"
#include "inspect/verify/verify_parts.h"
#include "numerator/numerator.h"
#include "registry/indexing/failed.h"
#include "registry/indexing/queue.h"

struct page {
    struct verifying *verifying;
    enum lane lane;
    int64_t after;         /* where the page before ended */
    struct bytes after_pk; /* the same of the lane failed */
    struct lane_state state;
    int64_t allotted; /* the newest number that was given */
    struct queue_element *elements;
    struct failed_element *failed;
    struct row *rows; /* of either */
    size_t count;
};

static int read_allotted(struct store_tx *tx, struct page *page, struct err *err)
{
    const struct verifying *verifying = page->verifying;
    int64_t next = 1;
    char name[64];
    int rc;

    snprintf(name, sizeof(name), "registry/%" PRId64 "/%d/%" PRIu32, verifying->client->id,
             (int)page->lane, verifying->check->shard); /* as queue.c names it */
    rc = store_find_integer(tx, "SELECT next FROM sequence WHERE name = $1", &STORE_V_STRING(name),
                            1, &next, err);
    page->allotted = next - 1;
    return rc;
}

static int find_rows(struct store_tx *tx, struct page *page, struct err *err)
{
    const struct verifying *verifying = page->verifying;
    struct bytes *pks = arena_array(verifying->arena, page->count + 1, sizeof(*pks));

    for (size_t i = 0; i < page->count; i++)
        pks[i] = page->lane == LANE_FAILED ? page->failed[i].pk : page->elements[i].pk;
    page->rows = arena_array(verifying->arena, page->count + 1, sizeof(*page->rows));
    return page->count ? rows_find(tx, verifying->client->id, pks, page->count, false,
                                   verifying->arena, page->rows, err)
                       : 0;
}

static int read_lane(struct store_tx *tx, void *arg, struct err *err)
{
    struct page *page = arg;
    const struct verifying *verifying = page->verifying;
    int64_t client_id = verifying->client->id;
    uint32_t shard = verifying->check->shard;
    int rc = queue_state(tx, client_id, page->lane, shard, &page->state, err);

    if (!rc)
        rc = read_allotted(tx, page, err);
    if (page->after < page->state.offset)
        page->after = page->state.offset;
    if (!rc)
        rc = queue_read(tx, client_id, page->lane, shard, page->after, VERIFY_ROW_COUNT,
                        verifying->arena, &page->elements, &page->count, err);
    return rc ? rc : find_rows(tx, page, err);
}

static int read_failed(struct store_tx *tx, void *arg, struct err *err)
{
    struct page *page = arg;
    const struct verifying *verifying = page->verifying;
    const struct failed_filter filter = {.shard = verifying->check->shard,
                                         .after_shard = verifying->check->shard,
                                         .after_pk = page->after_pk};
    int rc = failed_list(tx, verifying->client->id, &filter, VERIFY_ROW_COUNT, verifying->arena,
                         &page->failed, &page->count, err);

    return rc ? rc : find_rows(tx, page, err);
}

static struct suspect *add_fault(struct page *page, struct bytes pk)
{
    struct suspect *suspect = suspect_add(page->verifying, pk, NUMBER_NONE);

    suspect->is_stable = true;
    return suspect;
}

static void look_at_offset(struct page *page)
{
    if (page->state.offset > page->allotted)
        suspect_tell(add_fault(page, BYTES_EMPTY),
                     "lane %s: the offset %" PRId64 " is past the newest element, %" PRId64,
                     lane_name(page->lane), page->state.offset, page->allotted);
    if (page->count == 0 && page->after < page->allotted)
        suspect_tell(add_fault(page, BYTES_EMPTY),
                     "lane %s: elements %" PRId64 " to %" PRId64 " are missing",
                     lane_name(page->lane), page->after + 1, page->allotted);
}

static void look_at_element(struct page *page, const struct queue_element *element,
                            const struct row *row, int64_t before)
{
    const struct client_view *client = page->verifying->client;

    if (element->idx != before + 1)
        suspect_tell(add_fault(page, BYTES_EMPTY),
                     "lane %s: elements %" PRId64 " to %" PRId64 " are missing",
                     lane_name(page->lane), before + 1, element->idx - 1);
    else if (element->fields_size) /* of side fields: of no document alone */
        return;
    else if (number_key_shard(number_key_hash(element->pk), client->shard_count) !=
             page->verifying->check->shard)
        suspect_tell(add_fault(page, element->pk), "its element %" PRId64 " is in a foreign shard",
                     element->idx);
    else if (row->status == 0)
        suspect_tell(add_fault(page, element->pk),
                     "lane %s has it (element %" PRId64 "), and the registry does not",
                     lane_name(page->lane), element->idx);
    else if (page->lane != LANE_BACKFILL && order_compare(&row->order, &element->order) < 0)
        suspect_tell(add_fault(page, element->pk),
                     "its element %" PRId64 " is newer (version %" PRId64
                     ") than the registry (%" PRId64 ")",
                     element->idx, element->order.version, row->order.version);
}

static int queue_page(struct verifying *verifying, struct err *err)
{
    struct page page = {.verifying = verifying};
    struct cursor cursor;
    int rc = cursor_parse(verifying, &cursor, err);

    page.lane = (enum lane)cursor.a;
    page.after = cursor.b;
    page.after_pk = cursor.pk;
    if (!rc && (cursor.a < 0 || cursor.a >= LANE_COUNT))
        rc = err_set(err, ERR_INVALID, "cursor: expected that of the step before");
    if (!rc)
        rc = store_read(verifying->inspect->store,
                        page.lane == LANE_FAILED ? read_failed : read_lane, &page, err);
    if (rc)
        return rc;
    verifying->checked_count = page.count;
    if (page.lane != LANE_FAILED)
        look_at_offset(&page);
    for (size_t i = 0; i < page.count; i++) {
        if (page.lane != LANE_FAILED)
            look_at_element(&page, &page.elements[i], &page.rows[i],
                            i ? page.elements[i - 1].idx : page.after);
        else if (page.rows[i].status == 0)
            suspect_tell(add_fault(&page, page.failed[i].pk),
                         "lane failed has it, and the registry does not");
    }
    if (page.count == VERIFY_ROW_COUNT && page.lane == LANE_FAILED)
        cursor_next(verifying, LANE_FAILED, 0, page.failed[page.count - 1].pk);
    else if (page.count == VERIFY_ROW_COUNT)
        cursor_next(verifying, page.lane, page.elements[page.count - 1].idx, BYTES_EMPTY);
    else if (page.lane + 1 < LANE_COUNT)
        cursor_next(verifying, page.lane + 1, 0, BYTES_EMPTY);
    return 0;
}

static int queue_look(struct verifying *verifying, struct err *err)
{
    (void)verifying; /* told by the page */
    (void)err;
    return 0;
}

const struct verify_kind verify_queue = {.page = queue_page, .look = queue_look};
