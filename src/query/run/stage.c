/* SPDX-License-Identifier: Apache-2.0 */
/* stage.c - see stage.h. */
#include "query/run/stage.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "index/postings/kernels.h"
#include "query/bounds.h"

/* A set drives when it leaves out at least so much of the shard. */
enum { PROPOSAL_SHARE = 16 };

/* ---- making ---- */

static struct filter_group *find_group(struct stage *stage, uint16_t field)
{
    uint32_t i;

    for (i = 0; i < stage->group_count; i++)
        if (stage->groups[i].field == field)
            return &stage->groups[i];
    return NULL;
}

static bool is_left_out(const struct query_stage *source, const struct snapshot *snapshot,
                        uint16_t field)
{
    uint32_t i;

    for (i = 0; i < source->facet_count; i++) {
        const struct field *own = schema_find(snapshot->schema, source->facets[i].field);

        if (own && own->id == field && !source->facets[i].sees_own_filter)
            return true;
    }
    return false;
}

static int group_conjuncts(struct stage *stage, struct err *err)
{
    struct query_context *context = stage->context;
    uint32_t i;

    stage->fixed = arena_array(context->arena, context->base.count + stage->filter.count + 1,
                               sizeof(struct conjunct *));
    for (i = 0; i < context->base.count && !context->shares_base; i++)
        stage->fixed[stage->fixed_count++] = &context->base.conjuncts[i];
    for (i = 0; i < stage->filter.count; i++) {
        struct conjunct *conjunct = &stage->filter.conjuncts[i];
        struct filter_group *group = find_group(stage, conjunct->field);

        if (conjunct->field == FIELD_MIXED ||
            !is_left_out(stage->source, context->snapshot, conjunct->field)) {
            stage->fixed[stage->fixed_count++] = conjunct;
            continue;
        }
        if (!group && stage->group_count < GROUP_COUNT_MAX) {
            group = &stage->groups[stage->group_count++];
            *group = (struct filter_group){.field = conjunct->field};
        }
        if (!group || group->count == sizeof(group->conjuncts) / sizeof(group->conjuncts[0]))
            return err_set(err, ERR_LIMIT,
                           "filter: at most %d fields with %zu filters each can be left out by "
                           "their own facets",
                           GROUP_COUNT_MAX, sizeof(group->conjuncts) / sizeof(group->conjuncts[0]));
        group->conjuncts[group->count++] = conjunct;
    }
    return 0;
}

static int make_facets(struct stage *stage, struct err *err)
{
    const struct query_stage *source = stage->source;
    struct query_context *context = stage->context;
    uint32_t i;

    stage->facets = arena_array(context->arena, source->facet_count + 1, sizeof(*stage->facets));
    for (i = 0; i < source->facet_count; i++) {
        struct facet_count *facet = &stage->facets[i];
        const struct filter_group *group;
        int rc = facet_count_make(facet, context->snapshot, &source->facets[i],
                                  source->part != NULL, context->tuning, context->arena, err);

        if (rc)
            return rc;
        group = find_group(stage, facet->field->id);
        facet->group =
            group && !source->facets[i].sees_own_filter ? (uint32_t)(group - stage->groups) + 1 : 0;
    }
    return 0;
}

static int make_cap(struct stage *stage, struct err *err)
{
    const struct query_stage *source = stage->source;
    int rc;

    if (!source->cap)
        return 0;
    rc = query_field(stage->context->snapshot, source->cap_field, "cap", &stage->cap_field, err);
    if (rc)
        return rc;
    if (!field_has_dictionary(stage->cap_field) || stage->cap_field->multiple)
        return err_set(err, ERR_INVALID, "cap: field \"%s\" must be a keyword with one value",
                       stage->cap_field->name);
    return 0;
}

