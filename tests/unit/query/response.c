/* SPDX-License-Identifier: Apache-2.0 */
/* Hits are shown while a writer goes on: attributes of one document as they were together, and
 * nothing of a document that is gone. */
#include "query/request/response.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/clock.h"
#include "index/bounds.h"

enum { DOC_COUNT = 20, ASK_COUNT = 1000, NUMBER_COUNT = 40, FIELD_COUNT = NUMBER_COUNT + 1 };

/* A shard of as many fields as there may be, of which every STEPth is used. */
enum {
    WIDE_COUNT = 100,
    WIDE_STEP = 16,
    WIDE_USED_COUNT = SCHEMA_FIELD_COUNT_MAX / WIDE_STEP,
    WIDE_VALUE_COUNT = 20,
    WIDE_STORED = SCHEMA_FIELD_COUNT_MAX / 2 / WIDE_STEP, /* of those used */
};

struct world {
    struct shard *shard;
    struct shard_reader *reader;
    struct query_engine *engine;
    const struct schema *schema;
    atomic_bool is_over;
};

static void fill(struct shard_value values[FIELD_COUNT], int64_t number)
{
    uint16_t i;

    values[0] = (struct shard_value){.kind = VALUE_TEXT, .text = bytes_of("a box")};
    for (i = 1; i <= NUMBER_COUNT; i++)
        values[i] = (struct shard_value){.field = i, .kind = VALUE_NUMBER, .number = number};
}

static void put(struct world *world, docid id)
{
    struct shard_value values[FIELD_COUNT];
    const struct shard_document document = {.id = id, .values = values, .count = FIELD_COUNT};
    struct err err;

    fill(values, 0);
    assert_int_equal(shard_put(world->shard, &document, &err), 0);
}

static void add_fields(struct world *world)
{
    char name[16];
    struct field field = {.type = FIELD_TEXT, .weight = 1, .name = name};
    struct err err;
    int i;

    for (i = 0; i < FIELD_COUNT; i++) {
        snprintf(name, sizeof(name), "f%d", i);
        assert_int_equal(shard_add_field(world->shard, &field, NULL, &err), 0);
        field.type = FIELD_INTEGER;
        field.weight = 0;
    }
}

/* What has been put is shown, and can be asked for. */
static void look(struct world *world)
{
    const struct snapshot *snapshot;
    struct err err;

    assert_int_equal(shard_publish(world->shard, 1, &err), 0);
    assert_int_equal(shard_reader_new(world->shard, &world->reader, &err), 0);
    assert_int_equal(shard_enter(world->reader, &snapshot, &err), 0);
    world->schema = snapshot->schema;
    shard_exit(world->reader);
    world->engine = query_engine_new(world->shard, world->reader);
    atomic_init(&world->is_over, false);
}

static void world_open(struct world *world)
{
    const struct shard_options options = {.background = true};
    struct err err;
    docid id;

    assert_int_equal(shard_open(&options, &world->shard, &err), 0);
    add_fields(world);
    for (id = 1; id <= DOC_COUNT; id++)
        put(world, id);
    look(world);
}

static void world_close(struct world *world)
{
    query_engine_free(world->engine);
    shard_reader_free(world->reader);
    shard_close(world->shard);
}

/* All numbers of a document are always the same; one document comes and goes. */
static void *change_on(void *context)
{
    struct world *world = context;
    struct shard_value values[FIELD_COUNT];
    struct err err;
    int64_t i;

    for (i = 1; !atomic_load(&world->is_over); i++) {
        fill(values, i * 7919 % 100003);
        assert_int_equal(
            shard_change(world->shard, (docid)(1 + i % 2), values + 1, NUMBER_COUNT, &err), 0);
        if (i % 100)
            continue;
        if (i % 200)
            shard_remove(world->shard, DOC_COUNT);
        else
            put(world, DOC_COUNT);
        assert_int_equal(shard_publish(world->shard, (uint64_t)i + 1, &err), 0);
    }
    return NULL;
}

