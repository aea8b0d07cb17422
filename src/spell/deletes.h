/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deletes.h - which words are within two edits of this one?
 *
 * An edit is a letter put in, left out or changed, or two neighbours changed over, no letter twice
 * (optimal string alignment). If two words are within d edits, then leaving out up to d of the
 * first letters of each gives the same letters (symmetric delete). Every word is listed under all
 * that its first PREFIX letters become so; a query looks under all that its own become, and
 * measures what it finds. PREFIX letters fit one machine word, so that none of this is a string.
 *
 *     block   start of each bucket | entries: | 12 bits of the key's hash | number (20 bits) |
 *     tail    first entry of each bucket | entries: the same, and the next of the bucket
 *
 * Two blocks that never change - the base, the live words - and a tail of the newest words. A full
 * tail is laid out into a new live block.
 *
 * Threads: one writer adds; readers, inside the epoch, find without a lock.
 */
#ifndef TORG_SPELL_DELETES_H
#define TORG_SPELL_DELETES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spell/words.h"

struct deletes;

struct near {
    wordid id;
    uint8_t distance;
};

/* Working memory of one query at a time. */
struct near_list {
    struct near near[SPELL_NEAR_COUNT_MAX];
    size_t count;
    uint32_t met[SPELL_NEAR_COUNT_MAX * 4]; /* numbers + 1 that were measured, hashed */
};

struct deletes *deletes_new(const struct words *words, struct epoch *epoch); /* borrowed */
void deletes_free(struct deletes *deletes);                                  /* NULL is fine */

/* Lists all words there are as the base; before there are readers. stop (may be NULL) ends it when
 * it becomes true: false, and nothing is listed. */
bool deletes_build(struct deletes *deletes, const atomic_bool *stop);

/* Lists the words that were added since. The writer's. */
void deletes_add(struct deletes *deletes);

/* All words within `distance` (0 to 2) edits, in no order; the first SPELL_NEAR_COUNT_MAX if there
 * are more, which makes this return false. */
bool deletes_find(const struct deletes *deletes, const struct letters *letters, unsigned distance,
                  struct near_list *list);

size_t deletes_memory(const struct deletes *deletes);

#endif
