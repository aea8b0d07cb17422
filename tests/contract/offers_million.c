/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offers_million.c - a seller of very many offers pages and counts as fast as one of a thousand, on
 * every backend.
 *
 * TORG_SELLER_OFFERS says how many (default 120 000, in a sanitizer build some seconds to fill; by
 * hand 1 000 000). Times are compared with each other only: those of a page at the list's
 * begin, of one deep in it, and of the same pages of a small seller. That no more rows are touched
 * is told by the stores' plans.
 */
#include "contract/offers_fixture.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "long.h"
#include "offers/bounds.h"
#include "offers/change/offer_save.h"
#include "offers/lists/cabinet.h"
#include "offers/lists/counters.h"
#include "offers/record/offer_counts.h"

enum {
    SMALL_COUNT = 1200,
    BIG_COUNT = 36000,
    BIG_COUNT_LONG = 1000000,
    GROUP = 12, /* what place_fill takes */
    SAMPLE_COUNT = 41,
    PAGE_COUNT = OFFER_PAGE_COUNT,
    RATIO_MAX = 5, /* a scan of the list would be thirty times as slow */
    THREAD_COUNT = 12,
    PUBLISH_COUNT = 10, /* of a thread */
    PLAN_SIZE = 16 << 10,
};

static size_t big_count(void)
{
    return (size_t)test_count("TORG_SELLER_OFFERS", BIG_COUNT, BIG_COUNT_LONG) / GROUP * GROUP;
}

static struct offers_place *start(void **state)
{
    struct offers_place *place = *state;

    if (!place->store)
        skip();
    return place;
}

/* --- time --- */

struct question {
    const char *seller;
    int64_t preset; /* 0: counts, -1: totals */
    struct cabinet_place from;
};

static void ask(struct offers_place *place, const struct question *question)
{
    struct arena *arena = arena_new();
    Torg__V1__Offer *list[PAGE_COUNT];
    int64_t counts[CABINET_PRESET_COUNT];
    Torg__V1__GetTotalsResponse totals;
    struct cabinet_place at = question->from;
    struct err err = {0};
    size_t count = PAGE_COUNT;
    int rc;

    if (question->preset > 0)
        rc = cabinet_list(&place->offers, question->seller, question->preset, &at, PAGE_COUNT,
                          arena, list, &count, &err);
    else if (question->preset == 0)
        rc = cabinet_counts(&place->offers, question->seller, counts, &err);
    else
        rc = cabinet_totals(&place->offers, question->seller, arena, &totals, &err);
    if (rc)
        fail_msg("%s", err.text);
    assert_int_equal(count, PAGE_COUNT); /* a full page everywhere */
    arena_free(arena);
}

enum { QUESTION_COUNT = 4 };

/* In turns, and the fastest of each: what others do on the machine is not measured. */
static void time_of(struct offers_place *place, const struct question questions[QUESTION_COUNT],
                    int64_t fastest_us[QUESTION_COUNT])
{
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        for (size_t k = 0; k < QUESTION_COUNT; k++) {
            int64_t begin_us = clock_mono_us(clock_system()), taken_us;

            ask(place, &questions[k]);
            taken_us = clock_mono_us(clock_system()) - begin_us;
            if (!i || taken_us < fastest_us[k])
                fastest_us[k] = taken_us;
        }
    }
}

static struct cabinet_place deep(struct offers_place *place, size_t number)
{
    return (struct cabinet_place){clock_wall_us(&place->clock.base) - (int64_t)number * 1000,
                                  INT64_MAX};
}

static void compare(struct offers_place *place, const char *what, int64_t preset)
{
    size_t count = big_count();
    bool has_pages = preset > 0;
    const struct cabinet_place middle = deep(place, count / 2);
    const struct cabinet_place end = deep(place, count - count / 100 - 400);
    const struct question questions[QUESTION_COUNT] = {
        {"small", preset, cabinet_start},
        {"big", preset, cabinet_start},
        {"big", preset, has_pages ? middle : cabinet_start},
        {"big", preset, has_pages ? end : cabinet_start},
    };
    int64_t us[QUESTION_COUNT];
    int64_t bound_us;

    time_of(place, questions, us);
    bound_us = RATIO_MAX * (us[0] + 100); /* below that it is noise */
    print_message("# %-9s  of %d: %" PRId64 " us; of %zu: first %" PRId64 " us, middle %" PRId64
                  " us, end %" PRId64 " us\n",
                  what, SMALL_COUNT, us[0], count, us[1], us[2], us[3]);
    for (size_t i = 1; i < QUESTION_COUNT; i++)
        if (us[i] > bound_us)
            fail_msg("%s: more than %d times the time of a small seller", what, RATIO_MAX);
}