/* The answer to "box", these fields shown, in the arena. */
static Torg__V1__QueryAnswer *ask(struct world *world, char **show, uint32_t show_count,
                                  uint32_t limit, struct arena *arena)
{
    Torg__V1__QueryStage stage = TORG__V1__QUERY_STAGE__INIT;
    Torg__V1__Query query = TORG__V1__QUERY__INIT;
    Torg__V1__QueryStage *stages[] = {&stage};
    Torg__V1__QueryAnswer *answer;
    struct query_request request;
    struct err err = {0};

    stage.text = "box";
    stage.show = show;
    stage.n_show = show_count;
    stage._limit_case = TORG__V1__QUERY_STAGE___LIMIT_LIMIT;
    stage.limit = limit;
    query.stages = stages;
    query.n_stages = 1;
    if (request_read(&query, world->schema, 0, arena, &request, &err) ||
        response_make(world->engine, &request, 0, arena, &answer, &err))
        fail_msg("%s", err.text);
    return answer;
}

static void check_hit(const Torg__V1__Hit *hit)
{
    size_t i;

    if (hit->id == DOC_COUNT)
        return; /* it is between going and coming */
    assert_int_equal(hit->n_fields, FIELD_COUNT);
    assert_string_equal(hit->fields[0]->values[0], "a box");
    for (i = 2; i < FIELD_COUNT; i++)
        assert_string_equal(hit->fields[i]->values[0], hit->fields[1]->values[0]);
}

static void attributes_of_a_document_are_shown_together(void **state)
{
    struct arena *arena = arena_new();
    char *all[] = {"*"};
    struct world world;
    pthread_t thread;
    int asked;

    (void)state;
    world_open(&world);
    assert_int_equal(pthread_create(&thread, NULL, change_on, &world), 0);
    for (asked = 0; asked < ASK_COUNT; asked++) {
        const Torg__V1__StageAnswer *answer = ask(&world, all, 1, DOC_COUNT, arena)->stages[0];
        size_t i;

        assert_in_range(answer->n_hits, DOC_COUNT - 1, DOC_COUNT);
        for (i = 0; i < answer->n_hits; i++)
            check_hit(answer->hits[i]);
        arena_reset(arena);
    }
    atomic_store(&world.is_over, true);
    pthread_join(thread, NULL);
    world_close(&world);
    arena_free(arena);
}

/* ---- many fields ---- */

static char *wide_name(uint32_t number, struct arena *arena)
{
    return arena_printf(arena, number % WIDE_STEP == 1 ? "_f%u" : "f%u", number);
}

static void add_wide_fields(struct world *world, struct arena *arena)
{
    struct err err = {0};

    for (uint32_t i = 0; i < SCHEMA_FIELD_COUNT_MAX; i++) {
        uint32_t used = i / WIDE_STEP;
        struct field field = {.type = FIELD_INTEGER, .name = wide_name(i, arena)};

        if (i % WIDE_STEP == 0) {
            field.type = used % 2 ? FIELD_KEYWORD : FIELD_INTEGER;
            field.multiple = used % 2;
        }
        if (i == 0)
            field.type = FIELD_TEXT;
        else if (i == WIDE_STORED * WIDE_STEP)
            field = (struct field){.type = FIELD_STORED, .name = field.name};
        if (shard_add_field(world->shard, &field, NULL, &err))
            fail_msg("%s", err.text);
    }
}

