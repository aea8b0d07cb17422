/* SPDX-License-Identifier: Apache-2.0 */
/*
 * together.c - a hit's text, title and attributes are of one version of its document, however fast
 * a writer replaces documents.
 *
 * Version v of a document has the word WORDS[v % 4] in its title and as an attribute, and v itself
 * in its title, as an attribute, in a stored field and in its key. Its price alone changes in
 * place.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/clock.h"
#include "query/request/response.h"

enum {
    DOC_COUNT = 300,
    BATCH_COUNT = 8,
    READER_COUNT = 2,
    RUN_MS = 1500,
    LIMIT = 40,
};
enum { TITLE, WORD, VERSION, COPY, TAGS, PRICE, KEY, FIELD_COUNT };

static const char *const WORDS[] = {"alpha", "bravo", "delta", "gamma"};
enum { WORD_COUNT = 4 };

struct world {
    struct shard *shard;
    uint64_t offset;
    uint64_t versions[DOC_COUNT];
    _Atomic uint64_t begun, done; /* documents whose publication began, and is over */
    _Atomic bool is_over;
    _Atomic uint64_t ask_count, hit_count, short_count;
};

struct asker {
    struct shard_reader *reader;
    struct query_engine *engine;
    struct arena *arena;
};

/* ---- the writer ---- */

static void world_open(struct world *world)
{
    static const struct field fields[FIELD_COUNT] = {
        [TITLE] = {.type = FIELD_TEXT, .weight = 1, .name = "title"},
        [WORD] = {.type = FIELD_KEYWORD, .filterable = true, .name = "word"},
        [VERSION] = {.type = FIELD_INTEGER, .filterable = true, .name = "version"},
        [COPY] = {.type = FIELD_STORED, .name = "copy"},
        [TAGS] = {.type = FIELD_KEYWORD,
                  .multiple = true,
                  .filterable = true,
                  .value_count_max = 1000,
                  .name = "tags"},
        [PRICE] = {.type = FIELD_INTEGER, .filterable = true, .name = "price"},
        [KEY] = {.type = FIELD_STORED, .name = RESPONSE_KEY_FIELD},
    };
    const struct shard_options options = {.background = true, .buffer_doc_count_max = 2000};
    struct err err;
    int i;

    *world = (struct world){.shard = NULL};
    assert_int_equal(shard_open(&options, &world->shard, &err), 0);
    for (i = 0; i < FIELD_COUNT; i++)
        assert_int_equal(shard_add_field(world->shard, &fields[i], NULL, &err), 0);
}

static void put(struct world *world, docid id)
{
    uint64_t version = world->versions[id]++;
    const char *word = WORDS[version % WORD_COUNT];
    const struct bytes name = bytes_of(word);
    const struct bytes tags[] = {bytes_of(word), bytes_of(WORDS[(version + 1) % WORD_COUNT])};
    char title[64], key[32];
    const struct shard_value values[FIELD_COUNT] = {
        {.field = TITLE, .kind = VALUE_TEXT, .text = bytes_make(title, 0)},
        {.field = WORD, .kind = VALUE_KEYWORDS, .keywords = {&name, 1}},
        {.field = VERSION, .kind = VALUE_NUMBER, .number = (int64_t)version},
        {.field = COPY, .kind = VALUE_TEXT, .text = bytes_make(title, 0)},
        {.field = TAGS, .kind = VALUE_KEYWORDS, .keywords = {tags, 2}},
        {.field = PRICE, .kind = VALUE_NUMBER, .number = 1},
        {.field = KEY, .kind = VALUE_TEXT, .text = bytes_make(key, 0)},
    };
    struct shard_value *put = (struct shard_value *)values;
    const struct shard_document document = {.id = id, .values = values, .count = FIELD_COUNT};
    struct err err;

    snprintf(title, sizeof(title), "%s box %ju", word, (uintmax_t)version);
    snprintf(key, sizeof(key), "key-%ju", (uintmax_t)version);
    put[TITLE].text = put[COPY].text = bytes_of(title);
    put[KEY].text = bytes_of(key);
    if (shard_put(world->shard, &document, &err))
        fail_msg("%s", err.text);
}

