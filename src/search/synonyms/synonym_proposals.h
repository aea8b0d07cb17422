/* SPDX-License-Identifier: Apache-2.0 */
/*
 * synonym_proposals.h - what operators may want to add, learnt from queries that visitors retyped.
 *
 *   "велик детский" → nothing clicked → "велосипед детский" → clicked       (clicks/retyped.h)
 *   without the words that both have: велик => велосипед, in so many visits
 *
 * A query that only became longer or shorter proposes nothing, nor does what a rule in force says
 * already, or what fewer than SYNONYM_PROPOSAL_VISIT_MIN visits did. Nothing is applied by itself.
 */
#ifndef TORG_SEARCH_SYNONYMS_SYNONYM_PROPOSALS_H
#define TORG_SEARCH_SYNONYMS_SYNONYM_PROPOSALS_H

#include "search/synonyms/synonyms.h"
#include "store/store.h"
#include "torg/v1/synonym.pb-c.h"

/* The most frequent first, at most `limit`; all in the arena. */
int synonym_proposals(struct store *store, const struct synonyms *in_force, size_t limit,
                      struct arena *arena, Torg__V1__ListSynonymProposalsResponse *response,
                      struct err *err);

#endif
