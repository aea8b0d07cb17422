/* SPDX-License-Identifier: Apache-2.0 */
/*
 * votes.h - which categories texts were found to be about: a cache that lives for some seconds.
 *
 * A page of several categories is asked for up to three times (likely.h): as it is, for its sample,
 * and in the order that the sample tells. Of a text that was searched a moment ago the answer is
 * known, and the page is asked for once. What is kept may be VOTE_KEEP_MS old, and decides nothing
 * but the order.
 *
 * Threads: any; one lock, held for a copy.
 */
#ifndef TORG_SEARCH_CHOICES_VOTES_H
#define TORG_SEARCH_CHOICES_VOTES_H

#include "search/asking/asking.h"
#include "search/choices/choices.h"

struct votes;

struct votes *votes_new(void);
void votes_free(struct votes *votes);

/* Both: in asking->search->votes, which may be NULL: nothing is kept. */

/* Whether it was found out for this text, beside the same choices and on a page as long;
 * likely->count 0: nothing stood out. */
bool votes_find(const struct asking *asking, const struct wanted *wanted, struct likely *likely);
/* Keeps wanted->likely, unless it was found out by a part of the offers, or by old ones: others may
 * see more. Takes the place of another text's where there is no room. */
void votes_keep(const struct asking *asking, const struct wanted *wanted);

#endif
