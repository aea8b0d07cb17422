/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape.h - does a word that nobody knows look like a word?
 *
 * How likely each letter is after the two before it, counted over the words of the base. A name
 * that reads well may well be one; letters that never stand together are a slip of the finger.
 *
 * Threads: does not change once it is made; any number read.
 */
#ifndef TORG_SPELL_SHAPE_H
#define TORG_SPELL_SHAPE_H

#include <stddef.h>

#include "spell/words.h"

struct shape;

/* Counts the words there are. */
struct shape *shape_new(const struct words *words);
void shape_free(struct shape *shape); /* NULL is fine */

/* -log10 of how likely just these letters make a word. */
float shape_cost(const struct shape *shape, const struct letters *letters);

size_t shape_memory(void);

#endif
