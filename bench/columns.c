/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench/columns.c - attributes by position beside the plain way, an array of one struct a document.
 *
 * The same documents in both: price, date and five keywords. Measured, interleaved, medians of
 * processor time told: changes of one attribute at random ids; a range of prices over all
 * documents; that range with five facets of what it leaves, at 50 %, 5 % and 1 % of hits. Results
 * are compared. The plain array has no readers to protect: it is told as it is.
 *
 * usage: bench-columns; TORG_BENCH_DOCS (default 2 M), _ROUNDS change it. Last line for machines.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/text.h"
#include "index/columns/column_filter.h"
#include "index/columns/columns.h"
#include "index/columns/kernels_column.h"
#include "index/postings/kernels.h"

enum { FACET_COUNT = 5, VALUE_COUNT_MAX = 2500, UPDATE_COUNT = 200000, ROUND_COUNT_MAX = 15 };

static const uint32_t value_counts[FACET_COUNT] = {2500, 800, 300, 40, 5};
static const char *const facet_names[FACET_COUNT] = {"category", "brand", "city", "colour",
                                                     "condition"};

struct row {
    uint32_t price;
    uint32_t date;
    uint32_t values[FACET_COUNT];
};

struct world {
    uint32_t doc_count;
    struct row *rows;
    struct schema *schema;
    struct epoch *epoch;
    struct columns *columns;
    uint16_t price;
    uint16_t date;
    uint16_t facets[FACET_COUNT];
    struct err err;
};

