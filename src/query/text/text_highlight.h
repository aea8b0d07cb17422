/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_highlight.h - a text with the words that a query means marked, cut to fragments.
 *
 * The text is analysed as documents are. A word is marked when a clause that is not NOT means it:
 * all forms of a WORD, the very form of an EXACT, what a PREFIX or FUZZY may mean; the words of a
 * phrase only where they stand as one. Of the snapshot the lexicon is needed; with word_max its
 * parts too, as they tell which words a PREFIX means. Marks never cut a character in two, whatever
 * the bytes are.
 */
#ifndef TORG_QUERY_TEXT_TEXT_HIGHLIGHT_H
#define TORG_QUERY_TEXT_TEXT_HIGHLIGHT_H

#include "query/query.h"

struct text_plan;

/* *marked is in the arena. Without a word to mark: the beginning of the text. The plan tells what
 * the words mean: that of the stage, made once for all its texts; NULL: there are none. */
int text_highlight_by(const struct text_plan *plan, const struct snapshot *snapshot,
                      struct analysis *analysis, struct bytes source,
                      const struct highlight_options *options, struct arena *arena,
                      struct bytes *marked, struct err *err);

/* The same for whoever has no plan of the text. */
int text_highlight(const struct snapshot *snapshot, struct analysis *analysis,
                   const struct query_text *text, struct bytes source,
                   const struct highlight_options *options, struct arena *arena,
                   struct bytes *marked, struct err *err);

#endif
