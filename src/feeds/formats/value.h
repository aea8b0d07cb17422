/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value.h - prices, coordinates, phones and words as sellers write them, ru and en.
 *
 * Each parser takes the whole trimmed text or refuses it; those that refuse for several reasons
 * return the reason, and NULL when all is well. No state; any thread.
 */
#ifndef TORG_FEEDS_FORMATS_VALUE_H
#define TORG_FEEDS_FORMATS_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "feeds/formats/row.h"

enum { FEED_WORD_SIZE_MAX = 64, FEED_PHONE_SIZE = 17 };

/* A name for comparing: small letters, ё as е, without blanks and - _ . : " */
struct feed_word {
    size_t size;
    char text[FEED_WORD_SIZE_MAX + 1];
};

/* False, and an empty word, when it does not fit: then it is none that we know. */
bool feed_fold(struct bytes text, struct feed_word *word);

struct bytes feed_trim(struct bytes text); /* blanks, no-break ones too, and control characters */
/* Length of the blank (of any kind) or control character at the front; 0: there is none. */
size_t feed_blank_size(struct bytes text);
/* The front of a value for a message, not cut inside a character. */
struct bytes feed_shown(struct bytes text);

/* mantissa / 10^digits, without closing zeros */
struct feed_number {
    uint64_t mantissa;
    unsigned digits;
};

/*
 * "1999.5", "1 999,00", "1,999.00", "1'999", with a currency before or behind: "1999 руб.", "$5".
 * currency is "" where none stands. "1,999" alone could be either number and is refused, unless
 * decimal says which sign the feed has before fractions ('.' or ','; 0: not told); the other one
 * stands between thousands then.
 */
const char *feed_parse_price(struct bytes text, char decimal, struct feed_number *number,
                             char currency[4]);
unsigned feed_currency_digits(const char currency[4]); /* after the point: 2 of RUB */
/* To at most so many digits, halves up. */
void feed_number_round(struct feed_number *number, unsigned digits);
/* Into the currency's smallest unit. */
const char *feed_price_minor(struct feed_number number, const char currency[4], int64_t *amount);
bool feed_parse_currency(struct bytes text, char currency[4]); /* RUB, RUR, руб., ₽, BYR, $ */

/* How much of the text's front is a number, as far as digits and what may stand between them go. */
size_t feed_number_size(struct bytes text);
/*
 * A number by itself: "1999.5", "1 999,00", "1,234,567". Three digits behind the only separator
 * could be thousands or a fraction and are refused, but for a point where is_exact says that such
 * fractions are to be expected, and where decimal (see above) tells.
 */
const char *feed_parse_number(struct bytes text, bool is_exact, char decimal,
                              struct feed_number *number);

/* Decimal degrees, with a point or a comma, at most max either way. */
bool feed_parse_degrees(struct bytes text, double max, double *degrees);
bool feed_parse_flag(struct bytes text, bool *flag); /* true/false, 1/0, да/нет, … */
bool feed_parse_condition(struct bytes text, enum feed_condition *condition);
/* Digits with a plus; a Russian number's leading 8 becomes +7. */
bool feed_parse_phone(struct bytes text, char phone[FEED_PHONE_SIZE]);
bool feed_is_web_url(struct bytes text); /* http or https, no blanks, of bounded size */

#endif
