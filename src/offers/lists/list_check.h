/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_check.h - the rows of the cabinet's lists against the offers, both ways.
 *
 * Offers are read by id to find missing rows; a seller's rows to find those without an offer. Each
 * page is a snapshot: offer and rows were written by one transaction, so a difference there is an
 * error, whatever writers do meanwhile. A repair checks again in the transaction that writes. It
 * leaves the counts alone: they are recounted afterwards (recount.h), and until then serve what
 * they served before.
 */
#ifndef TORG_OFFERS_LISTS_LIST_CHECK_H
#define TORG_OFFERS_LISTS_LIST_CHECK_H

#include "offers/lists/findings.h"

struct list_place {
    int64_t preset;
    int64_t created_us;
    offerid id;
};

/* The next LIST_CHECK_COUNT offers behind *after, which moves on. Of one seller (NULL: of all): the
 * others of the page are passed. *looked_at says how many the page had; a page of fewer is the
 * last. */
int list_check_offers(const struct checking *checking, const char *seller, offerid *after,
                      struct findings *findings, size_t *looked_at, struct err *err);

/* The same for the rows of a seller's lists. */
int list_check_seller(const struct checking *checking, const char *seller, struct list_place *after,
                      struct findings *findings, size_t *looked_at, struct err *err);

#endif
