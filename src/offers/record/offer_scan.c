/* SPDX-License-Identifier: Apache-2.0 */
/* offer_scan.c - see offer_scan.h. */
#include "offers/record/offer_scan.h"

#include <assert.h>

#include "base/log.h"
#include "offers/record/offer_record.h"

int offer_scan_page(struct store *store, const char *category, offerid after, size_t max,
                    struct arena *arena, struct offer_scan *page, struct err *err)
{
    struct store_rows rows = store_read_rows(
        store, "SELECT id, body FROM offer WHERE category_id = $1 AND id > $2 ORDER BY id LIMIT $3",
        STORE_WITH(STORE_V_STRING(category), STORE_V_INT(after), STORE_V_INT((int64_t)max)));
    int rc;

    *page = (struct offer_scan){.offers = arena_array(arena, max, sizeof(*page->offers))};
    while (store_next(&rows)) {
        struct err reason;

        assert(page->count + page->damaged_count < max);
        page->last = rows.columns[0].integer;
        if (record_open_offer(page->last, rows.columns[1].bytes, arena, &page->offers[page->count],
                              &reason)) {
            page->damaged_count++;
            log_warn("a damaged offer is passed over", LOG_TEXT("error", reason.text));
        } else {
            page->count++;
        }
    }
    rc = store_rows_end(&rows, err);
    if (!rc && page->count + page->damaged_count < max)
        page->last = 0;
    return rc;
}

int offer_scan_count(struct store *store, const char *category, int64_t *count, struct err *err)
{
    *count = 0;
    return store_read_integer(store, "SELECT COUNT(*) FROM offer WHERE category_id = $1",
                              STORE_WITH(STORE_V_STRING(category)), count, err);
}
