/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pages.c - a list that is walked by its cursor while documents come in: who was there from the
 * beginning is met once, in the order of the first page, whatever comes in front of it or behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "query/query.h"

enum { TITLE, SELLER, PRICE, DATE, FIELD_COUNT };
enum { OLD_COUNT = 120, SELLER_COUNT = 30, NEW_ID = 1000, LIST_MAX = 4000, DAY = 86400 };

struct world {
    struct shard *shard;
    struct shard_reader *reader;
    struct query_engine *engine;
    struct arena *arena;
    struct rng rng;
    docid new_id;
    uint32_t seller_count; /* new ones, each with a name of its own */
    uint64_t offset;
};

static struct rng test_seed(void)
{
    const char *given = getenv("TORG_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : random_u64();

    printf("# TORG_SEED=%ju\n", (uintmax_t)seed);
    return rng_seeded(seed);
}

static void put(struct world *world, docid id, const char *seller, int64_t price)
{
    const struct bytes name = bytes_of(seller);
    const struct shard_value values[FIELD_COUNT] = {
        {.field = TITLE, .kind = VALUE_TEXT, .text = bytes_of("a box")},
        {.field = SELLER, .kind = VALUE_KEYWORDS, .keywords = {&name, 1}},
        {.field = PRICE, .kind = VALUE_NUMBER, .number = price},
        {.field = DATE, .kind = VALUE_NUMBER, .number = price * 7 % 1000},
    };
    const struct shard_document document = {.id = id, .values = values, .count = FIELD_COUNT};
    struct err err = {0};

    if (shard_put(world->shard, &document, &err))
        fail_msg("%s", err.text);
}

static void publish(struct world *world)
{
    struct err err = {0};

    if (shard_publish(world->shard, ++world->offset, &err))
        fail_msg("%s", err.text);
}

static void world_open(struct world *world, uint64_t seed)
{
    static const struct field fields[FIELD_COUNT] = {
        [TITLE] = {.type = FIELD_TEXT, .weight = 1, .name = "title"},
        [SELLER] = {.type = FIELD_KEYWORD, .filterable = true, .name = "seller"},
        [PRICE] = {.type = FIELD_INTEGER, .filterable = true, .name = "price"},
        [DATE] = {.type = FIELD_DATE, .name = "date"},
    };
    const struct shard_options options = {0};
    struct err err = {0};
    docid id;
    int i;

    *world = (struct world){.arena = arena_new(), .rng = rng_seeded(seed), .new_id = NEW_ID};
    assert_int_equal(shard_open(&options, &world->shard, &err), 0);
    for (i = 0; i < FIELD_COUNT; i++)
        assert_int_equal(shard_add_field(world->shard, &fields[i], NULL, &err), 0);
    for (id = 0; id < OLD_COUNT; id++)
        put(world, id,
            arena_printf(world->arena, "m%02u", (unsigned)rng_below(&world->rng, SELLER_COUNT)),
            (int64_t)rng_below(&world->rng, 50));
    publish(world);
    assert_int_equal(shard_reader_new(world->shard, &world->reader, &err), 0);
    world->engine = query_engine_new(world->shard, world->reader);
}

static void world_close(struct world *world)
{
    query_engine_free(world->engine);
    shard_reader_free(world->reader);
    shard_close(world->shard);
    arena_free(world->arena);
}

/* Documents of sellers nobody knew, whose names come before and behind the others'. */
static void come_in(struct world *world, uint32_t count)
{
    for (; count > 0; count--) {
        char first = (char)('a' + rng_below(&world->rng, 26));

        put(world, world->new_id++,
            arena_printf(world->arena, "%c-%u", first, world->seller_count++),
            (int64_t)rng_below(&world->rng, 60) - 5);
    }
    publish(world);
}

static const struct query_answer *ask(struct world *world, const struct query_stage *stage)
{
    const struct query_plan plan = {.stages = stage, .stage_count = 1};
    struct query_result result;
    struct err err = {0};

    if (query_run(world->engine, &plan, NULL, 0, world->arena, &result, &err))
        fail_msg("%s", err.text);
    return &result.answers[0];
}

/* Pages of the stage while others come in. */
static void check_pages(struct world *world, struct query_stage stage)
{
    const struct query_answer *page;
    docid expected[OLD_COUNT];
    uint32_t count, met = 0, i;

    come_in(world, 1);
    stage.limit = LIST_MAX;
    page = ask(world, &stage);
    assert_int_equal(page->cursor.size, 0);
    for (i = count = 0; i < page->hit_count; i++)
        if (page->hits[i].id < NEW_ID)
            expected[count++] = page->hits[i].id;
    do {
        stage.limit = 1 + (uint32_t)rng_below(&world->rng, 20);
        page = ask(world, &stage);
        for (i = 0; i < page->hit_count; i++) {
            if (page->hits[i].id >= NEW_ID)
                continue;
            if (met == count || page->hits[i].id != expected[met])
                fail_msg("hit %u is document %u, and should be %u", met, page->hits[i].id,
                         met < count ? expected[met] : DOCID_END);
            met++;
        }
        come_in(world, (uint32_t)rng_below(&world->rng, 6));
        stage.now += (int64_t)rng_below(&world->rng, 2) * DAY;
        stage.cursor = page->cursor;
    } while (page->cursor.size);
    assert_int_equal(met, count);
}

static void pages_stay_while_documents_come(void **state)
{
    const struct query_sort sorts[][2] = {
        {{.kind = SORT_FIELD, .field = BYTES_LITERAL("seller")}},
        {{.kind = SORT_FIELD, .field = BYTES_LITERAL("seller"), .descending = true}},
        {{.kind = SORT_FIELD, .field = BYTES_LITERAL("price")}},
        {{.kind = SORT_FIELD, .field = BYTES_LITERAL("price"), .descending = true}},
        {{.kind = SORT_FORMULA, .formula = BYTES_LITERAL("-age(date)")}},
        {{.kind = SORT_FORMULA, .formula = BYTES_LITERAL("age(date) / 86400")}},
        {{.kind = SORT_RELEVANCE}},
    };
    const struct query_sort by_seller = {
        .kind = SORT_FIELD, .field = BYTES_LITERAL("seller"), .descending = true};
    const struct text_clause box = {.boost = 1, .text = BYTES_LITERAL("box")};
    struct rng rng = test_seed();
    struct world world;
    size_t i;
    uint32_t way;

    (void)state;
    for (i = 0; i < sizeof(sorts) / sizeof(sorts[0]); i++) {
        for (way = 0; way < 8; way++) {
            struct query_sort both[] = {sorts[i][0], by_seller};
            struct query_stage stage = {
                .sorts = both, .sort_count = way & 1 ? 2 : 1, .now = 1000 * DAY};

            world_open(&world, rng_next(&rng));
            if (way & 2) {
                stage.cap = 1 + (uint32_t)rng_below(&world.rng, 3);
                stage.cap_field = bytes_of("seller");
            }
            if (way & 4)
                stage.text = (struct query_text){.clauses = &box, .count = 1};
            check_pages(&world, stage);
            world_close(&world);
        }
    }
}

static void a_cursor_of_other_words_is_refused(void **state)
{
    struct text_clause prefix = {
        .kind = CLAUSE_PREFIX, .boost = 1, .text = bytes_of("bo"), .word_max = 3};
    struct query_stage stage = {.text = {.clauses = &prefix, .count = 1}, .limit = 5};
    const struct query_plan plan = {.stages = &stage, .stage_count = 1};
    struct query_result result;
    struct world world;
    struct err err = {0};

    (void)state;
    world_open(&world, 1);
    stage.cursor = ask(&world, &stage)->cursor;
    assert_true(stage.cursor.size > 0);
    assert_int_equal(ask(&world, &stage)->hit_count, 5);
    prefix.word_max = 2;
    assert_int_equal(query_run(world.engine, &plan, NULL, 0, world.arena, &result, &err),
                     ERR_INVALID);
    assert_non_null(strstr(err.text, "another query"));
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_stay_while_documents_come),
        cmocka_unit_test(a_cursor_of_other_words_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