static void publish(struct world *world)
{
    struct err err;

    if (shard_publish(world->shard, ++world->offset, &err))
        fail_msg("%s", err.text);
}

static void fill(struct world *world)
{
    docid id;

    for (id = 0; id < DOC_COUNT; id++)
        put(world, id);
    publish(world);
}

static void set_price(struct world *world, docid id, int64_t price)
{
    const struct shard_value value = {.field = PRICE, .kind = VALUE_NUMBER, .number = price};
    struct err err;

    assert_int_equal(shard_change(world->shard, id, &value, 1, &err), 0);
}

/* Mostly a few documents, so that pages are full of them; sometimes one goes and comes back. */
static void *write_on(void *context)
{
    struct world *world = context;
    uint32_t i, k;

    for (i = 0; !atomic_load(&world->is_over); i++) {
        for (k = 0; k < BATCH_COUNT; k++) {
            docid id = (i * 7 + k * 31) % (i % 3 ? 24 : DOC_COUNT);

            if (i % 16 == 0 && k % 2)
                shard_remove(world->shard, id);
            put(world, id);
            set_price(world, id, i);
        }
        atomic_fetch_add(&world->begun, BATCH_COUNT);
        publish(world);
        atomic_fetch_add(&world->done, BATCH_COUNT);
    }
    return NULL;
}

/* ---- readers ---- */

static void asker_open(struct asker *asker, struct shard *shard)
{
    struct err err;

    assert_int_equal(shard_reader_new(shard, &asker->reader, &err), 0);
    asker->engine = query_engine_new(shard, asker->reader);
    asker->arena = arena_new();
}

static void asker_close(struct asker *asker)
{
    arena_free(asker->arena);
    query_engine_free(asker->engine);
    shard_reader_free(asker->reader);
}

/* The stage's answer to a text, all fields shown, words counted. */
static const Torg__V1__StageAnswer *ask(struct asker *asker, struct shard *shard, const char *text)
{
    Torg__V1__Facet facet = TORG__V1__FACET__INIT;
    Torg__V1__Facet *facets[] = {&facet};
    Torg__V1__QueryStage stage = TORG__V1__QUERY_STAGE__INIT;
    Torg__V1__Query query = TORG__V1__QUERY__INIT;
    Torg__V1__QueryStage *stages[] = {&stage};
    char *show[] = {"*"};
    Torg__V1__QueryAnswer *answer;
    struct query_request request;
    struct err err = {0};

    facet.field = "word";
    stage.text = (char *)text;
    stage.show = show;
    stage.n_show = 1;
    stage.facets = facets;
    stage.n_facets = 1;
    stage._limit_case = TORG__V1__QUERY_STAGE___LIMIT_LIMIT;
    stage.limit = LIMIT;
    query.stages = stages;
    query.n_stages = 1;
    arena_reset(asker->arena);
    if (request_read(&query, shard_schema(shard), 0, asker->arena, &request, &err) ||
        response_make(asker->engine, &request, 0, asker->arena, &answer, &err))
        fail_msg("%s", err.text);
    return answer->stages[0];
}

static const Torg__V1__ShownField *shown(const Torg__V1__Hit *hit, const char *name)
{
    size_t i;

    for (i = 0; i < hit->n_fields; i++)
        if (strcmp(hit->fields[i]->name, name) == 0)
            return hit->fields[i];
    fail_msg("hit %u is shown without its %s", hit->id, name);
    return NULL;
}

/* word: that it was found by; NULL: any. */
static void check_hit(const Torg__V1__Hit *hit, const char *word)
{
    const char *title = shown(hit, "title")->values[0];
    uint64_t version = strtoull(shown(hit, "version")->values[0], NULL, 10);
    const char *named = WORDS[version % WORD_COUNT];
    const Torg__V1__ShownField *tags = shown(hit, "tags");
    char expected[64];

    snprintf(expected, sizeof(expected), "%s box %ju", named, (uintmax_t)version);
    if (word && strncmp(title, word, strlen(word)) != 0)
        fail_msg("hit %u was found by \"%s\" and is shown as \"%s\"", hit->id, word, title);
    if (strcmp(title, expected) != 0)
        fail_msg("hit %u is shown as \"%s\" with version %ju", hit->id, title, (uintmax_t)version);
    assert_string_equal(shown(hit, "copy")->values[0], title);
    assert_string_equal(shown(hit, "word")->values[0], named);
    assert_int_equal(tags->n_values, 2);
    assert_true(strcmp(tags->values[0], named) == 0 || strcmp(tags->values[1], named) == 0);
    snprintf(expected, sizeof(expected), "key-%ju", (uintmax_t)version);
    assert_string_equal(hit->pk, expected);
}

