/* SPDX-License-Identifier: Apache-2.0 */
/*
 * external_item.h - a seller's own name for an offer (its external id): rows of the table feed.
 *
 * A name is unique among the seller's offers that are not deleted: each of them that has a name has
 * its row. A banned offer keeps its name, even when deleted, as long as the ban holds: no other
 * offer of the seller gets it. gone_us is 0 exactly when the row's offer is not deleted; the
 * transaction that changes the offer sees to it. Names of deleted offers are forgotten after a
 * while, except those of banned ones: otherwise the name would come back as another offer. All
 * functions are for use inside transactions.
 */
#ifndef TORG_OFFERS_CHANGE_EXTERNAL_ITEM_H
#define TORG_OFFERS_CHANGE_EXTERNAL_ITEM_H

#include "base/arena.h"
#include "offers/record/offer_id.h"
#include "store/store.h"
#include "torg/v1/offer.pb-c.h"

/* gone_us of a deleted offer whose name is held: gone for longer than anything is remembered. */
enum { EXTERNAL_ITEM_HELD_US = 1, EXTERNAL_ITEM_AWAY = -1 };

struct external_item {
    offerid offer_id;    /* 0: there is no row */
    const char *feed_id; /* "" = of none */
    int64_t task_id;     /* of that feed; the last that touched it */
    int64_t gone_us;     /* 0: it is there */
    int64_t away;        /* the task that calls it not available, and is to withdraw it at its end;
                          * EXTERNAL_ITEM_AWAY: that is done; 0: the feed calls it available */
};

int external_item_find(struct store_tx *tx, const char *seller, const char *external_id,
                       struct arena *arena, struct external_item *item, struct err *err);

/* Makes the row `after`, if it still is `before`; *outrun: it is not. */
int external_item_put(struct store_tx *tx, const char *seller, const char *external_id,
                      const struct external_item *before, const struct external_item *after,
                      bool *outrun, struct err *err);

/* What follows for the row from a change that no feed makes; before is NULL for a new offer.
 * ERR_EXISTS, naming the other offer: it has the name that this one is to get. ERR_PRECONDITION: a
 * banned offer has it, or is to lose it. */
int external_item_follow(struct store_tx *tx, offerid id, const Torg__V1__Offer *before,
                         const Torg__V1__Offer *after, struct arena *arena, struct err *err);

/* Of rows that went before until_us, up to max with an opinion on their offers and as many without:
 * holds the names of the banned, deletes the rest. *more: there may be others. */
int external_item_forget(struct store_tx *tx, int64_t until_us, size_t max, struct arena *arena,
                         int64_t *forgotten, bool *more, struct err *err);

/* Of a deleted offer that is being banned: holds its name, if that is forgotten already. */
int external_item_hold(struct store_tx *tx, offerid id, const Torg__V1__Offer *offer,
                       struct err *err);

#endif
