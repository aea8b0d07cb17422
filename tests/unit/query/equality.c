/* SPDX-License-Identifier: Apache-2.0 */
/*
 * equality.c - the engine answers as brute force does: random documents, random queries.
 *
 * For each random query both naive evaluators must agree, and the engine with them: hits, total,
 * facets, scores within 1e-4, the order exactly. Then every way to ask for the same is asked: pages
 * by offset and by cursor, the cap, the second phase, no total, each plan choice forced,
 * explanations. TORG_QUERY_COUNT says how many queries are run; TORG_SEED repeats a run.
 */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "long.h"
#include "naive.h"
#include "queries.h"
#include "test_dir.h"
#include "threads_only.h"

enum { FULL_LIMIT = WORLD_DOC_MAX + 1, TUNING_COUNT = 8 };
#ifdef __SANITIZE_THREAD__
enum { QUERY_COUNT_FEW = 1500, QUERY_COUNT_MANY = 10000 }; /* races show early, and cost more */
#else
enum { QUERY_COUNT_FEW = 12000, QUERY_COUNT_MANY = 1000000 };
#endif

struct bench {
    struct world *world;
    struct rng rng;                    /* of this reader */
    struct shard_reader *reader;       /* the engine's */
    struct shard_reader *stats_reader; /* for what the test looks up itself */
    struct query_engine *engine;
    struct arena *arena;
    bool settled; /* nobody writes: scores and snapshots stand still */
    uint64_t run_count;
};

static uint64_t query_count(void)
{
    return (uint64_t)test_count("TORG_QUERY_COUNT", QUERY_COUNT_FEW, QUERY_COUNT_MANY);
}

