/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.h - names as they are compared and searched: without case, ё as е, cut into words.
 *
 * Folds Latin and Cyrillic letters by tables of their blocks; other scripts stay as they are.
 * Takes valid UTF-8 only, which decoded messages are.
 */
#ifndef TORG_CATALOG_WORDS_H
#define TORG_CATALOG_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"

/* In lower case; what is no letter or digit becomes one blank, none at the ends. */
char *words_fold(struct bytes text, struct arena *arena);

/* In lower case, with everything else kept: how names are compared ("C++" is not "C#"). */
char *words_fold_name(struct bytes name, struct arena *arena);

/* Cuts the next word off a folded text; false at its end. */
bool words_next(const char **rest, struct bytes *word);

/* A folded word without the ending of its case and number: "диваны", "диванов": диван. */
struct bytes words_root(struct bytes word);

/* Of a folded text: the same for the same words in any order, with any ending; 0: there are none.
 */
uint64_t words_key(const char *folded);

/* Code points of valid UTF-8, for limits told in characters. */
size_t text_length(struct bytes text);
/* Its front of at most so many code points, up to the end of a word where one ends in time. */
struct bytes text_front(struct bytes text, size_t length_max);

#endif
