/* SPDX-License-Identifier: Apache-2.0 */
/*
 * distance.h - how far two words are apart: edits by count, and by how likely people make them.
 *
 * Safe for all threads.
 */
#ifndef TORG_SPELL_DISTANCE_H
#define TORG_SPELL_DISTANCE_H

#include <stddef.h>
#include <stdint.h>

#include "spell/letters.h"

/* A word laid out to be measured against many: for each letter, at which places it stands. */
struct distance_pattern {
    uint64_t places[LETTER_END];
    size_t size;
};

void distance_prepare(struct distance_pattern *pattern, const struct letters *letters);

/* Optimal string alignment distance. */
unsigned distance_measure(const struct distance_pattern *pattern, const uint8_t *letters,
                          size_t size);

/* -log10 of how likely somebody who means `meant` types `typed`: rules of Russian and English
 * sounds, neighbours on the keyboard, doubled letters. 0 for the same word. */
float distance_cost(const struct letters *typed, const uint8_t *meant, size_t meant_size);

#endif
