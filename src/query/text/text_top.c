/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_top.c - the best k of a query, without a total; see text_plan.h.
 *
 * Dynamic pruning by the maxima of blocks, of the family of block-max WAND and MaxScore.
 *
 * Part by part: a document lives in one only, and the worst of the k found so far is what the rest
 * has to beat. Where one list cannot be done without (the rarest word that must be there, or the
 * only one of those that should be that is enough together with all others), it is gone through
 * block by block: values of 256 postings at once, those kept that the other words can lift high
 * enough, and only these are looked for in the other lists. As long as there are several such
 * lists, windows are matched and scored.
 *
 * The threshold comes from documents that were found, matched and passed the filter: never from
 * bounds or statistics.
 */
#include <stdlib.h>
#include <string.h>

#include "base/object.h"
#include "query/text/text_parts.h"

enum { AHEAD_COUNT_MAX = 128 };

/* The k best, as a heap: the worst is on top. */
struct collector {
    struct scored_doc *docs;
    uint32_t count, k;

    window_filter_fn *filter;
    const struct text_weigher *weigher; /* NULL: scores are values */
    void *context;
    uint32_t window; /* of bits */
    struct window_bits bits;
};

static bool is_worse(const struct scored_doc *a, const struct scored_doc *b)
{
    if (isnan(a->value) || isnan(b->value))
        return isnan(a->value) && (!isnan(b->value) || a->id > b->id);
    return a->value < b->value || (a->value == b->value && a->id > b->id);
}

static void sift_down(struct collector *collector, struct scored_doc doc)
{
    uint32_t at = 0, child = 1;

    while (child < collector->count) {
        if (child + 1 < collector->count &&
            is_worse(&collector->docs[child + 1], &collector->docs[child]))
            child++;
        if (!is_worse(&collector->docs[child], &doc))
            break;
        collector->docs[at] = collector->docs[child];
        at = child;
        child = 2 * at + 1;
    }
    collector->docs[at] = doc;
}