static void pages_and_counts_cost_the_same(void **state)
{
    struct offers_place *place = start(state);

    for (int64_t preset = PRESET_ALL; preset < TORG__V1__CABINET__PRESET__DRAFTS; preset++)
        compare(place, preset_name(preset), preset);
    compare(place, "counts", 0);
    compare(place, "totals", -1);
}

/* --- plans --- */

struct plan {
    const char *sql;
    const struct store_value *params;
    size_t param_count;
    char text[PLAN_SIZE];
};

static int explain(struct store_tx *tx, void *arg, struct err *err)
{
    struct plan *plan = arg;
    struct store_rows rows = store_select(tx, plan->sql, plan->params, plan->param_count);

    plan->text[0] = 0;
    while (store_next(&rows)) {
        size_t size = strlen(plan->text);

        for (size_t i = 0; i < rows.column_count; i++) {
            if (rows.columns[i].type == STORE_TEXT)
                snprintf(plan->text + size, PLAN_SIZE - size, "%.*s\n",
                         BYTES_ARG(rows.columns[i].bytes));
        }
    }
    return store_rows_end(&rows, err);
}

/* The most rows that one node of PostgreSQL's plan has really given. */
static int64_t rows_of(const char *text)
{
    int64_t most = 0;

    for (const char *at = strstr(text, "actual rows="); at; at = strstr(at + 1, "actual rows=")) {
        int64_t rows = strtoll(at + strlen("actual rows="), NULL, 10);

        most = rows > most ? rows : most;
    }
    return most;
}

static void check_plan(struct offers_place *place, const char *sql,
                       const struct store_value *params, size_t param_count, int64_t row_max)
{
    static struct plan plan;
    char text[1024];
    struct err err = {0};

    snprintf(text, sizeof(text), "%s %s",
             place->postgres ? "EXPLAIN (ANALYZE, TIMING OFF)" : "EXPLAIN QUERY PLAN", sql);
    plan = (struct plan){.sql = text, .params = params, .param_count = param_count};
    if (store_read(place->store, explain, &plan, &err))
        fail_msg("%s", err.text);
    if (place->postgres) {
        if (strstr(plan.text, "Seq Scan") || !strstr(plan.text, "Index") ||
            strstr(plan.text, "Rows Removed") || rows_of(plan.text) > row_max)
            fail_msg("%s", plan.text);
    } else if (strstr(plan.text, "SCAN ") || strstr(plan.text, "TEMP B-TREE") ||
               (!strstr(plan.text, "INDEX") && !strstr(plan.text, "PRIMARY KEY"))) {
        fail_msg("%s", plan.text);
    }
}

static void every_question_is_an_index_range(void **state)
{
    struct offers_place *place = start(state);
    const struct store_value seller = STORE_V_TEXT(bytes_of("big"));
    const struct store_value totals[] = {STORE_V_INT(seller_shard("big")), seller};

    for (int64_t preset = PRESET_ALL; preset < TORG__V1__CABINET__PRESET__DRAFTS; preset++) {
        for (size_t i = 0; i < 2; i++) {
            struct cabinet_place from = i ? deep(place, big_count() / 2) : cabinet_start;
            const struct store_value params[] = {seller, STORE_V_INT(preset),
                                                 STORE_V_INT(from.created_us), STORE_V_INT(from.id),
                                                 STORE_V_INT(PAGE_COUNT)};

            check_plan(place, cabinet_list_sql, params, 5, PAGE_COUNT);
        }
    }
    check_plan(place, cabinet_counts_sql, &seller, 1, 7);
    check_plan(place, cabinet_totals_sql, totals, 2, 5 * TOTAL_ROW_COUNT);
}

/* --- what is counted is right, also under a crowd --- */

static void paging_meets_every_offer_once(void **state)
{
    struct offers_place *place = start(state);
    struct cabinet_place at = cabinet_start;
    struct arena *arena = arena_new();
    Torg__V1__Offer *list[OFFER_BATCH_COUNT_MAX];
    int64_t counts[CABINET_PRESET_COUNT];
    size_t count = OFFER_BATCH_COUNT_MAX;
    int64_t seen = 0;
    int64_t last_us = INT64_MAX;
    struct err err = {0};

    while (count == OFFER_BATCH_COUNT_MAX) {
        assert_int_equal(cabinet_list(&place->offers, "small", PRESET_ALL, &at,
                                      OFFER_BATCH_COUNT_MAX, arena, list, &count, &err),
                         0);
        assert_true(!count || at.created_us < last_us);
        last_us = at.created_us;
        seen += (int64_t)count;
    }
    assert_int_equal(cabinet_counts(&place->offers, "small", counts, &err), 0);
    assert_int_equal(seen, counts[PRESET_ALL]);
    arena_free(arena);
}

struct crowd {
    struct offers_place *place;
    atomic_int done;
    atomic_int refused;
};

