/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opinions.h - moderators' opinions from the topic moderation-opinions into the store.
 *
 * A record is a ModerationOpinion. What comes again is stale by its revision; one that cannot be
 * read, or is on an offer that does not exist, is passed (inbox.h).
 */
#ifndef TORG_OFFERS_OPINIONS_H
#define TORG_OFFERS_OPINIONS_H

#include "offers/inbox.h"
#include "offers/offers.h"

#define OPINIONS_TOPIC "moderation-opinions"

/* Both are borrowed until inbox_stop. */
int opinions_start(const struct offers *offers, struct topics *topics, struct inbox **inbox,
                   struct err *err);

#endif
