/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recount.h - a seller's counts and totals, recounted from the offers while writers continue.
 *
 * Offers are read from the newest to the oldest by (time of creation, id), which never change, in
 * transactions of RECOUNT_CHUNK_COUNT offers. How far it has come (the watermark) is kept in the
 * counters' own rows with what has been counted so far; a writer that changes an offer on the
 * counted side adds its difference to that too, in the statement that changes the counter
 * (offer_counts.c). So at every commit
 *
 *     recount = what the offers at or above the mark give, now
 *
 * and when the mark has passed the oldest offer, counter and recount are compared in one
 * transaction, and the counter is corrected there. Nothing is corrected before, so a count that was
 * right never becomes wrong. The next run continues a killed recount; two at once move the same
 * mark, and the one that did not end it itself begins again.
 *
 * A seller whose offers fit one chunk is recounted on a snapshot, and nothing is written unless
 * something has to be corrected.
 */
#ifndef TORG_OFFERS_LISTS_RECOUNT_H
#define TORG_OFFERS_LISTS_RECOUNT_H

#include "offers/lists/findings.h"

/* One chunk; *offer_count are the offers it saw, *done says that the seller is through. */
int recount_step(const struct checking *checking, const char *seller, struct findings *findings,
                 size_t *offer_count, bool *done, struct err *err);

/* In a transaction that changes the seller's lists without changing offers: a recount under way has
 * to begin again. */
int recount_forget(struct store_tx *tx, const char *seller, struct err *err);

#endif
