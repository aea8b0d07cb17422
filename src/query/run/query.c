/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query.c - runs a query on one snapshot: every stage walks the windows side by side.
 *
 * Text and existence are of the snapshot, attributes are the newest. A hit that was replaced after
 * the snapshot could show an old text with a new price. So all hits are looked up, when they were
 * found and shown, among the documents that changed last: if one was replaced, the query is run
 * once more while publications wait.
 */
#include "query/query.h"

#include <assert.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/object.h"
#include "query/bounds.h"
#include "query/run/engine.h"
#include "query/run/list.h"
#include "query/text/text_highlight.h"

enum {
    RUN_COUNT_MAX = 3,
    WINDOWS_PER_LOOK = 64, /* between two looks at the clock */
};

struct query_engine *query_engine_new(struct shard *shard, struct shard_reader *reader)
{
    struct query_engine *engine = mem_zero(sizeof(*engine));

    object_begin(engine, QUERY_ENGINE_MAGIC);
    engine->shard = shard;
    engine->reader = reader;
    engine->analysis = analysis_new();
    engine->hits = mem_alloc(sizeof(*engine->hits));
    engine->memory = arena_new();
    arena_keep(engine->memory, QUERY_MEMORY_KEPT_MAX);
    return engine;
}

void query_engine_free(struct query_engine *engine)
{
    if (!engine)
        return;
    object_check(engine, QUERY_ENGINE_MAGIC);
    analysis_free(engine->analysis);
    arena_free(engine->memory);
    free(engine->hits);
    object_end(engine, QUERY_ENGINE_MAGIC);
    free(engine);
}

static int look_at_clock(const struct stage *stage, int64_t deadline_us, struct err *err)
{
    if (deadline_us && clock_mono_us(stage->context->clock) > deadline_us)
        return err_set(err, ERR_TIMEOUT, "the query did not end before its deadline");
    return 0;
}

/* The whole walk of a stage that has no windows; else *windows. */
static int walk_alone(struct stage *stage, int64_t deadline_us, bool *windows, struct err *err)
{
    bool ended = false;
    int rc = 0;

    *windows = false;
    if (stage_is_top(stage))
        return stage_top(stage, err);
    *windows = !stage->lists;
    while (stage->lists && !ended && !rc) {
        rc = stage_list(stage, &ended, err);
        rc = rc ? rc : look_at_clock(stage, deadline_us, err);
    }
    return rc;
}

/* One walk over the windows for all the lists. */
static int walk(struct list *lists, uint32_t count, int64_t deadline_us, struct err *err)
{
    uint32_t *next = arena_array(lists[0].stage->context->arena, count, sizeof(*next));
    uint32_t steps = 0;
    uint32_t i;
    int rc = look_at_clock(lists[0].stage, deadline_us, err);

    for (i = 0; i < count && !rc; i++) {
        bool windows;

        rc = walk_alone(lists[i].stage, deadline_us, &windows, err);
        next[i] = windows && !rc ? stage_next(lists[i].stage, 0) : WINDOW_END;
    }
    while (!rc) {
        uint32_t window = WINDOW_END;

        for (i = 0; i < count; i++)
            if (next[i] < window)
                window = next[i];
        if (window == WINDOW_END)
            return 0;
        for (i = 0; i < count && !rc; i++) {
            if (next[i] != window)
                continue;
            rc = stage_window(lists[i].stage, window, err);
            if (!rc)
                next[i] = stage_next(lists[i].stage, window + 1);
        }
        if (!rc && ++steps % WINDOWS_PER_LOOK == 0)
            rc = look_at_clock(lists[0].stage, deadline_us, err);
    }
    return rc;
}

static int answer_stage(struct list *list, int64_t deadline_us, struct query_answer *answer,
                        struct err *err)
{
    struct stage *stage = list->stage;
    struct arena *arena = stage->context->arena;
    struct facet_answer *facets =
        arena_array(arena, stage->source->facet_count + 1, sizeof(*facets));
    bool again = false;
    uint32_t i;
    int rc;

    answer->name = arena_copy(arena, stage->source->name);
    answer->total = stage->total;
    answer->facets = facets;
    answer->facet_count = stage->source->facet_count;
    for (i = 0; i < answer->facet_count; i++)
        facet_count_finish(&stage->facets[i], arena, &facets[i]);
    rc = list_page(list, answer, &again, err);
    while (!rc && again) {
        rc = list_begin(list, false, err);
        rc = rc ? rc : walk(list, 1, deadline_us, err);
        rc = rc ? rc : list_page(list, answer, &again, err);
    }
    answer->text = stage->text; /* of the last walk */
    return rc;
}

