/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spelling.h - a buyer's line, corrected before it is searched.
 *
 * What may be changed is said in line.h, what is likely meant in spell/speller.h, and what each
 * text finds by whoever asks.
 */
#ifndef TORG_SEARCH_WORDS_SPELLING_H
#define TORG_SEARCH_WORDS_SPELLING_H

#include "base/arena.h"
#include "base/err.h"
#include "spell/speller.h"

struct correction {
    const char *text;   /* NULL: the line stays as it is */
    const char *reason; /* of the first word changed: "typo" */
};

/* How many offers a text finds; 0, or a negative err_code that ends the check. The line itself is
 * given as it was. */
typedef int spelling_count_fn(void *arg, const char *text, uint64_t *count, struct err *err);

/* The word that one begins, or (is_near) is a letter or two away from, of those that titles have;
 * *whole NULL: none that some have. */
typedef int spelling_complete_fn(void *arg, const char *word, bool is_near, const char **whole,
                                 struct err *err);

/* Two words of a line that finds nothing are made one where titles have that ("kwik set": Kwikset);
 * words are completed where they begin others and find nothing themselves ("ноут": ноутбук), then
 * misspelt ones are put right; at last by what titles have that is near. A correction is of at most
 * SEARCH_TEXT_SIZE_MAX bytes: it is sent with the next page. */
int spelling_correct(struct speller *speller, const char *line, spelling_count_fn *count,
                     spelling_complete_fn *complete, void *arg, struct arena *arena,
                     struct correction *correction, struct err *err);

/* Counts a correction that was shown. */
void spelling_count(const char *reason);

#endif
