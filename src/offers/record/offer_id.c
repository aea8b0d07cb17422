/* SPDX-License-Identifier: Apache-2.0 */
/* offer_id.c - see offer_id.h. */
#include "offers/record/offer_id.h"

#include <inttypes.h>
#include <stdio.h>

enum { DIGIT_COUNT = 16, ECHO_SIZE_MAX = 40 };
#define FREE_MIN INT64_C(100000000000000) /* 15 digits, the first not 0 */
#define FREE_COUNT UINT64_C(900000000000000)

/* A quasigroup without x·y = y·x for x ≠ y, after any start: what makes Damm's check work. Its
 * diagonal is 0, so that a number with its check digit comes to 0. */
static const uint8_t damm[10][10] = {
    {0, 3, 1, 7, 5, 9, 8, 6, 4, 2}, {7, 0, 9, 2, 1, 5, 4, 8, 6, 3}, {4, 2, 0, 6, 8, 7, 1, 3, 5, 9},
    {1, 7, 5, 0, 9, 8, 3, 4, 2, 6}, {6, 1, 2, 3, 0, 4, 5, 9, 7, 8}, {3, 6, 7, 4, 2, 0, 9, 5, 8, 1},
    {5, 8, 6, 9, 7, 2, 0, 1, 3, 4}, {8, 9, 4, 5, 3, 6, 2, 0, 1, 7}, {9, 4, 3, 8, 6, 1, 7, 2, 0, 5},
    {2, 5, 8, 1, 4, 3, 6, 7, 9, 0},
};

/* What the digits of a number come to, from the left. */
static unsigned check_of(int64_t number)
{
    uint8_t digits[20];
    unsigned state = 0;
    int count = 0;

    for (; number > 0; number /= 10)
        digits[count++] = (uint8_t)(number % 10);
    while (count > 0)
        state = damm[state][digits[--count]];
    return state;
}

offerid offer_id_make(uint64_t random)
{
    int64_t free = FREE_MIN + (int64_t)(random % FREE_COUNT);

    return free * 10 + check_of(free);
}

void offer_id_format(offerid id, char text[OFFER_ID_TEXT_SIZE])
{
    snprintf(text, OFFER_ID_TEXT_SIZE, "%04d-%04d-%04d-%04d", (int)(id / 1000000000000),
             (int)(id / 100000000 % 10000), (int)(id / 10000 % 10000), (int)(id % 10000));
}

int offer_id_parse(struct bytes text, offerid *id, struct err *err)
{
    int shown = text.size > ECHO_SIZE_MAX ? ECHO_SIZE_MAX : (int)text.size;
    int64_t number = 0;
    int count = 0;

    *id = 0;
    for (size_t i = 0; i < text.size && count <= DIGIT_COUNT; i++) {
        uint8_t byte = text.data[i];

        if (byte >= '0' && byte <= '9') {
            number = number * 10 + (byte - '0');
            count++;
        } else if (byte != '-' && byte != ' ') {
            count = -1;
            break;
        }
    }
    if (count != DIGIT_COUNT || number < FREE_MIN * 10)
        return err_set(err, ERR_INVALID,
                       "\"%.*s\" is not an offer id: expected %d digits, as 4721-0985-1360-2278",
                       shown, (const char *)text.data, DIGIT_COUNT);
    if (check_of(number))
        return err_set(err, ERR_INVALID,
                       "\"%.*s\" has a typo: its check digit does not fit the others", shown,
                       (const char *)text.data);
    *id = number;
    return 0;
}
