/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moderation.h - a moderator's opinion on an offer, kept as its row of kind 'moderation'.
 *
 * The row and the ban (or unban) it means are written in one transaction. The opinion's own
 * revision decides: one that is not larger than the kept one changes nothing, however often and
 * late it comes.
 */
#ifndef TORG_OFFERS_MODERATION_H
#define TORG_OFFERS_MODERATION_H

#include "offers/offers.h"
#include "torg/v1/moderation.pb-c.h"

/* Everything wrong with it, by field; how much that was. */
size_t opinion_check(const Torg__V1__ModerationOpinion *opinion, struct violations *violations);

/* An opinion that was checked. answer->receipt is set when the offer changed. ERR_NOT_FOUND: no
 * such offer. */
int moderation_apply(const struct offers *offers, const Torg__V1__ModerationOpinion *opinion,
                     struct arena *arena, Torg__V1__GiveOpinionResponse *answer, struct err *err);

/* The newest opinion; ERR_NOT_FOUND when there is none. */
int moderation_get(const struct offers *offers, offerid id, struct arena *arena,
                   Torg__V1__Moderation **moderation, struct err *err);

#endif
