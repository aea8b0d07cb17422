/* SPDX-License-Identifier: Apache-2.0 */
/* What explain tells: values as people write them, and something of every id there can be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "query/query.h"

enum { TITLE, POINT, PRICE, FIELD_COUNT };

struct world {
    struct shard *shard;
    struct shard_reader *reader;
    struct query_engine *engine;
    struct arena *arena;
};

static int setup(void **state)
{
    static const struct field fields[FIELD_COUNT] = {
        [TITLE] = {.type = FIELD_TEXT, .weight = 1, .name = "title"},
        [POINT] = {.type = FIELD_GEO, .filterable = true, .name = "point"},
        [PRICE] = {.type = FIELD_INTEGER, .filterable = true, .name = "price"},
    };
    const struct shard_value values[FIELD_COUNT] = {
        {.field = TITLE, .kind = VALUE_TEXT, .text = bytes_of("a red box")},
        {.field = POINT, .kind = VALUE_GEO, .geo = {557500000, 376200000}},
        {.field = PRICE, .kind = VALUE_NUMBER, .number = 5},
    };
    const struct shard_document document = {.id = 7, .values = values, .count = FIELD_COUNT};
    const struct shard_options options = {0};
    static struct world world;
    struct err err = {0};
    int i;

    world = (struct world){.arena = arena_new()};
    assert_int_equal(shard_open(&options, &world.shard, &err), 0);
    for (i = 0; i < FIELD_COUNT; i++)
        assert_int_equal(shard_add_field(world.shard, &fields[i], NULL, &err), 0);
    assert_int_equal(shard_put(world.shard, &document, &err), 0);
    assert_int_equal(shard_publish(world.shard, 1, &err), 0);
    assert_int_equal(shard_reader_new(world.shard, &world.reader, &err), 0);
    world.engine = query_engine_new(world.shard, world.reader);
    *state = &world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;

    query_engine_free(world->engine);
    shard_reader_free(world->reader);
    shard_close(world->shard);
    arena_free(world->arena);
    return 0;
}

static struct explanation explain(struct world *world, const struct query_stage *stage, docid id)
{
    const struct query_plan plan = {.stages = stage, .stage_count = 1};
    struct explanation told;
    struct err err = {0};

    if (query_explain(world->engine, &plan, 0, id, world->arena, &told, &err))
        fail_msg("%s", err.text);
    return told;
}

/* Whether the explanation, or one inside it, says so. */
static bool tells(const struct world *world, const struct explanation *told, const char *part)
{
    uint32_t i;

    if (strstr(arena_text(world->arena, told->text), part))
        return true;
    for (i = 0; i < told->count; i++)
        if (tells(world, &told->children[i], part))
            return true;
    return false;
}

static void a_point_is_told_in_degrees(void **state)
{
    const struct query_filter filters[] = {
        {.kind = FILTER_EXISTS, .field = bytes_of("point")},
        {.kind = FILTER_BOX, .field = bytes_of("point"), .box = {0, 900000000, 0, 900000000}},
    };
    struct query_stage stage = {.limit = 1};
    size_t i;

    for (i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
        struct explanation told;

        stage.filter = &filters[i];
        told = explain(*state, &stage, 7);
        assert_true(told.holds);
        assert_true(tells(*state, &told, "it is 55.75000, 37.62000"));
    }
}

static void an_id_that_is_not_there_is_told(void **state)
{
    static const docid ids[] = {0, 8, 4095, 4096, 1 << 21, UINT32_MAX - 1, UINT32_MAX};
    const struct text_clause clause = {.boost = 1, .text = bytes_of("box")};
    const struct query_filter cheap = {
        .kind = FILTER_RANGE, .field = bytes_of("price"), .low = INT64_MIN, .high = 9};
    const struct query_sort sort = {.kind = SORT_DISTANCE, .field = bytes_of("point")};
    const struct query_stage stage = {.text = {.clauses = &clause, .count = 1},
                                      .filter = &cheap,
                                      .sorts = &sort,
                                      .sort_count = 1,
                                      .limit = 1};
    size_t i;

    assert_true(explain(*state, &stage, 7).holds);
    for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        struct explanation told = explain(*state, &stage, ids[i]);

        assert_false(told.holds);
        assert_true(tells(*state, &told, "does not have the document"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_point_is_told_in_degrees),
        cmocka_unit_test(an_id_that_is_not_there_is_told),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
