/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opinions.h - moderators' opinions from the topic moderation-opinions into the store.
 *
 * A record is a ModerationOpinion. What comes again is stale by its revision; one that cannot be
 * read, or is on an offer that does not exist, is parked (stage/parked.h) and passed.
 */
#ifndef TORG_OFFERS_OPINIONS_H
#define TORG_OFFERS_OPINIONS_H

#include "offers/offers.h"
#include "topic/topic.h"

struct opinions;

/* Makes the topic if it is not there, and starts. Both are borrowed until it stops. */
int opinions_start(const struct offers *offers, struct topics *topics, struct opinions **opinions,
                   struct err *err);
void opinions_stop(struct opinions *opinions); /* NULL is fine */

#endif
