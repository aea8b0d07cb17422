/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of index/columns/attribute_set.h: never misses a holder; with the column, exactly
 * them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "index/columns/attribute_set.h"
#include "threads_only.h"

enum {
    WINDOW_COUNT = 5,
    ID_COUNT = WINDOW_COUNT * WINDOW_SIZE - 9,
    VALUE_COUNT = 90,
    SET_COUNT = 5
};

struct world {
    struct schema *schema;
    struct epoch *epoch;
    struct epoch_slot *slot;
    struct columns *columns;
    struct attribute_set *sets[SET_COUNT];
    struct err err;
    uint16_t fields[SET_COUNT]; /* brand, tags (mask), labels (lists), price, place */
};

static const struct field world_fields[] = {
    {.name = "brand", .type = FIELD_KEYWORD},
    {.name = "tags", .type = FIELD_KEYWORD, .multiple = true, .value_count_max = 60},
    {.name = "labels", .type = FIELD_KEYWORD, .multiple = true},
    {.name = "price", .type = FIELD_INTEGER},
    {.name = "place", .type = FIELD_GEO},
};

static void make_sets(struct world *world)
{
    int i;

    for (i = 0; i < SET_COUNT; i++) {
        enum set_kind kind = i == 3 ? SET_RANGES : i == 4 ? SET_CELLS : SET_VALUES;

        assert_int_equal(attribute_set_new(world->columns, world->epoch, world->fields[i], kind,
                                           SET_CELL_25_KM, &world->sets[i], &world->err),
                         0);
    }
}

static void world_init(struct world *world)
{
    size_t i;

    memset(world, 0, sizeof(*world));
    world->schema = schema_new();
    world->epoch = epoch_new();
    assert_int_equal(epoch_join(world->epoch, &world->slot, &world->err), 0);
    world->columns = columns_new(world->schema, world->epoch);
    for (i = 0; i < SET_COUNT; i++)
        assert_int_equal(
            schema_add(world->schema, &world_fields[i], &world->fields[i], &world->err), 0);
}

static void world_release(struct world *world)
{
    int i;

    for (i = 0; i < SET_COUNT; i++)
        attribute_set_free(world->sets[i]);
    columns_free(world->columns);
    epoch_free(world->epoch);
    schema_free(world->schema);
}

static int64_t random_keywords(struct world *world, struct rng *rng, int which)
{
    struct bytes names[3];
    char text[3][16];
    uint32_t count = which == 0 ? 1 : 1 + (uint32_t)rng_below(rng, 3);
    /* some values are everywhere, some rare: lists and bitmaps both come */
    uint32_t distinct = rng_below(rng, 3) ? 2 : which == 1 ? 60 : VALUE_COUNT;
    int64_t value;
    uint32_t i;

    for (i = 0; i < count; i++)
        names[i] = bytes_make(
            text[i], (size_t)snprintf(text[i], 16, "v%u", (uint32_t)rng_below(rng, distinct)));
    if (which == 0)
        assert_int_equal(
            columns_keyword(world->columns, world->fields[0], names[0], &value, &world->err), 0);
    else
        assert_int_equal(columns_keywords(world->columns, world->fields[which], names, count,
                                          &value, &world->err),
                         0);
    return value;
}

static void change(struct world *world, struct rng *rng)
{
    docid id = (docid)rng_below(rng, ID_COUNT);
    int which = (int)rng_below(rng, SET_COUNT);
    struct column_change change = {.field = world->fields[which], .value = COLUMN_NULL};

    if (rng_below(rng, 8) && which < 3)
        change.value = random_keywords(world, rng, which);
    else if (which == 3)
        change.value = (int64_t)(rng_next(rng) >> (20 + rng_below(rng, 40))) - 500;
    else if (which == 4)
        change.value = geo_pack((int32_t)rng_below(rng, 30000000) + 550000000,
                                1790000000 + (int32_t)rng_below(rng, 10000000));
    assert_int_equal(columns_set(world->columns, id, &change, 1, &world->err), 0);
}

