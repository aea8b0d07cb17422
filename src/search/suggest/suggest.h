/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suggest.h - as one types: lines that would find something, and categories.
 *
 *   typed ──> newest offers whose titles go on so, hits by category ──> searcher (one query)
 *         ──> completions of their titles (completions.h) ──> how many offers each finds ──> answer
 *
 * Where nothing goes on so, it is tried as typed with the other keyboard layout, in the other
 * script, then corrected.
 */
#ifndef TORG_SEARCH_SUGGEST_SUGGEST_H
#define TORG_SEARCH_SUGGEST_SUGGEST_H

#include "search/search.h"

int search_suggest(const struct search *search, const Torg__V1__SuggestRequest *request,
                   enum language language, int64_t deadline_us, struct arena *arena,
                   Torg__V1__SuggestResponse *response, struct err *err);

/* The line as the other layout would have written it: "yjen" is "ноут". NULL: it has no such. */
char *other_layout(const char *line, struct arena *arena);
/* In the letters of the other script: "самс" is "sams". */
char *other_script(const char *line, struct arena *arena);

#endif
