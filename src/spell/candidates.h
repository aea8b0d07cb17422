/* SPDX-License-Identifier: Apache-2.0 */
/*
 * candidates.h - what may a typed word, or two of them, have been meant to be?
 *
 * Every way a word goes wrong gives some: edits, letters held down, the other layout, the other
 * script, a blank left out. The first candidate is always the word as it stands.
 */
#ifndef TORG_SPELL_CANDIDATES_H
#define TORG_SPELL_CANDIDATES_H

#include "spell/deletes.h"
#include "spell/model.h"
#include "spell/speller.h"

struct candidate {
    wordid first, last;          /* the same unless it was split; WORDID_NONE: nobody knows it */
    struct letters letters;      /* of the first */
    float error;                 /* cost of typing it so */
    float first_cost, last_cost; /* model_word of each; last_cost is 0 unless it was split */
    uint8_t reason;              /* enum spell_reason */
    uint8_t span;                /* tokens it stands for: 1, or 2 for a join */
};

struct candidates {
    struct candidate at[SPELL_CANDIDATE_COUNT_MAX];
    size_t count;
};

/* What candidates are made from, and the memory they are made in; one thread's. */
struct candidate_maker {
    struct model model;
    const struct deletes *deletes; /* borrowed */
    bool is_eager;  /* the words as they stand find nothing: those of the base alone are in doubt */
    bool is_search; /* words that say nothing about a thing are not proposed */
    struct near_list near;
};

/* is_name: it begins with a capital inside of a sentence. */
void candidates_make(struct candidate_maker *maker, const struct letters *typed, bool is_name,
                     struct candidates *candidates);

/* The Russian word of text typed with the Latin layout, signs and all; false if there is none. */
bool candidates_read_layout(struct candidate_maker *maker, struct bytes text,
                            struct candidates *candidates);

/* Adds what two words that a blank parts may be together, to those of the first. */
void candidates_join(struct candidate_maker *maker, const struct letters *first,
                     const struct letters *second, struct candidates *candidates);

#endif