static struct rng seeded(void)
{
    const char *given = getenv("TORG_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : random_u64();

    print_message("# TORG_SEED=%ju\n", (uintmax_t)seed);
    return rng_seeded(seed);
}

static void bench_open(struct bench *bench, struct world *world, struct rng rng)
{
    struct err err;

    *bench = (struct bench){.world = world, .rng = rng, .settled = true};
    assert_int_equal(shard_reader_new(world->shard, &bench->reader, &err), 0);
    assert_int_equal(shard_reader_new(world->shard, &bench->stats_reader, &err), 0);
    bench->engine = query_engine_new(world->shard, bench->reader);
    bench->arena = arena_new();
}

static void bench_close(struct bench *bench)
{
    arena_free(bench->arena);
    query_engine_free(bench->engine);
    shard_reader_free(bench->reader);
    shard_reader_free(bench->stats_reader);
}

/* Hits are left out when the writer does not wait any longer for a query: only on a machine so busy
 * that one takes SHARD_HOLD_MS_MAX, and hardly twice. */
static struct query_answer ask(struct bench *bench, const struct query_plan *plan, uint32_t stage,
                               const struct query_tuning *tuning)
{
    struct query_result result;
    struct err err = {0};
    int i;

    bench->run_count++;
    for (i = 0; i < 20; i++) {
        if (query_run(bench->engine, plan, tuning, 0, bench->arena, &result, &err))
            fail_msg("query_run: %s", err.text);
        assert_int_equal(result.answer_count, plan->stage_count);
        if (!result.answers[stage].left_out_count)
            return result.answers[stage];
        assert_false(bench->settled);
    }
    fail_msg("hits are left out again and again");
    return result.answers[stage];
}

/* The same plan with another stage in the place of one. */
static struct query_plan with_stage(struct bench *bench, const struct query_plan *plan,
                                    uint32_t index, const struct query_stage *stage)
{
    struct query_stage *stages = arena_array(bench->arena, plan->stage_count, sizeof(*stages));
    struct query_plan changed = *plan;

    memcpy(stages, plan->stages, plan->stage_count * sizeof(*stages));
    stages[index] = *stage;
    changed.stages = stages;
    return changed;
}

static struct query_answer ask_stage(struct bench *bench, const struct query_plan *plan,
                                     uint32_t index, const struct query_stage *stage)
{
    struct query_plan changed = with_stage(bench, plan, index, stage);

    return ask(bench, &changed, index, NULL);
}

/* ---- comparing ---- */

static void compare_facets(const struct facet_answer *a, const struct facet_answer *b,
                           const char *what)
{
    uint32_t i;

    if (a->count != b->count || a->other_count != b->other_count ||
        a->has_values != b->has_values || a->min != b->min || a->max != b->max)
        fail_msg("%s: a facet has %u and %ju more values, not %u and %ju", what, a->count,
                 (uintmax_t)a->other_count, b->count, (uintmax_t)b->other_count);
    if (a->doc_count != b->doc_count)
        fail_msg("%s: %ju documents have a value, not %ju", what, (uintmax_t)a->doc_count,
                 (uintmax_t)b->doc_count);
    for (i = 0; i < a->count; i++)
        if (a->values[i].count != b->values[i].count ||
            !bytes_equal(a->values[i].name, b->values[i].name))
            fail_msg("%s: value %u is %.*s %ju, not %.*s %ju", what, i,
                     BYTES_ARG(a->values[i].name), (uintmax_t)a->values[i].count,
                     BYTES_ARG(b->values[i].name), (uintmax_t)b->values[i].count);
}

static void compare_answers(const struct query_answer *a, const struct query_answer *b,
                            const char *what)
{
    uint32_t i;

    if (a->total != b->total || a->hit_count != b->hit_count)
        fail_msg("%s: %ju hits in all and %u here, not %ju and %u", what, (uintmax_t)a->total,
                 a->hit_count, (uintmax_t)b->total, b->hit_count);
    for (i = 0; i < a->hit_count; i++)
        if (a->hits[i].id != b->hits[i].id || a->hits[i].score != b->hits[i].score)
            fail_msg("%s: hit %u is %u (%.9g), not %u (%.9g)", what, i, a->hits[i].id,
                     (double)a->hits[i].score, b->hits[i].id, (double)b->hits[i].score);
    for (i = 0; i < a->facet_count; i++)
        compare_facets(&a->facets[i], &b->facets[i], what);
}

static void compare_list(const struct query_answer *answer, const struct query_hit *expected,
                         uint32_t count, const char *what)
{
    uint32_t i;

    if (answer->hit_count != count)
        fail_msg("%s: %u hits, not %u", what, answer->hit_count, count);
    for (i = 0; i < count; i++)
        if (answer->hits[i].id != expected[i].id || answer->hits[i].score != expected[i].score)
            fail_msg("%s: hit %u is %u (%.9g), not %u (%.9g)", what, i, answer->hits[i].id,
                     (double)answer->hits[i].score, expected[i].id, (double)expected[i].score);
}

/* ---- the order ---- */

struct order {
    const struct world *world;
    const struct query_stage *stage;
};

static int compare_doubles(double a, double b)
{
    if (isnan(a) || isnan(b))
        return (isnan(a) ? 1 : 0) - (isnan(b) ? 1 : 0);
    return (a > b) - (a < b);
}

static int compare_field(const struct world_doc *a, const struct world_doc *b, uint32_t field,
                         bool descending)
{
    uint32_t count;
    int order;

    if (world_field_spec(field)->type == FIELD_KEYWORD ||
        world_field_spec(field)->type == FIELD_CATEGORY) {
        const char *const *names = world_names(field, &count);

        if (!a->names[field] || !b->names[field])
            return !a->names[field] - !b->names[field];
        order = strcmp(names[__builtin_ctzll(a->names[field])],
                       names[__builtin_ctzll(b->names[field])]);
    } else {
        int64_t x = a->numbers[field];
        int64_t y = b->numbers[field];

        if (x == COLUMN_NULL || y == COLUMN_NULL)
            return (x == COLUMN_NULL) - (y == COLUMN_NULL);
        order = (x > y) - (x < y);
    }
    return descending ? -order : order;
}

static double distance_to(const struct world_doc *doc, const struct query_sort *sort)
{
    int32_t lat;
    int32_t lon;

    if (doc->numbers[WORLD_POINT] == COLUMN_NULL)
        return NAN;
    geo_unpack(doc->numbers[WORLD_POINT], &lat, &lon);
    return geo_distance_m(lat, lon, sort->lat, sort->lon);
}

static int compare_by(const struct order *order, const struct query_sort *sort,
                      const struct query_hit *a, const struct query_hit *b)
{
    const struct world_doc *x = &order->world->docs[world_slot(a->id)];
    const struct world_doc *y = &order->world->docs[world_slot(b->id)];
    uint32_t formula;
    double far_x;
    double far_y;

    switch (sort->kind) {
    case SORT_RELEVANCE:
        return (a->score < b->score) - (a->score > b->score);
    case SORT_FIELD:
        return compare_field(x, y, naive_field(order->world, sort->field), sort->descending);
    case SORT_DISTANCE:
        far_x = distance_to(x, sort);
        far_y = distance_to(y, sort);
        if (sort->descending && !isnan(far_x) && !isnan(far_y))
            return compare_doubles(far_y, far_x);
        return compare_doubles(far_x, far_y);
    default:
        formula = formula_number(sort->formula);
        far_x = formula_value(order->world, formula, a->id, a->score);
        far_y = formula_value(order->world, formula, b->id, b->score);
        if (isnan(far_x) || isnan(far_y))
            return compare_doubles(far_x, far_y);
        return compare_doubles(far_y, far_x);
    }
}

static int compare_hits(const struct order *order, const struct query_hit *a,
                        const struct query_hit *b)
{
    const struct query_stage *stage = order->stage;
    const struct query_sort relevance = {.kind = SORT_RELEVANCE};
    uint32_t i;

    if (!stage->sort_count && stage->text.count && compare_by(order, &relevance, a, b))
        return compare_by(order, &relevance, a, b);
    for (i = 0; i < stage->sort_count; i++) {
        int result = compare_by(order, &stage->sorts[i], a, b);

        if (result)
            return result;
    }
    return (a->id > b->id) - (a->id < b->id);
}

/* ---- one query ---- */

static void check_scores(struct bench *bench, const struct query_stage *stage,
                         const struct query_answer *answer)
{
    const struct snapshot *snapshot = NULL;
    struct text_plan *plan = NULL;
    struct text_stats stats = {0};
    struct naive_text text = naive_text(bench->world, &stage->text, bench->arena);
    struct analysis *analysis = analysis_new();
    static const struct query_tuning none = {0};
    struct err err;
    uint32_t i;

    assert_int_equal(shard_enter(bench->stats_reader, &snapshot, &err), 0);
    assert_int_equal(
        text_plan_new(snapshot, analysis, &stage->text, &none, bench->arena, &plan, &err), 0);
    if (plan)
        text_plan_stats(plan, bench->arena, &stats);
    for (i = 0; i < answer->hit_count; i++) {
        double expected =
            plan ? naive_score(bench->world, snapshot->lexicon, &stats, &text, answer->hits[i].id)
                 : 0;

        if (fabs((double)answer->hits[i].score - expected) > 1e-4 * (1 + fabs(expected)))
            fail_msg("the score of %u is %.9g, not %.9g", answer->hits[i].id,
                     (double)answer->hits[i].score, expected);
    }
    shard_exit(bench->stats_reader);
    analysis_free(analysis);
}

/* The whole list against both evaluators. */
static void check_full(struct bench *bench, const struct query_plan *plan, uint32_t index,
                       const struct query_answer *full)
{
    const struct query_stage *stage = &plan->stages[index];
    const struct order order = {bench->world, stage};
    struct naive_answer *docs = arena_zero(bench->arena, sizeof(*docs));
    struct naive_answer *sets = arena_zero(bench->arena, sizeof(*sets));
    uint32_t i;

    naive_by_docs(bench->world, plan, stage, bench->arena, docs);
    naive_by_sets(bench->world, plan, stage, bench->arena, sets);
    assert_int_equal(docs->total, sets->total);
    assert_memory_equal(docs->hits, sets->hits, sizeof(docs->hits));
    for (i = 0; i < stage->facet_count; i++) {
        compare_facets(&docs->facets[i], &sets->facets[i], "the evaluators");
        compare_facets(&full->facets[i], &docs->facets[i], "the engine");
    }
    if (full->total != docs->total || full->hit_count != docs->total)
        fail_msg("%ju hits in all, %u in the list, not %ju", (uintmax_t)full->total,
                 full->hit_count, (uintmax_t)docs->total);
    for (i = 0; i < full->hit_count; i++)
        if (!docs->hits[world_slot(full->hits[i].id)])
            fail_msg("%u is not a hit", full->hits[i].id);
    for (i = 1; i < full->hit_count; i++)
        if (compare_hits(&order, &full->hits[i - 1], &full->hits[i]) >= 0)
            fail_msg("hit %u (%u) should not stand before %u", i - 1, full->hits[i - 1].id,
                     full->hits[i].id);
    if (bench->settled)
        check_scores(bench, stage, full);
}

static void check_offset(struct bench *bench, const struct query_plan *plan, uint32_t index,
                         const struct query_answer *full)
{
    struct query_stage stage = plan->stages[index];
    struct query_answer page;
    uint32_t count;

    stage.offset = (uint32_t)rng_below(&bench->rng, full->hit_count + 3);
    stage.limit = (uint32_t)rng_below(&bench->rng, 20);
    stage.total = (uint8_t)rng_below(&bench->rng, 2);
    if (stage.total == TOTAL_NONE)
        stage.facet_count = 0;
    page = ask_stage(bench, plan, index, &stage);
    count = stage.offset < full->hit_count ? full->hit_count - stage.offset : 0;
    if (count > stage.limit)
        count = stage.limit;
    compare_list(&page, full->hits + (count ? stage.offset : 0), count, "a page");
    if (stage.total == TOTAL_EXACT)
        assert_int_equal(page.total, full->total);
}

/* The same hits where no further page is wanted, with scores only if they are sorted by those. */
static void check_no_cursor(struct bench *bench, const struct query_plan *plan, uint32_t index,
                            const struct query_answer *full)
{
    struct query_stage stage = plan->stages[index];
    bool by_score = stage.sort_count == 0 && stage.text.count > 0;
    struct query_answer page;
    uint32_t count;
    uint32_t i;

    for (i = 0; i < stage.sort_count; i++)
        by_score |= stage.sorts[i].kind == SORT_RELEVANCE || stage.sorts[i].kind == SORT_FORMULA;
    stage.limit = (uint32_t)rng_below(&bench->rng, 20);
    stage.no_cursor = true;
    page = ask_stage(bench, plan, index, &stage);
    count = full->hit_count < stage.limit ? full->hit_count : stage.limit;
    assert_int_equal(page.hit_count, count);
    assert_int_equal(page.total, full->total);
    assert_int_equal(page.cursor.size, 0);
    for (i = 0; i < count; i++) {
        assert_int_equal(page.hits[i].id, full->hits[i].id);
        assert_true(by_score || page.hits[i].score == 0);
        assert_true(page.hits[i].score == 0 || page.hits[i].score == full->hits[i].score);
    }
    for (i = 0; i < page.facet_count; i++)
        compare_facets(&page.facets[i], &full->facets[i], "without a cursor");
}

/* The list without what is more than cap of one brand. */
static uint32_t cap_list(const struct world *world, const struct query_hit *hits, uint32_t count,
                         uint32_t cap, struct query_hit *kept)
{
    uint32_t seen[64] = {0};
    uint32_t kept_count = 0;
    uint32_t i;

    for (i = 0; i < count; i++) {
        uint64_t brand = world->docs[world_slot(hits[i].id)].names[WORLD_BRAND];

        if (cap && brand && ++seen[__builtin_ctzll(brand)] > cap)
            continue;
        kept[kept_count++] = hits[i];
    }
    return kept_count;
}

static void check_cursor(struct bench *bench, const struct query_plan *plan, uint32_t index,
                         const struct query_answer *full)
{
    struct query_stage stage = plan->stages[index];
    struct query_hit *expected = arena_array(bench->arena, full->hit_count + 1, sizeof(*expected));
    struct query_answer page;
    uint32_t count;
    uint32_t done = 0;
    uint32_t pages = 0;

    stage.facet_count = 0;
    if (rng_below(&bench->rng, 2)) {
        stage.cap = 1 + (uint32_t)rng_below(&bench->rng, 3);
        stage.cap_field = bytes_of("brand");
    }
    count = cap_list(bench->world, full->hits, full->hit_count, stage.cap, expected);
    stage.limit = 1 + count / 5 + (uint32_t)rng_below(&bench->rng, 5);
    do {
        uint32_t rest = count - done < stage.limit ? count - done : stage.limit;

        page = ask_stage(bench, plan, index, &stage);
        compare_list(&page, expected + done, rest, "a page by cursor");
        assert_int_equal(page.total, full->total);
        done += rest;
        stage.cursor = page.cursor;
        assert_int_equal(page.cursor.size == 0, done == count);
    } while (page.cursor.size && ++pages < 10);
}

struct reranked_hit {
    double value;
    struct query_hit hit;
};

static int compare_reranked(const void *a, const void *b)
{
    const struct reranked_hit *x = a;
    const struct reranked_hit *y = b;
    int order = isnan(x->value) || isnan(y->value) ? compare_doubles(x->value, y->value)
                                                   : compare_doubles(y->value, x->value);

    return order ? order : (x->hit.id > y->hit.id) - (x->hit.id < y->hit.id);
}

static void check_rerank(struct bench *bench, const struct query_plan *plan, uint32_t index,
                         const struct query_answer *full)
{
    struct query_stage stage = plan->stages[index];
    struct query_hit *expected = arena_array(bench->arena, full->hit_count + 1, sizeof(*expected));
    struct reranked_hit *order = arena_array(bench->arena, full->hit_count + 1, sizeof(*order));
    uint32_t formula = (uint32_t)rng_below(&bench->rng, formula_count(bench->world));
    struct query_answer page;
    uint32_t first;
    uint32_t i;

    stage.facet_count = 0;
    stage.rerank = bytes_of(formula_text(formula));
    stage.rerank_count = (uint32_t)rng_below(&bench->rng, 60);
    stage.limit = 30;
    first = stage.rerank_count < full->hit_count ? stage.rerank_count : full->hit_count;
    for (i = 0; i < first; i++)
        order[i] = (struct reranked_hit){
            formula_value(bench->world, formula, full->hits[i].id, full->hits[i].score),
            full->hits[i]};
    qsort(order, first, sizeof(*order), compare_reranked);
    for (i = 0; i < full->hit_count; i++)
        expected[i] = i < first ? order[i].hit : full->hits[i];
    page = ask_stage(bench, plan, index, &stage);
    compare_list(&page, expected, full->hit_count < 30 ? full->hit_count : 30, "a second phase");
}

static struct query_tuning random_tuning(struct rng *rng)
{
    return (struct query_tuning){.use_sets = (int8_t)((int)rng_below(rng, 3) - 1),
                                 .use_windows = (int8_t)((int)rng_below(rng, 3) - 1),
                                 .use_bounds = (int8_t)((int)rng_below(rng, 3) - 1),
                                 .best_first = (int8_t)((int)rng_below(rng, 3) - 1),
                                 .use_meeting = (int8_t)((int)rng_below(rng, 3) - 1),
                                 .use_codes = (int8_t)((int)rng_below(rng, 3) - 1),
                                 .facet_lists = (int8_t)((int)rng_below(rng, 3) - 1),
                                 .use_order = (int8_t)((int)rng_below(rng, 3) - 1),
                                 .facet_names = (int8_t)((int)rng_below(rng, 3) - 1),
                                 .page_lists = (int8_t)((int)rng_below(rng, 3) - 1)};
}

static void check_tunings(struct bench *bench, const struct query_plan *plan, uint32_t index,
                          const struct query_answer *full)
{
    struct query_stage stage = plan->stages[index];
    uint32_t limit = 1 + (uint32_t)rng_below(&bench->rng, 12);
    struct query_answer first = {0};
    struct query_plan paged;
    int i;

    stage.limit = limit;
    paged = with_stage(bench, plan, index, &stage);
    for (i = 0; i < TUNING_COUNT; i++) {
        struct query_tuning tuning = random_tuning(&bench->rng);
        struct query_answer answer = ask(bench, &paged, index, i ? &tuning : NULL);

        compare_list(&answer, full->hits, full->hit_count < limit ? full->hit_count : limit,
                     "a forced choice");
        if (i)
            compare_answers(&answer, &first, "a forced choice");
        else
            first = answer;
    }
}

static void check_explain(struct bench *bench, const struct query_plan *plan, uint32_t index,
                          const struct query_answer *full)
{
    int i;

    for (i = 0; i < 3; i++) {
        docid id = world_id(world_random_slot(&bench->rng));
        struct explanation explanation;
        struct err err;
        float score = 0;
        bool is_hit = false;
        uint32_t k;

        if (i == 0 && full->hit_count)
            id = full->hits[rng_below(&bench->rng, full->hit_count)].id;
        for (k = 0; k < full->hit_count && !is_hit; k++) {
            is_hit = full->hits[k].id == id;
            score = full->hits[k].score;
        }
        assert_int_equal(
            query_explain(bench->engine, plan, index, id, bench->arena, &explanation, &err), 0);
        if (explanation.holds != is_hit)
            fail_msg("of %u it is told: %.*s", id, BYTES_ARG(explanation.text));
        if (is_hit && bench->settled)
            assert_true(explanation.value == (double)score);
    }
}

static void check_query(struct bench *bench)
{
    struct query_plan plan = random_plan(bench->world, &bench->rng, bench->arena);
    uint32_t index = (uint32_t)rng_below(&bench->rng, plan.stage_count);
    struct query_stage stage = plan.stages[index];
    struct query_tuning tuning = {0};
    struct query_answer full;
    struct query_plan asked;

    if (getenv("TORG_SHOW"))
        show_plan(&plan);
    stage.limit = FULL_LIMIT;
    asked = with_stage(bench, &plan, index, &stage);
    if (!bench->settled && rng_below(&bench->rng, 2)) /* else choices are compared below */
        tuning = random_tuning(&bench->rng);
    full = ask(bench, &asked, index, &tuning);
    check_full(bench, &plan, index, &full);
    check_explain(bench, &plan, index, &full);
    if (bench->settled) {
        check_offset(bench, &plan, index, &full);
        check_cursor(bench, &plan, index, &full);
        check_no_cursor(bench, &plan, index, &full);
        check_rerank(bench, &plan, index, &full);
        check_tunings(bench, &plan, index, &full);
    }
    arena_reset(bench->arena);
}

/* ---- tests ---- */

static void work(struct world *world, uint64_t steps)
{
    struct err err;
    bool did = true;

    for (; steps > 0 && did; steps--)
        if (shard_work(world->shard, &did, &err))
            fail_msg("shard_work: %s", err.text);
}

static void equals_brute_force(void **state)
{
    struct shard_options options = {.buffer_doc_count_max = 64};
    uint64_t count = query_count() * 3 / 4;
    struct world world;
    struct bench bench;
    struct rng rng = seeded();
    uint64_t done = 0;
    int i;

    (void)state;
    while (done < count) {
        world_open(&world, rng_seeded(rng_next(&rng)), &options);
        bench_open(&bench, &world, rng_seeded(rng_next(&rng)));
        for (i = 0; i < 40 && done + bench.run_count < count; i++) {
            uint64_t steps = rng_below(&world.rng, 60);
            int k;

            for (; steps > 0; steps--)
                world_step(&world);
            world_publish(&world);
            work(&world, rng_below(&world.rng, 6));
            for (k = 0; k < 10; k++)
                check_query(&bench);
        }
        done += bench.run_count;
        bench_close(&bench);
        world_close(&world);
    }
    print_message("# %ju queries\n", (uintmax_t)done);
}

static void equals_after_reopening(void **state)
{
    struct shard_options options = {.buffer_doc_count_max = 64};
    char dir[TEST_DIR_SIZE];
    struct world world;
    struct bench bench;
    struct rng rng = seeded();
    struct err err;
    int i;

    (void)state;
    assert_true(test_dir_make(dir));
    options.dir = dir;
    world_open(&world, rng_seeded(rng_next(&rng)), &options);
    for (i = 0; i < 12; i++) {
        uint64_t steps = 1 + rng_below(&world.rng, 100);
        int k;

        for (; steps > 0; steps--)
            world_step(&world);
        world_publish(&world);
        work(&world, rng_below(&world.rng, 4));
        assert_int_equal(shard_checkpoint(world.shard, &err), 0);
        shard_close(world.shard);
        if (shard_open(&options, &world.shard, &err))
            fail_msg("shard_open: %s", err.text);
        assert_int_equal(shard_offset(world.shard), world.offset);
        world_publish(&world);
        bench_open(&bench, &world, rng_seeded(rng_next(&rng)));
        for (k = 0; k < 10; k++)
            check_query(&bench);
        bench_close(&bench);
    }
    world_close(&world);
    assert_int_equal(dir_remove(dir, &err), 0);
}

struct rewriter {
    struct world *world;
    struct rng rng;
    _Atomic bool stop;
};

/* Moves documents from part to part without changing them. */
static void *rewrite(void *context)
{
    struct rewriter *rewriter = context;
    int i;

    while (!atomic_load(&rewriter->stop)) {
        for (i = 0; i < 20; i++)
            world_rewrite(rewriter->world, &rewriter->rng);
        world_publish(rewriter->world);
        work(rewriter->world, rng_below(&rewriter->rng, 4));
    }
    return NULL;
}

static void equals_while_written(void **state)
{
    struct shard_options options = {.buffer_doc_count_max = 64};
    uint64_t count = query_count() / 4;
    struct world world;
    struct bench bench;
    struct rng rng = seeded();
    uint64_t done = 0;
    pthread_t thread;
    int i;

    (void)state;
    while (done < count) {
        struct rewriter rewriter = {.world = &world, .rng = rng_seeded(rng_next(&rng))};

        world_open(&world, rng_seeded(rng_next(&rng)), &options);
        for (i = 0; i < 400; i++)
            world_step(&world);
        world_publish(&world);
        bench_open(&bench, &world, rng_seeded(rng_next(&rng)));
        bench.settled = false;
        assert_int_equal(pthread_create(&thread, NULL, rewrite, &rewriter), 0);
        while (bench.run_count < 2000 && done + bench.run_count < count)
            check_query(&bench);
        atomic_store(&rewriter.stop, true);
        pthread_join(thread, NULL);
        done += bench.run_count;
        bench_close(&bench);
        world_close(&world);
    }
    print_message("# %ju queries\n", (uintmax_t)done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_brute_force),
        cmocka_unit_test(equals_after_reopening),
        cmocka_unit_test(equals_while_written),
    };

    threads_only("equals_while_written");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
