/* SPDX-License-Identifier: Apache-2.0 */
/*
 * many_keywords.c - attributes with hardly two documents of one value (a seller, a phone), beside a
 * naive array: filters, facets, sorts, changes, a checkpoint read back.
 *
 *     many_keywords [COUNT]     so many documents, and what they cost; 80 000 as a test
 */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/random.h"
#include "index/bounds.h"
#include "query/request/response.h"
#include "test_dir.h"

enum { SELLER, PHONES, TITLE, FIELD_COUNT };
enum { LIMIT = 100, ASKED_COUNT = 200, CHANGED_COUNT = 2000, REPEATED = 7, BATCH_COUNT = 2000 };

static uint32_t doc_count = 80000;

struct world {
    struct shard *shard;
    struct shard_reader *reader;
    struct query_engine *engine;
    struct arena *arena;
    uint32_t *sellers; /* by document: the naive index */
    uint64_t offset;
    char dir[TEST_DIR_SIZE];
};

/* ---- writing ---- */

static void open_shard(struct world *world)
{
    /* The limit of the one is what stored schemas have; the other says nothing. */
    static const struct field fields[FIELD_COUNT] = {
        [SELLER] = {.type = FIELD_KEYWORD,
                    .filterable = true,
                    .value_count_max = KEYWORD_COUNT_BEFORE,
                    .name = "seller"},
        [PHONES] = {.type = FIELD_KEYWORD, .filterable = true, .multiple = true, .name = "phones"},
        [TITLE] = {.type = FIELD_TEXT, .weight = 1, .name = "title"},
    };
    const struct shard_options options = {.dir = world->dir};
    struct err err;

    if (shard_open(&options, &world->shard, &err))
        fail_msg("%s", err.text);
    for (int i = 0; i < FIELD_COUNT; i++)
        assert_int_equal(shard_add_field(world->shard, &fields[i], NULL, &err), 0);
    assert_int_equal(shard_reader_new(world->shard, &world->reader, &err), 0);
    world->engine = query_engine_new(world->shard, world->reader);
}

static void close_shard(struct world *world)
{
    query_engine_free(world->engine);
    shard_reader_free(world->reader);
    shard_close(world->shard);
}

static void work(struct world *world)
{
    bool did = true;
    struct err err;

    while (did)
        if (shard_work(world->shard, &did, &err))
            fail_msg("%s", err.text);
}

static void publish(struct world *world)
{
    struct err err;

    if (shard_publish(world->shard, ++world->offset, &err))
        fail_msg("%s", err.text);
}

/* Neither the order of coming nor that of names is the other's. */
static void name_of(uint32_t number, char name[32])
{
    snprintf(name, 32, "s%u-%u", number * UINT32_C(2654435761) >> 8, number);
}

static void put(struct world *world, docid id)
{
    char seller[32], phones[2][32];
    struct bytes names[3];
    struct shard_value values[FIELD_COUNT] = {
        {.field = SELLER, .kind = VALUE_KEYWORDS, .keywords = {&names[0], 1}},
        {.field = PHONES, .kind = VALUE_KEYWORDS, .keywords = {&names[1], 2}},
        {.field = TITLE, .kind = VALUE_TEXT, .text = bytes_of("red box")},
    };
    const struct shard_document document = {.id = id, .values = values, .count = FIELD_COUNT};
    struct err err;

    name_of(world->sellers[id], seller);
    name_of(id, phones[0]);
    name_of(id / 2, phones[1]);
    names[0] = bytes_of(seller);
    names[1] = bytes_of(phones[0]);
    names[2] = bytes_of(phones[1]);
    if (shard_put(world->shard, &document, &err))
        fail_msg("document %u: %s", id, err.text);
}

static void fill(struct world *world)
{
    for (docid id = 0; id < doc_count; id++) {
        world->sellers[id] = id % REPEATED ? id : id / 2;
        put(world, id);
        if (id % BATCH_COUNT == BATCH_COUNT - 1) {
            publish(world);
            work(world);
        }
    }
    publish(world);
    work(world);
}

/* In place: the texts stay. */
static void change_some(struct world *world, struct rng *rng)
{
    for (int i = 0; i < CHANGED_COUNT; i++) {
        docid id = (docid)(rng_next(rng) % doc_count);
        char seller[32];
        struct bytes name;
        struct shard_value value = {
            .field = SELLER, .kind = VALUE_KEYWORDS, .keywords = {&name, 1}};
        struct err err;

        world->sellers[id] = doc_count + (uint32_t)i; /* one that nobody had */
        name_of(world->sellers[id], seller);
        name = bytes_of(seller);
        assert_int_equal(shard_change(world->shard, id, &value, 1, &err), 0);
    }
    publish(world);
}

