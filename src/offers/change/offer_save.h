/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offer_save.h - the one transaction by which an offer changes: the offer, the cabinet's lists and
 * counts, the seller's totals and the entry of the export queue (a transactional outbox), all or
 * nothing.
 *
 * Everything written besides the offer follows from its state before and after: nobody counts by
 * hand. It costs three statements for new content (on SQLite four), six for a new offer; the
 * sequence of the seller's shard is the row that writers of one shard wait for.
 */
#ifndef TORG_OFFERS_CHANGE_OFFER_SAVE_H
#define TORG_OFFERS_CHANGE_OFFER_SAVE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/seal.h"
#include "offers/change/offers.h"
#include "offers/change/once.h"

struct offer_save {
    const struct offers *offers;
    const Torg__V1__Offer *before; /* NULL: it is new */
    Torg__V1__Offer *after;        /* with its revision, status and times */
    struct once once;              /* no key: none */
    bool check_once;               /* nobody has looked for the key's answer yet */
    struct arena *arena;
    /* What else belongs to the change, in the same transaction, right after the offer's row (and
     * again if that is run again); may be NULL. It may set `outrun` and fail with ERR_CONFLICT. */
    int (*also)(struct store_tx *tx, struct offer_save *save, void *arg, struct err *err);
    void *also_arg;
    bool owns_item;     /* `also` writes the row of the external id (external_item.h) itself */
    bool takes_reserve; /* content that grows, too, may use OFFER_RESERVE_SIZE */
    bool is_bulk; /* one of many at once: what it takes down does not overtake single changes */

    struct seal seal; /* of its token; set by offer_save_prepare */
    offerid id;       /* of a new one: wished, 0 for any; then the one it got */
    struct buf body;  /* owned; set by offer_save_prepare */

    uint32_t shard; /* out */
    int64_t seq;    /* out: in the shard's queue */
    bool outrun;    /* out, with ERR_CONFLICT: somebody else was faster; read again */
    Torg__V1__OfferReceipt *receipt; /* filled; from the arena */
};

/* Encodes and packs the new state; ERR_LIMIT when it is too large. Outside of transactions. */
int offer_save_prepare(struct offer_save *save, struct err *err);
/* Inside a transaction; what it returns decides on the commit. May be run again. Who commits rings
 * offers->bell then. */
int offer_save_in(struct store_tx *tx, struct offer_save *save, struct err *err);
/* Both, in a transaction of its own. */
int offer_save(struct offer_save *save, struct err *err);
void offer_save_release(struct offer_save *save);

uint32_t seller_shard(const char *seller);

#endif
