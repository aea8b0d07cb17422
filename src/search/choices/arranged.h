/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arranged.h - a list of BEST whose first places are not filled by one order alone: two formulas
 * take turns at them (model/experiment.h), where clicks decide one of some places is for new
 * offers, which nobody could click yet, and of a seller with many offers only some are on a page.
 *
 *   order A   a b c d e f g ...   the first ARRANGED_PLACE_COUNT places: from the order whose turn
 *   order B   d b a g c e f ...   it is, its first offer that is not there yet;
 *   new, A    c f ...             each new_every-th: the first new one that is not there yet
 *   cap       who has seller_cap offers on the page lets the next one pass, if as good by words
 *   behind    order A, without what is there already
 *
 * No offer is hidden and none comes twice, whatever changes meanwhile: the cursor has what was
 * shown (tiers.h), and each offer that was not is still in order A. Both orders are asked for from
 * their beginning, of one snapshot; behind the arranged places the list goes on by the searcher's
 * own cursor. Offers with all words come first as in both orders.
 */
#ifndef TORG_SEARCH_CHOICES_ARRANGED_H
#define TORG_SEARCH_CHOICES_ARRANGED_H

#include "search/asking/asking.h"
#include "search/choices/choices.h"

/* Whether the page is of such a list. */
bool arranged_is_wanted(const struct search *search, const struct wanted *wanted);

/* The page's offers, cursor and query_id. The totals of the response are there already; whole: what
 * the search has found with all words, in the order that there would be without arranging. */
int arranged_put(struct asking *asking, const struct wanted *wanted,
                 const Torg__V1__StageAnswer *whole, Torg__V1__SearchOffersResponse *response,
                 struct err *err);

#endif
