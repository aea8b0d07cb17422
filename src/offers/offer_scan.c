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
};

static int read_page(struct store_tx *tx, void *arg, struct err *err)
{
    struct scanning *scanning = arg;
    struct offer_scan *page = scanning->page;
    const struct store_value params[] = {STORE_V_TEXT(bytes_of(scanning->category)),
                                         STORE_V_INT(scanning->after),
                                         STORE_V_INT((int64_t)scanning->max)};
    struct store_rows rows = store_select(tx,
                                          "SELECT id, body FROM offer WHERE category_id = $1 "
                                          "AND id > $2 ORDER BY id LIMIT $3",
                                          params, 3);
    int rc;

    page->count = page->damaged_count = 0;
    while (store_next(&rows)) {
        struct err reason;

        assert(page->count + page->damaged_count < scanning->max);
        page->last = rows.columns[0].integer;
        if (record_open_offer(page->last, rows.columns[1].bytes, scanning->arena,
                              &page->offers[page->count], &reason)) {
            page->damaged_count++;
            log_warn("a damaged offer is passed over", LOG_TEXT("error", reason.text));
        } else {
            page->count++;
        }
    }
    rc = store_rows_end(&rows, err);
    if (!rc && page->count + page->damaged_count < scanning->max)
        page->last = 0;
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

static int read_count(struct store_tx *tx, void *arg, struct err *err)
{
    struct counting *counting = arg;
    const struct store_value params[] = {STORE_V_TEXT(bytes_of(counting->category))};

    return store_find_integer(tx, "SELECT COUNT(*) FROM offer WHERE category_id = $1", params, 1,
                              &counting->count, err);
}

int offer_scan_count(struct store *store, const char *category, int64_t *count, struct err *err)
{
    struct counting counting = {.category = category};
    int rc = store_read(store, read_count, &counting, err);

    *count = counting.count;
    return rc;
}