static void *publish(void *arg)
{
    struct crowd *crowd = arg;

    for (int i = 0; i < PUBLISH_COUNT; i++) {
        struct arena *arena = arena_new();
        Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
        struct author author = author_of("big", arena);
        struct err err = {0};

        if (offers_create(&crowd->place->offers, &author, content_of(arena, "books", i, 1, "RUB"),
                          &receipt, &err))
            crowd->refused++;
        else
            crowd->done++;
        arena_free(arena);
    }
    return NULL;
}

static void a_hot_seller_loses_no_update(void **state)
{
    struct crowd crowd = {.place = start(state)};
    pthread_t threads[THREAD_COUNT];
    int64_t before[CABINET_PRESET_COUNT], after[CABINET_PRESET_COUNT];
    struct err err = {0};

    assert_int_equal(cabinet_counts(&crowd.place->offers, "big", before, &err), 0);
    for (int i = 0; i < THREAD_COUNT; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, publish, &crowd), 0);
    for (int i = 0; i < THREAD_COUNT; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(crowd.refused, 0);
    assert_int_equal(cabinet_counts(&crowd.place->offers, "big", after, &err), 0);
    assert_int_equal(after[PRESET_ALL] - before[PRESET_ALL], crowd.done);
    assert_int_equal(after[TORG__V1__CABINET__PRESET__ACTIVE] -
                         before[TORG__V1__CABINET__PRESET__ACTIVE],
                     THREAD_COUNT * PUBLISH_COUNT);
    place_recount_figures(crowd.place);
}

/* The check of a large seller in its chunks: told is how long one holds the counters. */
static int take(void *arg, const Torg__V1__VerifyCountersResponse *answer, struct err *err)
{
    *(int64_t *)arg = answer->difference_count;
    return 0;
}

static void the_whole_is_verified(void **state)
{
    struct offers_place *place = start(state);
    Torg__V1__VerifyCountersRequest request = TORG__V1__VERIFY_COUNTERS_REQUEST__INIT;
    int64_t begin_us = clock_mono_us(clock_system());
    int64_t difference_count = -1;
    const struct counters_teller teller = {.tell = take, .arg = &difference_count};
    struct counters_run run;
    struct err err = {0};

    assert_int_equal(counters_start(&run, place->store, &place->clock.base, "test", &request, &err),
                     0);
    if (counters_go(&run, &teller, &err))
        fail_msg("%s", err.text);
    assert_int_equal(difference_count, 0);
    assert_int_equal(run.seller_count, 2 + 2000);
    print_message("# %" PRId64 " offers verified in %.1f s\n", run.offer_count,
                  (double)(clock_mono_us(clock_system()) - begin_us) / SECOND_US);
}

/* --- the list of cases --- */

static struct offers_place places[2];

/* Sellers beside them: of a table of one page no planner would use the index. */
static const char *const others[] = {
    "INSERT INTO user_offer_presets_count (seller_id, preset_id, counter) "
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) "
    "SELECT 'other' || i, 1, 0 FROM n",
    "INSERT INTO user_total_counters (shard_id, seller_id, counter_id, seq_no, counter_value) "
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) "
    "SELECT i % 64, 'other' || i, 'active', 0, 0 FROM n",
};

static int fill(struct offers_place *place)
{
    int64_t begin_us = clock_mono_us(clock_system());

    if (!offers_place_open(place, place == &places[1]))
        return 0;
    place_fill(place, "small", SMALL_COUNT);
    place_fill(place, "big", big_count());
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        exec(place->store, others[i]);
    exec(place->store, "ANALYZE");
    print_message("# %zu offers filled into %s in %.1f s\n", big_count(),
                  place->postgres ? "postgres" : "sqlite",
                  (double)(clock_mono_us(clock_system()) - begin_us) / SECOND_US);
    return 0;
}

static int fill_sqlite(void **state)
{
    *state = &places[0];
    return fill(&places[0]);
}

static int fill_postgres(void **state)
{
    *state = &places[1];
    return fill(&places[1]);
}

static int use_sqlite(void **state)
{
    *state = &places[0];
    return 0;
}

static int use_postgres(void **state)
{
    *state = &places[1];
    return 0;
}

static int close_place(void **state)
{
    offers_place_close(*state);
    return 0;
}

#define CASES(name)                                                                                \
    {#name ": every_question_is_an_index_range", every_question_is_an_index_range, fill_##name,    \
     NULL, NULL},                                                                                  \
        {#name ": pages_and_counts_cost_the_same", pages_and_counts_cost_the_same, use_##name,     \
         NULL, NULL},                                                                              \
        {#name ": paging_meets_every_offer_once", paging_meets_every_offer_once, use_##name, NULL, \
         NULL},                                                                                    \
        {#name ": a_hot_seller_loses_no_update", a_hot_seller_loses_no_update, use_##name, NULL,   \
         NULL},                                                                                    \
    {                                                                                              \
#name ": the_whole_is_verified", the_whole_is_verified, use_##name, close_place, NULL      \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {CASES(sqlite), CASES(postgres)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
