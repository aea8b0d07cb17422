/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_score.c - see text_plan.h: scores of documents that match, of as few as possible.
 *
 * A document goes through the leaves, those with the most to say first, and drops out when what is
 * left cannot lift it to the score that is asked for. Sums on the way are only for that; the score
 * itself is added anew, in the order of leaves.
 */
#include <assert.h>
#include <string.h>

#include "base/object.h"
#include "query/text/text_parts.h"

static void keep(struct candidates *candidates, uint32_t to, uint32_t from)
{
    candidates->ids[to] = candidates->ids[from];
    candidates->partial[to] = candidates->partial[from];
    candidates->rows[to] = candidates->rows[from];
    candidates->should[to] = candidates->should[from];
}

/* Adds one step's values. left: what the steps after it can add at most. */
static int add_step(struct text_plan *plan, struct text_part *part, struct candidates *candidates,
                    const struct text_step *step, bool matched, float min, float left,
                    struct err *err)
{
    float found[BLOCK_SIZE], *values = candidates->values[step->row];
    uint32_t kept = 0, i;
    int rc = 0;

    if (step->list)
        rc = list_values(plan, step->list, candidates->ids, candidates->count, candidates->partial,
                         min - left, found, err);
    for (i = 0; i < candidates->count && !rc; i++) {
        float value;
        bool holds;

        if (step->list) {
            holds = found[i] >= 0;
            value = holds ? found[i] : 0;
        } else {
            rc = leaf_value(plan, part, step->leaf, candidates->ids[i],
                            lengths_of(plan, ALL_FIELDS, candidates->ids[i]), step->must, &value,
                            &holds, err);
        }
        values[candidates->rows[i]] = value;
        candidates->partial[i] += value;
        candidates->should[i] =
            (uint8_t)(candidates->should[i] + (holds && !step->must && !step->bonus));
        keep(candidates, kept, i);
        kept += (holds || !step->must || matched) && !(holds && step->gone) &&
                (candidates->partial[i] + left) * BOUND_SLACK >= min;
    }
    candidates->count = kept;
    return rc;
}

/* The sum in the order of leaves. */
static float score_of(const struct text_plan *plan, const struct candidates *candidates,
                      uint32_t row)
{
    float score = 0;
    uint32_t leaf, i;

    for (leaf = 0; leaf < plan->leaf_count; leaf++) {
        const struct text_leaf *meant = &plan->leaves[leaf];
        uint32_t end = leaf + 1 < plan->leaf_count ? meant[1].row : plan->row_count;
        float sum = 0;

        if (meant->occur == OCCUR_NOT)
            continue;
        if (meant->kind == LEAF_PHRASE && meant->occur != OCCUR_MUST)
            end = meant->row + 1; /* as a whole */
        for (i = meant->row; i < end; i++)
            sum += candidates->values[i][row];
        score += sum;
    }
    return score;
}

/* Keeps those who hold the leaf, or do not. */
static int keep_matches(struct text_plan *plan, struct text_part *part,
                        struct candidates *candidates, uint32_t leaf, bool wanted, struct err *err)
{
    bool holds[BLOCK_SIZE];
    uint32_t kept = 0, i;
    int rc = leaf_hold(plan, part, leaf, candidates->ids, candidates->count, holds, err);

    for (i = 0; i < candidates->count && !rc; i++) {
        candidates->scores[kept] = candidates->scores[i];
        keep(candidates, kept, i);
        kept += holds[i] == wanted;
    }
    candidates->count = kept;
    return rc;
}

/* What is dear to ask comes last: positions and forms of leaves that must hold, and leaves that
 * must not. */
static int finish(struct text_plan *plan, struct text_part *part, struct candidates *candidates,
                  bool matched, float min, struct err *err)
{
    uint32_t kept = 0, leaf, i;
    int rc = 0;

    for (i = 0; i < candidates->count; i++) {
        float score = score_of(plan, candidates, candidates->rows[i]);

        candidates->scores[kept] = score;
        keep(candidates, kept, i);
        kept += score >= min && (matched || (candidates->should[i] >= plan->should_min &&
                                             candidates->should[i] <= plan->should_max));
    }
    candidates->count = kept;
    for (leaf = 0; leaf < plan->leaf_count && !matched && candidates->count && !rc; leaf++) {
        const struct text_leaf *meant = &plan->leaves[leaf];
        bool is_not = meant->occur == OCCUR_NOT;

        if (is_not || (meant->occur == OCCUR_MUST && !meant->exact))
            rc = keep_matches(plan, part, candidates, leaf, !is_not, err);
    }
    return rc;
}

