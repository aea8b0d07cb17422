/* SPDX-License-Identifier: Apache-2.0 */
/*
 * averages.c - scores are those of what is there, however it came: whichever field was known first,
 * in whichever order documents were put, replaced and removed, before and after a checkpoint.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "query/request/response.h"
#include "test_dir.h"

enum { DOC_COUNT = 60, TITLE = 0, BODY = 1, FIELD_COUNT };

struct world {
    struct shard *shard;
    struct shard_reader *reader;
    struct query_engine *engine;
    struct arena *arena;
    uint16_t ids[FIELD_COUNT]; /* of title and body */
    uint64_t offset;
    char dir[TEST_DIR_SIZE];
};

static void open_shard(struct world *world, bool body_first)
{
    static const struct field fields[FIELD_COUNT] = {
        [TITLE] = {.type = FIELD_TEXT, .weight = 3, .name = "title"},
        [BODY] = {.type = FIELD_TEXT, .weight = 1, .name = "body"},
    };
    const struct shard_options options = {.dir = world->dir};
    struct err err;

    assert_int_equal(shard_open(&options, &world->shard, &err), 0);
    for (int i = 0; i < FIELD_COUNT; i++) {
        int field = body_first ? FIELD_COUNT - 1 - i : i;

        assert_int_equal(shard_add_field(world->shard, &fields[field], &world->ids[field], &err),
                         0);
    }
    assert_int_equal(shard_reader_new(world->shard, &world->reader, &err), 0);
    world->engine = query_engine_new(world->shard, world->reader);
}

static void close_shard(struct world *world)
{
    query_engine_free(world->engine);
    shard_reader_free(world->reader);
    shard_close(world->shard);
}

static void begin(struct world *world, bool body_first)
{
    *world = (struct world){.arena = arena_new()};
    assert_true(test_dir_make(world->dir));
    open_shard(world, body_first);
}

static void end(struct world *world)
{
    close_shard(world);
    dir_remove(world->dir, NULL);
    arena_free(world->arena);
}

static void publish(struct world *world)
{
    struct err err;

    assert_int_equal(shard_publish(world->shard, ++world->offset, &err), 0);
}

/* The word at some places of a title of 1 to 9 words and a body of 20 to 138. */
static void put(struct world *world, docid id, uint32_t seed)
{
    char title[200] = "", body[2000] = "";
    struct shard_value values[FIELD_COUNT] = {{.kind = VALUE_TEXT}, {.kind = VALUE_TEXT}};
    const struct shard_document document = {.id = id, .values = values, .count = FIELD_COUNT};
    struct err err;
    size_t used = 0;

    for (uint32_t i = 0; i <= seed % 9; i++)
        used += (size_t)snprintf(title + used, sizeof(title) - used, "%s ",
                                 i == seed % 4 ? "bicycle" : "red");
    used = 0;
    for (uint32_t i = 0; i < 20 + seed * 2; i++)
        used += (size_t)snprintf(body + used, sizeof(body) - used, "%s ",
                                 i % 17 == seed % 5 ? "bicycle" : "wheel");
    values[0] = (struct shard_value){
        .field = world->ids[TITLE], .kind = VALUE_TEXT, .text = bytes_of(title)};
    values[1] =
        (struct shard_value){.field = world->ids[BODY], .kind = VALUE_TEXT, .text = bytes_of(body)};
    if (shard_put(world->shard, &document, &err))
        fail_msg("%s", err.text);
}

static void work(struct world *world)
{
    bool did = true;
    struct err err;

    while (did)
        assert_int_equal(shard_work(world->shard, &did, &err), 0);
}

/* By document. */
static void ask(struct world *world, float scores[DOC_COUNT])
{
    Torg__V1__QueryStage stage = TORG__V1__QUERY_STAGE__INIT;
    Torg__V1__QueryStage *stages[] = {&stage};
    Torg__V1__Query query = TORG__V1__QUERY__INIT;
    Torg__V1__QueryAnswer *answer;
    struct query_request request;
    struct err err = {0};

    stage.text = "bicycle";
    stage._limit_case = TORG__V1__QUERY_STAGE___LIMIT_LIMIT;
    stage.limit = DOC_COUNT;
    query.stages = stages;
    query.n_stages = 1;
    arena_reset(world->arena);
    if (request_read(&query, shard_schema(world->shard), 0, world->arena, &request, &err) ||
        response_make(world->engine, &request, 0, world->arena, &answer, &err))
        fail_msg("%s", err.text);
    assert_int_equal(answer->stages[0]->n_hits, DOC_COUNT);
    for (size_t i = 0; i < DOC_COUNT; i++)
        scores[answer->stages[0]->hits[i]->id] = answer->stages[0]->hits[i]->score;
}

static void expect_equal(struct world *world, const float expected[DOC_COUNT], const char *when)
{
    float scores[DOC_COUNT];

    ask(world, scores);
    for (docid id = 0; id < DOC_COUNT; id++)
        if (scores[id] < expected[id] * 0.99999F || scores[id] > expected[id] * 1.00001F)
            fail_msg("%s: the score of %u is %.9g, and was %.9g", when, id, (double)scores[id],
                     (double)expected[id]);
}

static void the_order_of_coming_is_nothing(void **state)
{
    struct world one, other;
    float scores[DOC_COUNT];

    (void)state;
    begin(&one, false);
    begin(&other, true);
    for (docid id = 0; id < DOC_COUNT; id++)
        put(&one, id, id);
    publish(&one);
    ask(&one, scores);
    for (docid id = DOC_COUNT; id-- > 0;) {
        put(&other, id, id);
        if (id % 7 == 0)
            publish(&other);
    }
    publish(&other);
    expect_equal(&other, scores, "the other way round");
    end(&one);
    end(&other);
}

static struct text_lengths lengths_of(struct world *world)
{
    const struct snapshot *snapshot;
    struct text_lengths lengths;
    struct err err;

    assert_int_equal(shard_enter(world->reader, &snapshot, &err), 0);
    lengths = snapshot->text_lengths;
    shard_exit(world->reader);
    return lengths;
}

static void put_all(struct world *world)
{
    for (docid id = 0; id < DOC_COUNT; id++)
        put(world, id, id);
    publish(world);
}

static void expect_lengths(struct world *world, const struct text_lengths *expected)
{
    struct text_lengths there = lengths_of(world);

    assert_memory_equal(&there, expected, sizeof(there));
}

/* Words of what is gone are counted until they are merged away; lengths are those of the living. */
static void what_has_gone_leaves_no_length(void **state)
{
    struct text_lengths expected;
    struct world world;
    struct err err;

    (void)state;
    begin(&world, false);
    put_all(&world);
    expected = lengths_of(&world);
    for (docid id = 0; id < DOC_COUNT; id++)
        put(&world, id, DOC_COUNT - 1 - id); /* shown, and replaced */
    put(&world, DOC_COUNT, 59);
    shard_remove(world.shard, DOC_COUNT); /* never shown */
    publish(&world);
    expect_lengths(&world, &expected);
    shard_remove(world.shard, 3);
    publish(&world);
    shard_remove(world.shard, 4);
    put(&world, 4, 9); /* both in one batch */
    put_all(&world);
    expect_lengths(&world, &expected);
    work(&world);
    assert_int_equal(shard_checkpoint(world.shard, &err), 0);
    close_shard(&world);
    open_shard(&world, false);
    expect_lengths(&world, &expected);
    put_all(&world);
    expect_lengths(&world, &expected);
    end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_of_coming_is_nothing),
        cmocka_unit_test(what_has_gone_leaves_no_length),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
