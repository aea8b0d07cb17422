/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_number.h - numbers of JSON as they are written, exactly: compared, hashed and divided as
 * decimals of any length, never as doubles.
 */
#ifndef TORG_CODEC_JSON_NUMBER_H
#define TORG_CODEC_JSON_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "codec/bounds.h"

/* digits × 10^exponent, without zeros at either end; no digits: zero. */
struct json_number {
    bool negative;
    int32_t exponent;
    uint32_t digit_count;
    uint8_t digits[JSON_NUMBER_SIZE_MAX]; /* 0 to 9 */
};

/* The size of the number that text begins with; 0: it begins with none, or with one that is too
 * long or whose exponent has more than JSON_EXPONENT_DIGIT_COUNT_MAX digits. */
size_t json_number_size(struct bytes text);
void json_number_read(struct bytes text, struct json_number *number); /* of json_number_size */

int json_number_compare(const struct json_number *a, const struct json_number *b); /* <0 0 >0 */
uint64_t json_number_hash(const struct json_number *number);

/* Whether `number` is a whole multiple of `step`, which has at most JSON_STEP_DIGIT_COUNT_MAX
 * digits and is not zero. */
bool json_number_is_multiple(const struct json_number *number, const struct json_number *step);

#endif
