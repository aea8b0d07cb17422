/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offer_change.h - one write on one offer, from what is stored to the committed new state.
 *
 * Each try reads, decides by the table of moves, checks against the catalogue, and saves on
 * condition that nobody was faster (offer_save.h): an optimistic lock, whose version is the offer's
 * revision. A writer that was overtaken tries again. A kept answer for the same idempotency key
 * ends it at once.
 */
#ifndef TORG_OFFERS_CHANGE_OFFER_CHANGE_H
#define TORG_OFFERS_CHANGE_OFFER_CHANGE_H

#include "offers/change/damaged_offer.h"
#include "offers/change/offer_save.h"
#include "offers/change/offers.h"
#include "offers/change/once.h"

struct offer_change {
    const struct offers *offers;
    const struct author *author;
    offerid id;                /* 0: a new one */
    offerid wished_id;         /* of a new one; 0: any */
    int64_t expected_revision; /* 0: any */
    enum offer_move move;
    bool is_by_hand; /* a person saves it: photos that had failed are tried at once */
    Torg__V1__OfferContent *content; /* of publishing and updating; put into its stored form */
    bool takes_reserve;              /* as in offer_save.h */
    /* Stands in for one that cannot be read; `also` keeps what was there. NULL: ERR_CORRUPT. */
    struct damaged_offer *damaged;
    /* What else a try reads, and what else its transaction writes (save->also with the change as
     * its argument); may be NULL. */
    int (*read)(struct store_tx *tx, struct offer_change *change, struct err *err);
    int (*also)(struct store_tx *tx, struct offer_save *save, void *change, struct err *err);
    void *arg; /* for them */

    /* Of the current try. */
    struct once once;
    struct bytes answer; /* kept from an earlier call */
    Torg__V1__Offer *before;
    Torg__V1__Offer *after;
};

int offer_change_run(struct offer_change *change, Torg__V1__OfferReceipt *receipt, struct err *err);

/* Makes change->after from change->before (NULL: a new one) by the table of moves and the
 * catalogue; what is wrong with the content is in author->violations. For who reads and saves by
 * himself: feeds. */
int offer_change_build(struct offer_change *change, struct err *err);

/* "there is no offer …" */
int offer_refuse_missing(offerid id, struct err *err);

#endif
