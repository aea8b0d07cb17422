/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit.h - units of measure as sellers and buyers write them, and the one spelling we index.
 *
 * Only what goods are described by; "в", "w" and their like count beside the number alone, since
 * apart from it they are other words.
 */
#ifndef TORG_INDEX_TEXT_UNIT_H
#define TORG_INDEX_TEXT_UNIT_H

#include <stdbool.h>

#include "base/bytes.h"

enum { UNIT_SIZE_MAX = 8 };

/* "gb" for "гб", "гигабайта", …; NULL when the folded word is no unit. tight: nothing stands
 * between it and the number. version: of the analysis. */
const char *unit_spelling(struct bytes word, bool tight, unsigned version);

/* Units of two words: "sq. ft."; NULL: these are none. */
const char *unit_of_two(struct bytes first, struct bytes second);

#endif
