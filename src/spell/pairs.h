/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairs.h - how often one word follows another in live data.
 *
 * A hash table of counts, one machine word each; it grows up to SPELL_PAIR_COUNT_MAX pairs, then
 * what was met once is forgotten and the rest is halved, as often as needed.
 *
 * Threads: one writer adds; readers, inside the epoch, look without a lock.
 */
#ifndef TORG_SPELL_PAIRS_H
#define TORG_SPELL_PAIRS_H

#include <stddef.h>
#include <stdint.h>

#include "spell/words.h"

struct pairs;

struct pair {
    wordid first, second;
    uint32_t count;
};

struct pairs *pairs_new(struct epoch *epoch); /* borrowed */
void pairs_free(struct pairs *pairs);         /* NULL is fine */

void pairs_add(struct pairs *pairs, wordid first, wordid second, uint32_t count);
/* Has what the other one has instead, which is gone then; both of one epoch. */
void pairs_take(struct pairs *pairs, struct pairs *other);
uint32_t pairs_find(const struct pairs *pairs, wordid first, wordid second);

/* The next pair from *place on, which begins at 0; false at the end. The writer's. */
bool pairs_next(const struct pairs *pairs, size_t *place, struct pair *pair);

uint32_t pairs_count(const struct pairs *pairs);
size_t pairs_memory(const struct pairs *pairs);

#endif
