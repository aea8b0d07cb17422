/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage_list.c - see stage.h: a stage whose words leave few documents, walked as a list of ids.
 *
 * Windows without a candidate cost nothing, and of those with some no bitmap is filled: up to
 * LIST_RUN_MAX candidates of a window are asked for their values one by one, and a mask says who is
 * a hit. As in stage.c, filters and keys are read under one sequence number of the columns.
 */
#include <math.h>
#include <string.h>

#include "query/run/stage.h"

enum { LIST_RUN_MAX = 64, PREFETCH_COUNT = 2 /* filters whose values are fetched ahead */ };

/* Candidates of one window, ascending. */
struct listed {
    uint32_t window;
    uint32_t count;
    uint16_t offsets[LIST_RUN_MAX];
    const float *scores; /* NULL: nobody wants them */
};

/* sets[0]: the hits; sets[i + 1]: what they would be without the filters of group i. */
static void test_groups(const struct stage *stage, const struct listed *listed, uint64_t *sets)
{
    uint64_t masks[GROUP_COUNT_MAX];
    uint64_t prefix = sets[0];
    uint64_t suffix = sets[0];
    uint32_t i;
    uint32_t k;

    for (i = 0; i < stage->group_count; i++) {
        masks[i] = sets[0];
        for (k = 0; k < stage->groups[i].count; k++)
            masks[i] = conjunct_test(stage->groups[i].conjuncts[k], listed->window, listed->offsets,
                                     masks[i]);
        sets[i + 1] = prefix;
        prefix &= masks[i];
    }
    for (i = stage->group_count; i-- > 0;) {
        sets[i + 1] &= suffix;
        suffix &= masks[i];
    }
    sets[0] = prefix;
}

static void test_filters(const struct stage *stage, const struct listed *listed, uint64_t *sets)
{
    const struct filter_plan *base = &stage->context->base;
    uint32_t i;

    for (i = 0; stage->context->shares_base && i < base->count; i++)
        sets[0] = conjunct_test(&base->conjuncts[i], listed->window, listed->offsets, sets[0]);
    for (i = 0; i < stage->fixed_count; i++)
        sets[0] = conjunct_test(stage->fixed[i], listed->window, listed->offsets, sets[0]);
    test_groups(stage, listed, sets);
}

static uint32_t list_mask(const struct listed *listed, uint64_t mask, uint16_t *offsets)
{
    uint32_t count = 0;

    for (; mask; mask &= mask - 1)
        offsets[count++] = listed->offsets[__builtin_ctzll(mask)];
    return count;
}

/* Nothing of the window can be better than what is there. */
static bool is_hopeless(const struct stage *stage, uint32_t window)
{
    const struct best *best = &stage->best;

    if (best->count_max == 0)
        return true;
    if (best->count < best->count_max || stage->context->tuning->use_bounds < 0)
        return false;
    return !best_admits(best, sort_plan_bound(&stage->sort, window));
}

/* The hits that may enter the best, with their keys. */
static void collect(const struct stage *stage, const struct listed *listed, uint64_t mask,
                    struct window_hits *hits)
{
    uint32_t i;

    hits->count = 0;
    if (!mask || is_hopeless(stage, listed->window))
        return;
    for (; mask; mask &= mask - 1) {
        uint32_t at = (uint32_t)__builtin_ctzll(mask);

        hits->offsets[hits->count] = listed->offsets[at];
        hits->scores[hits->count++] = listed->scores ? listed->scores[at] : 0;
    }
    for (i = 0; i < stage->sort.count; i++)
        sort_plan_keys(&stage->sort, i, listed->window, hits->offsets, hits->count,
                       listed->scores ? hits->scores : NULL, hits->keys[i]);
}

static void count_facets(struct stage *stage, const struct listed *listed, const uint64_t *sets)
{
    uint16_t offsets[LIST_RUN_MAX];
    uint32_t group;
    uint32_t i;

    for (group = 0; group <= stage->group_count; group++) {
        struct facet_hits hits = {.offsets = offsets};
        struct window_bits bits;

        hits.count = list_mask(listed, sets[group], offsets);
        if (hits.count && stage->context->tuning->facet_lists < 0) {
            memset(&bits, 0, sizeof(bits));
            for (i = 0; i < hits.count; i++)
                window_set(&bits, offsets[i]);
            hits.bits = &bits;
            hits.offsets = NULL;
        }
        for (i = 0; i < stage->source->facet_count && hits.count; i++)
            if (stage->facets[i].group == group)
                facet_count_add(&stage->facets[i], listed->window, &hits);
    }
}

static void take_window(struct stage *stage, const struct listed *listed)
{
    const struct columns *columns = stage->context->snapshot->columns;
    struct window_hits *hits = stage->context->hits;
    uint64_t sets[GROUP_COUNT_MAX + 1];
    uint32_t begun;

    do {
        begun = columns_read_begin(columns, listed->window);
        sets[0] = UINT64_MAX >> (LIST_RUN_MAX - listed->count);
        test_filters(stage, listed, sets);
        collect(stage, listed, sets[0], hits);
    } while (!columns_read_valid(columns, listed->window, begun));
    stage_add_to_best(stage, listed->window, hits);
    if (stage->counts) {
        stage->total += (uint32_t)__builtin_popcountll(sets[0]);
        count_facets(stage, listed, sets);
    }
}

/* The first of the ids, those that are of one window. */
static void list_run(const docid *ids, uint32_t count, struct listed *listed)
{
    uint32_t i;

    listed->window = window_of(ids[0]);
    for (i = 0; i < count && i < LIST_RUN_MAX && window_of(ids[i]) == listed->window; i++)
        listed->offsets[i] = (uint16_t)(ids[i] & (WINDOW_SIZE - 1));
    listed->count = i;
}

int stage_list(struct stage *stage, bool *ended, struct err *err)
{
    float scores[TEXT_TAKE_MAX];
    docid ids[TEXT_TAKE_MAX];
    struct listed listed;
    uint32_t count;
    bool has_scores = stage->sort.uses_score && stage_has_scores(stage);
    uint32_t i;
    int rc = text_plan_take(stage->text, ids, &count, err);

    *ended = count == 0;
    if (!rc && count && has_scores)
        rc = text_plan_score_ids(stage->text, ids, count, scores, err);
    for (i = 0; !rc && i < stage->fixed_count && i < PREFETCH_COUNT; i++)
        conjunct_prefetch(stage->fixed[i], ids, count);
    for (i = 0; i < count && !rc; i += listed.count) {
        list_run(ids + i, count - i, &listed);
        listed.scores = has_scores ? scores + i : NULL;
        take_window(stage, &listed);
    }
    return rc;
}
