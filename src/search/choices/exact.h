/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exact.h - titles that say what was typed and nothing else come first on their page.
 *
 * "Samsung Galaxy S23 256 ГБ": a title of just these words before "Samsung Galaxy S23, 256 ГБ,
 * beige". By relevance both are whole matches, and which has the higher score is decided by what
 * else is said of them. Looked at are the offers of a first page, whose titles are at hand; where a
 * page begins and ends is not changed.
 */
#ifndef TORG_SEARCH_CHOICES_EXACT_H
#define TORG_SEARCH_CHOICES_EXACT_H

#include "search/choices/choices.h"
#include "torg/v1/search.pb-c.h"

/* Of offers with all words of the text, by relevance; others stay in their order. */
void exact_first(const struct wanted *wanted, Torg__V1__FoundOffer **offers, size_t count);

#endif
