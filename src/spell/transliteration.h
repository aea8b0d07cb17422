/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transliteration.h - Russian in Latin letters, and names in Cyrillic ones: velosiped, айфон.
 *
 * Neither way is one to one, so a word has several readings. Safe for all threads.
 */
#ifndef TORG_SPELL_TRANSLITERATION_H
#define TORG_SPELL_TRANSLITERATION_H

#include <stddef.h>

#include "spell/letters.h"

enum { TRANSLITERATION_COUNT_MAX = 24 };

/* The readings in the other script, the likeliest first; returns how many. */
size_t transliteration_read(const struct letters *letters,
                            struct letters readings[TRANSLITERATION_COUNT_MAX]);

#endif
