/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - from the text of a query to the corrected text: tokens, windows of words, and back.
 */
#ifndef TORG_SPELL_CHECK_H
#define TORG_SPELL_CHECK_H

#include "spell/candidates.h"
#include "spell/speller.h"

/* Inside the epoch. Everything in the result lies in the arena, but for the text itself. */
void check_run(const struct model *model, const struct deletes *deletes, struct bytes text,
               bool is_eager, struct arena *arena, struct spell_result *result);

#endif
