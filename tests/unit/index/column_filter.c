/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of index/columns/column_filter.h: each filter and facet against a loop over
 * documents.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "index/bounds.h"
#include "index/columns/column_filter.h"
#include "index/postings/kernels.h"

enum { ROUND_COUNT = 250, VALUE_COUNT = 300 };

struct world {
    struct schema *schema;
    struct epoch *epoch;
    struct columns *columns;
    struct err err;
    uint16_t number;
    uint16_t keyword;
    uint16_t few;
    uint16_t many;
    uint16_t place;
};

static void world_init(struct world *world)
{
    const struct field fields[] = {
        {.name = "number", .type = FIELD_INTEGER},
        {.name = "keyword", .type = FIELD_KEYWORD},
        {.name = "few", .type = FIELD_KEYWORD, .multiple = true, .value_count_max = 62},
        {.name = "many", .type = FIELD_KEYWORD, .multiple = true},
        {.name = "place", .type = FIELD_GEO},
    };
    uint16_t *ids[] = {&world->number, &world->keyword, &world->few, &world->many, &world->place};
    size_t i;

    world->schema = schema_new();
    world->epoch = epoch_new();
    world->columns = columns_new(world->schema, world->epoch);
    for (i = 0; i < ARRAY_COUNT(fields); i++)
        assert_int_equal(schema_add(world->schema, &fields[i], ids[i], &world->err), 0);
}

static void world_release(struct world *world)
{
    columns_free(world->columns);
    epoch_free(world->epoch);
    schema_free(world->schema);
}

static void put(struct world *world, docid id, uint16_t field, int64_t value)
{
    const struct column_change change = {.field = field, .value = value};

    assert_int_equal(columns_set(world->columns, id, &change, 1, &world->err), 0);
}

/* Every density of candidates, so that both ways of each filter are taken. */
static void random_bits(struct rng *rng, struct window_bits *bits)
{
    uint64_t share = rng_below(rng, 5);
    uint32_t i;

    memset(bits, 0, sizeof(*bits));
    for (i = 0; i < WINDOW_SIZE; i++)
        if (share == 4 || rng_below(rng, 1000) < (uint64_t[]){0, 5, 60, 500}[share])
            window_set(bits, i);
}

static int64_t random_number(struct rng *rng, int shape)
{
    switch (shape) {
    case 0:
        return (int64_t)rng_below(rng, 200);
    case 1:
        return (int64_t)rng_below(rng, 60000) - 100;
    case 2:
        return (int64_t)rng_below(rng, 4000000000U);
    case 3:
        return (int64_t)rng_next(rng) / 2;
    default:
        return 42;
    }
}

/* Gives the window a random share of values of one random shape: every kind and width comes. */
static void fill_numbers(struct world *world, struct rng *rng, int64_t *model)
{
    uint64_t share = (uint64_t[]){0, 30, 900, 1000}[rng_below(rng, 4)];
    int shape = (int)rng_below(rng, 5);
    uint32_t i;

    for (i = 0; i < WINDOW_SIZE; i++) {
        model[i] = rng_below(rng, 1000) < share ? random_number(rng, shape) : COLUMN_NULL;
        put(world, i, world->number, model[i]);
    }
    if (rng_below(rng, 2))
        columns_tighten(world->columns, 0);
}

/* The window's hits as bits, as a list, as both. */
enum { FORM_COUNT = 3 };
static struct facet_hits hits_in_form(const struct window_bits *bits, int form,
                                      uint16_t offsets[WINDOW_LIST_MAX + WINDOW_LIST_SPARE])
{
    return (struct facet_hits){.bits = form == 1 ? NULL : bits,
                               .offsets = form == 0 ? NULL : offsets,
                               .count = kernels()->window_list(bits, offsets)};
}

