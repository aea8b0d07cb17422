/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nearness.h - what counts beside the words (proximity): of offers that have all of them, those
 * come first that have them side by side in the order that was typed; of all, those that have them
 * in exactly that form, and those that are the thing that the text names.
 *
 * They are asked for as bonuses: clauses that nobody has to match, and that count little beside the
 * words themselves.
 */
#ifndef TORG_SEARCH_CHOICES_NEARNESS_H
#define TORG_SEARCH_CHOICES_NEARNESS_H

#include <stdbool.h>

#include "base/arena.h"
#include "catalog/catalog.h"
#include "torg/v1/query.pb-c.h"

/* Beside the stage's own clauses. Of a text with signs or quotes none; of a lone word its form. Of
 * partial matches forms, and the numbers of quantities and sizes; neighbours were tried, and
 * lowered nDCG. */
void nearness_add(const char *text, bool is_whole, Torg__V1__QueryStage *stage,
                  struct arena *arena);

/* What an English line says the thing is, its last noun before "with" or "for": offers that say the
 * same of themselves count more, of partial matches above all ("refrigerator water filter" is about
 * filters), however long the line is. Sizes and colours are nothing that a thing is: "ladder 6
 * foot" is about ladders. Of a line with signs, or of one noun, nothing. */
void nearness_head(const char *text, Torg__V1__QueryStage *stage, struct arena *arena);

/* Offers that have a value of an attribute which the text names count more than those that only say
 * its words: "синий диван" finds blue sofas before a red one with blue cushions. */
void nearness_values(const char *text, const struct catalog *catalog, char *const *kept,
                     size_t kept_count, Torg__V1__QueryStage *stage, struct arena *arena);

/* Whoever has these words, too, counts a little more. */
void nearness_prefer(const char *text, Torg__V1__QueryStage *stage, struct arena *arena);

#endif
