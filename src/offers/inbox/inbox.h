/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inbox.h - what other parties report about offers, from their topics into the store: moderators'
 * opinions (moderation-opinions), answers of the photos role (photo-results), buyers' messages
 * (seller-messages).
 *
 * A record is one ModerationOpinion, PhotoResult or SellerMessage. A record that comes again, or is
 * no news (moderation.h, photos.h), changes nothing; one that cannot be read, or is about an offer
 * that does not exist, is parked (stage/parked.h) and skipped.
 */
#ifndef TORG_OFFERS_INBOX_INBOX_H
#define TORG_OFFERS_INBOX_INBOX_H

#include "offers/change/offers.h"
#include "topic/topic.h"

struct inbox;

/* Each makes its topic if it is not there, and starts. All are borrowed until it stops. On failure
 * *inbox is NULL. */
int inbox_start_opinions(const struct offers *offers, struct topics *topics, struct inbox **inbox,
                         struct err *err);
int inbox_start_photos(const struct offers *offers, struct topics *topics, struct inbox **inbox,
                       struct err *err);
int inbox_start_messages(const struct offers *offers, struct topics *topics, struct inbox **inbox,
                         struct err *err);
void inbox_stop(struct inbox *inbox); /* NULL is fine */

#endif
