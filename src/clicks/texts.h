/* SPDX-License-Identifier: Apache-2.0 */
/*
 * texts.h - what visitors clicked after which text: offers of which category.
 *
 * The order of a search, and suggestions, learn from it (search/words/clicked.h). Kept are the
 * text, with one blank between words, the category, the day, in how many visits that was, and the
 * marks of who visited. Of an address a text and a category count once in two days, so that one
 * person teaches little, whatever he calls his visits.
 *
 * A mark is one of CLICK_TEXT_MARK_COUNT, by a hash of the words and of who typed them: the same on
 * all days, in all categories and for all forms of a text, so that the marks of its rows together
 * tell of how many persons it is at least (linear counting). Many persons share one, and another
 * text has another, so that marks tell neither who it was nor what else he typed.
 */
#ifndef TORG_CLICKS_TEXTS_H
#define TORG_CLICKS_TEXTS_H

#include "base/violation.h"
#include "store/store.h"
#include "torg/v1/event.pb-c.h"

/* The text with one blank between its words; to has room for RETYPED_TEXT_SIZE_MAX and a zero. */
void text_one_form(const char *text, char *to);

/* Names text and category, for a visitor to count once. */
uint64_t texts_hash(const char *text, const char *category, uint64_t visitor);

/* The bit of his mark. */
int64_t texts_mark(const char *text, uint64_t visitor);

int texts_count(struct store_tx *tx, const char *text, const char *category, int64_t hour,
                int64_t mark, struct err *err);

#endif
