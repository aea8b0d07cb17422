/* SPDX-License-Identifier: Apache-2.0 */
/*
 * photo_results.h - answers of the photos role from the topic photo-results into the offers.
 *
 * A record is a PhotoResult. What is no news (photos.h) changes nothing; one that cannot be read,
 * or is on an offer that does not exist, is passed (inbox.h).
 */
#ifndef TORG_OFFERS_PHOTO_RESULTS_H
#define TORG_OFFERS_PHOTO_RESULTS_H

#include "offers/inbox.h"
#include "offers/offers.h"

#define PHOTO_RESULTS_TOPIC "photo-results"

/* Both are borrowed until inbox_stop. */
int photo_results_start(const struct offers *offers, struct topics *topics, struct inbox **inbox,
                        struct err *err);

#endif