/* Documents that were counted although their attribute is not the word they were found by. */
static uint64_t count_others(const Torg__V1__StageAnswer *answer, const char *word)
{
    uint64_t others = 0;
    size_t i;

    for (i = 0; i < answer->facets[0]->n_values; i++)
        if (strcmp(answer->facets[0]->values[i]->value, word) != 0)
            others += answer->facets[0]->values[i]->count;
    return others;
}

static void *read_on(void *context)
{
    struct world *world = context;
    struct asker asker;
    uint32_t turn;

    asker_open(&asker, world->shard);
    for (turn = 0; !atomic_load(&world->is_over); turn++) {
        const char *word =
            turn % (WORD_COUNT + 1) < WORD_COUNT ? WORDS[turn % (WORD_COUNT + 1)] : NULL;
        uint64_t done = atomic_load(&world->done);
        const Torg__V1__StageAnswer *answer = ask(&asker, world->shard, word ? word : "box");
        uint64_t landed = atomic_load(&world->begun) - done;
        size_t i;

        for (i = 0; i < answer->n_hits; i++)
            check_hit(answer->hits[i], word);
        if (!word)
            assert_int_equal(answer->total, DOC_COUNT);
        else if (count_others(answer, word) > landed)
            fail_msg("%ju documents with \"%s\" are counted under other words, %ju changed",
                     (uintmax_t)count_others(answer, word), word, (uintmax_t)landed);
        atomic_fetch_add(&world->ask_count, 1);
        atomic_fetch_add(&world->hit_count, answer->n_hits);
        atomic_fetch_add(&world->short_count, answer->n_hits < LIMIT && answer->total > LIMIT);
    }
    asker_close(&asker);
    return NULL;
}

static void hits_are_of_one_version_beside_a_fast_writer(void **state)
{
    struct world *world = malloc(sizeof(*world));
    pthread_t writer, readers[READER_COUNT];
    int64_t until_us = clock_mono_us(clock_system()) + (int64_t)RUN_MS * MS_US;
    int i;

    (void)state;
    assert_non_null(world);
    world_open(world);
    fill(world);
    assert_int_equal(pthread_create(&writer, NULL, write_on, world), 0);
    for (i = 0; i < READER_COUNT; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_on, world), 0);
    while (clock_mono_us(clock_system()) < until_us || atomic_load(&world->ask_count) < 20)
        nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
    atomic_store(&world->is_over, true);
    pthread_join(writer, NULL);
    for (i = 0; i < READER_COUNT; i++)
        pthread_join(readers[i], NULL);
    print_message(
        "# %ju documents replaced, %ju questions, %ju hits, %ju pages with one left out\n",
        (uintmax_t)world->done, (uintmax_t)world->ask_count, (uintmax_t)world->hit_count,
        (uintmax_t)world->short_count);
    shard_close(world->shard);
    free(world);
}