/* What request_read has seen to; of a part, whoever asks for it. */
static void check_source(const struct query_stage *source)
{
    uint32_t most = QUERY_HIT_COUNT_MAX + (source->part != NULL);

    assert(source->offset <= most && source->limit <= most - source->offset);
    assert(source->rerank_count <= QUERY_RERANK_COUNT_MAX);
    assert(source->facet_count <= QUERY_FACET_COUNT_MAX);
    assert(!source->cursor.size || (!source->offset && !source->rerank.size && !source->part));
}

int stage_make(struct stage *stage, struct query_context *context, const struct query_stage *source,
               struct err *err)
{
    bool has_text = source->text.count > 0;
    int rc;

    check_source(source);
    *stage = (struct stage){.context = context, .source = source};
    rc = filter_plan_make(&stage->filter, context->snapshot, source->filter, "filter",
                          context->arena, err);
    rc =
        rc ? rc
           : sort_plan_make(&stage->sort, context->snapshot, source, has_text, context->arena, err);
    if (!rc && source->rerank.size)
        rc = formula_compile(context->snapshot, source->rerank, source, "rerank", context->arena,
                             &stage->rerank, err);
    rc = rc ? rc : group_conjuncts(stage, err);
    rc = rc ? rc : make_facets(stage, err);
    return rc ? rc : make_cap(stage, err);
}

/* ---- the walk ---- */

/* A set that proposes more than `limit` costs more than it spares. */
static void propose(struct stage *stage, const struct conjunct *conjunct, uint64_t limit)
{
    struct query_context *context = stage->context;
    struct conjunct *proposal = &stage->proposals[stage->proposal_count];

    *proposal = *conjunct;
    conjunct_propose(proposal, context->snapshot, context->arena);
    if (proposal->proposes && proposal->proposal.estimate < limit)
        stage->proposal_count++;
}

static void propose_all(struct stage *stage)
{
    struct query_context *context = stage->context;
    uint64_t limit = context->snapshot->doc_count / PROPOSAL_SHARE;
    uint32_t i;

    stage->proposal_count = 0;
    stage->proposals = arena_array(context->arena, context->base.count + stage->fixed_count + 1,
                                   sizeof(*stage->proposals));
    if (context->tuning->use_sets < 0)
        return;
    if (stage->text && text_plan_estimate(stage->text) < limit)
        limit = text_plan_estimate(stage->text);
    if (context->tuning->use_sets > 0)
        limit = UINT64_MAX;
    for (i = 0; context->shares_base && i < context->base.count; i++)
        propose(stage, &context->base.conjuncts[i], limit);
    for (i = 0; i < stage->fixed_count; i++)
        propose(stage, stage->fixed[i], limit);
}

/* Whether the words leave so few documents that a list of them is better than windows; and than the
 * windows of a set that is still much smaller. */
static void choose_walk(struct stage *stage)
{
    enum { LIST_ALWAYS = 4096, WINDOW_COST = 128 }; /* in postings that are passed by */
    int8_t wanted = stage->context->tuning->page_lists;
    uint64_t estimate = stage->text ? text_plan_estimate(stage->text) : 0;
    uint32_t i;

    stage->lists = stage->text && wanted >= 0 && text_plan_has_list(stage->text, wanted > 0);
    stage->proposal_count = 0;
    if (stage->lists && (wanted > 0 || estimate <= LIST_ALWAYS))
        return;
    propose_all(stage);
    for (i = 0; i < stage->proposal_count; i++)
        if (stage->proposals[i].proposal.estimate < estimate / WINDOW_COST)
            stage->lists = false;
}

/* What drops most for least comes first. */
static void order_filters(struct stage *stage)
{
    const struct snapshot *snapshot = stage->context->snapshot;
    double *ranks = arena_array(stage->context->arena, stage->fixed_count + 1, sizeof(*ranks));
    uint32_t i;
    uint32_t at;

    if (stage->fixed_count < 2 || stage->context->tuning->use_order < 0)
        return;
    for (i = 0; i < stage->fixed_count; i++) {
        struct conjunct *conjunct = stage->fixed[i];
        double rank = conjunct_rank(conjunct, snapshot, stage->lists);

        for (at = i; at > 0 && ranks[at - 1] > rank; at--) {
            stage->fixed[at] = stage->fixed[at - 1];
            ranks[at] = ranks[at - 1];
        }
        stage->fixed[at] = conjunct;
        ranks[at] = rank;
    }
}