static void check_ranges(const struct column_view *view, const struct window_bits *before,
                         const int64_t *model, struct rng *rng)
{
    int64_t low = rng_below(rng, 2) ? random_number(rng, (int)rng_below(rng, 5)) : INT64_MIN;
    int64_t high = rng_below(rng, 2) ? random_number(rng, (int)rng_below(rng, 5)) : COLUMN_NULL;
    const int64_t bounds[] = {INT64_MIN, -50, 0, 42, 43, 100000, COLUMN_NULL};
    uint32_t counts[ARRAY_COUNT(bounds)] = {0};
    uint32_t expected[ARRAY_COUNT(bounds)] = {0};
    int64_t extremes[] = {INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN};
    uint16_t offsets[WINDOW_LIST_MAX + WINDOW_LIST_SPARE];
    struct facet_hits hits = hits_in_form(before, (int)rng_below(rng, FORM_COUNT), offsets);
    uint32_t valued;
    struct window_bits range = *before;
    struct window_bits exists = *before;
    uint32_t i;
    uint32_t j;

    if (rng_below(rng, 4) == 0)
        high = low;
    filter_range(view, low, high, &range);
    filter_exists(view, &exists);
    facet_ranges(view, before, bounds, ARRAY_COUNT(bounds), counts);
    valued = facet_min_max(view, &hits, &extremes[0], &extremes[1]);
    assert_int_equal(valued, window_count(&exists));
    assert_int_equal(facet_min_max(view, &hits, &extremes[0], &extremes[1]), valued);
    for (i = 0; i < WINDOW_SIZE; i++) {
        bool has = window_test(before, i) && model[i] != COLUMN_NULL;

        assert_int_equal(window_test(&exists, i), has);
        assert_int_equal(window_test(&range, i), has && low <= model[i] && model[i] <= high);
        if (!has)
            continue;
        extremes[2] = model[i] < extremes[2] ? model[i] : extremes[2];
        extremes[3] = model[i] > extremes[3] ? model[i] : extremes[3];
        for (j = 0; j + 1 < ARRAY_COUNT(bounds); j++)
            expected[j] += bounds[j] <= model[i] && model[i] < bounds[j + 1];
    }
    assert_memory_equal(counts, expected, sizeof(counts));
    assert_true(extremes[0] == extremes[2] && extremes[1] == extremes[3]);
}

static void ranges(void **state)
{
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    int64_t *model = mem_array(WINDOW_SIZE, sizeof(*model));
    struct window_bits before;
    struct world world;
    int round;
    int i;

    (void)state;
    print_message("# seed %ju\n", (uintmax_t)seed);
    world_init(&world);
    for (round = 0; round < ROUND_COUNT; round++) {
        struct column_view view;

        if (round % 5 == 0)
            fill_numbers(&world, &rng, model);
        column_view(columns_column(world.columns, world.number), 0, &view);
        for (i = 0; i < 4; i++) {
            random_bits(&rng, &before);
            check_ranges(&view, &before, model, &rng);
        }
    }
    free(model);
    world_release(&world);
}

/* ---- values ---- */

struct value_model {
    uint32_t count;
    uint32_t ordinals[4];
};

static void add_names(struct world *world, uint16_t field, uint32_t count)
{
    uint32_t i;

    for (i = 0; i < count; i++) {
        char name[16];
        struct bytes bytes;
        int64_t value;

        bytes = bytes_make(name, (size_t)snprintf(name, sizeof(name), "v%u", i));
        if (field == world->keyword)
            assert_int_equal(columns_keyword(world->columns, field, bytes, &value, &world->err), 0);
        else /* the list made is dropped with the columns */
            assert_int_equal(
                columns_keywords(world->columns, field, &bytes, 1, &value, &world->err), 0);
    }
}

static void fill_values(struct world *world, uint16_t field, struct rng *rng,
                        struct value_model *models, uint32_t distinct)
{
    uint64_t share = (uint64_t[]){30, 900, 1000}[rng_below(rng, 3)];
    uint32_t i;
    uint32_t j;

    for (i = 0; i < WINDOW_SIZE; i++) {
        struct value_model *model = &models[i];
        struct bytes names[4];
        char text[4][16];
        int64_t value = COLUMN_NULL;

        model->count = 0;
        if (rng_below(rng, 1000) < share)
            model->count = field == world->keyword ? 1 : 1 + (uint32_t)rng_below(rng, 4);
        for (j = 0; j < model->count; j++) {
            model->ordinals[j] = (uint32_t)rng_below(rng, distinct);
            names[j] = bytes_make(
                text[j], (size_t)snprintf(text[j], sizeof(text[j]), "v%u", model->ordinals[j]));
        }
        if (field == world->keyword && model->count)
            value = model->ordinals[0];
        else if (model->count)
            assert_int_equal(
                columns_keywords(world->columns, field, names, model->count, &value, &world->err),
                0);
        put(world, i, field, value);
    }
    if (rng_below(rng, 2))
        columns_tighten(world->columns, 0);
}

