/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moderation.h - a moderator's opinion on an offer, kept as its row of kind 'moderation'.
 *
 * The row and the ban (or unban) it means are written in one transaction. The opinion's own
 * revision decides: one that is not larger than the kept one changes nothing, however often and
 * late it comes.
 *
 * The status follows the newest opinion at once, except for a DELETED offer, which nobody sees:
 * code that brings it back (a feed, an undo) applies the opinion first, in the same transaction.
 */
#ifndef TORG_OFFERS_CHANGE_MODERATION_H
#define TORG_OFFERS_CHANGE_MODERATION_H

#include "offers/change/offers.h"
#include "torg/v1/moderation.pb-c.h"

/* Everything wrong with it, by field; how much that was. */
size_t opinion_check(const Torg__V1__ModerationOpinion *opinion, struct violations *violations);

/* An opinion that was checked. answer->receipt is set when the offer changed. ERR_NOT_FOUND: no
 * such offer. */
/* actor: who gave it, for the audit log; NULL: it came by the topic. */
int moderation_apply(const struct offers *offers, const char *actor,
                     const Torg__V1__ModerationOpinion *opinion, struct arena *arena,
                     Torg__V1__GiveOpinionResponse *answer, struct err *err);

/* The newest opinion; ERR_NOT_FOUND when there is none. */
int moderation_get(const struct offers *offers, offerid id, struct arena *arena,
                   Torg__V1__Moderation **moderation, struct err *err);

/* --- inside transactions, for who brings a deleted offer back --- */

struct opinion_seen {
    int64_t revision; /* of the newest opinion; 0: there is none */
    bool bans;
};

int opinion_see(struct store_tx *tx, offerid id, struct arena *arena, struct opinion_seen *seen,
                struct err *err);
/* *outrun: a newer one has come since. */
int opinion_check_seen(struct store_tx *tx, offerid id, const struct opinion_seen *seen,
                       bool *outrun, struct err *err);
/* Whether the offer is banned, or would be if it were not deleted. */
bool opinion_bans(const struct opinion_seen *seen, const Torg__V1__Offer *offer);

#endif
