/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recount.h - a seller's counts and totals, recounted from the offers while writers go on.
 *
 * Offers are gone through from the newest to the oldest by (time of creation, id), which never
 * change, in transactions of RECOUNT_CHUNK_COUNT offers. How far it has come (the watermark) is
 * kept in the counters' own rows with what has been counted so far; whoever changes an offer on the
 * counted side adds his difference to that too, in the statement by which he changes the counter
 * (offer_counts.c). So at every commit
 *
 *     recount = what the offers at or above the mark give, now
 *
 * and when the mark has passed the oldest offer, counter and recount are compared in one
 * transaction, and the counter is corrected there. Nothing is corrected before, so nobody reads a
 * count that is wrong but was right. A killed recount is gone on with by whoever comes next; two at
 * once move the same mark, and who did not end it himself begins again.
 *
 * A seller whose offers fit one chunk is recounted on a snapshot, and nothing is written unless
 * something is to be put right.
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
