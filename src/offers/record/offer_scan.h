/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offer_scan.h - the stored offers of a category, page by page in order of ids.
 *
 * Each page is a snapshot of its own: writers continue meanwhile. A row that cannot be read is
 * logged, counted and skipped.
 */
#ifndef TORG_OFFERS_RECORD_OFFER_SCAN_H
#define TORG_OFFERS_RECORD_OFFER_SCAN_H

#include <stddef.h>

#include "base/arena.h"
#include "offers/record/offer_id.h"
#include "store/store.h"
#include "torg/v1/offer.pb-c.h"

struct offer_scan {
    Torg__V1__Offer **offers; /* whole, with their ids; in the arena */
    size_t count;
    size_t damaged_count;
    offerid last; /* the next page is behind this one; 0: this was the last page */
};

/* Offers of the category that are not deleted, behind `after` (0: from the first); rows of a page
 * are at most max. */
int offer_scan_page(struct store *store, const char *category, offerid after, size_t max,
                    struct arena *arena, struct offer_scan *page, struct err *err);

/* How many there are. */
int offer_scan_count(struct store *store, const char *category, int64_t *count, struct err *err);

#endif
