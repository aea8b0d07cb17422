/* SPDX-License-Identifier: Apache-2.0 */
/*
 * photos.h - between an offer and the process that fetches its photos: requests and answers.
 *
 * An offer's photos have their states in its own content. A revision asks for the addresses that it
 * brought (Photo.request_revision); its row of the export queue is the durable note of that, and
 * export sends the request. Answers become one ordinary change of the offer, or none: an answer is
 * no news if it is about an address that the offer no longer has, an earlier request for it, an
 * earlier answer, or the same content.
 */
#ifndef TORG_OFFERS_CHANGE_PHOTOS_H
#define TORG_OFFERS_CHANGE_PHOTOS_H

#include "offers/change/offers.h"
#include "torg/v1/photo.pb-c.h"

/* Lets the offer's revision ask for the photos that nobody has been asked for; again: for all that
 * have no answer, of an offer that could not take one meanwhile (deleted, or put back as it was).
 * Changes the content's photos. */
void photos_ask(Torg__V1__Offer *offer, bool again);

/* Whose word it is that an offer has these photos. */
enum photos_named {
    PHOTOS_NOT_NAMED, /* only time has passed */
    PHOTOS_BY_FEED,   /* again and again: what has failed is asked for a few times a day */
    PHOTOS_BY_HAND,   /* its seller's: at once */
};

/* Asks anew, by the offer's revision, for photos that have failed and are named again, and for
 * those whose request was not answered for PHOTO_SILENCE_S; after some of those they have failed.
 * Changes the content's photos. */
void photos_ask_late(Torg__V1__Offer *offer, enum photos_named named);

/* When the first of those that wait is asked for anew; 0: none waits. */
int64_t photos_due_us(const Torg__V1__Offer *offer);

/* The photos this revision of the offer asked for and that were not answered; NULL: none. Borrows
 * from the offer. */
Torg__V1__PhotoRequest *photos_request(const Torg__V1__Offer *offer, int64_t revision,
                                       struct arena *arena);

/* Everything wrong with a result, by field; how much that was. */
size_t photo_result_check(const Torg__V1__PhotoResult *result, struct violations *violations);

/* A result that was checked. *changed: the offer has. ERR_NOT_FOUND: no such offer. */
int photos_apply(const struct offers *offers, const Torg__V1__PhotoResult *result,
                 struct arena *arena, bool *changed, struct err *err);

/* A photo that could not be used, for reports. */
struct photo_failure {
    offerid offer;
    const char *url;
    const char *reason;
};

/* Those of the named offers, as they are now, in the order of the offers and of their photos; what
 * has no offer has none. The list and its texts are the arena's. */
int photos_failed(const struct offers *offers, const offerid *ids, size_t id_count,
                  struct arena *arena, struct photo_failure **list, size_t *count, struct err *err);

#endif