int candidates_score(struct text_plan *plan, struct text_part *part, struct candidates *candidates,
                     uint32_t known, bool matched, float min, struct err *err)
{
    float left = part->max;
    uint32_t i, k;
    int rc = 0;

    for (i = 0; i < candidates->count; i++) {
        candidates->rows[i] = (uint16_t)i;
        candidates->partial[i] = 0;
        candidates->should[i] = 0;
    }
    for (k = 0; k < known; k++) {
        const struct text_step *step = &part->steps[k];

        left -= step->max;
        for (i = 0; i < candidates->count; i++) {
            candidates->partial[i] += candidates->values[step->row][i];
            candidates->should[i] = (uint8_t)(candidates->should[i] + !step->must);
        }
    }
    for (i = known; i < part->step_count && !rc && candidates->count; i++) {
        const struct text_step *step = &part->steps[i];

        left = i + 1 == part->step_count ? 0 : left - step->max;
        if (step->count == 0)
            memset(candidates->values[step->row], 0, sizeof(candidates->values[0]));
        else
            rc = add_step(plan, part, candidates, step, matched, min, left > 0 ? left : 0, err);
    }
    return rc ? rc : finish(plan, part, candidates, matched, min, err);
}

/* ---- windows ---- */

uint32_t part_essential(const struct text_plan *plan, const struct text_part *part, float min)
{
    uint32_t count = plan->must_count + plan->should_count;
    float sum = part->bonus_max;

    while (count > plan->must_count) {
        sum += part->leaves[part->order[count - 1]].max;
        if (sum * BOUND_SLACK >= min)
            break;
        count--;
    }
    return count - plan->must_count;
}

struct selection {
    const struct window_bits *bits;
    docid first; /* of the window */
    bool matched;
    float min;
    uint16_t *offsets;
    float *scores;
    uint32_t *count;
};

static int flush(struct text_plan *plan, struct text_part *part, uint32_t known,
                 const struct selection *selection, struct err *err)
{
    struct candidates *candidates = plan->scratch->candidates;
    uint32_t i;
    int rc =
        candidates_score(plan, part, candidates, known, selection->matched, selection->min, err);

    for (i = 0; i < candidates->count && !rc; i++) {
        selection->offsets[*selection->count] = (uint16_t)(candidates->ids[i] - selection->first);
        selection->scores[(*selection->count)++] = candidates->scores[i];
    }
    candidates->count = 0;
    return rc;
}

/* By the list of the first step, block by block. */
static int select_by_list(struct text_plan *plan, struct text_part *part,
                          const struct selection *selection, struct err *err)
{
    struct candidates *candidates = plan->scratch->candidates;
    const struct text_step *step = &part->steps[0];
    docid last = selection->first + (WINDOW_SIZE - 1);
    float rest = part->step_count > 1 ? part->max - step->max : 0;
    float need = min_without(selection->min, rest);
    struct scored_run run;
    uint32_t i;
    int rc = list_score_from(step->list, selection->first, err);

    candidates->count = 0;
    while (!rc && !list_score_ended(step->list)) {
        rc = list_score_skip(plan, step->list, need, err);
        if (rc || list_score_ended(step->list) || list_score_low(step->list) > last)
            break;
        rc = list_score_block(plan, step->list, selection->first, last, need, &run, err);
        for (i = 0; i < run.count; i++) {
            candidates->ids[candidates->count] = run.ids[i];
            candidates->values[step->row][candidates->count] = run.values[i];
            candidates->count += window_test(selection->bits, run.ids[i] - selection->first);
        }
        if (!rc && candidates->count)
            rc = flush(plan, part, 1, selection, err);
        if (rc || list_score_last(step->list) > last)
            break;
        rc = list_score_next(step->list, err);
    }
    return rc;
}

