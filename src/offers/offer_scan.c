/* SPDX-License-Identifier: Apache-2.0 */
/* offer_scan.c - see offer_scan.h. */
#include "offers/offer_scan.h"

#include <assert.h>

#include "base/log.h"
#include "offers/offer_record.h"

struct scanning {
    const char *category;
    offerid after;
    size_t max;
    struct arena *arena;
    struct offer_scan *page;
    size_t row_count;
};

static int take_offer(void *arg, const struct store_value *columns, size_t column_count,
                      struct err *err)
{
    struct scanning *scanning = arg;
    struct offer_scan *page = scanning->page;
    Torg__V1__Offer *offer;
    struct err reason;

    (void)err;
    assert(column_count == 2 && scanning->row_count < scanning->max);
    scanning->row_count++;
    page->last = columns[0].integer;
    if (record_open_offer(page->last, columns[1].bytes, scanning->arena, &offer, &reason)) {
        page->damaged_count++;
        log_warn("a damaged offer is passed over", LOG_TEXT("error", reason.text));
        return 0;
    }
    page->offers[page->count++] = offer;
    return 0;
}

static int read_page(struct store_tx *tx, void *arg, struct err *err)
{
    struct scanning *scanning = arg;
    const struct store_value params[] = {STORE_V_TEXT(bytes_of(scanning->category)),
                                         STORE_V_INT(scanning->after),
                                         STORE_V_INT((int64_t)scanning->max)};
    int rc;

    scanning->page->count = scanning->page->damaged_count = scanning->row_count = 0;
    rc = store_query(tx,
                     "SELECT id, body FROM offer WHERE category_id = $1 AND id > $2 "
                     "ORDER BY id LIMIT $3",
                     params, 3, take_offer, scanning, err);
    if (!rc && scanning->row_count < scanning->max)
        scanning->page->last = 0;
    return rc;
}

int offer_scan_page(struct store *store, const char *category, offerid after, size_t max,
                    struct arena *arena, struct offer_scan *page, struct err *err)
{
    struct scanning scanning = {
        .category = category, .after = after, .max = max, .arena = arena, .page = page};

    *page = (struct offer_scan){.offers = arena_array(arena, max, sizeof(*page->offers))};
    return store_read(store, read_page, &scanning, err);
}

struct counting {
    const char *category;
    int64_t count;
};

static int take_count(void *arg, const struct store_value *columns, size_t column_count,
                      struct err *err)
{
    (void)column_count;
    (void)err;
    ((struct counting *)arg)->count = columns[0].integer;
    return 0;
}

static int read_count(struct store_tx *tx, void *arg, struct err *err)
{
    struct counting *counting = arg;
    const struct store_value params[] = {STORE_V_TEXT(bytes_of(counting->category))};

    return store_query(tx, "SELECT COUNT(*) FROM offer WHERE category_id = $1", params, 1,
                       take_count, counting, err);
}

int offer_scan_count(struct store *store, const char *category, int64_t *count, struct err *err)
{
    struct counting counting = {.category = category};
    int rc = store_read(store, read_count, &counting, err);

    *count = counting.count;
    return rc;
}