/* The cursor's candidates, cut by the column, are what a scan of all windows gives. */
static void check_cursor(struct world *world, int which, struct set_cursor *cursor,
                         struct ordinal_table table, int64_t low, int64_t high,
                         const struct geo_box *box)
{
    const struct column *column = columns_column(world->columns, world->fields[which]);
    uint32_t next = set_cursor_next(cursor, 0);
    uint64_t proposed = 0;
    uint32_t window;

    for (window = 0; window < WINDOW_COUNT; window++) {
        struct window_bits all;
        struct window_bits bits = {{0}};
        struct column_view view;
        int i;

        memset(&all, 0xff, sizeof(all));
        if (next == window) {
            set_cursor_fill(cursor, window, &bits);
            next = set_cursor_next(cursor, window + 1);
        }
        proposed += window_count(&bits);
        column_view(column, window, &view);
        for (i = 0; i < 2; i++) {
            struct window_bits *each = i ? &bits : &all;

            if (which < 3)
                filter_in(column, &view, table, each);
            else if (which == 3)
                filter_range(&view, low, high, each);
            else
                filter_box(&view, box, each);
        }
        assert_memory_equal(&all, &bits, sizeof(all));
    }
    assert_true(proposed <= cursor->estimate);
}

static void check_all(struct world *world, struct rng *rng)
{
    struct arena *arena = arena_new();
    int which;
    int i;

    epoch_enter(world->slot);
    for (which = 0; which < SET_COUNT; which++) {
        for (i = 0; i < 6; i++) {
            uint32_t ordinals[] = {(uint32_t)i, (uint32_t)rng_below(rng, VALUE_COUNT)};
            uint64_t bits[2] = {0};
            int64_t low = (int64_t)(rng_next(rng) >> (20 + rng_below(rng, 40))) - 500;
            int64_t high = low + (int64_t)(rng_next(rng) >> (10 + rng_below(rng, 50)));
            struct geo_box box = {(int32_t)rng_below(rng, 20000000) + 550000000, 0,
                                  1790000000 + (int32_t)rng_below(rng, 10000000), 0};
            struct set_cursor cursor;

            box.lat_max = box.lat_min + (int32_t)rng_below(rng, 1 << (i * 2 + 10));
            box.lon_max = rng_below(rng, 2) ? -1799000000 : 1799000000;
            bits[ordinals[0] / 64] |= UINT64_C(1) << (ordinals[0] % 64);
            bits[ordinals[1] / 64] |= UINT64_C(1) << (ordinals[1] % 64);
            if (which < 3)
                set_cursor_values(world->sets[which], ordinals, 2, arena, &cursor);
            else if (which == 3)
                set_cursor_range(world->sets[which], low, high, arena, &cursor);
            else
                set_cursor_box(world->sets[which], &box, arena, &cursor);
            check_cursor(world, which, &cursor,
                         (struct ordinal_table){.bits = bits, .bit_count = 128}, low, high, &box);
        }
    }
    epoch_exit(world->slot);
    arena_free(arena);
}

static void rebuild(struct world *world, int which)
{
    attribute_set_begin(world->sets[which]);
    attribute_set_scan(world->sets[which]);
    attribute_set_commit(world->sets[which]);
}

static void candidates_and_column_are_exact(void **state)
{
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    struct world world;
    int before;
    int round;
    int i;

    (void)state;
    print_message("# seed %ju\n", (uintmax_t)seed);
    for (before = 0; before < 2; before++) {
        world_init(&world);
        for (i = 0; before && i < 20000; i++)
            change(&world, &rng); /* values that are there before the sets */
        make_sets(&world);
        for (round = 0; round < 6; round++) {
            uint32_t changes = (uint32_t)rng_below(&rng, 8000);

            while (changes--)
                change(&world, &rng);
            check_all(&world, &rng);
            for (i = 0; i < SET_COUNT; i++)
                if (rng_below(&rng, 3) == 0)
                    rebuild(&world, i);
            check_all(&world, &rng);
        }
        world_release(&world);
    }
}