bool stage_has_scores(const struct stage *stage)
{
    return stage->rerank ||
           (stage->best.count_max > 0 && (stage->sort.uses_score || !stage->source->no_cursor));
}

int stage_begin(struct stage *stage, uint32_t count_max, bool counts, struct err *err)
{
    struct query_context *context = stage->context;
    struct text_purpose purpose = {.shared = &context->shared};
    int rc;

    best_init(&stage->best, count_max, stage->sort.count, context->arena);
    stage->counts = counts;
    stage->total = 0;
    purpose.no_scores = !stage_has_scores(stage);
    purpose.words = purpose.no_scores ? NULL : stage->words;
    rc = text_plan_make(context->snapshot, context->analysis, &stage->source->text, context->tuning,
                        &purpose, context->memory, &stage->text, err);
    if (rc)
        return rc;
    choose_walk(stage);
    order_filters(stage);
    return 0;
}

uint32_t stage_next(struct stage *stage, uint32_t from)
{
    const struct snapshot *snapshot = stage->context->snapshot;
    uint32_t window = from;
    uint32_t begun;
    uint32_t i;

    do {
        begun = window;
        while (window < snapshot->window_count && !live_page(snapshot->alive, window))
            window++;
        if (stage->text && window < snapshot->window_count)
            window = text_plan_next(stage->text, window);
        for (i = 0; i < stage->proposal_count && window < snapshot->window_count; i++)
            window = set_cursor_next(&stage->proposals[i].proposal, window);
        if (window >= snapshot->window_count)
            return WINDOW_END;
    } while (window != begun);
    return window;
}

/* The base's documents of the window, under the columns' sequence number begun. */
static const struct window_bits *base_bits(struct query_context *context, uint32_t window,
                                           uint32_t begun)
{
    uint32_t i;

    if (!context->shares_base || !context->base.count)
        return NULL;
    if (context->base_window == window && context->base_begun == begun)
        return &context->base_bits;
    memset(&context->base_bits, 0xff, sizeof(context->base_bits));
    live_mask(context->snapshot->alive, window, &context->base_bits);
    for (i = 0; i < context->base.count; i++)
        conjunct_apply(&context->base.conjuncts[i], window, &context->base_bits);
    context->base_window = window;
    context->base_begun = begun;
    return &context->base_bits;
}

/* Candidates: what sets propose, text finds and the snapshot has alive. False: none. */
static int find_candidates(struct stage *stage, uint32_t window, struct window_bits *bits,
                           bool *found, struct err *err)
{
    const struct kernels *kernel = kernels();
    bool narrowed = stage->proposal_count > 0;
    int rc = 0;
    uint32_t i;

    memset(bits, 0xff, sizeof(*bits));
    for (i = 0; i < stage->proposal_count; i++) {
        struct window_bits proposed = {0};

        set_cursor_fill(&stage->proposals[i].proposal, window, &proposed);
        kernel->window_and(bits, &proposed);
    }
    *found = true;
    if (stage->text) {
        struct window_bits among = *bits;

        rc = text_plan_match(stage->text, window, narrowed ? &among : NULL, bits, err);
    } else {
        *found = live_mask(stage->context->snapshot->alive, window, bits);
    }
    *found = *found && kernel->window_count(bits) > 0;
    return rc;
}