/* Of the processor, for neighbours come and go. */
static double now_s(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void fail(const char *what)
{
    fprintf(stderr, "bench columns: %s\n", what);
    exit(1);
}

static uint64_t setting(const char *name, uint64_t usual)
{
    const char *text = getenv(name);
    uint64_t value;

    if (!text)
        return usual;
    if (!text_to_u64(bytes_of(text), &value) || !value)
        fail("a setting is no number");
    return value;
}

static uint16_t add_field(struct world *world, const char *name, enum field_type type)
{
    const struct field field = {.name = name, .type = type};
    uint16_t id;

    if (schema_add(world->schema, &field, &id, &world->err))
        fail(world->err.text);
    return id;
}

static void make_schema(struct world *world)
{
    uint32_t i;
    uint32_t j;

    world->schema = schema_new();
    world->epoch = epoch_new();
    world->columns = columns_new(world->schema, world->epoch);
    world->price = add_field(world, "price", FIELD_INTEGER);
    world->date = add_field(world, "date", FIELD_DATE);
    for (i = 0; i < FACET_COUNT; i++) {
        world->facets[i] = add_field(world, facet_names[i], FIELD_KEYWORD);
        for (j = 0; j < value_counts[i]; j++) {
            char name[16];
            int64_t value;
            size_t size = (size_t)snprintf(name, sizeof(name), "value%u", j);

            if (columns_keyword(world->columns, world->facets[i], bytes_make(name, size), &value,
                                &world->err))
                fail(world->err.text);
        }
    }
}

/* Some values are far more frequent than others, as in life. */
static uint32_t skewed(struct rng *rng, uint32_t count)
{
    uint64_t a = rng_below(rng, count);
    uint64_t b = rng_below(rng, count);

    return (uint32_t)(a * b / count);
}

static double load(struct world *world, struct rng *rng)
{
    struct column_change changes[2 + FACET_COUNT];
    double start;
    docid id;
    uint32_t i;

    for (id = 0; id < world->doc_count; id++) {
        struct row *row = &world->rows[id];

        row->price = (uint32_t)rng_below(rng, 10000000);
        row->date = 1700000000 + (uint32_t)rng_below(rng, 60000000);
        for (i = 0; i < FACET_COUNT; i++)
            row->values[i] = skewed(rng, value_counts[i]);
    }
    start = now_s();
    for (id = 0; id < world->doc_count; id++) {
        const struct row *row = &world->rows[id];

        changes[0] = (struct column_change){world->price, row->price};
        changes[1] = (struct column_change){world->date, row->date};
        for (i = 0; i < FACET_COUNT; i++)
            changes[2 + i] = (struct column_change){world->facets[i], row->values[i]};
        if (columns_set(world->columns, id, changes, 2 + FACET_COUNT, &world->err))
            fail(world->err.text);
    }
    return now_s() - start;
}

/* ---- the three measurements, each way ---- */

static double update_columns(struct world *world, uint64_t seed)
{
    struct rng rng = rng_seeded(seed);
    double start = now_s();
    uint32_t i;

    for (i = 0; i < UPDATE_COUNT; i++) {
        docid id = (docid)rng_below(&rng, world->doc_count);
        struct column_change change = {world->price, (int64_t)rng_below(&rng, 10000000)};

        if (columns_set(world->columns, id, &change, 1, &world->err))
            fail(world->err.text);
    }
    return (now_s() - start) / UPDATE_COUNT;
}

static double update_rows(struct world *world, uint64_t seed)
{
    struct rng rng = rng_seeded(seed);
    double start = now_s();
    uint32_t i;

    for (i = 0; i < UPDATE_COUNT; i++) {
        docid id = (docid)rng_below(&rng, world->doc_count);

        world->rows[id].price = (uint32_t)rng_below(&rng, 10000000);
    }
    return (now_s() - start) / UPDATE_COUNT;
}

struct result {
    uint64_t hits;
    uint32_t counts[FACET_COUNT][VALUE_COUNT_MAX];
};

/* Documents of the last window that are there. */
static void all_bits(const struct world *world, uint32_t window, struct window_bits *bits)
{
    docid first = window_first(window);
    uint32_t i;

    memset(bits, 0xff, sizeof(*bits));
    for (i = 0; i < WINDOW_SIZE && first + WINDOW_SIZE > world->doc_count; i++)
        if (first + i >= world->doc_count)
            window_clear(bits, i);
}

static void count_facets(const struct world *world, uint32_t window, const struct window_bits *bits,
                         struct result *result)
{
    uint16_t offsets[WINDOW_LIST_MAX + WINDOW_LIST_SPARE];
    struct facet_hits hits = {.bits = bits, .count = kernels()->window_list(bits, offsets)};
    uint32_t i;

    if (hits.count <= FACET_LIST_MAX)
        hits.offsets = offsets;
    for (i = 0; i < FACET_COUNT; i++) {
        const struct column *column = columns_column(world->columns, world->facets[i]);
        struct column_view view;

        column_view(column, window, &view);
        facet_values(&view, &hits, result->counts[i], value_counts[i]);
    }
}

static double query_columns(const struct world *world, uint32_t price_max, bool facets,
                            struct result *result)
{
    const struct column *price = columns_column(world->columns, world->price);
    uint32_t windows = columns_window_count(world->columns);
    double start = now_s();
    uint32_t window;

    for (window = 0; window < windows; window++) {
        struct window_bits bits;
        struct column_view view;
        uint32_t begun;

        do {
            all_bits(world, window, &bits);
            begun = columns_read_begin(world->columns, window);
            column_view(price, window, &view);
            filter_range(&view, 0, price_max, &bits);
        } while (!columns_read_valid(world->columns, window, begun));
        result->hits += window_count(&bits);
        if (facets)
            count_facets(world, window, &bits, result);
    }
    return now_s() - start;
}

static double query_rows(const struct world *world, uint32_t price_max, bool facets,
                         struct result *result)
{
    double start = now_s();
    docid id;
    uint32_t i;

    for (id = 0; id < world->doc_count; id++) {
        const struct row *row = &world->rows[id];

        if (row->price > price_max)
            continue;
        result->hits++;
        for (i = 0; facets && i < FACET_COUNT; i++)
            result->counts[i][row->values[i]]++;
    }
    return now_s() - start;
}

/* ---- rounds ---- */

enum figure { UPDATE, SCAN, FACETS_50, FACETS_5, FACETS_1, FIGURE_COUNT };

static const uint32_t price_max[FIGURE_COUNT] = {0, 5000000, 5000000, 500000, 100000};

static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;

    return (left > right) - (left < right);
}

