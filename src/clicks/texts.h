/* SPDX-License-Identifier: Apache-2.0 */
/*
 * texts.h - what visitors clicked after which text: offers of which category.
 *
 * The order of a search, and suggestions, learn from it (search/words/clicked.h). Kept are the
 * text, with one blank between words, the category, the day and in how many visits that was;
 * nothing of who typed it. Of an address a text and a category count once in two days, so that one
 * person teaches little, whatever he calls his visits.
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

int texts_count(struct store_tx *tx, const char *text, const char *category, int64_t hour,
                struct err *err);

#endif
