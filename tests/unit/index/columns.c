/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of index/columns/columns.h: equal to plain arrays; a document's columns are seen
 * together.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "index/columns/columns.h"
#include "threads_only.h"

struct world {
    struct schema *schema;
    struct epoch *epoch;
    struct columns *columns;
    struct err err;
};

static void world_init(struct world *world)
{
    world->schema = schema_new();
    world->epoch = epoch_new();
    world->columns = columns_new(world->schema, world->epoch);
}

static void world_release(struct world *world)
{
    columns_free(world->columns);
    epoch_free(world->epoch);
    schema_free(world->schema);
}

static uint16_t add(struct world *world, const char *name, enum field_type type)
{
    const struct field field = {.name = name, .type = type};
    uint16_t id;

    assert_int_equal(schema_add(world->schema, &field, &id, &world->err), 0);
    return id;
}

static int set(struct world *world, docid id, uint16_t field, int64_t value)
{
    const struct column_change change = {.field = field, .value = value};

    return columns_set(world->columns, id, &change, 1, &world->err);
}

static int64_t get(const struct world *world, docid id, uint16_t field)
{
    int64_t value;

    columns_get(world->columns, id, &field, 1, &value);
    return value;
}

static struct column_view view_of(const struct world *world, uint16_t field, uint32_t window)
{
    struct column_view view;

    column_view(columns_column(world->columns, field), window, &view);
    return view;
}

/* ---- against plain arrays ---- */

enum { ID_COUNT = 3 * WINDOW_SIZE + 5, COLUMN_COUNT = 4 };

static int64_t random_value(struct rng *rng, int mode)
{
    static const int64_t edges[] = {0,
                                    1,
                                    -1,
                                    253,
                                    254,
                                    255,
                                    256,
                                    -128,
                                    -129,
                                    126,
                                    127,
                                    65534,
                                    65535,
                                    -32768,
                                    -32769,
                                    32766,
                                    32767,
                                    4294967294,
                                    4294967295,
                                    -2147483648LL,
                                    -2147483649LL,
                                    2147483646,
                                    INT64_MIN,
                                    INT64_MAX - 1,
                                    4294967296};

    switch (mode) {
    case 0:
        return edges[rng_below(rng, ARRAY_COUNT(edges))];
    case 1:
        return (int64_t)rng_below(rng, 200);
    case 2:
        return (int64_t)(rng_next(rng) >> rng_below(rng, 64)) * (rng_below(rng, 2) ? 1 : -1) %
               (INT64_MAX - 1);
    default:
        return 77;
    }
}

static void check_window(const struct world *world, uint16_t field, uint32_t window,
                         const int64_t *model)
{
    struct column_view view = view_of(world, field, window);
    int64_t values[WINDOW_SIZE];
    uint32_t i;

    view_values(&view, values);
    for (i = 0; i < WINDOW_SIZE && window_first(window) + i < ID_COUNT; i++) {
        int64_t value = model[window_first(window) + i];

        assert_true(values[i] == value);
        assert_true(view_get(&view, i) == value);
        assert_true(value == COLUMN_NULL || (view.min <= value && value <= view.max));
    }
}

static void equal_to_plain_arrays(void **state)
{
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    struct world world;
    uint16_t fields[COLUMN_COUNT];
    int64_t *models[COLUMN_COUNT];
    uint32_t round;
    uint32_t i;
    uint32_t j;

    (void)state;
    print_message("# seed %ju\n", (uintmax_t)seed);
    world_init(&world);
    for (i = 0; i < COLUMN_COUNT; i++) {
        const char name[] = {(char)('a' + i), 0};

        fields[i] = add(&world, name, FIELD_INTEGER);
        models[i] = mem_array(ID_COUNT, sizeof(int64_t));
        for (j = 0; j < ID_COUNT; j++)
            models[i][j] = COLUMN_NULL;
    }
    for (round = 0; round < 60; round++) {
        uint32_t changes = (uint32_t)rng_below(&rng, 3000);
        uint32_t span = 1 + (uint32_t)rng_below(&rng, ID_COUNT);
        uint32_t nulls = (uint32_t)rng_below(&rng, 4);
        int mode = (int)rng_below(&rng, 4);

        while (changes--) {
            docid id = (docid)(ID_COUNT - 1 - rng_below(&rng, span));
            struct column_change change[COLUMN_COUNT];
            uint32_t count = 0;

            for (i = 0; i < COLUMN_COUNT; i++) {
                if (rng_below(&rng, 2))
                    continue;
                change[count].field = fields[i];
                change[count].value =
                    rng_below(&rng, 4) < nulls ? COLUMN_NULL : random_value(&rng, mode);
                models[i][id] = change[count++].value;
            }
            assert_int_equal(columns_set(world.columns, id, change, count, &world.err), 0);
            if (rng_below(&rng, 50) == 0) {
                columns_reset(world.columns, id);
                for (i = 0; i < COLUMN_COUNT; i++)
                    models[i][id] = COLUMN_NULL;
            }
        }
        if (rng_below(&rng, 3) == 0)
            columns_tighten(world.columns, (uint32_t)rng_below(&rng, 5));
        for (i = 0; i < COLUMN_COUNT; i++)
            for (j = 0; j < 4; j++)
                check_window(&world, fields[i], j, models[i]);
    }
    for (i = 0; i < COLUMN_COUNT; i++)
        free(models[i]);
    world_release(&world);
}

