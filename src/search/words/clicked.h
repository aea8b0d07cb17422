/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clicked.h - what visitors clicked after a text: learnt, a little, by order and suggestions.
 *
 *   RecordEvents ─► click_text ── each CLICKED_REFRESH_S ──► a table in memory ─► shares of
 *                                                            categories, weight of a line
 *
 * Texts are alike that have the same words, in any order and case, with any ending. Visits weigh
 * half as much after each week. What is not known to be of CLICKED_PERSON_MIN persons, whatever
 * they clicked and on whichever days, is not learnt from: a text may be a name or a number that
 * nobody else is to read. A store that does not answer leaves what is known.
 *
 * Threads: any; one lock, held for a look-up.
 */
#ifndef TORG_SEARCH_WORDS_CLICKED_H
#define TORG_SEARCH_WORDS_CLICKED_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "search/bounds.h"
#include "store/store.h"

struct clicked;

/* Nothing is known before the first refresh, which the task does at once with watch. */
int clicked_open(struct store *store, const struct clock *clock, bool watch,
                 struct clicked **clicked, struct err *err);
void clicked_close(struct clicked *clicked); /* NULL is fine */
int clicked_refresh(struct clicked *clicked, struct err *err);

/* All three: of NULL nothing is known. */

/* How much is known of a text, 0 to 1: a half of CLICKED_HALF_COUNT visits. */
double clicked_strength(struct clicked *clicked, const char *text, struct arena *arena);

struct clicked_share {
    const char *category; /* id, in the arena */
    double share;         /* of the visits that clicked something after the text */
};
/* The greatest first, at most CLICKED_SHARE_COUNT. */
size_t clicked_shares(struct clicked *clicked, const char *text, struct arena *arena,
                      struct clicked_share list[CLICKED_SHARE_COUNT]);

/* Texts that begin so (a blank at its end parts words), folded, those of most visits first. */
size_t clicked_lines(struct clicked *clicked, const char *beginning, struct arena *arena,
                     const char *lines[CLICKED_LINE_COUNT]);

#endif
