/* SPDX-License-Identifier: Apache-2.0 */
/*
 * photo_use.h - which offers and drafts refer to a photo: table photo_use, written in the
 * transactions that change them.
 *
 * A photo is served while an offer that everybody may see refers to it as ready, or to its own
 * seller; the address of an upload refers to it only for who has uploaded it. A photo that no offer
 * and no draft refers to is swept after a time (photos/ledger.h). A deleted offer refers to
 * nothing: code that revives it asks photo_use_find_swept which of its photos are gone.
 */
#ifndef TORG_OFFERS_RECORD_PHOTO_USE_H
#define TORG_OFFERS_RECORD_PHOTO_USE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "offers/record/offer_id.h"
#include "store/store.h"
#include "torg/v1/offer.pb-c.h"

/* Part of stored data. */
enum photo_use_kind { PHOTO_USE_OFFER = 0, PHOTO_USE_DRAFT = 1, PHOTO_USE_UPLOAD = 2 };

/* Whether the seller has uploaded the file of this address (photo_address_is_upload), and it is
 * there. */
int photo_use_is_own_upload(struct store_tx *tx, const char *seller, const char *url, bool *is_own,
                            struct err *err);

/* Follows an offer's change (before: NULL of a new one). *outrun, with ERR_CONFLICT: a photo was
 * swept since it was looked at. */
int photo_use_follow(struct store_tx *tx, offerid id, const Torg__V1__Offer *before,
                     const Torg__V1__Offer *after, int64_t now_us, struct arena *arena,
                     bool *outrun, struct err *err);

/* Of an offer whose content cannot be read any more: nobody but its seller sees its photos, which
 * stay referred to as they were. */
int photo_use_hide(struct store_tx *tx, offerid id, struct err *err);

/* A draft with this content, or one that is gone (NULL). The owner is as in the table of drafts. */
int photo_use_draft(struct store_tx *tx, offerid id, const char *owner,
                    const Torg__V1__OfferContent *content, int64_t now_us, struct arena *arena,
                    struct err *err);

/* Whether the pictures were swept. Keys that are not ours never are. */
int photo_use_is_swept(struct store_tx *tx, const Torg__V1__PhotoSize *const *sizes, size_t count,
                       bool *is_swept, struct err *err);
/* Photos of the content that were swept are as if they had never been answered. */
int photo_use_find_swept(struct store_tx *tx, Torg__V1__OfferContent *content, struct err *err);

/* Lists the next offers of before the table was there; *more: there are others. Until all are
 * listed nothing is swept, and every photo is served. */
int photo_use_list_old(struct store *store, size_t max, bool *more, struct err *err);

#endif