/* ---- kinds and zones ---- */

static void pages_take_the_kind_that_fits(void **state)
{
    struct world world;
    struct column_view view;
    uint16_t field;
    docid id;

    (void)state;
    world_init(&world);
    field = add(&world, "price", FIELD_INTEGER);
    assert_int_equal(view_of(&world, field, 0).kind, PAGE_ABSENT);
    assert_int_equal(set(&world, 9, field, COLUMN_NULL), 0);
    assert_int_equal(view_of(&world, field, 0).kind, PAGE_ABSENT);
    for (id = 0; id < PAGE_SPARSE_MAX; id++)
        assert_int_equal(set(&world, id * 4, field, 5), 0);
    assert_int_equal(view_of(&world, field, 0).kind, PAGE_SPARSE);
    assert_int_equal(set(&world, 1, field, 6), 0);
    view = view_of(&world, field, 0);
    assert_int_equal(view.kind, PAGE_DENSE);
    assert_int_equal(view.width, 1);
    assert_int_equal(set(&world, 1, field, 254), 0);
    assert_int_equal(view_of(&world, field, 0).width, 1);
    assert_int_equal(set(&world, 1, field, 255), 0);
    assert_int_equal(view_of(&world, field, 0).width, 2);
    assert_int_equal(set(&world, 1, field, -1), 0);
    view = view_of(&world, field, 0);
    assert_true(view.base < 0);
    assert_int_equal(set(&world, 2, field, 5000000000), 0);
    assert_int_equal(view_of(&world, field, 0).width, 8);

    /* zones have only widened; tightened, all is as small as it can be */
    view = view_of(&world, field, 0);
    assert_true(view.min == -1 && view.max == 5000000000);
    for (id = 0; id < WINDOW_SIZE; id++)
        assert_int_equal(set(&world, id, field, 7), 0);
    view = view_of(&world, field, 0);
    assert_true(view.kind == PAGE_DENSE && view.width == 8 && view.min == -1);
    columns_tighten(world.columns, 0);
    view = view_of(&world, field, 0);
    assert_true(view.kind == PAGE_CONSTANT && view.min == 7 && view.max == 7);
    assert_int_equal(set(&world, 3, field, COLUMN_NULL), 0);
    view = view_of(&world, field, 0);
    assert_true(view.kind == PAGE_DENSE && view_get(&view, 3) == COLUMN_NULL);
    for (id = 100; id < WINDOW_SIZE; id++)
        assert_int_equal(set(&world, id, field, COLUMN_NULL), 0);
    columns_tighten(world.columns, 0);
    assert_int_equal(view_of(&world, field, 0).kind, PAGE_SPARSE);
    for (id = 0; id < 100; id++)
        columns_reset(world.columns, id);
    columns_tighten(world.columns, 0);
    view = view_of(&world, field, 0);
    assert_true(view.kind == PAGE_ABSENT && view.min > view.max);
    world_release(&world);
}

static void the_ends_of_the_id_space(void **state)
{
    struct world world;
    uint16_t field;

    (void)state;
    world_init(&world);
    field = add(&world, "x", FIELD_INTEGER);
    assert_int_equal(set(&world, UINT32_MAX - 1, field, 1), 0);
    assert_int_equal(set(&world, 0, field, 2), 0);
    assert_true(get(&world, UINT32_MAX - 1, field) == 1);
    assert_true(get(&world, 0, field) == 2);
    assert_true(get(&world, 4096, field) == COLUMN_NULL);
    assert_int_equal(columns_window_count(world.columns), 1 << 20);
    world_release(&world);
}

/* ---- refusals ---- */