/* ---- asking ---- */

static const Torg__V1__StageAnswer *ask(struct world *world, Torg__V1__QueryStage *stage)
{
    Torg__V1__Query query = TORG__V1__QUERY__INIT;
    Torg__V1__QueryAnswer *answer;
    struct query_request request;
    struct err err = {0};

    query.stages = &stage;
    query.n_stages = 1;
    stage->_limit_case = TORG__V1__QUERY_STAGE___LIMIT_LIMIT;
    stage->limit = LIMIT;
    if (request_read(&query, shard_schema(world->shard), 0, world->arena, &request, &err) ||
        response_make(world->engine, &request, 0, world->arena, &answer, &err))
        fail_msg("%s", err.text);
    return answer->stages[0];
}

static const Torg__V1__StageAnswer *ask_for(struct world *world, char *field, const char *name)
{
    Torg__V1__QueryStage stage = TORG__V1__QUERY_STAGE__INIT;
    Torg__V1__Filter filter = TORG__V1__FILTER__INIT;
    Torg__V1__FieldValues in = TORG__V1__FIELD_VALUES__INIT;
    char *values[] = {(char *)name};

    in.field = field;
    in.values = values;
    in.n_values = 1;
    filter.kind_case = TORG__V1__FILTER__KIND_IN;
    filter.in = &in;
    stage.filter = &filter;
    return ask(world, &stage);
}

static void check_filters(struct world *world, struct rng *rng)
{
    for (int i = 0; i < ASKED_COUNT; i++) {
        docid id = i ? (docid)(rng_next(rng) % doc_count) : doc_count - 1;
        const Torg__V1__StageAnswer *found;
        uint64_t count = 0;
        char name[32];

        name_of(world->sellers[id], name);
        for (docid other = 0; other < doc_count; other++)
            count += world->sellers[other] == world->sellers[id];
        found = ask_for(world, "seller", name);
        assert_int_equal(found->total, count);
        for (size_t k = 0; k < found->n_hits; k++)
            assert_int_equal(world->sellers[found->hits[k]->id], world->sellers[id]);
        name_of(id, name); /* its own, and that of the two documents of twice the number */
        count = 1 + (id * 2 < doc_count && id) + (id * 2 + 1 < doc_count);
        assert_int_equal(ask_for(world, "phones", name)->total, count);
        arena_reset(world->arena);
    }
    assert_int_equal(ask_for(world, "seller", "nobody")->total, 0);
}

struct named {
    char name[32];
    uint32_t count;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static int by_count(const void *a, const void *b)
{
    const struct named *x = a, *y = b;

    return x->count != y->count ? (x->count > y->count ? -1 : 1) : by_name(a, b);
}

/* Names of the documents' sellers, one a document, in order. */
static struct named *sorted_sellers(const struct world *world)
{
    struct named *list = mem_array(doc_count, sizeof(*list));

    for (docid id = 0; id < doc_count; id++)
        name_of(world->sellers[id], list[id].name);
    qsort(list, doc_count, sizeof(*list), by_name);
    return list;
}

static void check_sort(struct world *world, const struct named *sorted, bool descending)
{
    Torg__V1__QueryStage stage = TORG__V1__QUERY_STAGE__INIT;
    Torg__V1__Sort sort = TORG__V1__SORT__INIT;
    Torg__V1__Sort *sorts[] = {&sort};
    const Torg__V1__StageAnswer *found;

    sort.field = "seller";
    sort.descending = descending;
    stage.sorts = sorts;
    stage.n_sorts = 1;
    found = ask(world, &stage);
    assert_int_equal(found->total, doc_count);
    assert_int_equal(found->n_hits, LIMIT);
    for (uint32_t i = 0; i < LIMIT; i++) {
        char name[32];

        name_of(world->sellers[found->hits[i]->id], name);
        assert_string_equal(name, sorted[descending ? doc_count - 1 - i : i].name);
    }
    arena_reset(world->arena);
}

/* Of sorted ones: how often each is there. */
static uint32_t count_each(struct named *sorted)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < doc_count; i++) {
        if (!count || strcmp(sorted[count - 1].name, sorted[i].name) != 0) {
            sorted[count] = sorted[i];
            sorted[count++].count = 0;
        }
        sorted[count - 1].count++;
    }
    return count;
}

