/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of query/text/text_plan.h: the engine against a naive evaluation, in all its ways. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/bounds.h"
#include "index/postings/kernels.h"
#include "text_world.h"

struct expected {
    bool match[WORLD_ID_MAX];
    double scores[WORLD_ID_MAX];
    uint32_t count;
};

static struct expected expected;
static float engine_scores[WORLD_ID_MAX]; /* of the first way; others must give the same bits */
static struct world_query query;

static void explain_query(void)
{
    uint32_t i;

    for (i = 0; i < query.text.count; i++)
        print_message("# clause %u: occur %d kind %d fields %d boost %g \"%s\"\n", i,
                      query.clauses[i].occur, query.clauses[i].kind, query.clauses[i].fields,
                      (double)query.clauses[i].boost, query.texts[i]);
    print_message("# should_min %u%s\n", query.text.should_min,
                  query.text.not_all ? ", not all" : "");
}

#define CHECK(holds)                                                                               \
    do {                                                                                           \
        if (!(holds))                                                                              \
            explain_query();                                                                       \
        assert_true(holds);                                                                        \
    } while (0)

static void expect(const struct world *world, const struct text_plan *plan)
{
    docid id;

    expected.count = 0;
    for (id = 0; id < WORLD_ID_MAX; id++) {
        expected.match[id] = world_match(world, &query, plan, id, &expected.scores[id]);
        expected.count += expected.match[id];
    }
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-4 * (fabs(b) > 1 ? fabs(b) : 1);
}

/* Scores of a window: one by one, and selected by a threshold. */
static void check_scores(struct text_plan *plan, uint32_t window, const struct window_bits *bits,
                         bool first, struct rng *rng)
{
    static uint16_t offsets[WINDOW_LIST_MAX + WINDOW_LIST_SPARE];
    static uint16_t found[WINDOW_LIST_MAX + WINDOW_LIST_SPARE];
    static float scores[WINDOW_LIST_MAX + WINDOW_LIST_SPARE];
    uint32_t count = kernels()->window_list(bits, offsets), found_count, above = 0, i;
    float threshold = -INFINITY;

    assert_int_equal(text_plan_score(plan, window, offsets, count, -INFINITY, scores, NULL), 0);
    for (i = 0; i < count; i++) {
        docid id = window_first(window) + offsets[i];

        CHECK(near((double)scores[i], expected.scores[id]));
        CHECK(scores[i] <= text_plan_bound(plan, window));
        CHECK(first || scores[i] == engine_scores[id]);
        engine_scores[id] = scores[i];
    }
    if (count && rng_below(rng, 4))
        threshold = scores[rng_below(rng, count)];
    for (i = 0; i < count; i++)
        above += scores[i] >= threshold;
    assert_int_equal(
        text_plan_select(plan, window, bits, threshold, found, scores, &found_count, NULL), 0);
    CHECK(found_count == above);
    for (i = 0; i < found_count; i++) {
        CHECK(window_test(bits, found[i]));
        CHECK(scores[i] == engine_scores[window_first(window) + found[i]] &&
              scores[i] >= threshold);
    }
}

static void check_windows(struct text_plan *plan, bool first, struct rng *rng)
{
    struct window_bits bits, among;
    uint32_t window, total = 0, wanted = 0, i;
    bool narrowed = !first && rng_below(rng, 3) == 0;
    docid id;

    for (i = 0; i < WINDOW_WORDS; i++)
        among.words[i] = rng_next(rng) | rng_next(rng);
    for (window = text_plan_next(plan, 0); window != WINDOW_END;
         window = text_plan_next(plan, window + 1)) {
        assert_int_equal(text_plan_match(plan, window, narrowed ? &among : NULL, &bits, NULL), 0);
        for (i = 0; i < WINDOW_SIZE; i++) {
            id = window_first(window) + i;
            CHECK(!window_test(&bits, i) || (id < WORLD_ID_MAX && expected.match[id]));
            total += window_test(&bits, i);
        }
        check_scores(plan, window, &bits, first, rng);
    }
    for (id = 0; id < WORLD_ID_MAX; id++)
        wanted += expected.match[id] && (!narrowed || window_test(&among, id % WINDOW_SIZE));
    CHECK(total == wanted);
}

static int odd_only(void *context, uint32_t window, struct window_bits *bits, struct err *err)
{
    (void)context;
    (void)err;
    memset(bits, window % 3 == 2 ? 0 : 0xAA, sizeof(*bits));
    return 0;
}

static bool passes(docid id)
{
    return id % 2 == 1 && window_of(id) % 3 != 2;
}

