/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nearness.h - among offers that have all words: those that have them side by side in the order
 * that was typed, and in the very form, come first.
 *
 * They are asked for as bonuses: clauses that nobody has to match, and that count little beside the
 * words themselves.
 */
#ifndef TORG_SEARCH_NEARNESS_H
#define TORG_SEARCH_NEARNESS_H

#include "base/arena.h"
#include "torg/v1/query.pb-c.h"

/* Beside the stage's own clauses. Of a text with signs or quotes none; of a lone word its form. */
void nearness_add(const char *text, Torg__V1__QueryStage *stage, struct arena *arena);

/* Whoever has these words, too, counts a little more. */
void nearness_prefer(const char *text, Torg__V1__QueryStage *stage, struct arena *arena);

#endif