static int select_listed(struct text_plan *plan, struct text_part *part, const uint16_t *offsets,
                         uint32_t count, const struct selection *selection, struct err *err)
{
    struct candidates *candidates = plan->scratch->candidates;
    uint32_t i = 0;
    int rc = 0;

    candidates->count = 0;
    while (i < count && !rc) {
        candidates->ids[candidates->count++] = selection->first + offsets[i++];
        if (candidates->count == BLOCK_SIZE || i == count)
            rc = flush(plan, part, 0, selection, err);
    }
    return rc;
}

/* Several lists that matter: their sums first, for all of the window, then whoever may do. */
static int select_by_sums(struct text_plan *plan, struct text_part *part, uint32_t essential,
                          const struct selection *selection, struct err *err)
{
    docid first = selection->first, last = first + (WINDOW_SIZE - 1);
    uint16_t *offsets = plan->scratch->offsets;
    float *sums = plan->scratch->sums;
    float left = part->max;
    uint32_t count, found = 0, i, k;
    struct scored_run run;
    int rc = 0;

    memset(sums, 0, sizeof(plan->scratch->sums));
    for (i = 0; i < essential && !rc; i++) {
        struct text_list *list = part->steps[i].list;

        left -= part->steps[i].max;
        rc = list_score_from(list, first, err);
        while (!rc && !list_score_ended(list) && list_score_low(list) <= last) {
            rc = list_score_block(plan, list, first, last, -INFINITY, &run, err);
            for (k = 0; k < run.count; k++)
                sums[run.ids[k] - first] += run.values[k];
            if (rc || list_score_last(list) > last)
                break;
            rc = list_score_next(list, err);
        }
    }
    if (rc)
        return rc;
    left = left > 0 ? left : 0;
    count = kernels()->window_list(selection->bits, offsets);
    for (i = 0; i < count; i++) {
        uint16_t offset = offsets[i];

        offsets[found] = offset;
        found += (sums[offset] + left) * BOUND_SLACK >= selection->min;
    }
    return select_listed(plan, part, offsets, found, selection, err);
}

int part_select(struct text_plan *plan, struct text_part *part, uint32_t window,
                const struct window_bits *bits, bool matched, float min, uint16_t *offsets,
                float *scores, uint32_t *count, struct err *err)
{
    enum { WALK_FACTOR = 3 }; /* a posting walked by is so much cheaper than one looked for */
    struct selection selection = {bits, window_first(window), matched, min, offsets, scores, count};
    uint32_t bit_count = kernels()->window_count(bits), essential = 0, i;
    const struct text_step *first = &part->steps[0];
    uint16_t *listed = plan->scratch->offsets;
    bool plain = true;

    if (plan->tuning.use_bounds >= 0 && !isinf(min)) {
        if (part->max < min)
            return 0;
        if (plan->must_count == 0)
            essential = part_essential(plan, part, min);
        if (plan->must_count == 0 && essential == 0)
            return 0;
        if ((plan->must_count || essential == 1) && first->list &&
            first->count * WINDOW_SIZE / part->span < (uint64_t)WALK_FACTOR * bit_count)
            return select_by_list(plan, part, &selection, err);
        for (i = 0; i < essential; i++)
            plain = plain && part->steps[i].list;
        if (essential > 1 && plain && bit_count > BLOCK_SIZE / 4)
            return select_by_sums(plan, part, essential, &selection, err);
    }
    return select_listed(plan, part, listed, kernels()->window_list(bits, listed), &selection, err);
}

/* ---- the plan ---- */

float text_plan_bound(struct text_plan *plan, uint32_t window)
{
    float bound = 0;
    uint32_t i;

    object_check(plan, TEXT_PLAN_MAGIC);
    assert(window == plan->window);
    for (i = 0; i < plan->part_count; i++) {
        if (plan->parts[i]->has_matches && plan->parts[i]->max > bound)
            bound = plan->parts[i]->max;
    }
    return bound;
}

int text_plan_select(struct text_plan *plan, uint32_t window, const struct window_bits *bits,
                     float threshold, uint16_t *offsets, float *scores, uint32_t *count,
                     struct err *err)
{
    uint32_t i;
    int rc = 0;