static int by_rank(const void *a, const void *b)
{
    const struct scored_doc *left = a, *right = b;

    if (isnan(left->value) != isnan(right->value))
        return isnan(left->value) ? 1 : -1;
    if (left->value != right->value && !isnan(left->value))
        return left->value < right->value ? 1 : -1;
    return left->id < right->id ? -1 : 1;
}

/* Some documents count more, some less, some have no value. */
static double weigh(void *context, docid id, float score)
{
    (void)context;
    return id % 11 == 5 ? (double)NAN : (double)score * (double)(id % 4) / 2;
}

static void check_top(struct text_plan *plan, bool filtered, bool weighed, uint32_t k)
{
    static const struct text_weigher weigher = {1.5, weigh};
    static struct scored_doc all[WORLD_ID_MAX], top[WORLD_ID_MAX];
    uint32_t count = 0, found, i;
    docid id;

    for (id = 0; id < WORLD_ID_MAX; id++) {
        if (expected.match[id] && (!filtered || passes(id)))
            all[count++] = (struct scored_doc){id, engine_scores[id],
                                               weighed ? weigh(NULL, id, engine_scores[id])
                                                       : (double)engine_scores[id]};
    }
    qsort(all, count, sizeof(all[0]), by_rank);
    assert_int_equal(text_plan_top(plan, k, filtered ? odd_only : NULL, weighed ? &weigher : NULL,
                                   NULL, top, &found, NULL),
                     0);
    CHECK(found == (count < k ? count : k));
    for (i = 0; i < found; i++)
        CHECK(top[i].id == all[i].id && top[i].score == all[i].score);
}

/* Then the same plan, made new again, tells the best. */
static void check_count(struct text_plan *plan, uint32_t k)
{
    uint64_t count;

    assert_int_equal(text_plan_count(plan, &count, NULL), 0);
    CHECK(count == expected.count);
    assert_int_equal(text_plan_rewind(plan, NULL), 0);
    check_top(plan, false, false, k);
}

static int by_id(const void *a, const void *b)
{
    docid left = *(const docid *)a, right = *(const docid *)b;

    return (left > right) - (left < right);
}

/* As lists of ids, which are then scored; by a plan that has been used for the best before. */
static void check_list(struct text_plan *plan)
{
    static docid ids[WORLD_ID_MAX + TEXT_TAKE_MAX];
    static float scores[WORLD_ID_MAX];
    uint32_t count, total = 0, i;

    if (!text_plan_has_list(plan, true))
        return;
    do {
        assert_int_equal(text_plan_take(plan, ids + total, &count, NULL), 0);
        for (i = total + 1; i < total + count; i++)
            CHECK(ids[i] > ids[i - 1]);
        total += count;
        CHECK(total <= expected.count);
    } while (count);
    CHECK(total == expected.count);
    qsort(ids, total, sizeof(ids[0]), by_id);
    for (i = 0; i < total; i++)
        CHECK(ids[i] < WORLD_ID_MAX && expected.match[ids[i]] && (i == 0 || ids[i] > ids[i - 1]));
    assert_int_equal(text_plan_score_ids(plan, ids, total, scores, NULL), 0);
    for (i = 0; i < total; i++)
        CHECK(scores[i] == engine_scores[ids[i]]);
}

static struct text_plan *plan_with(const struct world *world, const struct query_tuning *tuning,
                                   struct arena *arena)
{
    struct text_plan *plan;
    struct err err = {0};
    int rc =
        text_plan_new(world->snapshot, world->analysis, &query.text, tuning, arena, &plan, &err);

    if (rc) {
        explain_query();
        fail_msg("%s", err.text);
    }
    assert_non_null(plan);
    return plan;
}

/* A plan that is never scored matches, counts and lists the same. */
static void check_unscored(const struct world *world, const struct query_tuning *tuning,
                           struct text_shared *shared, struct arena *arena)
{
    const struct text_purpose purpose = {.no_scores = true, .shared = shared};
    static docid ids[WORLD_ID_MAX + TEXT_TAKE_MAX];
    struct window_bits bits;
    struct text_plan *plan;
    uint32_t window, taken, total = 0, i;
    uint64_t count;