/* A text, a stored field of every other one, a hidden number, and twenty attributes of its own. */
static void put_wide(struct world *world, docid id)
{
    static const struct bytes words[] = {BYTES_LITERAL("red"), BYTES_LITERAL("green")};
    struct shard_value values[WIDE_VALUE_COUNT + 3] = {
        {.kind = VALUE_TEXT, .text = bytes_of("a box")},
        {.field = 1, .kind = VALUE_NUMBER, .number = 1}};
    struct shard_document document = {.id = id, .values = values, .count = 2};
    struct err err = {0};

    if (id % 2)
        values[document.count++] = (struct shard_value){
            .field = WIDE_STORED * WIDE_STEP, .kind = VALUE_TEXT, .text = bytes_of("a note")};
    for (uint32_t i = 0; i < WIDE_VALUE_COUNT; i++) {
        uint32_t used = (id * 7 + i * 13) % WIDE_USED_COUNT;
        struct shard_value *value = &values[document.count];

        if (!used || used == WIDE_STORED)
            continue;
        *value = (struct shard_value){
            .field = (uint16_t)(used * WIDE_STEP), .kind = VALUE_NUMBER, .number = id + i};
        if (used % 2) {
            value->kind = VALUE_KEYWORDS;
            value->keywords.names = words;
            value->keywords.count = 1 + id % 2;
        }
        document.count++;
    }
    if (shard_put(world->shard, &document, &err))
        fail_msg("%s", err.text);
}

static void check_same(const Torg__V1__Hit *one, const Torg__V1__Hit *other)
{
    assert_int_equal(one->id, other->id);
    assert_int_equal(one->n_fields, other->n_fields);
    for (size_t i = 0; i < one->n_fields; i++) {
        assert_string_equal(one->fields[i]->name, other->fields[i]->name);
        assert_int_equal(one->fields[i]->n_values, other->fields[i]->n_values);
        for (size_t k = 0; k < one->fields[i]->n_values; k++)
            assert_string_equal(one->fields[i]->values[k], other->fields[i]->values[k]);
    }
}

/* Of all fields a hit shows those that it has, in the order of the schema; the others cost nothing
 * of what an answer may have. */
static void all_of_many_fields_are_those_that_a_document_has(void **state)
{
    const struct shard_options options = {0};
    struct arena *arena = arena_new();
    const Torg__V1__StageAnswer *all, *named;
    char *names[WIDE_USED_COUNT], *star[] = {"*"};
    struct world world;
    struct err err;

    (void)state;
    assert_int_equal(shard_open(&options, &world.shard, &err), 0);
    add_wide_fields(&world, arena);
    for (docid id = 1; id <= WIDE_COUNT; id++)
        put_wide(&world, id);
    look(&world);
    for (uint32_t i = 0; i < WIDE_USED_COUNT; i++)
        names[i] = wide_name(i * WIDE_STEP, arena);
    all = ask(&world, star, 1, WIDE_COUNT, arena)->stages[0];
    named = ask(&world, names, WIDE_USED_COUNT, WIDE_COUNT, arena)->stages[0];
    assert_int_equal(all->n_hits, WIDE_COUNT);
    for (uint32_t i = 0; i < WIDE_COUNT; i++) {
        assert_true(all->hits[i]->n_fields >= WIDE_VALUE_COUNT - 1);
        check_same(all->hits[i], named->hits[i]);
    }
    world_close(&world);
    arena_free(arena);
}

static void a_deadline_ends_it(void **state)
{
    const struct query_stage stage = {.limit = 1};
    const struct query_show show = {0};
    const struct query_request request = {.plan = {.stages = &stage, .stage_count = 1},
                                          .shows = &show};
    struct arena *arena = arena_new();
    Torg__V1__QueryAnswer *answer;
    struct world world;
    struct err err;

    (void)state;
    world_open(&world);
    assert_int_equal(response_make(world.engine, &request, 1, arena, &answer, &err), ERR_TIMEOUT);
    assert_null(answer);
    assert_int_equal(response_make(world.engine, &request,
                                   clock_mono_us(clock_system()) + 600 * (int64_t)SECOND_US, arena,
                                   &answer, &err),
                     0);
    assert_int_equal(answer->stages[0]->n_hits, 1);
    world_close(&world);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attributes_of_a_document_are_shown_together),
        cmocka_unit_test(all_of_many_fields_are_those_that_a_document_has),
        cmocka_unit_test(a_deadline_ends_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
