/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_uploads.h - photos that an offer's seller has uploaded: ready when they are named.
 *
 * An upload was developed when it came, and what became of it is kept beside what web addresses
 * gave (table photo_source). So who names one waits for nobody. An address is no secret, it stands
 * in what strangers read of an offer: an upload of another seller is told as one that is gone.
 */
#ifndef TORG_OFFERS_CHANGE_OWN_UPLOADS_H
#define TORG_OFFERS_CHANGE_OWN_UPLOADS_H

#include "base/arena.h"
#include "base/err.h"
#include "store/store.h"
#include "torg/v1/offer.pb-c.h"
#include "torg/v1/photo.pb-c.h"

/* Answers what this revision of the offer asks for. What nobody knows of is left to who fetches
 * photos: files from before results were kept. Changes the content's photos. */
int own_uploads_settle(struct store *store, Torg__V1__Offer *offer, struct arena *arena,
                       struct err *err);

/* What was settled by this revision, as an answer of who fetches photos would tell it: for those
 * who look at all of them. NULL: nothing. Borrows from the offer. */
Torg__V1__PhotoResult *own_uploads_result(const Torg__V1__Offer *offer, int64_t revision,
                                          struct arena *arena);

#endif
