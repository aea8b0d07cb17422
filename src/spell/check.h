/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - from the text of a query to the corrected text: tokens, windows of words, and back.
 */
#ifndef TORG_SPELL_CHECK_H
#define TORG_SPELL_CHECK_H

#include "spell/candidates.h"
#include "spell/speller.h"

enum check_mood {
    CHECK_TEXT,   /* a text of any kind */
    CHECK_SEARCH, /* ... that looks for a thing: no word is corrected into one of grammar */
    CHECK_EAGER,  /* ... and finds nothing: words of the base alone are in doubt */
};

/* Inside the epoch. Everything in the result lies in the arena, but for the text itself. */
void check_run(const struct model *model, const struct deletes *deletes, struct bytes text,
               enum check_mood mood, struct arena *arena, struct spell_result *result);

#endif
