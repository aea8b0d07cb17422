/* SPDX-License-Identifier: Apache-2.0 */
/*
 * damaged_offer.h - an offer whose stored body cannot be read becomes one that can be banned.
 *
 * It is replaced by what the columns and the cabinet know of it: its seller, category, revision and
 * times. The replacement is WITHDRAWN (or DELETED, as it was) and has no content; its seller may
 * fill that in again. It is written in the transaction of the ban and never before: a ban that
 * fails, or is stale, leaves the offer as it is, damaged. The damaged bytes stay, as the row of
 * kind 'damaged'.
 */
#ifndef TORG_OFFERS_CHANGE_DAMAGED_OFFER_H
#define TORG_OFFERS_CHANGE_DAMAGED_OFFER_H

#include "offers/change/offers.h"

/* Of a damaged offer that no list of the cabinet names any more, or none that is found in time. It
 * is no name (identity_is_name), so that no seller can have it. */
#define DAMAGED_OFFER_SELLER "(unknown)"

struct damaged_offer {
    const struct offers *offers;
    const char *actor; /* for the audit log; NULL: it came by a topic */
    struct arena *arena;
    offerid id;
    const char *seller;           /* out, as the next two */
    int64_t created_us;           /* 0: not known */
    enum offer_status was_listed; /* OFFER_NONE: in no list */
    struct bytes body;            /* out, with stand_in */
    Torg__V1__Offer *stand_in;    /* NULL: it could be read when it was last looked for */
};

/* Fills in whose it is; goes through all lists, so outside of transactions that write. Where that
 * takes too long it is DAMAGED_OFFER_SELLER's: a ban does not wait for it. */
int damaged_offer_find_seller(struct damaged_offer *damaged, struct err *err);

/* As record_find, but one that cannot be read is its stand-in. damaged may be NULL: as record_find.
 */
int damaged_offer_find(struct store_tx *tx, offerid id, struct arena *arena,
                       struct damaged_offer *damaged, Torg__V1__Offer **offer, struct err *err);

/* In the transaction that writes another body for it: keeps the damaged bytes and moves the offer
 * to where its stand-in belongs in the cabinet. Nothing to do without a stand-in. */
int damaged_offer_keep(struct store_tx *tx, const struct damaged_offer *damaged, struct err *err);
/* The same, and writes the stand-in itself. */
int damaged_offer_replace(struct store_tx *tx, const struct damaged_offer *damaged,
                          struct err *err);

#endif
