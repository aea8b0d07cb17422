/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shipped_synonyms.h - rules that come with the program (setting search.synonyms), in the form of
 * synonyms.h: what is one word, whoever writes it. Plurals that no stemmer knows, spellings of both
 * sides of the ocean, abbreviations that shops and buyers use for the same things, names of
 * household things that a dictionary gives as one, and small numbers that are written out. What
 * means the same only in one trade is the operator's to say.
 */
#ifndef TORG_SEARCH_SYNONYMS_SHIPPED_SYNONYMS_H
#define TORG_SEARCH_SYNONYMS_SHIPPED_SYNONYMS_H

#include "base/bytes.h"

struct bytes shipped_synonyms(void);

#endif
