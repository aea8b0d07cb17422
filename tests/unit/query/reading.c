/* SPDX-License-Identifier: Apache-2.0 */
/* reading.c - which shards go by one reading of a query, and which have their own. */
#include "query/request/reading.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "query/request/response.h"

struct asker {
    struct shard *shard;
    struct shard_reader *reader;
    struct query_engine *engine;
};

static const struct field title = {.type = FIELD_TEXT, .weight = 3, .name = "title"};
static const struct field price = {.type = FIELD_INTEGER, .name = "price"};
static const struct field colour = {.type = FIELD_KEYWORD, .name = "colour"};

static void add(struct asker *asker, const struct field *field)
{
    struct err err = {0};

    if (shard_add_field(asker->shard, field, NULL, &err))
        fail_msg("%s", err.text);
}

static struct asker asker_open(const struct field *first, const struct field *second)
{
    const struct shard_options options = {0};
    struct asker asker = {0};
    struct err err = {0};

    assert_int_equal(shard_open(&options, &asker.shard, &err), 0);
    add(&asker, first);
    add(&asker, second);
    assert_int_equal(shard_reader_new(asker.shard, &asker.reader, &err), 0);
    asker.engine = query_engine_new(asker.shard, asker.reader);
    return asker;
}

static void asker_close(struct asker *asker)
{
    query_engine_free(asker->engine);
    shard_reader_free(asker->reader);
    shard_close(asker->shard);
}

static struct query_request take(struct reading *reading, struct asker *asker)
{
    struct query_request request;
    struct err err = {0};

    if (reading_take(reading, asker->engine, &request, &err))
        fail_msg("%s", err.text);
    return request;
}

/* Of a text, sorted by the price. */
static const Torg__V1__Query *make_query(void)
{
    static Torg__V1__Query query = TORG__V1__QUERY__INIT;
    static Torg__V1__QueryStage stages[2];
    static Torg__V1__Sort sort = TORG__V1__SORT__INIT;
    static Torg__V1__Sort *sorts[] = {&sort};
    static Torg__V1__QueryStage *both[] = {&stages[0], &stages[1]};

    sort.field = "price";
    for (int i = 0; i < 2; i++) {
        torg__v1__query_stage__init(&stages[i]);
        stages[i].text = "red bicycle";
    }
    stages[0].sorts = sorts;
    stages[0].n_sorts = 1;
    query.stages = both;
    query.n_stages = 2;
    return &query;
}

static void shards_with_the_same_fields_share_a_reading(void **state)
{
    struct asker one = asker_open(&title, &price), two = asker_open(&title, &price);
    struct arena *arena = arena_new();
    struct query_request first, second;
    struct reading reading;

    (void)state;
    reading_init(&reading, make_query(), 0, arena);
    first = take(&reading, &one);
    second = take(&reading, &two);
    assert_ptr_equal(first.plan.stages, second.plan.stages);
    assert_ptr_equal(take(&reading, &one).plan.stages, first.plan.stages);
    assert_int_equal(reading.read_count, 1);
    assert_int_equal(first.plan.stages[0].text.clauses[0].words->count, 2);
    /* Nor are the words of a text that both stages have looked for twice. */
    assert_ptr_equal(first.plan.stages[0].text.clauses[0].words,
                     first.plan.stages[1].text.clauses[0].words);
    reading_release(&reading);
    arena_free(arena);
    asker_close(&one);
    asker_close(&two);
}

static void a_shard_that_knows_other_fields_has_its_own(void **state)
{
    struct asker one = asker_open(&title, &price), turned = asker_open(&price, &title);
    struct arena *arena = arena_new();
    struct reading reading;

    (void)state;
    reading_init(&reading, make_query(), 0, arena);
    take(&reading, &one);
    take(&reading, &turned); /* the same names, other numbers */
    assert_int_equal(reading.read_count, 2);
    add(&one, &colour); /* between two rounds */
    take(&reading, &one);
    assert_int_equal(reading.read_count, 3);
    add(&turned, &colour);
    take(&reading, &turned);
    assert_int_equal(reading.read_count, 4);
    reading_release(&reading);
    arena_free(arena);
    asker_close(&one);
    asker_close(&turned);
}

/* A shard that has not heard of a field yet refuses it, whoever was asked before, and after. */
static void a_failure_is_the_shards_own(void **state)
{
    struct asker one = asker_open(&title, &price), without = asker_open(&title, &colour);
    struct arena *arena = arena_new();
    struct query_request request;
    struct reading reading;
    struct err err = {0};

    (void)state;
    reading_init(&reading, make_query(), 0, arena);
    assert_int_equal(reading_take(&reading, without.engine, &request, &err), ERR_INVALID);
    assert_non_null(strstr(err.text, "stages[0].sorts[0].field"));
    take(&reading, &one);
    assert_int_equal(reading_take(&reading, without.engine, &request, &err), ERR_INVALID);
    reading_release(&reading);
    arena_free(arena);
    asker_close(&one);
    asker_close(&without);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shards_with_the_same_fields_share_a_reading),
        cmocka_unit_test(a_shard_that_knows_other_fields_has_its_own),
        cmocka_unit_test(a_failure_is_the_shards_own),
    };

    return cmocka_run_group_tests_name("query_reading", tests, NULL, NULL);
}
