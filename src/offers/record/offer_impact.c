/* SPDX-License-Identifier: Apache-2.0 */
/* offer_impact.c - see offer_impact.h. */
#include "offers/record/offer_impact.h"

#include "base/memory.h"
#include "catalog/bounds.h"
#include "offers/bounds.h"
#include "offers/record/offer_content.h"
#include "offers/record/offer_record.h"

struct scan {
    const struct category *before;
    const struct category *after; /* NULL: it is no longer there */
    struct arena *arena;          /* of the answer */
    struct arena *scratch;        /* of a page */
    struct catalog_broken *broken;
    offerid last;
    size_t row_count; /* of the page */
};

static void note_broken(struct scan *scan, offerid id, const char *reason)
{
    struct catalog_broken *broken = scan->broken;

    if (!broken->offer_count++)
        broken->reason = arena_strdup(scan->arena, reason);
    if (broken->sample_count < CATALOG_SAMPLE_COUNT)
        broken->samples[broken->sample_count++] = offer_id_text(scan->arena, id);
}

static int check_offer(struct scan *scan, struct bytes body, struct err *err)
{
    struct violations violations = violations_in(scan->scratch);
    Torg__V1__Offer *offer;
    int rc;

    if (!scan->after) {
        note_broken(scan, scan->last, "its category is no longer there");
        return 0;
    }
    rc = record_open_offer(scan->last, body, scan->scratch, &offer, err);
    if (rc)
        return rc;
    if (offer_content_check_in(offer->content, scan->after, LANGUAGE_EN, &violations))
        note_broken(scan, scan->last,
                    arena_printf(scan->scratch, "%s: %s", violations.first->field,
                                 violations.first->reason));
    return 0;
}

struct page {
    struct scan *scan;
    struct scan start; /* what a second run begins with */
    struct catalog_broken broken;
};

static int read_page(struct store_tx *tx, void *arg, struct err *err)
{
    struct page *page = arg;
    struct scan *scan = page->scan;
    struct store_rows rows =
        store_select(tx,
                     "SELECT id, body FROM offer WHERE category_id = $1 "
                     "AND id > $2 ORDER BY id LIMIT $3",
                     STORE_WITH(STORE_V_STRING(page->start.before->id),
                                STORE_V_INT(page->start.last), STORE_V_INT(OFFER_SCAN_COUNT)));

    *scan = page->start;
    *scan->broken = page->broken;
    for (scan->row_count = 0; store_next(&rows); scan->row_count++) {
        scan->last = rows.columns[0].integer;
        rows.rc = check_offer(scan, rows.columns[1].bytes, err);
    }
    return store_rows_end(&rows, err);
}

static int count_broken(struct catalog_impact *self, const struct category *before,
                        const struct category *after, struct arena *arena,
                        struct catalog_broken *broken, struct err *err)
{
    struct offer_impact *impact = container_of(self, struct offer_impact, base);
    struct scan scan = {.before = before, .after = after, .arena = arena, .broken = broken};
    int rc;

    scan.scratch = arena_new();
    do {
        struct page page = {.scan = &scan, .start = scan, .broken = *broken};

        rc = store_read(impact->store, read_page, &page, err);
        arena_reset(scan.scratch);
    } while (!rc && scan.row_count == OFFER_SCAN_COUNT);
    arena_free(scan.scratch);
    return rc;
}

void offer_impact_init(struct offer_impact *impact, struct store *store)
{
    *impact = (struct offer_impact){.base = {.count_broken = count_broken}, .store = store};
}