    object_check(plan, TEXT_PLAN_MAGIC);
    assert(window == plan->window);
    *count = 0;
    if (plan->everything) {
        if (threshold <= 0)
            *count = kernels()->window_list(bits, offsets);
        memset(scores, 0, *count * sizeof(*scores));
        return 0;
    }
    for (i = 0; i < plan->part_count && !rc; i++) {
        struct text_part *part = plan->parts[i];
        struct window_bits own;

        if (!part->has_matches)
            continue;
        own = part->matched;
        kernels()->window_and(&own, bits);
        rc = part_select(plan, part, window, &own, true, threshold, offsets, scores, count, err);
    }
    return rc;
}

/* Some of the offsets, of one part, from i on. */
static int score_some(struct text_plan *plan, struct text_part *part, uint32_t window,
                      const uint16_t *offsets, uint32_t count, uint32_t *i, float threshold,
                      float *scores, struct err *err)
{
    struct candidates *candidates = plan->scratch->candidates;
    uint32_t places[BLOCK_SIZE], k;
    int rc;

    candidates->count = 0;
    for (; *i < count && candidates->count < BLOCK_SIZE; ++*i) {
        places[candidates->count] = *i;
        candidates->ids[candidates->count] = window_first(window) + offsets[*i];
        candidates->count += window_test(&part->matched, offsets[*i]);
    }
    rc = candidates_score(plan, part, candidates, 0, true, threshold, err);
    for (k = 0; k < candidates->count && !rc; k++)
        scores[places[candidates->rows[k]]] = candidates->scores[k];
    return rc;
}

int text_plan_score(struct text_plan *plan, uint32_t window, const uint16_t *offsets,
                    uint32_t count, float threshold, float *scores, struct err *err)
{
    uint32_t i, k;
    int rc = 0;

    object_check(plan, TEXT_PLAN_MAGIC);
    assert(window == plan->window);
    for (i = 0; i < count; i++)
        scores[i] = plan->everything ? 0 : -INFINITY;
    for (i = 0; i < plan->part_count && !rc && !plan->everything; i++) {
        for (k = 0; k < count && !rc && plan->parts[i]->has_matches;)
            rc = score_some(plan, plan->parts[i], window, offsets, count, &k, threshold, scores,
                            err);
    }
    return rc;
}

/* Those of the ids from *i on that may be of the part, as many as there is room for. */
static void pick_candidates(const struct text_part *part, const docid *ids, uint32_t count,
                            uint32_t *i, struct candidates *candidates, uint32_t *places)
{
    const struct text_segment *segment = part->segment;
    docid first = segment ? segment->info.first_id : 0;
    docid last = segment ? segment->info.last_id : DOCID_END;

    candidates->count = 0;
    for (; *i < count && candidates->count < BLOCK_SIZE; ++*i) {
        places[candidates->count] = *i;
        candidates->ids[candidates->count] = ids[*i];
        candidates->count += ids[*i] >= first && ids[*i] <= last && live_has(part->live, ids[*i]);
    }
}

/* A part may take a document for its own that it never had: there it has no words, and scores 0. */
int text_plan_score_ids(struct text_plan *plan, const docid *ids, uint32_t count, float *scores,
                        struct err *err)
{
    struct candidates *candidates = plan->scratch->candidates;
    uint32_t places[BLOCK_SIZE], part, i, k;
    int rc = 0;

    object_check(plan, TEXT_PLAN_MAGIC);
    memset(scores, 0, count * sizeof(*scores));
    for (part = 0; part < plan->part_count && !plan->everything && !rc; part++) {
        for (i = 0; i < count && !rc;) {
            pick_candidates(plan->parts[part], ids, count, &i, candidates, places);
            if (candidates->count)
                rc = candidates_score(plan, plan->parts[part], candidates, 0, true, -INFINITY, err);
            for (k = 0; k < candidates->count && !rc; k++) {
                float *score = &scores[places[candidates->rows[k]]];

                *score = candidates->scores[k] > *score ? candidates->scores[k] : *score;
            }
        }
    }
    return rc;
}