    assert_int_equal(text_plan_make(world->snapshot, world->analysis, &query.text, tuning, &purpose,
                                    arena, &plan, NULL),
                     0);
    CHECK(text_plan_estimate(plan) >= expected.count);
    for (window = text_plan_next(plan, 0); window != WINDOW_END;
         window = text_plan_next(plan, window + 1)) {
        assert_int_equal(text_plan_match(plan, window, NULL, &bits, NULL), 0);
        for (i = 0; i < WINDOW_SIZE; i++)
            CHECK(!window_test(&bits, i) || expected.match[window_first(window) + i]);
        total += kernels()->window_count(&bits);
    }
    CHECK(total == expected.count);
    assert_int_equal(text_plan_rewind(plan, NULL), 0);
    assert_int_equal(text_plan_count(plan, &count, NULL), 0);
    CHECK(count == expected.count);
    assert_int_equal(text_plan_rewind(plan, NULL), 0);
    total = 0;
    do {
        if (!text_plan_has_list(plan, true))
            return;
        assert_int_equal(text_plan_take(plan, ids + total, &taken, NULL), 0);
        for (i = total; i < total + taken; i++)
            CHECK(expected.match[ids[i]] && (i == total || ids[i] > ids[i - 1]));
        total += taken;
        CHECK(total <= expected.count);
    } while (taken);
    CHECK(total == expected.count);
}

static void check_explain(const struct world *world, struct rng *rng, struct arena *arena)
{
    struct text_plan *plan = plan_with(world, NULL, arena);
    docid id = (docid)rng_below(rng, WORLD_ID_MAX);
    double sum = 0;
    uint32_t clause;

    while (!expected.match[id] && id > 0)
        id--;
    if (!expected.match[id])
        return;
    for (clause = 0; clause < query.text.count; clause++) {
        bool holds;
        float value;

        assert_int_equal(text_plan_explain(plan, id, clause, &holds, &value, NULL), 0);
        CHECK(holds == (query.clauses[clause].occur == OCCUR_MUST) ||
              query.clauses[clause].occur == OCCUR_SHOULD ||
              query.clauses[clause].occur == OCCUR_BONUS ||
              query.clauses[clause].occur == OCCUR_NOT);
        sum += query.clauses[clause].occur == OCCUR_NOT ? 0 : (double)value;
    }
    CHECK(near(sum, expected.scores[id]) || expected.scores[id] == 0);
}

static void check_query(const struct world *world, struct rng *rng)
{
    static const uint32_t ks[] = {1, 3, 10, 100, 5000};
    struct arena *arena = arena_new();
    struct text_shared shared = {0};
    bool first = true;
    int windows, bounds;

    world_ask(rng, &query);
    expect(world, plan_with(world, NULL, arena));
    for (windows = -1; windows <= 1; windows++) {
        for (bounds = -1; bounds <= 1; bounds++) {
            struct query_tuning tuning = {.use_windows = (int8_t)windows,
                                          .use_bounds = (int8_t)bounds,
                                          .best_first = (int8_t)((int)rng_below(rng, 3) - 1),
                                          .use_meeting = (int8_t)((int)rng_below(rng, 3) - 1),
                                          .use_codes = (int8_t)((int)rng_below(rng, 3) - 1)};
            struct text_plan *plan = plan_with(world, &tuning, arena);

            CHECK(text_plan_estimate(plan) >= expected.count);
            /* The first goes without a filter, and so knows all scores. */
            check_windows(plan, first, rng);
            first = false;
            check_top(plan_with(world, &tuning, arena), rng_below(rng, 2), rng_below(rng, 3) == 0,
                      ks[rng_below(rng, ARRAY_COUNT(ks))]);
            plan = plan_with(world, &tuning, arena);
            check_count(plan, ks[rng_below(rng, ARRAY_COUNT(ks))]);
            assert_int_equal(text_plan_rewind(plan, NULL), 0);
            check_list(plan);
            check_unscored(world, &tuning, &shared, arena);
        }
    }
    check_explain(world, rng, arena);
    arena_free(arena);
}

static struct rng seed(void)
{
    const char *given = getenv("TORG_SEED");
    uint64_t value = given ? strtoull(given, NULL, 0) : random_u64();

    print_message("# seed %ju\n", (uintmax_t)value);
    return rng_seeded(value);
}

static uint32_t scale(void)
{
    const char *given = getenv("TORG_TEST_SCALE");

    return given ? (uint32_t)strtoul(given, NULL, 10) : 1;
}

static void equals_a_naive_evaluation(void **state)
{
    struct rng rng = seed();
    struct world *world = world_new();
    uint32_t round, i, rounds = 6;

    (void)state;
    for (round = 0; round < rounds; round++) {
        world_change(world, &rng, round == 0 ? 20 : 900, round % 2);
        world_enter(world);
        for (i = 0; i < 12 * scale(); i++)
            check_query(world, &rng);
        world_exit(world);
    }
    world_free(world);
}

