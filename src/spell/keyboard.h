/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyboard.h - where letters lie on a keyboard with ЙЦУКЕН and QWERTY on the same keys.
 *
 * Safe for all threads.
 */
#ifndef TORG_SPELL_KEYBOARD_H
#define TORG_SPELL_KEYBOARD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "spell/letters.h"

/* Two letters of one script on keys that touch. */
bool keyboard_touch(uint8_t a, uint8_t b);

/* The word as the other layout would have written it; false if that has other signs than letters
 * ("хлеб" is "[kt,"). */
bool keyboard_swap(const struct letters *letters, struct letters *swapped);

/* The Russian word of text typed with the Latin layout, signs included ("[kt," is хлеб); false if
 * it is not all of keys that have Cyrillic letters. */
bool keyboard_read(struct bytes text, struct letters *letters);

#endif