static void a_replaced_document_is_seen_with_its_publication(void **state)
{
    const Torg__V1__StageAnswer *answer;
    struct world world;
    struct asker asker;

    (void)state;
    world_open(&world);
    put(&world, 5);
    put(&world, 6);
    publish(&world);
    asker_open(&asker, world.shard);
    put(&world, 5); /* "bravo" */
    set_price(&world, 5, 77);
    set_price(&world, 6, 88);
    shard_remove(world.shard, 6);
    put(&world, 7); /* a new one */

    answer = ask(&asker, world.shard, "alpha");
    assert_int_equal(answer->n_hits, 2);
    check_hit(answer->hits[0], "alpha");
    check_hit(answer->hits[1], "alpha");
    assert_string_equal(shown(answer->hits[0], "price")->values[0], "1");
    assert_string_equal(shown(answer->hits[1], "price")->values[0], "88"); /* in place: at once */
    assert_int_equal(count_others(answer, "alpha"), 0);
    assert_int_equal(ask(&asker, world.shard, "bravo")->n_hits, 0);

    publish(&world);
    answer = ask(&asker, world.shard, "bravo");
    assert_int_equal(answer->n_hits, 1);
    check_hit(answer->hits[0], "bravo");
    assert_string_equal(shown(answer->hits[0], "price")->values[0], "77");
    answer = ask(&asker, world.shard, "alpha");
    assert_int_equal(answer->n_hits, 1);
    assert_int_equal(answer->hits[0]->id, 7);
    asker_close(&asker);
    shard_close(world.shard);
}

/* ---- a hit that is replaced while it is shown ---- */

struct watcher {
    struct world *world;
    uint32_t meddle_count; /* runs in which document 5 is replaced */
    uint32_t show_count, kept_count;
    bool has_kept;
};

static int meddle(void *context, const struct snapshot *snapshot, const struct query_result *result,
                  struct err *err)
{
    struct watcher *watcher = context;

    (void)snapshot;
    (void)result;
    (void)err;
    if (watcher->show_count++ < watcher->meddle_count) {
        put(watcher->world, 5);
        publish(watcher->world);
    }
    return 0;
}

static void keep(void *context, uint32_t stage, const uint32_t *kept, uint32_t count)
{
    struct watcher *watcher = context;

    assert_int_equal(stage, 0);
    watcher->has_kept = true;
    watcher->kept_count = count;
    if (count)
        assert_int_equal(kept[0], 1);
}

/* Asks for "box" while document 5 is replaced in so many runs; hits are in order of version. */
static void run_watched(struct world *world, struct watcher *watcher, struct query_result *result,
                        struct asker *asker)
{
    const struct query_sort sort = {.kind = SORT_FIELD, .field = bytes_of("version")};
    const struct text_clause box = {.text = bytes_of("box")};
    const struct query_stage stage = {
        .text = {.clauses = &box, .count = 1}, .sorts = &sort, .sort_count = 1, .limit = 10};
    const struct query_plan plan = {.stages = &stage, .stage_count = 1};
    const struct query_viewer viewer = {meddle, keep, watcher};
    struct err err = {0};

    watcher->world = world;
    arena_reset(asker->arena);
    if (query_run_shown(asker->engine, &plan, NULL, 0, &viewer, asker->arena, result, &err))
        fail_msg("%s", err.text);
}

static void a_hit_that_is_replaced_again_and_again_is_left_out(void **state)
{
    struct watcher once = {.meddle_count = 1};
    struct watcher always = {.meddle_count = UINT32_MAX};
    struct query_result result;
    struct world world;
    struct asker asker;

    (void)state;
    world_open(&world);
    put(&world, 5);
    world.versions[9] = 1000;
    put(&world, 9);
    publish(&world);
    asker_open(&asker, world.shard);
    run_watched(&world, &once, &result, &asker);
    assert_int_equal(once.show_count, 2);
    assert_false(once.has_kept);
    assert_int_equal(result.answers[0].hit_count, 2);

    run_watched(&world, &always, &result, &asker);
    assert_int_equal(always.show_count, 3);
    assert_true(always.has_kept);
    assert_int_equal(always.kept_count, 1);
    assert_int_equal(result.answers[0].hit_count, 1);
    assert_int_equal(result.answers[0].hits[0].id, 9);
    assert_int_equal(result.answers[0].left_out_count, 1);
    assert_int_equal(result.answers[0].total, 2);
    asker_close(&asker);
    shard_close(world.shard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_replaced_document_is_seen_with_its_publication),
        cmocka_unit_test(a_hit_that_is_replaced_again_and_again_is_left_out),
        cmocka_unit_test(hits_are_of_one_version_beside_a_fast_writer),
    };

    return cmocka_run_group_tests_name("together", tests, NULL, NULL);
}
