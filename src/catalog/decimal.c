/* SPDX-License-Identifier: Apache-2.0 */
/* decimal.c - see decimal.h. */
#include "catalog/decimal.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/checked.h"

/* Appends a digit; false when the number becomes too large. */
static bool push_digit(int64_t *value, uint8_t byte)
{
    return byte >= '0' && byte <= '9' && int64_multiply(*value, 10, value) &&
           int64_add(*value, byte - '0', value);
}

bool decimal_parse(struct bytes text, struct decimal *value, unsigned *digits)
{
    bool negative = text.size && text.data[0] == '-';
    struct bytes rest = negative ? bytes_skip(text, 1) : text;
    unsigned after = 0;
    int64_t number = 0;
    bool pointed = false;

    if (!rest.size || rest.data[0] == '.' || rest.data[rest.size - 1] == '.')
        return false;
    for (size_t i = 0; i < rest.size; i++) {
        if (rest.data[i] == '.' && !pointed) {
            pointed = true;
            /* Zeros at the end say nothing: "1.50000000" has one digit after the point. */
            while (rest.data[rest.size - 1] == '0')
                rest.size--;
            continue;
        }
        after += pointed;
        if (after > DECIMAL_DIGITS || !push_digit(&number, rest.data[i]))
            return false;
    }
    for (unsigned i = after; i < DECIMAL_DIGITS; i++) {
        if (!int64_multiply(number, 10, &number))
            return false;
    }
    value->millionths = negative ? -number : number;
    if (digits)
        *digits = after;
    return true;
}

void decimal_format(struct decimal value, char text[DECIMAL_TEXT_SIZE])
{
    uint64_t size = value.millionths < 0 ? -(uint64_t)value.millionths : (uint64_t)value.millionths;
    const char *sign = value.millionths < 0 ? "-" : "";
    uint64_t fraction = size % DECIMAL_ONE;
    int digits = DECIMAL_DIGITS;

    if (!fraction) {
        snprintf(text, DECIMAL_TEXT_SIZE, "%s%" PRIu64, sign, size / DECIMAL_ONE);
        return;
    }
    for (; fraction % 10 == 0; digits--)
        fraction /= 10;
    snprintf(text, DECIMAL_TEXT_SIZE, "%s%" PRIu64 ".%0*" PRIu64, sign, size / DECIMAL_ONE, digits,
             fraction);
}

bool decimal_from_integer(int64_t integer, struct decimal *value)
{
    return int64_multiply(integer, DECIMAL_ONE, &value->millionths);
}

bool decimal_multiply(struct decimal a, struct decimal b, struct decimal *product)
{
    __int128 exact = (__int128)a.millionths * b.millionths;
    __int128 half = exact < 0 ? -DECIMAL_ONE / 2 : DECIMAL_ONE / 2;
    __int128 rounded = (exact + half) / DECIMAL_ONE;

    if (rounded > INT64_MAX || rounded < INT64_MIN)
        return false;
    product->millionths = (int64_t)rounded;
    return true;
}

struct decimal decimal_round(struct decimal value, unsigned digits)
{
    int64_t step = 1;
    int64_t rest;
    int64_t half;

    for (unsigned i = digits; i < DECIMAL_DIGITS; i++)
        step *= 10;
    rest = value.millionths % step;
    half = rest >= 0 ? step : -step;
    value.millionths -= rest;
    if (step > 1 && (rest >= 0 ? rest * 2 >= step : -rest * 2 >= step))
        (void)int64_add(value.millionths, half, &value.millionths);
    return value;
}
