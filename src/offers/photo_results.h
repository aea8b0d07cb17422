/* SPDX-License-Identifier: Apache-2.0 */
/*
 * photo_results.h - answers of the photos role from the topic photo-results into the offers.
 *
 * A record is a PhotoResult. What is no news (photos.h) changes nothing; one that cannot be read,
 * or is on an offer that does not exist, is parked (stage/parked.h) and passed.
 */
#ifndef TORG_OFFERS_PHOTO_RESULTS_H
#define TORG_OFFERS_PHOTO_RESULTS_H

#include "offers/offers.h"
#include "topic/topic.h"

struct photo_results;

/* Makes the topic if it is not there, and starts. Both are borrowed until it stops. */
int photo_results_start(const struct offers *offers, struct topics *topics,
                        struct photo_results **photo_results, struct err *err);
void photo_results_stop(struct photo_results *photo_results); /* NULL is fine */

#endif