static bool is_repeated(const struct value_model *model, uint32_t at)
{
    uint32_t i;

    for (i = 0; i < at; i++)
        if (model->ordinals[i] == model->ordinals[at])
            return true;
    return false;
}

/* As a facet counts them: values of one a document by themselves, several by what they stand for.
 */
static void count_values(const struct column *column, const struct facet_hits *hits,
                         uint32_t *counts, uint32_t count)
{
    int64_t values[WINDOW_SIZE];
    struct column_view view;
    uint32_t picked;
    uint32_t i;
    uint32_t j;

    column_view(column, 0, &view);
    if (!column_field(column)->multiple) {
        facet_values(&view, hits, counts, count);
        return;
    }
    picked = facet_pick(&view, hits, values);
    for (i = 0; i < picked; i++) {
        const uint32_t *list = NULL;
        uint32_t length = KEYWORD_MASK_COUNT_MAX;

        if (column_lists(column))
            list = value_lists_get(column_lists(column), (uint32_t)values[i], &length);
        for (j = 0; j < length; j++) {
            uint32_t ordinal = list ? list[j] : j;

            if (ordinal < count && (list || values[i] >> j & 1))
                counts[ordinal]++;
        }
    }
}

static void check_values(const struct column *column, const struct window_bits *before,
                         const struct value_model *models, struct rng *rng)
{
    uint32_t table_size = 1 + (uint32_t)rng_below(rng, VALUE_COUNT);
    uint32_t facet_size = 1 + (uint32_t)rng_below(rng, VALUE_COUNT);
    uint64_t table[VALUE_COUNT / 64 + 1];
    uint32_t expected[VALUE_COUNT] = {0};
    struct window_bits in = *before;
    uint16_t offsets[WINDOW_LIST_MAX + WINDOW_LIST_SPARE];
    struct column_view view;
    uint32_t i;
    uint32_t j;
    int form;

    for (i = 0; i < ARRAY_COUNT(table); i++)
        table[i] = rng_next(rng) & rng_next(rng);
    column_view(column, 0, &view);
    filter_in(column, &view, (struct ordinal_table){.bits = table, .bit_count = table_size}, &in);
    for (i = 0; i < WINDOW_SIZE; i++) {
        bool found = false;

        for (j = 0; window_test(before, i) && j < models[i].count; j++) {
            uint32_t ordinal = models[i].ordinals[j];

            found |= ordinal < table_size && (table[ordinal / 64] >> (ordinal % 64) & 1);
            if (ordinal < facet_size && !is_repeated(&models[i], j))
                expected[ordinal]++;
        }
        assert_int_equal(window_test(&in, i), found);
    }
    for (form = 0; form < FORM_COUNT; form++) {
        struct facet_hits hits = hits_in_form(before, form, offsets);
        uint32_t counts[VALUE_COUNT] = {0};

        count_values(column, &hits, counts, facet_size);
        assert_memory_equal(counts, expected, sizeof(counts));
    }
}

static void values(void **state)
{
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    struct value_model *models = mem_array(WINDOW_SIZE, sizeof(*models));
    struct world world;
    int round;
    int i;

    (void)state;
    print_message("# seed %ju\n", (uintmax_t)seed);
    world_init(&world);
    add_names(&world, world.keyword, VALUE_COUNT);
    add_names(&world, world.few, 62);
    add_names(&world, world.many, VALUE_COUNT);
    for (round = 0; round < ROUND_COUNT / 5; round++) {
        uint16_t fields[] = {world.keyword, world.few, world.many};
        uint16_t field = fields[round % 3];
        uint32_t distinct = (uint32_t[]){1, 5, 62, VALUE_COUNT}[rng_below(&rng, 4)];
        struct window_bits before;

        if (field == world.few && distinct > 62)
            distinct = 62;
        fill_values(&world, field, &rng, models, distinct);
        for (i = 0; i < 6; i++) {
            random_bits(&rng, &before);
            check_values(columns_column(world.columns, field), &before, models, &rng);
        }
    }
    free(models);
    world_release(&world);
}

/* ---- places ---- */

