/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offer_wait.h - whether an offer that is published is shown at once or waits for a photo.
 *
 * The category says it: at once; with the first ready photo; with that, or when a time has passed.
 * All of it is told from the offer's own photos and times, so it can be asked at every change.
 */
#ifndef TORG_OFFERS_RECORD_OFFER_WAIT_H
#define TORG_OFFERS_RECORD_OFFER_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "catalog/catalog.h"
#include "torg/v1/offer.pb-c.h"

/* What a category says of it. Zero: shown at once. */
struct wait_rules {
    bool waits;     /* for the first ready photo … */
    int64_t max_us; /* … and no longer than this; 0: however long */
    bool needs_one; /* with no photo left that may become ready, it is not shown at all */
};

struct wait_rules wait_rules_of(const struct policy *policy);

/*
 * Asked of an offer that is to be shown. True: it is not shown yet, and after->wait_until and
 * wait_reason say how long and why. `before` is what it was (NULL: new); one that waited already
 * goes on with its time unless this change has asked for a photo.
 */
bool offer_waits(Torg__V1__Offer *after, const Torg__V1__Offer *before,
                 const struct wait_rules *rules, struct arena *arena);

#endif
