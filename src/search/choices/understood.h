/* SPDX-License-Identifier: Apache-2.0 */
/*
 * understood.h - what a page learns of the words of its text that were not searched as words.
 */
#ifndef TORG_SEARCH_CHOICES_UNDERSTOOD_H
#define TORG_SEARCH_CHOICES_UNDERSTOOD_H

#include "search/choices/choices.h"

/* Words that say nothing about the thing, choices and the category that the text names. Has room
 * for what synonyms tell, too. */
void understood_put(const struct wanted *wanted, Torg__V1__SearchOffersResponse *response);

#endif