/* By the chord between unit vectors: another formula than the one tested. */
static double chord_distance_m(int32_t lat_a, int32_t lon_a, int32_t lat_b, int32_t lon_b)
{
    long double unit = acosl(-1) / 180 / 1e7L;
    long double x =
        cosl(lat_a * unit) * cosl(lon_a * unit) - cosl(lat_b * unit) * cosl(lon_b * unit);
    long double y =
        cosl(lat_a * unit) * sinl(lon_a * unit) - cosl(lat_b * unit) * sinl(lon_b * unit);
    long double z = sinl(lat_a * unit) - sinl(lat_b * unit);
    long double half = sqrtl(x * x + y * y + z * z) / 2;

    return (double)(2 * 6371008.8L * asinl(half < 1 ? half : 1));
}

static int32_t random_between(struct rng *rng, int64_t low, int64_t high)
{
    return (int32_t)(low + (int64_t)rng_below(rng, (uint64_t)(high - low + 1)));
}

/* Near the point, or anywhere; ends of the map too. */
static void random_point(struct rng *rng, int32_t *lat, int32_t *lon, bool near)
{
    int64_t reach = near ? 5000000 : 1800000000;
    int64_t lat_low = *lat - reach < -900000000 ? -900000000 : *lat - reach;
    int64_t lat_high = *lat + reach > 900000000 ? 900000000 : *lat + reach;
    int64_t moved = *lon + (int64_t)random_between(rng, -reach, reach);

    *lat = random_between(rng, lat_low, lat_high);
    if (moved > 1800000000)
        moved -= 3600000000;
    if (moved < -1800000000)
        moved += 3600000000;
    *lon = (int32_t)moved;
}

static void check_places(const struct column_view *view, const struct window_bits *before,
                         const int64_t *model, int32_t lat, int32_t lon, double radius_m)
{
    struct geo_box box = {lat - lat / 9, lat / 2 > lat ? lat / 2 : lat, lon, lon / 3};
    struct window_bits in_box = *before;
    struct window_bits in_radius = *before;
    uint32_t i;

    filter_box(view, &box, &in_box);
    filter_radius(view, lat, lon, radius_m, &in_radius);
    for (i = 0; i < WINDOW_SIZE; i++) {
        bool has = window_test(before, i) && model[i] != COLUMN_NULL;
        double distance;
        int32_t a = 0;
        int32_t b = 0;
        bool lon_in;

        if (has)
            geo_unpack(model[i], &a, &b);
        lon_in = box.lon_min <= box.lon_max ? b >= box.lon_min && b <= box.lon_max
                                            : b >= box.lon_min || b <= box.lon_max;
        assert_int_equal(window_test(&in_box, i),
                         has && a >= box.lat_min && a <= box.lat_max && lon_in);
        distance = chord_distance_m(lat, lon, a, b);
        if (!has)
            assert_false(window_test(&in_radius, i));
        else if (fabs(distance - radius_m) >
                 0.5) /* half a metre: where doubles end, at the antipode */
            assert_int_equal(window_test(&in_radius, i), distance <= radius_m);
    }
}

static void places(void **state)
{
    static const int32_t centres[][2] = {{557558000, 376173000},
                                         {0, 0},
                                         {-100, 1799999999},
                                         {899999000, 5},
                                         {-899990000, -1000000000},
                                         {123456789, -1799990000},
                                         {900000000, 0}};
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    int64_t *model = mem_array(WINDOW_SIZE, sizeof(*model));
    struct world world;
    size_t c;
    int i;

    (void)state;
    print_message("# seed %ju\n", (uintmax_t)seed);
    world_init(&world);
    for (c = 0; c < ARRAY_COUNT(centres) * 2; c++) {
        const int32_t *centre = centres[c % ARRAY_COUNT(centres)];
        struct column_view view;
        uint32_t id;

        for (id = 0; id < WINDOW_SIZE; id++) {
            int32_t lat = centre[0];
            int32_t lon = centre[1];

            random_point(&rng, &lat, &lon, rng_below(&rng, 2));
            model[id] = rng_below(&rng, 10) < (c & 1 ? 1 : 9) ? geo_pack(lat, lon) : COLUMN_NULL;
            put(&world, id, world.place, model[id]);
        }
        columns_tighten(world.columns, 0);
        column_view(columns_column(world.columns, world.place), 0, &view);
        for (i = 0; i < 8; i++) {
            double radius = (double[]){0, 10, 1000, 30000, 55000, 2e6, 1.5e7, 2.1e7}[i];
            struct window_bits before;

            random_bits(&rng, &before);
            check_places(&view, &before, model, centre[0], centre[1], radius);
        }
    }
    free(model);
    world_release(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges),
        cmocka_unit_test(values),
        cmocka_unit_test(places),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
