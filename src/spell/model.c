/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - see model.h. */
#include "spell/model.h"

#include <math.h>

#define LIVE_SHARE_MAX 0.9F
#define LIVE_HALF 100000.0F /* meetings by which live data has half of its share */
#define PAIR_BACKING 40.0F  /* meetings of a word by which its pairs count half */
#define UNKNOWN_COST 3.0F   /* one word in a thousand is new and no mistake */
#define NEVER_COST 9.5F     /* of a word that is known and was never met */

struct model model_make(const struct words *words, const struct pairs *pairs,
                        const struct shape *shape)
{
    struct model model = {.words = words, .pairs = pairs, .shape = shape};
    float seen = (float)words_seen(words);

    model.live_share = LIVE_SHARE_MAX * seen / (seen + LIVE_HALF);
    model.live_scale = seen > 0 ? model.live_share / seen : 0;
    model.base_cost = -log10f(1 - model.live_share);
    return model;
}

float model_word(const struct model *model, const struct word *word)
{
    uint32_t seen = atomic_load_explicit(&((struct word *)word)->seen, memory_order_relaxed);
    float cost = word->rarity ? word->rarity * WORD_RARITY_STEP + model->base_cost : NEVER_COST;

    if (seen)
        cost = -log10f(exp10f(-cost) + (float)seen * model->live_scale);
    return cost;
}

float model_unknown(const struct model *model, const struct letters *letters)
{
    return UNKNOWN_COST + shape_cost(model->shape, letters);
}

float model_after(const struct model *model, wordid first, wordid second, float word_cost)
{
    const struct word *before;
    float seen, backing, pair;

    if (first == WORDID_NONE)
        return 0;
    before = words_get(model->words, first);
    seen = (float)atomic_load_explicit(&((struct word *)before)->seen, memory_order_relaxed);
    if (seen < 1)
        return 0;
    backing = PAIR_BACKING / (seen + PAIR_BACKING);
    pair = second == WORDID_NONE ? 0 : (float)pairs_find(model->pairs, first, second);
    if (pair < 1)
        return -log10f(backing);
    return -log10f(backing * exp10f(-word_cost) + pair / (seen + PAIR_BACKING)) - word_cost;
}