/* sets[0]: the hits; sets[i + 1]: what they would be without the filters of group i. */
static void apply_groups(const struct stage *stage, uint32_t window, struct window_bits *sets)
{
    const struct kernels *kernel = kernels();
    struct window_bits masks[GROUP_COUNT_MAX];
    struct window_bits prefix = sets[0];
    struct window_bits suffix = sets[0];
    uint32_t i;
    uint32_t k;

    for (i = 0; i < stage->group_count; i++) {
        masks[i] = sets[0];
        for (k = 0; k < stage->groups[i].count; k++)
            conjunct_apply(stage->groups[i].conjuncts[k], window, &masks[i]);
        sets[i + 1] = prefix;
        kernel->window_and(&prefix, &masks[i]);
    }
    for (i = stage->group_count; i-- > 0;) {
        kernel->window_and(&sets[i + 1], &suffix);
        kernel->window_and(&suffix, &masks[i]);
    }
    sets[0] = prefix;
}

static void apply_filters(struct stage *stage, uint32_t window, const struct window_bits *base,
                          struct window_bits *sets)
{
    uint32_t i;

    if (base)
        kernels()->window_and(&sets[0], base);
    for (i = 0; i < stage->fixed_count; i++)
        conjunct_apply(stage->fixed[i], window, &sets[0]);
    if (stage->group_count)
        apply_groups(stage, window, sets);
}

/* ---- from hits to the best ---- */

/* Keeps the entries whose first key may still enter. */
static void drop_hopeless(const struct best *best, struct window_hits *hits)
{
    uint32_t kept = 0;
    uint32_t i;

    for (i = 0; i < hits->count; i++) {
        hits->offsets[kept] = hits->offsets[i];
        hits->scores[kept] = hits->scores[i];
        hits->keys[0][kept] = hits->keys[0][i];
        kept += best_admits(best, hits->keys[0][i]);
    }
    hits->count = kept;
}

/* Whether the first key is at most so many times the score. */
static bool is_weighed(const struct stage *stage)
{
    const struct sort_key *first = &stage->sort.keys[0];

    return stage->sort.count && first->kind == SORT_FORMULA && stage->text &&
           !isnan(formula_factor_max(first->formula));
}

/* A score below it cannot enter: that of the worst of the best, when scores come first. */
static float score_threshold(const struct stage *stage)
{
    const struct best *best = &stage->best;
    double worst;

    if (!stage->sort.count || best->count < best->count_max)
        return -INFINITY;
    if (stage->sort.keys[0].kind == SORT_RELEVANCE)
        return best->entries[0].score;
    if (!is_weighed(stage) || stage->context->tuning->use_bounds < 0)
        return -INFINITY;
    worst = sort_key_value(&stage->sort.keys[0], best->entries[0].keys[0]);
    worst = worst / formula_factor_max(stage->sort.keys[0].formula) * WEIGHED_SLACK;
    return worst > 0 && isfinite(worst) ? (float)worst : -INFINITY;
}

static int add_scores(struct stage *stage, uint32_t window, struct window_hits *hits,
                      struct err *err)
{
    if (!stage->text)
        return 0;
    return text_plan_score(stage->text, window, hits->offsets, hits->count, -INFINITY, hits->scores,
                           err);
}

/* The hits that may enter the best, with their scores when those are to be had by now. */
static int list_hits(struct stage *stage, uint32_t window, const struct window_bits *bits,
                     struct window_hits *hits, struct err *err)
{
    const struct sort_key *first = &stage->sort.keys[0];
    const struct best *best = &stage->best;
    struct window_bits admitted;

    if (stage->sort.count && stage->text && (first->kind == SORT_RELEVANCE || is_weighed(stage)))
        return text_plan_select(stage->text, window, bits, score_threshold(stage), hits->offsets,
                                hits->scores, &hits->count, err);
    admitted = *bits;
    if (best->count == best->count_max && stage->context->tuning->use_bounds >= 0)
        sort_plan_narrow(&stage->sort, window, best->entries[0].keys[0], &admitted);
    hits->count = kernels()->window_list(&admitted, hits->offsets);
    if (hits->count && first->kind == SORT_FORMULA && stage->sort.uses_score)
        return add_scores(stage, window, hits, err);
    return 0;
}

