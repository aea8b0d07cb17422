/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice.h - the likeliest reading of a run of words, weighed together (Viterbi).
 *
 * A token has its candidates; one that joins two tokens spans both. Bounded: at most
 * SPELL_WINDOW_COUNT_MAX tokens of SPELL_CANDIDATE_COUNT_MAX candidates each.
 */
#ifndef TORG_SPELL_LATTICE_H
#define TORG_SPELL_LATTICE_H

#include "spell/candidates.h"

struct lattice {
    struct candidates candidates[SPELL_WINDOW_COUNT_MAX];
    bool is_near[SPELL_WINDOW_COUNT_MAX]; /* to the token before: they make a pair */
    size_t count;
};

struct choice {
    const struct candidate *candidate; /* in the lattice */
    uint32_t token;                    /* where it begins */
    float gain;                        /* cost of the words as they stand, less its own */
};

/* The best path; `before` is the word before the first token or WORDID_NONE. Returns how many
 * choices there are. */
size_t lattice_choose(const struct lattice *lattice, const struct model *model, wordid before,
                      struct choice choices[SPELL_WINDOW_COUNT_MAX]);

#endif