static double median(double *values, uint64_t count)
{
    qsort(values, count, sizeof(*values), compare_doubles);
    return values[count / 2];
}

/* Seconds a change, or a document looked at. */
static void measure(struct world *world, enum figure figure, uint64_t round, double *ours,
                    double *plain)
{
    static struct result results[2];
    bool facets = figure > SCAN;

    if (figure == UPDATE) {
        *ours = update_columns(world, round);
        *plain = update_rows(world, round);
        return;
    }
    memset(results, 0, sizeof(results));
    *ours = query_columns(world, price_max[figure], facets, &results[0]) / world->doc_count;
    *plain = query_rows(world, price_max[figure], facets, &results[1]) / world->doc_count;
    if (memcmp(&results[0], &results[1], sizeof(results[0])) != 0)
        fail("the two ways differ");
}

int main(void)
{
    static const char *const names[FIGURE_COUNT] = {
        "change of one attribute", "range, a document", "and 5 facets, 50 % hits",
        "and 5 facets, 5 % hits", "and 5 facets, 1 % hits"};
    uint64_t rounds = setting("TORG_BENCH_ROUNDS", 5);
    struct world world = {.doc_count = (uint32_t)setting("TORG_BENCH_DOCS", 2000000)};
    struct rng rng = rng_seeded(1);
    double ours[FIGURE_COUNT];
    double plain[FIGURE_COUNT];
    struct columns_size size;
    double load_s;
    int figure;

    rounds = rounds < ROUND_COUNT_MAX ? rounds : ROUND_COUNT_MAX;
    make_schema(&world);
    world.rows = mem_array(world.doc_count, sizeof(*world.rows));
    load_s = load(&world, &rng);
    columns_size(world.columns, &size);
    printf("%u documents, 7 attributes, kernels %s, %ju rounds, medians\n", world.doc_count,
           column_kernels()->name, (uintmax_t)rounds);
    printf("load %.2f M documents/s, %.1f bytes a document\n", world.doc_count / load_s / 1e6,
           (double)size.pages / world.doc_count);
    for (figure = 0; figure < FIGURE_COUNT; figure++) {
        double a[ROUND_COUNT_MAX];
        double b[ROUND_COUNT_MAX];
        uint64_t i;

        for (i = 0; i < rounds; i++)
            measure(&world, figure, i, &a[i], &b[i]);
        ours[figure] = median(a, rounds);
        plain[figure] = median(b, rounds);
        printf("%-28s columns %8.2f ns   rows %8.2f ns\n", names[figure], ours[figure] * 1e9,
               plain[figure] * 1e9);
    }
    printf("updates_per_s=%.0f scan_gdoc_per_s=%.2f rows_scan_gdoc_per_s=%.2f "
           "facet5_50_ns_a_hit=%.2f facet5_5_ns_a_hit=%.2f facet5_1_ns_a_hit=%.2f "
           "page_5_times_rows=%.2f\n",
           1 / ours[UPDATE], 1e-9 / ours[SCAN], 1e-9 / plain[SCAN],
           (ours[FACETS_50] - ours[SCAN]) * 1e9 / 0.5, (ours[FACETS_5] - ours[SCAN]) * 1e9 / 0.05,
           (ours[FACETS_1] - ours[SCAN]) * 1e9 / 0.01, plain[FACETS_5] / ours[FACETS_5]);
    columns_free(world.columns);
    epoch_free(world.epoch);
    schema_free(world.schema);
    free(world.rows);
    return 0;
}