static int add_keys(struct stage *stage, uint32_t window, struct window_hits *hits, struct err *err)
{
    const struct sort_plan *sort = &stage->sort;
    bool has_scores = sort->keys[0].kind == SORT_RELEVANCE || sort->keys[0].kind == SORT_FORMULA;
    uint32_t i;
    int rc = 0;

    sort_plan_keys(sort, 0, window, hits->offsets, hits->count, stage->text ? hits->scores : NULL,
                   hits->keys[0]);
    drop_hopeless(&stage->best, hits);
    if (sort->uses_score && !has_scores)
        rc = add_scores(stage, window, hits, err);
    for (i = 1; i < sort->count && !rc; i++)
        sort_plan_keys(sort, i, window, hits->offsets, hits->count,
                       stage->text ? hits->scores : NULL, hits->keys[i]);
    return rc;
}

void stage_add_to_best(struct stage *stage, uint32_t window, const struct window_hits *hits)
{
    struct ranked entry = {0};
    uint32_t i;
    uint32_t k;

    for (i = 0; i < hits->count; i++) {
        for (k = 0; k < stage->sort.count; k++)
            entry.keys[k] = hits->keys[k][i];
        entry.id = window_first(window) + hits->offsets[i];
        entry.score = stage->sort.uses_score && stage->text ? hits->scores[i] : 0;
        best_add(&stage->best, &entry);
    }
}

/* Nothing of the window can be better than what is there. */
static bool is_hopeless(struct stage *stage, uint32_t window)
{
    const struct best *best = &stage->best;

    if (best->count_max == 0)
        return true;
    if (best->count < best->count_max || stage->context->tuning->use_bounds < 0)
        return false;
    if (stage->sort.count == 0)
        return true; /* by id, and ids ascend */
    if ((stage->sort.keys[0].kind == SORT_RELEVANCE && stage->text) || is_weighed(stage))
        return text_plan_bound(stage->text, window) < score_threshold(stage);
    return !best_admits(best, sort_plan_bound(&stage->sort, window));
}

static int collect(struct stage *stage, uint32_t window, const struct window_bits *bits,
                   struct window_hits *hits, struct err *err)
{
    int rc = 0;

    hits->count = 0;
    if (!is_hopeless(stage, window))
        rc = list_hits(stage, window, bits, hits, err);
    return rc || !hits->count || !stage->sort.count ? rc : add_keys(stage, window, hits, err);
}

static void count_facets(struct stage *stage, uint32_t window, const struct window_bits *sets)
{
    uint16_t offsets[WINDOW_LIST_MAX + WINDOW_LIST_SPARE];
    int8_t lists = stage->context->tuning->facet_lists;
    uint32_t group;
    uint32_t i;

    for (group = 0; group <= stage->group_count; group++) {
        struct facet_hits hits = {.bits = NULL};

        for (i = 0; i < stage->source->facet_count; i++) {
            if (stage->facets[i].group != group)
                continue;
            if (!hits.bits) {
                hits.bits = &sets[group];
                hits.count = kernels()->window_count(hits.bits);
                if (lists > 0 || (lists == 0 && hits.count <= FACET_LIST_MAX)) {
                    kernels()->window_list(hits.bits, offsets);
                    hits.offsets = offsets;
                }
            }
            if (hits.count)
                facet_count_add(&stage->facets[i], window, &hits);
        }
    }
}

