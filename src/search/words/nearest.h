/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nearest.h - the last resort for a text that still finds nothing: words of offers that begin as
 * its words do.
 */
#ifndef TORG_SEARCH_WORDS_NEAREST_H
#define TORG_SEARCH_WORDS_NEAREST_H

#include "base/arena.h"
#include "base/err.h"
#include "search/words/spelling.h"

/* The line with its words replaced by those that titles have: near ones (a letter or two), else
 * such as begin with most of its letters ("weedeater": weed), that it ends with ("venthood": hood),
 * or that begin with three of them. So are numbers: of a model as of its neighbours. Numbers and
 * letters that stand together are parted. *text NULL: nothing is like it, or the line has signs or
 * quotes. */
int nearest_text(const char *line, spelling_complete_fn *find, void *arg, struct arena *arena,
                 const char **text, struct err *err);

#endif