static void bad_changes_change_nothing(void **state)
{
    struct world world;
    struct column_change changes[2];
    uint16_t number;
    uint16_t flag;
    uint16_t text;
    uint16_t place;

    (void)state;
    world_init(&world);
    number = add(&world, "price", FIELD_INTEGER);
    flag = add(&world, "new", FIELD_BOOLEAN);
    place = add(&world, "place", FIELD_GEO);
    text = add(&world, "title", FIELD_TEXT);
    changes[0] = (struct column_change){number, 5};
    changes[1] = (struct column_change){flag, 2};
    assert_int_equal(columns_set(world.columns, 1, changes, 2, &world.err), ERR_INVALID);
    assert_non_null(strstr(world.err.text, "\"new\""));
    changes[1] = (struct column_change){text, 1};
    assert_int_equal(columns_set(world.columns, 1, changes, 2, &world.err), ERR_INVALID);
    assert_non_null(strstr(world.err.text, "\"title\""));
    changes[1] = (struct column_change){place, INT64_MIN}; /* no point: less than any */
    assert_int_equal(columns_set(world.columns, 1, changes, 2, &world.err), ERR_INVALID);
    assert_non_null(strstr(world.err.text, "\"place\""));
    changes[1] = (struct column_change){900, 1};
    assert_int_equal(columns_set(world.columns, 1, changes, 2, &world.err), ERR_INVALID);
    changes[1] = changes[0];
    assert_int_equal(columns_set(world.columns, 1, changes, 2, &world.err), ERR_INVALID);
    assert_non_null(strstr(world.err.text, "twice"));
    assert_true(get(&world, 1, number) == COLUMN_NULL);
    world_release(&world);
}

static void keywords_several_and_single(void **state)
{
    const struct bytes names[] = {BYTES_LITERAL("red"), BYTES_LITERAL("blue"),
                                  BYTES_LITERAL("red")};
    struct field few = {
        .name = "few", .type = FIELD_KEYWORD, .multiple = true, .value_count_max = 3};
    struct field many = {.name = "many", .type = FIELD_KEYWORD, .multiple = true};
    struct world world;
    uint64_t first_hash;
    uint32_t count;
    const uint32_t *list;
    uint16_t field;
    int64_t value;
    int i;

    (void)state;
    world_init(&world);
    assert_int_equal(schema_add(world.schema, &few, &field, &world.err), 0);
    assert_int_equal(columns_keywords(world.columns, field, names, 3, &value, &world.err), 0);
    assert_true(value == 3);
    assert_int_equal(set(&world, 1, field, value), 0);
    assert_int_equal(set(&world, 1, field, 4), ERR_INVALID); /* an ordinal nobody has got */
    assert_int_equal(schema_add(world.schema, &many, &field, &world.err), 0);
    for (i = 0; i < 1000; i++) { /* replaced lists are used again */
        assert_int_equal(
            columns_keywords(world.columns, field, names, 1 + (uint32_t)i % 3, &value, &world.err),
            0);
        assert_int_equal(set(&world, 5, field, value), 0);
    }
    assert_true(value < 600);
    list = value_lists_get(column_lists(columns_column(world.columns, field)),
                           (uint32_t)get(&world, 5, field), &count);
    assert_int_equal(count, 1);
    assert_int_equal(list[0], 0);
    first_hash = columns_hash(world.columns);
    assert_int_equal(columns_keywords(world.columns, field, names + 1, 1, &value, &world.err), 0);
    assert_int_equal(set(&world, 5, field, value), 0);
    assert_true(columns_hash(world.columns) != first_hash);
    assert_int_equal(columns_keywords(world.columns, field, names, 1, &value, &world.err), 0);
    assert_int_equal(set(&world, 5, field, value), 0);
    assert_true(columns_hash(world.columns) == first_hash);
    assert_int_equal(columns_keyword(world.columns, field, names[0], &value, &world.err),
                     ERR_INVALID);
    world_release(&world);
}

/* ---- x and y written together are seen together ---- */

enum { RACE_WINDOWS = 2, RACE_STEPS = 30000, READER_COUNT = 2 };

struct race {
    struct world world;
    uint16_t x;
    uint16_t y;
    uint16_t tags;
    _Atomic int stop;
    _Atomic int bad;
    _Atomic uint64_t seen;
};

/* y is always -x; tags, when there, has x mod 5 + 1 values. */
static bool is_torn(const struct race *race, const int64_t v[3])
{
    const struct column *tags = columns_column(race->world.columns, race->tags);
    uint32_t count = 0;

    if (v[0] == COLUMN_NULL || v[1] == COLUMN_NULL)
        return v[0] != v[1];
    if (v[2] != COLUMN_NULL)
        value_lists_get(column_lists(tags), (uint32_t)v[2], &count);
    return v[1] != -v[0] || (v[2] != COLUMN_NULL && count != (uint32_t)(v[0] % 5) + 1);
}