static int make_lists(struct query_context *context, const struct query_plan *plan,
                      struct list *lists, struct err *err)
{
    struct stage *stages = arena_array(context->arena, plan->stage_count, sizeof(*stages));
    uint32_t i;
    int rc = 0;

    for (i = 0; i < plan->stage_count && !rc; i++) {
        rc = stage_make(&stages[i], context, &plan->stages[i], err);
        rc = rc ? rc : list_make(&lists[i], &stages[i], plan, err);
        rc = rc ? rc : list_begin(&lists[i], true, err);
        if (rc && plan->stage_count > 1)
            err_wrap(err, "stages[%u]", i);
    }
    return rc;
}

static int run(struct query_engine *engine, const struct snapshot *snapshot,
               const struct query_plan *plan, const struct query_tuning *tuning,
               int64_t deadline_us, struct arena *arena, struct query_result *result,
               struct err *err)
{
    struct query_context context = {.snapshot = snapshot,
                                    .clock = shard_clock(engine->shard),
                                    .analysis = engine->analysis,
                                    .tuning = tuning,
                                    .hits = engine->hits,
                                    .arena = arena,
                                    .memory = engine->memory,
                                    .shares_base = plan->stage_count > 1,
                                    .base_window = WINDOW_END};
    struct list *lists = arena_array(arena, plan->stage_count, sizeof(*lists));
    struct query_answer *answers = arena_array(arena, plan->stage_count, sizeof(*answers));
    uint32_t i;
    int rc = filter_plan_make(&context.base, snapshot, plan->base, "base", arena, err);

    rc = rc ? rc : make_lists(&context, plan, lists, err);
    rc = rc ? rc : walk(lists, plan->stage_count, deadline_us, err);
    for (i = 0; i < plan->stage_count && !rc; i++)
        rc = answer_stage(&lists[i], deadline_us, &answers[i], err);
    *result = (struct query_result){.sequence = snapshot->sequence,
                                    .offset = snapshot->offset,
                                    .answers = answers,
                                    .answer_count = plan->stage_count};
    return rc;
}

/* The worst that has happened to a hit. */
static enum shard_move find_move(const struct query_engine *engine, const struct snapshot *snapshot,
                                 const struct query_result *result)
{
    enum shard_move worst = MOVE_NONE;
    uint32_t i;
    uint32_t k;

    for (i = 0; i < result->answer_count; i++) {
        for (k = 0; k < result->answers[i].hit_count; k++) {
            enum shard_move move =
                shard_moved(engine->reader, snapshot, result->answers[i].hits[k].id);

            worst = move > worst ? move : worst;
        }
    }
    return worst;
}

/* Leaves out the hits that were replaced. */
static void drop_replaced(const struct query_engine *engine, const struct snapshot *snapshot,
                          const struct query_viewer *viewer, struct arena *arena,
                          struct query_result *result)
{
    struct query_answer *answers = arena_array(arena, result->answer_count, sizeof(*answers));
    uint32_t i;
    uint32_t k;

    for (i = 0; i < result->answer_count; i++) {
        const struct query_answer *from = &result->answers[i];
        struct query_hit *hits = arena_array(arena, from->hit_count + 1, sizeof(*hits));
        struct query_rank *ranks = arena_array(arena, from->hit_count + 1, sizeof(*ranks));
        uint32_t *kept = arena_array(arena, from->hit_count + 1, sizeof(*kept));
        uint32_t count = 0;

        for (k = 0; k < from->hit_count; k++) {
            if (shard_moved(engine->reader, snapshot, from->hits[k].id) == MOVE_REPLACED)
                continue;
            hits[count] = from->hits[k];
            if (from->ranks)
                ranks[count] = from->ranks[k];
            kept[count++] = k;
        }
        answers[i] = *from;
        answers[i].hits = hits;
        answers[i].ranks = from->ranks ? ranks : NULL;
        answers[i].hit_count = count;
        answers[i].left_out_count = from->hit_count - count;
        if (viewer)
            viewer->keep(viewer->context, i, kept, count);
    }
    result->answers = answers;
}

