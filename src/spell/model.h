/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - how likely is this word, alone and after another?
 *
 * Costs are -log10 of a probability. The base's share of a word and its share of the live data are
 * mixed, the live one counting the more the more of it there is. After another word, its pairs in
 * the live data are mixed in the same way.
 *
 * Threads: a model is one reader's view for one query, inside the epoch.
 */
#ifndef TORG_SPELL_MODEL_H
#define TORG_SPELL_MODEL_H

#include "spell/pairs.h"
#include "spell/shape.h"
#include "spell/words.h"

struct model {
    const struct words *words; /* borrowed */
    const struct pairs *pairs; /* borrowed */
    const struct shape *shape; /* borrowed */
    float live_share;          /* of a word's probability */
    float live_scale;          /* live_share / meetings of all words */
    float base_cost;           /* -log10 of what is left to the base */
};

struct model model_make(const struct words *words, const struct pairs *pairs,
                        const struct shape *shape);

float model_word(const struct model *model, const struct word *word);

/* Of a word nobody knows: the longer and the odder, the less likely. */
float model_unknown(const struct model *model, const struct letters *letters);

/* What to add to the cost of the second word when it follows the first; either may be WORDID_NONE.
 * word_cost is what model_word or model_unknown said of the second. */
float model_after(const struct model *model, wordid first, wordid second, float word_cost);

#endif
