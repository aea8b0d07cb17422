/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.h - the words that spelling knows: each has a number, for ever, and a count of how often it
 * occurs.
 *
 * Words come from the base (base.h: dictionaries and their frequencies) and from the live data.
 * They are only ever added, up to SPELL_WORD_COUNT_MAX; one that live data has brought and has no
 * more is forgotten: its number stays, and it is as if it was never met. Right forms of a
 * dictionary that nobody ever writes have no number: they are kept as fingerprints, so that they
 * are not "corrected".
 *
 * Threads: one writer adds and counts; readers, inside the epoch, find without a lock.
 */
#ifndef TORG_SPELL_WORDS_H
#define TORG_SPELL_WORDS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "index/epoch.h"
#include "spell/letters.h"

typedef uint32_t wordid;

enum { WORDID_NONE = UINT32_MAX };

struct words;

struct word {
    uint32_t offset; /* of its letters */
    uint8_t size;
    uint8_t rarity;        /* in the base: -log10 of its share in steps; 0: not there */
    bool is_right;         /* a dictionary has it */
    _Atomic uint32_t seen; /* in live data */
};

#define WORD_RARITY_STEP 0.07F

struct words *words_new(struct epoch *epoch); /* borrowed */
void words_free(struct words *words);         /* NULL is fine */

/* Finds the word or adds it; WORDID_NONE when there is no room for another. The writer's. */
wordid words_add(struct words *words, const uint8_t *letters, size_t size);

/* Before there are readers: a word of the base; or, after their number, the forms that are right
 * and never met (false: there are more than were expected). */
void words_set_base(struct words *words, wordid id, uint8_t rarity, bool is_right);
void words_expect_right(struct words *words, size_t count);
bool words_add_right(struct words *words, const uint8_t *letters, size_t size);

/* Counts one more meeting. The writer's. */
void words_see(struct words *words, wordid id, uint32_t count);

/* Of each word, by number, how often it is met in live data now. The writer's. */
void words_recount(struct words *words, const uint32_t *seen);

wordid words_find(const struct words *words, const uint8_t *letters, size_t size);
/* The same, unless the word is forgotten. */
wordid words_find_known(const struct words *words, const uint8_t *letters, size_t size);
bool word_is_forgotten(const struct word *word);
bool words_is_right(const struct words *words, const uint8_t *letters, size_t size);
const struct word *words_get(const struct words *words, wordid id);
const uint8_t *words_letters(const struct words *words, const struct word *word);

uint32_t words_count(const struct words *words);
uint64_t words_seen(const struct words *words); /* meetings of all words in live data */
size_t words_memory(const struct words *words);

#endif