static bool window_torn(const struct race *race, uint32_t window)
{
    const uint16_t fields[] = {race->x, race->y, race->tags};
    int64_t values[3][WINDOW_SIZE];
    uint32_t begun;
    uint32_t i;

    do {
        begun = columns_read_begin(race->world.columns, window);
        for (i = 0; i < 3; i++) {
            struct column_view view;

            column_view(columns_column(race->world.columns, fields[i]), window, &view);
            view_values(&view, values[i]);
        }
    } while (!columns_read_valid(race->world.columns, window, begun) && !atomic_load(&race->stop));
    if (atomic_load(&race->stop))
        return false;
    for (i = 0; i < WINDOW_SIZE; i++) {
        const int64_t v[] = {values[0][i], values[1][i], values[2][i]};

        if (is_torn(race, v))
            return true;
    }
    return false;
}

static void *look(void *context)
{
    struct race *race = context;
    const uint16_t fields[] = {race->x, race->y, race->tags};
    struct rng rng = rng_seeded((uintptr_t)&rng);
    struct epoch_slot *slot;

    if (epoch_join(race->world.epoch, &slot, NULL))
        abort();
    while (!atomic_load(&race->stop)) {
        int i;

        epoch_enter(slot);
        for (i = 0; i < 200; i++) {
            int64_t v[3];

            columns_get(race->world.columns, (docid)rng_below(&rng, RACE_WINDOWS * WINDOW_SIZE),
                        fields, 3, v);
            if (is_torn(race, v))
                atomic_fetch_add(&race->bad, 1);
        }
        if (window_torn(race, (uint32_t)rng_below(&rng, RACE_WINDOWS)))
            atomic_fetch_add(&race->bad, 1);
        atomic_fetch_add(&race->seen, 1);
        epoch_exit(slot);
    }
    epoch_leave(slot);
    return NULL;
}

static void change_at_random(struct race *race, struct rng *rng)
{
    const struct bytes names[] = {BYTES_LITERAL("a"), BYTES_LITERAL("b"), BYTES_LITERAL("c"),
                                  BYTES_LITERAL("d"), BYTES_LITERAL("e")};
    docid id = (docid)rng_below(rng, RACE_WINDOWS * WINDOW_SIZE);
    int64_t x = (int64_t)(rng_next(rng) >> (1 + rng_below(rng, 62)));
    struct column_change changes[3] = {{race->x, x}, {race->y, -x}, {race->tags, COLUMN_NULL}};

    if (rng_below(rng, 4))
        assert_int_equal(columns_keywords(race->world.columns, race->tags, names,
                                          (uint32_t)(x % 5) + 1, &changes[2].value,
                                          &race->world.err),
                         0);
    assert_int_equal(columns_set(race->world.columns, id, changes, 3, &race->world.err), 0);
    if (rng_below(rng, 8) == 0)
        columns_reset(race->world.columns, (docid)rng_below(rng, RACE_WINDOWS * WINDOW_SIZE));
    if (rng_below(rng, 300) == 0)
        columns_tighten(race->world.columns, (uint32_t)rng_below(rng, RACE_WINDOWS));
}

static void columns_of_a_document_are_seen_together(void **state)
{
    const struct field tags = {.name = "tags", .type = FIELD_KEYWORD, .multiple = true};
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    struct race race = {.bad = 0};
    pthread_t readers[READER_COUNT];
    int i;

    (void)state;
    print_message("# seed %ju\n", (uintmax_t)seed);
    world_init(&race.world);
    race.x = add(&race.world, "x", FIELD_INTEGER);
    race.y = add(&race.world, "y", FIELD_INTEGER);
    assert_int_equal(schema_add(race.world.schema, &tags, &race.tags, &race.world.err), 0);
    change_at_random(&race, &rng);
    for (i = 0; i < READER_COUNT; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, look, &race), 0);
    for (i = 0; i < RACE_STEPS || atomic_load(&race.seen) < 10; i++)
        change_at_random(&race, &rng);
    atomic_store(&race.stop, 1);
    for (i = 0; i < READER_COUNT; i++)
        pthread_join(readers[i], NULL);
    assert_int_equal(race.bad, 0);
    print_message("# %ju looks\n", (uintmax_t)atomic_load(&race.seen));
    world_release(&race.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_to_plain_arrays),
        cmocka_unit_test(pages_take_the_kind_that_fits),
        cmocka_unit_test(the_ends_of_the_id_space),
        cmocka_unit_test(bad_changes_change_nothing),
        cmocka_unit_test(keywords_several_and_single),
        cmocka_unit_test(columns_of_a_document_are_seen_together),
    };

    threads_only("columns_of_a_document_are_seen_together");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
