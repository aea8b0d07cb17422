/* SPDX-License-Identifier: Apache-2.0 */
/*
 * brands.h - names of makers as they are said in Russian: "бош" is Bosch, "найк" Nike. Letters
 * alone do not tell: a table of those that are often typed so.
 */
#ifndef TORG_SEARCH_WORDS_BRANDS_H
#define TORG_SEARCH_WORDS_BRANDS_H

#include "base/bytes.h"

/* The same name in the other script, in small letters; NULL: the word, in small letters, is
 * none. */
const char *brand_other(struct bytes word);

#endif
