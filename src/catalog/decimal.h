/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decimal.h - exact numbers with up to six digits after the point, as offers' attributes have them.
 *
 * Kept as millionths in 64 bits: ±9.2 × 10¹². Binary fractions are not used anywhere, so "17.1"
 * comes back as 17.1 and a limit of 0.1 means it.
 */
#ifndef TORG_CATALOG_DECIMAL_H
#define TORG_CATALOG_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

enum { DECIMAL_DIGITS = 6, DECIMAL_ONE = 1000000, DECIMAL_TEXT_SIZE = 24 };

struct decimal {
    int64_t millionths;
};

/* "-12.5", "7": digits, at most one point with digits on both sides, no exponent. digits (may be
 * NULL) gets how many stand after the point without closing zeros. */
bool decimal_parse(struct bytes text, struct decimal *value, unsigned *digits);

/* The shortest form: "12.5", "7". */
void decimal_format(struct decimal value, char text[DECIMAL_TEXT_SIZE]);

/* False when it does not fit. */
bool decimal_from_integer(int64_t integer, struct decimal *value);
/* a × b, rounded to six digits (half away from zero); false when it does not fit. */
bool decimal_multiply(struct decimal a, struct decimal b, struct decimal *product);

/* To this many digits after the point, half away from zero; at the ends of the range, cut. */
struct decimal decimal_round(struct decimal value, unsigned digits);

static inline int decimal_compare(struct decimal a, struct decimal b)
{
    return (a.millionths > b.millionths) - (a.millionths < b.millionths);
}

#endif