static void check_facet(struct world *world, struct named *sorted)
{
    Torg__V1__QueryStage stage = TORG__V1__QUERY_STAGE__INIT;
    Torg__V1__Facet facet = TORG__V1__FACET__INIT;
    Torg__V1__Facet *facets[] = {&facet};
    const Torg__V1__FacetAnswer *found;
    uint32_t count = count_each(sorted);

    qsort(sorted, count, sizeof(*sorted), by_count);
    facet.field = "seller";
    facet.limit = LIMIT;
    stage.facets = facets;
    stage.n_facets = 1;
    found = ask(world, &stage)->facets[0];
    assert_int_equal(found->n_values, LIMIT);
    assert_int_equal(found->other_count, count - LIMIT);
    for (uint32_t i = 0; i < LIMIT; i++) {
        assert_string_equal(found->values[i]->value, sorted[i].name);
        assert_int_equal(found->values[i]->count, sorted[i].count);
    }
    arena_reset(world->arena);
}

static void check_all(struct world *world, struct rng *rng)
{
    struct named *sorted = sorted_sellers(world);

    check_filters(world, rng);
    check_sort(world, sorted, false);
    check_sort(world, sorted, true);
    check_facet(world, sorted);
    free(sorted);
}

/* ---- the test, and the measure ---- */

static double since_ms(int64_t begun_us)
{
    return (double)(clock_mono_us(clock_system()) - begun_us) / 1000;
}

static void measure(struct world *world)
{
    Torg__V1__QueryStage stage = TORG__V1__QUERY_STAGE__INIT;
    Torg__V1__Sort sort = TORG__V1__SORT__INIT;
    Torg__V1__Sort *sorts[] = {&sort};
    Torg__V1__Facet facet = TORG__V1__FACET__INIT;
    Torg__V1__Facet *facets[] = {&facet};
    char name[32];
    int64_t at_us = clock_mono_us(clock_system());

    for (int i = 0; i < 1000; i++) {
        name_of(world->sellers[i * 13], name);
        ask_for(world, "seller", name);
        arena_reset(world->arena);
    }
    printf("# a filter by seller: %.3f ms\n", since_ms(at_us) / 1000);
    facet.field = sort.field = "seller";
    stage.facets = facets;
    stage.n_facets = 1;
    at_us = clock_mono_us(clock_system());
    ask(world, &stage);
    printf("# a facet of all: %.1f ms\n", since_ms(at_us));
    stage.n_facets = 0;
    stage.sorts = sorts;
    stage.n_sorts = 1;
    for (int i = 0; i < 2; i++) {
        at_us = clock_mono_us(clock_system());
        ask(world, &stage);
        printf("# a sort of all: %.1f ms\n", since_ms(at_us));
    }
}

static void millions_of_keywords_are_as_good_as_few(void **state)
{
    struct world world = {.arena = arena_new(),
                          .sellers = mem_array(doc_count, sizeof(*world.sellers))};
    struct rng rng = rng_seeded(7);
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    int64_t begun_us = clock_mono_us(clock_system());
    struct err err;

    (void)state;
    assert_true(test_dir_make(world.dir));
    open_shard(&world);
    fill(&world);
    printf("# %u documents in %.0f ms, %.1f bytes each\n", doc_count, since_ms(begun_us),
           (double)(mallinfo2().uordblks + mallinfo2().hblkhd - before) / doc_count);
    measure(&world);
    check_all(&world, &rng);
    change_some(&world, &rng);
    check_all(&world, &rng);
    begun_us = clock_mono_us(clock_system());
    assert_int_equal(shard_checkpoint(world.shard, &err), 0);
    close_shard(&world);
    printf("# a checkpoint in %.0f ms\n", since_ms(begun_us));
    begun_us = clock_mono_us(clock_system());
    open_shard(&world);
    printf("# read back in %.0f ms\n", since_ms(begun_us));
    check_all(&world, &rng);
    change_some(&world, &rng);
    work(&world);
    check_all(&world, &rng);
    close_shard(&world);
    dir_remove(world.dir, NULL);
    free(world.sellers);
    arena_free(world.arena);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(millions_of_keywords_are_as_good_as_few)};

    if (argc > 1)
        doc_count = (uint32_t)strtoul(argv[1], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