int stage_window(struct stage *stage, uint32_t window, struct err *err)
{
    const struct columns *columns = stage->context->snapshot->columns;
    struct window_hits *hits = stage->context->hits;
    struct window_bits candidates;
    struct window_bits sets[GROUP_COUNT_MAX + 1];
    uint32_t begun;
    bool found = false;
    int rc = find_candidates(stage, window, &candidates, &found, err);

    if (rc || !found)
        return rc;
    do {
        begun = columns_read_begin(columns, window);
        sets[0] = candidates;
        apply_filters(stage, window, base_bits(stage->context, window, begun), sets);
        rc = collect(stage, window, &sets[0], hits, err);
    } while (!rc && !columns_read_valid(columns, window, begun));
    if (rc)
        return rc;
    stage_add_to_best(stage, window, hits);
    if (stage->counts) {
        stage->total += kernels()->window_count(&sets[0]);
        if (stage->source->facet_count)
            count_facets(stage, window, sets);
    }
    return 0;
}

/* ---- by the words alone ---- */

static bool is_filtered(const struct stage *stage)
{
    return stage->fixed_count || stage->group_count || stage->context->base.count;
}

static bool wants_total(const struct stage *stage)
{
    return stage->counts && stage->source->total == TOTAL_EXACT;
}

bool stage_is_top(const struct stage *stage)
{
    const struct query_stage *source = stage->source;
    bool best = stage->best.count_max > 0;

    if (!stage->text || source->facet_count > 0)
        return false;
    if (best && (stage->sort.count != 1 || stage->best.has_floor ||
                 !(stage->sort.keys[0].kind == SORT_RELEVANCE ||
                   (is_weighed(stage) && !is_filtered(stage)))))
        return false;
    if (wants_total(stage))
        return !is_filtered(stage) && (!best || text_plan_is_cheap(stage->text));
    return best;
}

static int filter_top(void *context, uint32_t window, struct window_bits *bits, struct err *err)
{
    struct stage *stage = context;
    const struct columns *columns = stage->context->snapshot->columns;
    struct window_bits sets[GROUP_COUNT_MAX + 1];
    uint32_t begun;

    (void)err;
    do {
        begun = columns_read_begin(columns, window);
        memset(&sets[0], 0xff, sizeof(sets[0]));
        apply_filters(stage, window, base_bits(stage->context, window, begun), sets);
    } while (!columns_read_valid(columns, window, begun));
    *bits = sets[0];
    return 0;
}

static double weigh_top(void *context, docid id, float score)
{
    const struct stage *stage = context;
    const struct columns *columns = stage->context->snapshot->columns;
    uint16_t offset = (uint16_t)(id & (WINDOW_SIZE - 1));
    uint32_t window = window_of(id), begun;
    double value;

    do {
        begun = columns_read_begin(columns, window);
        formula_compute(stage->sort.keys[0].formula, window, &offset, 1, &score, &value);
    } while (!columns_read_valid(columns, window, begun));
    return value;
}

int stage_top(struct stage *stage, struct err *err)
{
    struct text_weigher weigher = {.weigh = weigh_top};
    struct best *best = &stage->best;
    struct scored_doc *top = arena_array(stage->context->arena, best->count_max + 1, sizeof(*top));
    bool is_formula = best->count_max && stage->sort.keys[0].kind == SORT_FORMULA;
    uint32_t count = 0;
    uint32_t i;
    int rc = 0;

    if (is_formula)
        weigher.max = formula_factor_max(stage->sort.keys[0].formula);
    if (wants_total(stage)) {
        rc = text_plan_count(stage->text, &stage->total, err);
        if (!rc && best->count_max)
            rc = text_plan_rewind(stage->text, err);
    }
    if (!rc && best->count_max)
        rc = text_plan_top(stage->text, best->count_max, is_filtered(stage) ? filter_top : NULL,
                           is_formula ? &weigher : NULL, stage, top, &count, err);
    for (i = 0; i < count && !rc; i++) {
        const struct ranked entry = {
            .keys = {is_formula ? sort_formula_key(top[i].value) : sort_score_key(top[i].score)},
            .id = top[i].id,
            .score = top[i].score};

        best_add(best, &entry);
    }
    return rc;
}
