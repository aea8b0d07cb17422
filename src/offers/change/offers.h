/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offers.h - sellers' offers: read, created, changed, moved through their life.
 *
 * A change is prepared outside the transaction that writes it: the offer is read, the new state
 * built, checked by the catalogue, encoded and packed on the caller's thread; the transaction
 * (offer_save.h) then writes only if the revision is still the one that was read; otherwise
 * everything is done again. So the store's one writer does little, and a conflict costs only the
 * caller that lost.
 *
 * Threads: any; functions block on the store.
 */
#ifndef TORG_OFFERS_CHANGE_OFFERS_H
#define TORG_OFFERS_CHANGE_OFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bell.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/violation.h"
#include "catalog/catalog.h"
#include "catalog/validate.h"
#include "offers/record/offer_id.h"
#include "offers/record/offer_status.h"
#include "store/store.h"
#include "torg/v1/offer.pb-c.h"

struct feed_rules;   /* feeds/tasks/rules.h */
struct feed_similar; /* feeds/mapping/similar.h */

/* What the stage stands on; filled by its role or test, shared by all threads. */
struct offers {
    struct store *store;                   /* borrowed */
    const struct clock *clock;             /* borrowed */
    struct catalog *(*catalog)(void *arg); /* a reference to the one in use; NULL: none yet */
    void *catalog_arg;
    uint64_t (*draw)(void *arg); /* random bits for an id; NULL: the system's */
    void *draw_arg;
    /* How long the worker leaves drafts that nobody changes; 0: for ever. */
    int64_t visitor_draft_life_us;
    int64_t seller_draft_life_us;
    struct bell *bell; /* rung after each change; NULL: the worker finds it by itself; borrowed */
    const struct feed_rules *feed_rules;     /* borrowed; NULL: the defaults */
    const struct feed_similar *feed_similar; /* borrowed; NULL: goods are compared with none */
    /* Told within the change that a photo of the offer could not be had, each time for another
     * reason, and (reason NULL) that it could be after all; NULL: nobody is. */
    int (*note_photo_failure)(struct store_tx *tx, const Torg__V1__Offer *offer, const char *url,
                              const char *reason, struct arena *arena, struct err *err);
};

/* Who writes, and how often it may happen. */
struct author {
    const char *seller;            /* of the credential */
    struct bytes once_key;         /* idempotency key; empty: none */
    uint64_t once_hash;            /* of method and request */
    enum language language;        /* of reasons */
    struct arena *arena;           /* of the answer */
    struct violations *violations; /* reasons by field */
};

/* Who reads. */
struct reader {
    const char *seller; /* "" = bound to none */
    bool sees_all;
};

uint64_t offers_draw(const struct offers *offers);

/* The offer as the reader may see it; ERR_NOT_FOUND when there is none that he may. */
int offers_get(const struct offers *offers, const struct reader *reader, offerid id,
               struct arena *arena, Torg__V1__Offer **offer, struct err *err);
/* The same for many, from one snapshot: offers[i] is NULL for what is not to be seen. */
int offers_get_many(const struct offers *offers, const struct reader *reader, const offerid *ids,
                    size_t count, struct arena *arena, Torg__V1__Offer **list, struct err *err);

/* The content is changed to its stored form (offer_content.h) by both. */
int offers_create(const struct offers *offers, const struct author *author,
                  Torg__V1__OfferContent *content, Torg__V1__OfferReceipt *receipt,
                  struct err *err);
/* expected_revision > 0; another one now: ERR_CONFLICT. */
int offers_update(const struct offers *offers, const struct author *author, offerid id,
                  int64_t expected_revision, Torg__V1__OfferContent *content,
                  Torg__V1__OfferReceipt *receipt, struct err *err);

/* Any move but publishing, updating and photos. expected_revision 0: whatever it is. A NULL seller
 * in author: not asked for by one (worker, moderator, feed). */
int offers_move(const struct offers *offers, const struct author *author, offerid id,
                int64_t expected_revision, enum offer_move move, Torg__V1__OfferReceipt *receipt,
                struct err *err);

/* Deletes up to max answers kept for idempotency keys beyond their time; how many that were. */
int offers_forget_answers(const struct offers *offers, size_t max, int64_t *forgotten,
                          struct err *err);

#endif
