/* SPDX-License-Identifier: Apache-2.0 */
/* spell_world.h - a small base of words for tests, and a speller over it. */
#ifndef TORG_TESTS_UNIT_SPELL_SPELL_WORLD_H
#define TORG_TESTS_UNIT_SPELL_SPELL_WORLD_H

#include "base/buf.h"
#include "spell/speller.h"

/* The base of some two hundred words, as tools/spell-base would write it. */
void world_base(struct buf *out);

/* A speller of that base; fails the test if it does not open. */
struct speller *world_speller(const char *snapshot_path);

/* Adds one word: rarity is -log10 of its share. */
void world_put(struct buf *out, const char *word, double rarity, bool is_right);

void world_learn(struct speller *speller, const char *text, int times);

/* The corrected text, in a buffer of its own that the next call reuses. */
const char *world_correct(struct speller *speller, const char *text);

#endif
