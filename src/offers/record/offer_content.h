/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offer_content.h - whether what a seller says may be published, and the form it is stored in.
 */
#ifndef TORG_OFFERS_RECORD_OFFER_CONTENT_H
#define TORG_OFFERS_RECORD_OFFER_CONTENT_H

#include "base/arena.h"
#include "base/violation.h"
#include "catalog/catalog.h"
#include "torg/v1/offer.pb-c.h"

/* 100 billion of most currencies: a million of such sales still fit a counter. */
#define OFFER_PRICE_MAX INT64_C(10000000000000)

/*
 * Everything that stands against publishing, by fields below "content"; how many that were.
 * *category (may be NULL) is NULL when there is no such one.
 */
size_t offer_content_check(const Torg__V1__OfferContent *content, const struct catalog *catalog,
                           enum language language, struct violations *violations,
                           const struct category **category);

/* The same by a category that is known. */
size_t offer_content_check_in(const Torg__V1__OfferContent *content,
                              const struct category *category, enum language language,
                              struct violations *violations);

/* Content that is right, as it is stored. Photos keep their states in `before` (may be NULL). */
void offer_content_normalize(Torg__V1__OfferContent *content, const struct category *category,
                             const Torg__V1__OfferContent *before, struct arena *arena);

/* Photos as a client may say them: with their addresses alone, and the states in `before`. */
void offer_photos_carry(Torg__V1__OfferContent *content, const Torg__V1__OfferContent *before);

#endif
