/* SPDX-License-Identifier: Apache-2.0 */
/*
 * price_words.h - a price that a line gives in words: "до 20000", "от 5 до 10 тыс", "under $5,000".
 *
 * A bare number may be anything. It is a price behind a word that bounds one, and when it has a
 * currency, or else is no year, at least a hundred, and nothing is counted in it ("до 500 кг").
 */
#ifndef TORG_SEARCH_WORDS_PRICE_WORDS_H
#define TORG_SEARCH_WORDS_PRICE_WORDS_H

#include <stddef.h>
#include <stdint.h>

enum { PRICE_WORD_COUNT_MAX = 10 };

/* How many of the folded words, from the first on, tell a price; 0: they do not. In whole units; an
 * end that is not told is 0, and one of them is told. */
size_t price_read(const char *const *words, size_t count, int64_t *min, int64_t *max);

#endif