static uint64_t count_text(const struct world *world, const struct text_clause *clause,
                           struct arena *arena)
{
    const struct query_text text = {.clauses = clause, .count = 1};
    struct text_plan *plan;
    uint64_t found = 0;

    assert_int_equal(
        text_plan_new(world->snapshot, world->analysis, &text, NULL, arena, &plan, NULL), 0);
    assert_int_equal(text_plan_count(plan, &found, NULL), 0);
    return found;
}

/* Plans that share what a beginning means find what each would alone. Documents that one finds. */
static uint64_t check_known(const struct world *world, struct text_clause *clause,
                            struct arena *arena)
{
    const struct query_text text = {.clauses = clause, .count = 1};
    struct text_shared shared = {0};
    const struct text_purpose purpose = {.no_scores = true, .shared = &shared};
    uint64_t sum = 0;

    for (clause->word_max = 1; clause->word_max < 8; clause->word_max++) {
        uint64_t alone = count_text(world, clause, arena), found;

        for (int i = 0; i < 2; i++) {
            struct text_plan *plan;

            assert_int_equal(text_plan_make(world->snapshot, world->analysis, &text, NULL, &purpose,
                                            arena, &plan, NULL),
                             0);
            assert_int_equal(text_plan_count(plan, &found, NULL), 0);
            assert_int_equal(found, alone);
        }
        sum += alone;
    }
    return sum;
}

static bool has_any(const struct world *world, const struct world_doc *doc,
                    const struct text_term_stat *words, uint32_t count)
{
    for (uint32_t i = 0; i < doc->count; i++)
        for (uint32_t k = 0; k < count; k++)
            if (bytes_equal(lexicon_term(world->snapshot->lexicon, doc->tokens[i].term),
                            words[k].word))
                return true;
    return false;
}

/* By looking at all of them. */
static uint64_t count_naively(const struct world *world, const struct text_term_stat *words,
                              uint32_t count)
{
    uint64_t found = 0;

    for (docid id = 0; id < WORLD_ID_MAX; id++)
        found += world->docs[id].lives && has_any(world, &world->docs[id], words, count);
    return found;
}

static int compare_stats(const void *a, const void *b)
{
    const struct text_term_stat *left = a, *right = b;

    return (left->df < right->df) - (left->df > right->df);
}

/* The words that most documents have are the ones that a prefix is taken to mean. */
static void a_prefix_may_be_its_most_frequent_words(void **state)
{
    static const char *const prefixes[] = {"s", "г", "ди", "к", "в"};
    struct rng rng = seed();
    struct world *world = world_new();
    uint32_t cut_count = 0, i, k, max;

    (void)state;
    world_change(world, &rng, 900, true);
    world_enter(world);
    for (i = 0; i < ARRAY_COUNT(prefixes); i++) {
        struct text_clause clause = {.kind = CLAUSE_PREFIX, .text = bytes_of(prefixes[i])};
        const struct query_text text = {.clauses = &clause, .count = 1};
        struct text_term_stat all[LEXICON_EXPAND_COUNT_MAX], some[LEXICON_EXPAND_COUNT_MAX];
        struct arena *arena = arena_new();
        struct text_plan *plan;
        uint32_t count = 0;

        assert_int_equal(
            text_plan_words(world->snapshot, world->analysis, &text, NULL, arena, &plan, NULL), 0);
        while (text_plan_term(plan, count, &all[count]))
            count++;
        qsort(all, count, sizeof(all[0]), compare_stats);
        for (max = 1; max <= count + 1; max++) {
            clause.word_max = max;
            assert_int_equal(
                text_plan_words(world->snapshot, world->analysis, &text, NULL, arena, &plan, NULL),
                0);
            for (k = 0; text_plan_term(plan, k, &some[k]); k++)
                assert_true(some[k].df >= all[max < count ? max - 1 : count - 1].df);
            assert_int_equal(k, max < count ? max : count);
            assert_int_equal(count_text(world, &clause, arena), count_naively(world, some, k));
            cut_count += max < count;
        }
        clause.word_max = count + 1;
        k = (uint32_t)count_text(world, &clause, arena);
        clause.word_max = 0;
        assert_int_equal(count_text(world, &clause, arena), k); /* all are all */
        cut_count += check_known(world, &clause, arena);
        arena_free(arena);
    }
    assert_true(cut_count > 0);
    world_exit(world);
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_a_naive_evaluation),
        cmocka_unit_test(a_prefix_may_be_its_most_frequent_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