static void collect(struct collector *collector, docid id, float score)
{
    struct scored_doc doc = {id, score, (double)score};
    uint32_t at;

    if (collector->weigher)
        doc.value = collector->weigher->weigh(collector->context, id, score);
    if (collector->count == collector->k) {
        if (is_worse(&collector->docs[0], &doc))
            sift_down(collector, doc);
        return;
    }
    at = collector->count++;
    while (at > 0 && is_worse(&doc, &collector->docs[(at - 1) / 2])) {
        collector->docs[at] = collector->docs[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    collector->docs[at] = doc;
}

/* What a document from this id on must have to get in. */
static float score_needed(const struct collector *collector, docid from)
{
    const struct scored_doc *worst = &collector->docs[0];

    if (collector->count < collector->k)
        return -INFINITY;
    if (collector->weigher) {
        double least = worst->value / collector->weigher->max * WEIGHED_SLACK;

        return worst->value > 0 && isfinite(least) ? (float)least : -INFINITY;
    }
    return from > worst->id ? nextafterf(worst->score, INFINITY) : worst->score;
}

static int passes(struct collector *collector, docid id, bool *pass, struct err *err)
{
    uint32_t window = window_of(id);
    int rc = 0;

    *pass = true;
    if (!collector->filter)
        return 0;
    if (window != collector->window)
        rc = collector->filter(collector->context, window, &collector->bits, err);
    collector->window = rc ? WINDOW_END : window;
    *pass = !rc && window_test(&collector->bits, id & (WINDOW_SIZE - 1));
    return rc;
}

/* Who came out of a meeting. */
static int take_met(struct text_plan *plan, struct text_part *part, uint32_t steps, float min,
                    struct collector *collector, struct err *err)
{
    struct candidates *candidates = plan->scratch->candidates;
    uint32_t i;
    int rc;

    if (candidates->count == 0)
        return 0;
    rc = candidates_score(plan, part, candidates, steps, false, min, err);
    for (i = 0; i < candidates->count && !rc; i++) {
        bool pass;

        rc = passes(collector, candidates->ids[i], &pass, err);
        if (!rc && pass)
            collect(collector, candidates->ids[i], candidates->scores[i]);
    }
    return rc;
}

/* ---- a phrase alone ---- */

static bool is_phrase(const struct text_plan *plan)
{
    return plan->leaf_count == 1 && plan->must_count == 1 && plan->leaves[0].kind == LEAF_PHRASE &&
           plan->leaves[0].count <= PHRASE_VALUE_WORDS;
}

/* Whether values are looked at before positions (of how many steps; 0: they are not): as soon as
 * there is something to beat, most do not, and are spared the dearer question. */
static uint32_t weighs_first(const struct text_plan *plan, const struct text_part *part,
                             const struct collector *collector)
{
    bool has_min = plan->tuning.use_bounds >= 0 && collector->count == collector->k;

    return has_min || plan->tuning.use_meeting > 0 ? part_meets(plan, part) : 0;
}

/* As long as there is nothing to beat: positions, and with them the values, as the blocks are at
 * hand. */
static int take_phrases(struct text_plan *plan, struct text_part *part, docid *ids, uint32_t count,
                        struct collector *collector, struct err *err)
{
    float values[PHRASE_VALUE_WORDS][BLOCK_SIZE];
    uint32_t i, k;
    int rc = count ? phrase_values(plan, part, 0, ids, &count, values, err) : 0;

    for (i = 0; i < count && !rc; i++) {
        float score = 0;
        bool pass;

        for (k = 0; k < plan->leaves[0].count; k++)
            score += values[k][i];
        if (score < score_needed(collector, ids[i]))
            continue;
        rc = passes(collector, ids[i], &pass, err);
        if (!rc && pass)
            collect(collector, ids[i], score);
    }
    return rc;
}

/* Of dense lists: by windows. */
static int take_phrase_windows(struct text_plan *plan, struct text_part *part,
                               struct collector *collector, struct err *err)
{
    uint32_t taken, steps;
    docid ids[BLOCK_SIZE];
    float min;
    int rc;

    part_take_begin(plan, part);
    do {
        rc = part_take(plan, part, ids, &taken, err);
        if (rc || taken == 0)
            break;
        steps = weighs_first(plan, part, collector);
        min = score_needed(collector, ids[0]);
        if (steps)
            rc = part_meet_ids(plan, part, steps, ids, taken, min, err);
        if (!rc)
            rc = steps ? take_met(plan, part, steps, min, collector, err)
                       : take_phrases(plan, part, ids, taken, collector, err);
    } while (!rc);
    return rc;
}

/* ---- by one list ---- */

static int take_run(struct text_plan *plan, struct text_part *part, const struct scored_run *run,
                    struct collector *collector, float min, struct err *err)
{
    struct candidates *candidates = plan->scratch->candidates;
    bool phrase = is_phrase(plan);
    uint32_t i;
    int rc = 0;

    candidates->count = 0;
    for (i = 0; i < run->count && !rc; i++) {
        bool pass = live_has(part->live, run->ids[i]);

        if (pass && !phrase)
            rc = passes(collector, run->ids[i], &pass, err);
        candidates->ids[candidates->count] = run->ids[i];
        candidates->values[part->steps[0].row][candidates->count] = run->values[i];
        candidates->count += pass;
    }
    if (rc || candidates->count == 0)
        return rc;
    if (phrase)
        return take_phrases(plan, part, candidates->ids, candidates->count, collector, err);
    rc = candidates_score(plan, part, candidates, 1, false, min, err);
    for (i = 0; i < candidates->count && !rc; i++)
        collect(collector, candidates->ids[i], candidates->scores[i]);
    return rc;
}

/* Those of the first step's block at hand that the other lists have too. */
static int take_meeting(struct text_plan *plan, struct text_part *part, uint32_t steps, docid from,
                        float min, struct collector *collector, struct err *err)
{
    int rc = part_meet(plan, part, steps, from, min, err);

    return rc ? rc : take_met(plan, part, steps, min, collector, err);
}

/* Whoever of the first step's block at hand reaches min; own: what its list has to give then. */
static int take_block(struct text_plan *plan, struct text_part *part, docid from, float own,
                      float min, struct collector *collector, struct err *err)
{
    enum { MOST = 2 };
    uint32_t steps = part_meets(plan, part);
    struct scored_run run;
    int rc;

    /* Unless most of the block is in the others too. */
    if (steps && (plan->tuning.use_meeting > 0 || part->met <= part->asked / MOST))
        return take_meeting(plan, part, steps, from, min, collector, err);
    rc = list_score_block(plan, part->steps[0].list, from, DOCID_END - 1, own, &run, err);
    if (!rc && run.count)
        rc = take_run(plan, part, &run, collector, min, err);
    return rc;
}

/* The same of a phrase alone. */
static int take_phrase_block(struct text_plan *plan, struct text_part *part, docid from, float own,
                             float min, struct collector *collector, struct err *err)
{
    uint32_t steps = weighs_first(plan, part, collector);
    struct text_list *list = part->steps[0].list;
    struct scored_run run;
    int rc;

    if (steps)
        return take_meeting(plan, part, steps, from, min, collector, err);
    if (own > 0)
        rc = list_score_block(plan, list, from, DOCID_END - 1, own, &run, err);
    else /* nobody would drop out by this value */
        rc = list_score_ids(list, &run, err);
    if (!rc && run.count)
        rc = take_run(plan, part, &run, collector, min, err);
    return rc;
}

/* The k-th greatest; -INFINITY when there are not so many. */
static float greatest(const float *values, uint32_t count, uint32_t k)
{
    float best[AHEAD_COUNT_MAX];
    uint32_t held = 0, i, at;

    for (i = 0; i < count; i++) {
        if (held == k && values[i] <= best[held - 1])
            continue;
        for (at = held < k ? held++ : held - 1; at > 0 && best[at - 1] < values[i]; at--)
            best[at] = best[at - 1];
        best[at] = values[i];
    }
    return held == k ? best[k - 1] : -INFINITY;
}

/* What the first step's list has to give to a document of at least min. */
static float own_min(const struct text_part *part, float min)
{
    return min_without(min, part->step_count > 1 ? part->max - part->steps[0].list->max : 0);
}

/* The same for a document from first to last. */
static float own_min_between(const struct text_part *part, float min, docid first, docid last)
{
    float own = own_min(part, min), rest = 0, here;
    uint32_t i;

    for (i = 1; i < part->step_count; i++) {
        const struct text_step *step = &part->steps[i];

        rest += step->list ? list_max_between(step->list, first, last) : step->max;
    }
    here = min_without(min, rest);
    return here > own ? here : own;
}

/* As drive, the blocks that may have the best come first: with them the threshold is about what it
 * will be, and most of the others are passed by. */
static int drive_best(struct text_plan *plan, struct text_part *part, docid from,
                      struct collector *collector, struct err *err)
{
    struct text_list *list = part->steps[0].list;
    uint32_t first = list->scorer->block, count = list->scorer->block_count, block, pass, i;
    float ahead, need;
    int rc = 0;

    for (i = 0; i < part->step_count && !rc; i++) {
        if (part->steps[i].list)
            rc = list_read_bounds(plan, part->steps[i].list, err);
    }
    if (rc)
        return rc;
    ahead = greatest(list->reaches + first, count - first, collector->k);
    need = list_sum_needed(list, own_min(part, score_needed(collector, 0)));
    for (pass = 0; pass < 2; pass++) {
        for (block = first; block < count && !rc; block++) {
            docid low, last;
            float min, own;

            if (list->reaches[block] < need || (list->reaches[block] >= ahead) == pass)
                continue;
            low = postings_block_first(list->scorer, block);
            last = block + 1 < count ? postings_block_first(list->scorer, block + 1) - 1
                                     : DOCID_END - 1;
            low = low > from ? low : from;
            min = score_needed(collector, low);
            if (part->max < min)
                continue;
            own = own_min_between(part, min, low, last);
            if (list->reaches[block] < list_sum_needed(list, own))
                continue;
            rc = postings_go(list->scorer, block, err);
            if (!rc)
                rc = take_block(plan, part, from, own, min, collector, err);
            need = list_sum_needed(list, own_min(part, score_needed(collector, 0)));
        }
    }
    return rc;
}

/* Whether there are enough blocks for an order to matter, and few enough hits to be had from a part
 * of them. */
static bool is_ordered(const struct text_plan *plan, const struct text_part *part, uint32_t k)
{
    enum { BLOCK_COUNT_MIN = 4 };
    const struct text_list *list = part->steps[0].list;
    uint32_t wanted = plan->tuning.best_first > 0 ? 1 : BLOCK_COUNT_MIN;

    /* Lists that are gone through together are so side by side. */
    if (plan->tuning.best_first == 0 && part_meets(plan, part))
        return false;

    if (list->is_array || plan->tuning.use_bounds < 0 || plan->tuning.best_first < 0 ||
        k > AHEAD_COUNT_MAX)
        return false;
    return list->scorer->block_count - list->scorer->block >= wanted;
}

/* Goes through the list of the first step from an id on. */
static int drive(struct text_plan *plan, struct text_part *part, docid from,
                 struct collector *collector, struct err *err)
{
    bool bounded = plan->tuning.use_bounds >= 0, phrase = is_phrase(plan);
    struct text_list *list = part->steps[0].list;
    int rc = list_score_from(list, from, err);

    if (!rc && !phrase && is_ordered(plan, part, collector->k))
        return drive_best(plan, part, from, collector, err);
    while (!rc && !list_score_ended(list)) {
        docid low = list_score_low(list) > from ? list_score_low(list) : from;
        float min = bounded ? score_needed(collector, low) : -INFINITY;
        float own = own_min(part, min);

        if (part->max < min)
            break;
        rc = list_score_skip(plan, list, own, err);
        if (rc || list_score_ended(list))
            break;
        rc = phrase ? take_phrase_block(plan, part, from, own, min, collector, err)
                    : take_block(plan, part, from, own, min, collector, err);
        if (!rc)
            rc = list_score_next(list, err);
    }
    return rc;
}

/* ---- list by list ---- */

/* Whether any one of the lists is enough, and the one with the most to say is no dense one: then
 * the threshold is high when its few documents are through, and what is left of the others is
 * little. */
static bool has_lists(const struct text_plan *plan, const struct text_part *part)
{
    enum { DENSE_SPAN = 32 };
    uint32_t i;

    if (plan->must_count || plan->should_min > 1 || plan->tuning.use_windows > 0)
        return false;
    for (i = 0; i < part->step_count; i++) {
        if (part->steps[i].count && !part->steps[i].list && !part->steps[i].bonus)
            return false;
    }
    return plan->tuning.use_windows < 0 || part->steps[0].count < part->span / DENSE_SPAN + 1;
}

/* The documents of the first list, then those of the second that are not in the first, and so on
 * until all the lists that are left cannot reach the threshold together. */
static int drive_each(struct text_plan *plan, struct text_part *part, struct collector *collector,
                      struct err *err)
{
    uint32_t count = part->step_count, left, i;
    struct text_step *steps = part->steps;
    float max = part->max;
    int rc = 0;

    part->steps = arena_array(plan->arena, part->step_count, sizeof(*steps));
    memcpy(part->steps, steps, part->step_count * sizeof(*steps));
    while (count > 0 && steps[count - 1].bonus)
        count--;
    left = count;
    while (left > 0 && !rc) {
        struct text_step done = part->steps[0];

        if (plan->tuning.use_bounds >= 0 && part->max < score_needed(collector, 0))
            break;
        if (done.count)
            rc = drive(plan, part, 0, collector, err);
        memmove(part->steps, part->steps + 1, (count - 1) * sizeof(done));
        done.gone = true;
        done.max = 0;
        part->steps[count - 1] = done;
        left--;
        part->max = part->bonus_max;
        for (i = 0; i < left; i++)
            part->max += part->steps[i].max;
        part->max *= BOUND_SLACK;
    }
    part->steps = steps;
    part->max = max;
    return rc;
}

/* ---- by windows ---- */

static int take_window(struct text_plan *plan, struct text_part *part, uint32_t window,
                       struct collector *collector, struct err *err)
{
    uint16_t *offsets = plan->scratch->found;
    float *scores = plan->scratch->scores;
    float min =
        plan->tuning.use_bounds >= 0 ? score_needed(collector, window_first(window)) : -INFINITY;
    uint32_t count = 0, i;
    bool pass;
    int rc = part_match(plan, part, window, NULL, true, err);

    if (rc || !part->has_matches)
        return rc;
    rc = passes(collector, window_first(window), &pass, err);
    if (rc)
        return rc;
    if (collector->filter)
        kernels()->window_and(&part->matched, &collector->bits);
    rc = part_select(plan, part, window, &part->matched, false, min, offsets, scores, &count, err);
    for (i = 0; i < count && !rc; i++)
        collect(collector, window_first(window) + offsets[i], scores[i]);
    return rc;
}

/* Until the end, or (should) until one list is enough. */
static int take_windows(struct text_plan *plan, struct text_part *part, struct collector *collector,
                        struct err *err)
{
    uint32_t window;
    int rc = part_next(plan, part, 0, &window, err);

    while (!rc && window != WINDOW_END) {
        float min = score_needed(collector, window_first(window));
        uint32_t essential = 2;

        if (plan->tuning.use_bounds >= 0 && plan->must_count == 0 && !isinf(min))
            essential = part_essential(plan, part, min);
        if (essential == 0)
            break;
        if (essential == 1 && part->steps[0].list)
            return drive(plan, part, window_first(window), collector, err);
        rc = take_window(plan, part, window, collector, err);
        if (!rc)
            rc = part_next(plan, part, window + 1, &window, err);
    }
    return rc;
}

/* Whether going through one list is better than matching windows first: of dense lists the bits
 * are had for little, and few of many postings are left to be scored. */
static bool has_driver(const struct text_plan *plan, const struct text_part *part)
{
    enum { DENSE_SPAN = 32 };
    const struct text_step *first = &part->steps[0];

    if (!first->list || plan->tuning.use_windows > 0 ||
        (plan->must_count == 0 && plan->should_count != 1))
        return false;
    return plan->tuning.use_windows < 0 || part->step_count < 2 || !part->steps[1].must ||
           first->list->masked || first->count < part->span / DENSE_SPAN;
}

static int take_part(struct text_plan *plan, struct text_part *part, struct collector *collector,
                     struct err *err)
{
    if (plan->tuning.use_bounds >= 0 && part->max < score_needed(collector, 0))
        return 0;
    if (is_phrase(plan) && !part_driver(plan, part))
        return take_phrase_windows(plan, part, collector, err);
    if (is_phrase(plan) || has_driver(plan, part))
        return drive(plan, part, 0, collector, err);
    if (has_lists(plan, part))
        return drive_each(plan, part, collector, err);
    return take_windows(plan, part, collector, err);
}

/* No word is asked for: all scores are 0, the lowest ids are the best. */
static int take_everything(struct text_plan *plan, struct collector *collector, struct err *err)
{
    uint16_t *offsets = plan->scratch->found;
    struct window_bits bits;
    uint32_t window, count, i;
    bool pass;
    int rc = 0;

    for (window = text_plan_next(plan, 0);
         window != WINDOW_END && (collector->weigher || collector->count < collector->k) && !rc;
         window = text_plan_next(plan, window + 1)) {
        rc = text_plan_match(plan, window, NULL, &bits, err);
        if (!rc)
            rc = passes(collector, window_first(window), &pass, err);
        if (!rc && collector->filter)
            kernels()->window_and(&bits, &collector->bits);
        count = rc ? 0 : kernels()->window_list(&bits, offsets);
        for (i = 0; i < count && (collector->weigher || collector->count < collector->k); i++)
            collect(collector, window_first(window) + offsets[i], 0);
    }
    return rc;
}

static int by_rank(const void *a, const void *b)
{
    return is_worse(a, b) ? 1 : -1;
}

int text_plan_top(struct text_plan *plan, uint32_t k, window_filter_fn *filter,
                  const struct text_weigher *weigher, void *context, struct scored_doc *top,
                  uint32_t *count, struct err *err)
{
    struct collector collector = {.docs = top,
                                  .k = k,
                                  .filter = filter,
                                  .weigher = weigher,
                                  .context = context,
                                  .window = WINDOW_END};
    uint32_t i;
    int rc = 0;

    object_check(plan, TEXT_PLAN_MAGIC);
    *count = 0;
    if (plan->never || k == 0)
        return 0;
    if (plan->everything)
        rc = take_everything(plan, &collector, err);
    for (i = 0; i < plan->part_count && !rc && !plan->everything; i++)
        rc = take_part(plan, plan->parts[i], &collector, err);
    if (rc)
        return rc;
    if (collector.count)
        qsort(top, collector.count, sizeof(*top), by_rank);
    *count = collector.count;
    return 0;
}