/* A set made by a scan proposes few: it is no superset of everything. */
static void a_rebuilt_set_is_narrow(void **state)
{
    struct rng rng = rng_seeded(5);
    struct arena *arena = arena_new();
    uint32_t ordinal = 1;
    struct set_cursor cursor;
    struct world world;
    int i;

    (void)state;
    world_init(&world);
    make_sets(&world);
    for (i = 0; i < 30000; i++)
        change(&world, &rng);
    assert_true(attribute_set_is_due(world.sets[0]));
    rebuild(&world, 0);
    rebuild(&world, 3);
    assert_false(attribute_set_is_due(world.sets[0]));
    for (i = 0; i < ID_COUNT; i++) {
        struct column_change none = {.field = world.fields[0], .value = COLUMN_NULL};

        assert_int_equal(columns_set(world.columns, (docid)i, &none, 1, &world.err), 0);
    }
    set_cursor_values(world.sets[0], &ordinal, 1, arena, &cursor);
    assert_true(cursor.estimate > 1000); /* stale members, until ... */
    rebuild(&world, 0);
    set_cursor_values(world.sets[0], &ordinal, 1, arena, &cursor);
    assert_int_equal(cursor.estimate, 0);
    assert_int_equal(set_cursor_next(&cursor, 0), WINDOW_END);
    set_cursor_range(world.sets[3], 0, 10, arena, &cursor);
    assert_true(cursor.estimate < 1500);
    arena_free(arena);
    world_release(&world);
}

static void kinds_fit_their_types(void **state)
{
    struct attribute_set *set;
    struct world world;

    (void)state;
    world_init(&world);
    assert_int_equal(attribute_set_new(world.columns, world.epoch, world.fields[0], SET_RANGES, 0,
                                       &set, &world.err),
                     ERR_INVALID);
    assert_non_null(strstr(world.err.text, "\"brand\""));
    assert_null(set);
    assert_int_equal(attribute_set_new(world.columns, world.epoch, world.fields[3], SET_CELLS,
                                       SET_CELL_5_KM, &set, &world.err),
                     ERR_INVALID);
    world_release(&world);
}

/* ---- a scan in the background ---- */

struct background {
    struct world *world;
    _Atomic int begun; /* the writer has begun, the scanner may start */
    _Atomic int done;
    _Atomic int stop;
};

static void *scan(void *context)
{
    struct background *background = context;
    struct epoch_slot *slot;
    int i;

    if (epoch_join(background->world->epoch, &slot, NULL))
        abort();
    while (!atomic_load(&background->stop)) {
        if (!atomic_load(&background->begun)) {
            sched_yield();
            continue;
        }
        atomic_store(&background->begun, 0);
        epoch_enter(slot);
        for (i = 0; i < SET_COUNT; i++)
            attribute_set_scan(background->world->sets[i]);
        epoch_exit(slot);
        atomic_store(&background->done, 1);
    }
    epoch_leave(slot);
    return NULL;
}

static void rebuilt_while_changing(void **state)
{
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    struct world world;
    struct background background = {.world = &world};
    pthread_t thread;
    int round;
    int i;

    (void)state;
    print_message("# seed %ju\n", (uintmax_t)seed);
    world_init(&world);
    make_sets(&world);
    assert_int_equal(pthread_create(&thread, NULL, scan, &background), 0);
    for (round = 0; round < 6; round++) {
        for (i = 0; i < SET_COUNT; i++)
            attribute_set_begin(world.sets[i]);
        atomic_store(&background.begun, 1);
        for (i = 0; i < 3000 || !atomic_load(&background.done); i++)
            change(&world, &rng);
        atomic_store(&background.done, 0);
        for (i = 0; i < SET_COUNT; i++)
            attribute_set_commit(world.sets[i]);
        check_all(&world, &rng);
    }
    atomic_store(&background.stop, 1);
    pthread_join(thread, NULL);
    world_release(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(candidates_and_column_are_exact),
        cmocka_unit_test(a_rebuilt_set_is_narrow),
        cmocka_unit_test(kinds_fit_their_types),
        cmocka_unit_test(rebuilt_while_changing),
    };

    threads_only("rebuilt_while_changing");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