/* One run, inside an epoch: *move tells what happened to its hits meanwhile. */
static int run_inside(struct query_engine *engine, const struct snapshot *snapshot,
                      const struct query_plan *plan, const struct query_tuning *tuning,
                      int64_t deadline_us, const struct query_viewer *viewer, bool is_last,
                      struct arena *arena, struct query_result *result, enum shard_move *move,
                      struct err *err)
{
    int rc;

    arena_reset(engine->memory);
    rc = run(engine, snapshot, plan, tuning, deadline_us, arena, result, err);
    if (!rc && viewer)
        rc = viewer->show(viewer->context, snapshot, result, err);
    *move = rc ? MOVE_NONE : find_move(engine, snapshot, result);
    result->seen = shard_seen(engine->reader, snapshot);
    if (*move == MOVE_REPLACED && is_last)
        drop_replaced(engine, snapshot, viewer, arena, result);
    return rc;
}

int query_run_shown(struct query_engine *engine, const struct query_plan *plan,
                    const struct query_tuning *tuning, int64_t deadline_us,
                    const struct query_viewer *viewer, struct arena *arena,
                    struct query_result *result, struct err *err)
{
    static const struct query_tuning none = {0};
    enum shard_move move = MOVE_NONE;
    int i;
    int rc = 0;

    object_check(engine, QUERY_ENGINE_MAGIC);
    assert(plan->stage_count > 0 && plan->stage_count <= QUERY_STAGE_COUNT_MAX);
    for (i = 0; !rc && (i == 0 || (move != MOVE_NONE && i < RUN_COUNT_MAX)); i++) {
        bool is_last = i + 1 == RUN_COUNT_MAX;
        bool is_held = move == MOVE_REPLACED && shard_hold(engine->reader, deadline_us);
        struct arena_mark mark = arena_mark(arena);
        const struct snapshot *snapshot = NULL;

        rc = shard_enter(engine->reader, &snapshot, err);
        if (!rc) {
            rc = run_inside(engine, snapshot, plan, tuning ? tuning : &none, deadline_us, viewer,
                            is_last, arena, result, &move, err);
            shard_exit(engine->reader);
        }
        if (is_held)
            shard_let_go(engine->reader);
        if (rc || (move != MOVE_NONE && !is_last))
            arena_rewind(arena, mark);
    }
    return rc;
}

int query_run(struct query_engine *engine, const struct query_plan *plan,
              const struct query_tuning *tuning, int64_t deadline_us, struct arena *arena,
              struct query_result *result, struct err *err)
{
    object_check(engine, QUERY_ENGINE_MAGIC);
    return query_run_shown(engine, plan, tuning, deadline_us, NULL, arena, result, err);
}

/* Inside an epoch. */
static int count_words(const struct snapshot *snapshot, struct analysis *analysis,
                       const struct query_plan *plan, struct arena *arena,
                       struct query_words *words, struct err *err)
{
    struct text_shared shared = {0};
    int rc = 0;

    for (uint32_t i = 0; i < plan->stage_count && !rc; i++) {
        struct text_plan *text = NULL;

        rc = text_plan_words(snapshot, analysis, &plan->stages[i].text, &shared, arena, &text, err);
        words[i] = (struct query_words){.doc_count = snapshot->text_doc_count};
        if (!rc && text)
            text_plan_tell_words(text, arena, &words[i]);
        if (rc)
            err_wrap(err, "stages[%u]", i);
    }
    return rc;
}

int query_count_words(struct query_engine *engine, const struct query_plan *plan,
                      struct arena *arena, struct query_words *words, struct err *err)
{
    const struct snapshot *snapshot = NULL;
    int rc = shard_enter(engine->reader, &snapshot, err);

    object_check(engine, QUERY_ENGINE_MAGIC);
    if (rc)
        return rc;
    rc = count_words(snapshot, engine->analysis, plan, arena, words, err);
    shard_exit(engine->reader);
    return rc;
}

int query_highlight(struct query_engine *engine, const struct query_text *text, struct bytes source,
                    const struct highlight_options *options, struct arena *arena,
                    struct bytes *marked, struct err *err)
{
    const struct snapshot *snapshot = NULL;
    int rc = shard_enter(engine->reader, &snapshot, err);

    object_check(engine, QUERY_ENGINE_MAGIC);
    if (rc)
        return rc;
    rc = text_highlight(snapshot, engine->analysis, text, source, options, arena, marked, err);
    shard_exit(engine->reader);
    return rc;
}
