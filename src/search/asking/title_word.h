/* SPDX-License-Identifier: Apache-2.0 */
/* title_word.h - the word of titles that another word begins, or is a letter or two away from. */
#ifndef TORG_SEARCH_ASKING_TITLE_WORD_H
#define TORG_SEARCH_ASKING_TITLE_WORD_H

#include "search/asking/asking.h"

/* In the form that most of the best offers have; *whole NULL: not count_min offers have one. */
int title_word_find(struct asking *asking, const char *word, bool is_near, uint64_t count_min,
                    const char **whole, struct err *err);

#endif
