/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draft.h - offers being written: at most one per owner, before and after login.
 *
 * An owner is a text: 's:' and a seller, or 'a:' and an anonymous id. current_draft has one row per
 * owner, and every function starts from it, so concurrent calls of one owner conflict there and one
 * of them runs again. A draft has the id that its offer will have.
 */
#ifndef TORG_OFFERS_CHANGE_DRAFT_H
#define TORG_OFFERS_CHANGE_DRAFT_H

#include "offers/change/offers.h"

struct draft {
    offerid id;
    int64_t revision;
    int64_t updated_us;
    Torg__V1__OfferContent *content; /* never NULL */
};

enum draft_side { DRAFT_OF_NOBODY, DRAFT_OF_SELLER, DRAFT_OF_VISITOR };

/* Which of two drafts is left when a visitor logs in; the other is wiped. */
struct draft_choice {
    enum draft_side kept; /* DRAFT_OF_NOBODY: there is none */
    bool is_reset;        /* it is emptied and gets the wished category */
};

/* Either may be NULL; category "" = none is wished. A tie of times is the seller's. */
struct draft_choice draft_choose(const struct draft *seller, const struct draft *visitor,
                                 const char *category);

/* The owner's draft; *draft is NULL when there is none. */
int draft_get(const struct offers *offers, const char *owner, struct arena *arena,
              struct draft **draft, struct err *err);

/* The current draft, made if there is none; with both owners it is the login. Either owner may be
 * NULL. */
int draft_open(const struct offers *offers, const char *seller, const char *visitor,
               const char *category, struct arena *arena, struct draft **draft, struct err *err);

/* Below, author->seller is the owner. expected_revision 0: any. ERR_NOT_FOUND when the owner's
 * draft is not the one with that id. */

int draft_save(const struct offers *offers, const struct author *author, offerid id,
               int64_t expected_revision, Torg__V1__OfferContent *content, struct draft *saved,
               struct err *err);
int draft_discard(const struct offers *offers, const struct author *author, offerid id,
                  struct err *err);

/* author->seller is the seller. The draft is gone when the offer is there. */
int draft_publish(const struct offers *offers, const struct author *author, offerid id,
                  int64_t expected_revision, Torg__V1__OfferReceipt *receipt, struct err *err);

/* --- inside a transaction --- */
int draft_find(struct store_tx *tx, const char *owner, struct arena *arena, struct draft **draft,
               struct err *err);

/* Whose drafts: the beginning of an owner. */
#define DRAFT_OF_VISITORS "a:"
#define DRAFT_OF_SELLERS "s:"

/* Wipes up to max drafts of these owners that were last changed before the time; *purged of
 * them. */
int draft_purge(const struct offers *offers, const char *owners, int64_t before_us, size_t max,
                size_t *purged, struct err *err);

#endif
