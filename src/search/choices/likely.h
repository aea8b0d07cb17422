/* SPDX-License-Identifier: Apache-2.0 */
/*
 * likely.h - which categories a text is most likely about: "toyota camry" about cars, though more
 * parts than cars have both words.
 *
 *   page by relevance ──> one category, and its offers are the thing asked for: as it is
 *                    └──> else the best LIKELY_SAMPLE_COUNT by what offers say they are ──> the
 *                         categories that have most of those that are the thing ──> the same page,
 *                         with the offers of these categories before others
 *
 * An offer is the thing asked for when its head (index field `words`, which begins with it twice)
 * has words of the text; one whose head cannot be told, when its title begins with one. So nothing
 * is learnt beforehand and nothing is kept: the titles that are on sale at this moment are the
 * model, changes of offers are known at once, in every process. Both questions skip by bounds of
 * scores, as relevance alone does, and a page that is content asks neither.
 */
#ifndef TORG_SEARCH_CHOICES_LIKELY_H
#define TORG_SEARCH_CHOICES_LIKELY_H

#include "search/asking/asking.h"
#include "search/choices/choices.h"

/* Whether the text may be about some categories more than about others: by BEST, on a first page,
 * of plain words, and where there is another category. */
bool likely_may_be(const struct wanted *wanted);

/* The page has to show what likely_is_settled looks at. */
void likely_show(const struct wanted *wanted, Torg__V1__QueryStage *stage);

/* Whether the page needs no help: its offers are of one category, and half of them are the
 * thing. */
bool likely_is_settled(const struct wanted *wanted, const Torg__V1__StageAnswer *page);

/* any_word: no offer has all words. */
int likely_find(struct asking *asking, const struct wanted *wanted, bool any_word,
                struct likely *likely, struct err *err);

/* For the cursor, "cars 83,bikes 17"; NULL: there are none. */
char *likely_put(const struct likely *likely, struct arena *arena);
/* ERR_INVALID: that is no such text, or the catalogue has other categories by now. */
int likely_read(const struct catalog *catalog, const char *text, struct arena *arena,
                struct likely *likely, struct err *err);

#endif
