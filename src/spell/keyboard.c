/* SPDX-License-Identifier: Apache-2.0 */
/* keyboard.c - see keyboard.h. */
#include "spell/keyboard.h"

#include <stdlib.h>

#include "base/memory.h"

struct key {
    uint8_t sign;     /* ASCII, without shift */
    uint8_t cyrillic; /* letter */
    uint8_t row;
    int8_t column;
};

/* Letters are U+0430 + order; a row below begins a little to the right. */
#define CYRILLIC(order) (LETTER_CYRILLIC + (order))
static const struct key keys[] = {
    {'q', CYRILLIC(9), 0, 0},    {'w', CYRILLIC(22), 0, 1},
    {'e', CYRILLIC(19), 0, 2},   {'r', CYRILLIC(10), 0, 3},
    {'t', CYRILLIC(5), 0, 4},    {'y', CYRILLIC(13), 0, 5},
    {'u', CYRILLIC(3), 0, 6},    {'i', CYRILLIC(24), 0, 7},
    {'o', CYRILLIC(25), 0, 8},   {'p', CYRILLIC(7), 0, 9},
    {'[', CYRILLIC(21), 0, 10},  {']', CYRILLIC(26), 0, 11},
    {'a', CYRILLIC(20), 1, 0},   {'s', CYRILLIC(27), 1, 1},
    {'d', CYRILLIC(2), 1, 2},    {'f', CYRILLIC(0), 1, 3},
    {'g', CYRILLIC(15), 1, 4},   {'h', CYRILLIC(16), 1, 5},
    {'j', CYRILLIC(14), 1, 6},   {'k', CYRILLIC(11), 1, 7},
    {'l', CYRILLIC(4), 1, 8},    {';', CYRILLIC(6), 1, 9},
    {'\'', CYRILLIC(29), 1, 10}, {'z', CYRILLIC(31), 2, 0},
    {'x', CYRILLIC(23), 2, 1},   {'c', CYRILLIC(17), 2, 2},
    {'v', CYRILLIC(12), 2, 3},   {'b', CYRILLIC(8), 2, 4},
    {'n', CYRILLIC(18), 2, 5},   {'m', CYRILLIC(28), 2, 6},
    {',', CYRILLIC(1), 2, 7},    {'.', CYRILLIC(30), 2, 8},
    {'`', CYRILLIC(5), 3, -9}, /* ё, which is folded to е */
};

static const struct key *key_of_sign(uint8_t sign)
{
    for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
        if (keys[i].sign == sign)
            return &keys[i];
    }
    return NULL;
}

static const struct key *key_of(uint8_t letter)
{
    if (!letter_is_cyrillic(letter))
        return key_of_sign(letter);
    for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
        if (keys[i].cyrillic == letter)
            return &keys[i];
    }
    return NULL;
}

bool keyboard_touch(uint8_t a, uint8_t b)
{
    const struct key *one = key_of(a), *two = key_of(b);
    int right;

    if (!one || !two || letter_is_cyrillic(a) != letter_is_cyrillic(b))
        return false;
    right = two->column - one->column;
    switch (two->row - one->row) {
    case 0:
        return abs(right) == 1;
    case 1:
        return right == 0 || right == -1;
    case -1:
        return right == 0 || right == 1;
    default:
        return false;
    }
}

bool keyboard_swap(const struct letters *letters, struct letters *swapped)
{
    swapped->size = 0;
    for (unsigned i = 0; i < letters->size; i++) {
        const struct key *key = key_of(letters->at[i]);
        uint8_t other;

        if (!key)
            return false;
        other = letter_is_cyrillic(letters->at[i]) ? key->sign : key->cyrillic;
        if (other < 'a')
            return false;
        letters_add(swapped, other);
    }
    return swapped->size > 0;
}

bool keyboard_read(struct bytes text, struct letters *letters)
{
    static const char shifted[] = "{}:\"<>~", plain[] = "[];',.`";

    letters->size = 0;
    if (text.size > SPELL_WORD_SIZE_MAX)
        return false;
    for (size_t i = 0; i < text.size; i++) {
        uint8_t sign = text.data[i];
        const char *found = sign ? strchr(shifted, sign) : NULL;
        const struct key *key;

        if (found)
            sign = (uint8_t)plain[found - shifted];
        else if (sign >= 'A' && sign <= 'Z')
            sign = (uint8_t)(sign - 'A' + 'a');
        key = sign < LETTER_CYRILLIC ? key_of_sign(sign) : NULL;
        if (!key)
            return false;
        letters_add(letters, key->cyrillic);
    }
    return letters->size > 0;
}
