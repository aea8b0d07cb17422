/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of search/choices/likely.h by search/search.h: which categories a text is about, what
 * that costs, and that pages go on in the order of the first; with a searcher that has a few
 * offers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/memory.h"
#include "codec/message.h"
#include "model/offer_fields.h"
#include "query/run/cursor.h"
#include "search/choices/votes.h"
#include "search/search.h"

enum { HASH = 7 };

static const char catalog_json[] =
    "{\"categories\": ["
    " {\"id\": \"cars\", \"name\": {\"ru\": \"Машины\", \"en\": \"Cars\"}},"
    " {\"id\": \"bikes\", \"name\": {\"ru\": \"Мотоциклы\", \"en\": \"Bikes\"}},"
    " {\"id\": \"parts\", \"name\": {\"ru\": \"Запчасти\", \"en\": \"Parts\"}},"
    " {\"id\": \"body\", \"parent\": \"parts\","
    "  \"name\": {\"ru\": \"Кузов\", \"en\": \"Body\"}}]}";

/* Later, without bikes. */
static const char small_catalog_json[] =
    "{\"categories\": ["
    " {\"id\": \"cars\", \"name\": {\"ru\": \"Машины\", \"en\": \"Cars\"}},"
    " {\"id\": \"parts\", \"name\": {\"ru\": \"Запчасти\", \"en\": \"Parts\"}},"
    " {\"id\": \"body\", \"parent\": \"parts\","
    "  \"name\": {\"ru\": \"Кузов\", \"en\": \"Body\"}}]}";

struct offer {
    const char *title, *words, *category;
};

static const struct offer mixed[] = {
    {"Бампер Toyota Camry", "бампер; бампер; Кузов; Toyota; Camry", "parts/body"},
    {"Toyota Camry, 2015", "Toyota Camry; Toyota Camry; Машины; Toyota", "cars"},
    {"Фара Toyota Camry", "фара; фара; Кузов; Toyota; Camry", "parts/body"},
    {"Toyota Camry, 90 000 км", "Машины; Toyota", "cars"},
    {"Toyota Camry 2018", "Toyota Camry; Camry; Camry; Машины", "cars"},
};

static const struct offer alike[] = {
    {"Toyota Camry, 2015", "Toyota Camry; Toyota Camry; Машины", "cars"},
    {"Продам Toyota Camry", "Машины", "cars"},
};

static const struct offer only_parts[] = {
    {"Бампер Toyota Camry", "бампер; бампер; Кузов", "parts/body"},
    {"Фара Toyota Camry", "фара; фара; Кузов", "parts/body"},
};

static const struct offer two_things[] = {
    {"Honda Civic", "Honda Civic; Honda Civic; Машины", "cars"},
    {"Honda CB", "Honda CB; Honda CB; Мотоциклы", "bikes"},
    {"Крыло Honda", "крыло; крыло; Кузов", "parts/body"},
};

struct scene {
    const struct offer *offers;
    uint32_t count;
    int sample_count, page_count; /* stages asked */
    bool sample_takes_any;
    uint32_t whole_count;  /* of the offers; UINT32_MAX: all of them */
    char *formula;         /* of the last page; "": by relevance */
    const char *preferred; /* its last bonus */
    bool is_partial;       /* a shard does not answer */
    uint32_t old_seconds;  /* of what answers */
    struct catalog *catalog;
    struct search search;
    struct arena *arena;
    Torg__V1__SearchOffersRequest request;
    Torg__V1__SearchOffersResponse response;
};

static struct catalog *catalog_of(void *arg)
{
    return catalog_ref(((struct scene *)arg)->catalog);
}

static void show(Torg__V1__Hit *hit, const char *name, const char *value, struct arena *arena)
{
    Torg__V1__ShownField *field = message_new(&torg__v1__shown_field__descriptor, arena);

    field->name = (char *)name;
    field->values = arena_array(arena, 1, sizeof(field->values[0]));
    field->values[field->n_values++] = (char *)value;
    hit->fields[hit->n_fields++] = field;
}

/* The page is in the order of the list: what matters is what it is asked to go by. */
static Torg__V1__StageAnswer *answer_stage(struct scene *scene, const Torg__V1__QueryStage *stage,
                                           struct arena *arena)
{
    Torg__V1__StageAnswer *made = message_new(&torg__v1__stage_answer__descriptor, arena);
    bool is_sample = stage->limit == 40;
    uint32_t there = stage->any_word || is_sample ? scene->count : scene->whole_count;
    uint32_t at = stage->cursor.len ? 2 : stage->offset;

    if (is_sample) {
        scene->sample_count++;
        scene->sample_takes_any = stage->any_word;
        assert_true(stage->no_total);
    } else if (stage->limit) {
        scene->page_count++;
        scene->formula = stage->sorts[0]->formula;
        scene->preferred = stage->n_clauses ? stage->clauses[stage->n_clauses - 1]->text : "";
        assert_int_equal(stage->sorts[0]->relevance,
                         !*stage->sorts[0]->formula && !*stage->sorts[0]->field);
    }
    made->total = stage->no_total ? 0 : there;
    made->hits = arena_array(arena, stage->limit + 1, sizeof(made->hits[0]));
    for (; at < there && made->n_hits < stage->limit; at++) {
        Torg__V1__Hit *hit = message_new(&torg__v1__hit__descriptor, arena);

        hit->pk = arena_printf(arena, "%u", at);
        hit->fields = arena_array(arena, 3, sizeof(hit->fields[0]));
        show(hit, OFFER_FIELD_TITLE, scene->offers[at].title, arena);
        show(hit, OFFER_FIELD_WORDS, scene->offers[at].words, arena);
        show(hit, OFFER_FIELD_CATEGORY, scene->offers[at].category, arena);
        made->hits[made->n_hits++] = hit;
    }
    if (stage->limit && at < there) {
        const struct page_cursor cursor = {.query_hash = HASH, .depth = at};
        struct bytes bytes = cursor_encode(&cursor, arena);

        made->cursor = (ProtobufCBinaryData){.data = (uint8_t *)bytes.data, .len = bytes.size};
    }
    return made;
}

static int ask(void *arg, const Torg__V1__SearchRequest *request, int64_t deadline_us,
               struct arena *arena, Torg__V1__SearchResponse *response, struct err *err)
{
    Torg__V1__QueryAnswer *answer = message_new(&torg__v1__query_answer__descriptor, arena);

    (void)deadline_us;
    (void)err;
    answer->stages = arena_array(arena, request->query->n_stages, sizeof(answer->stages[0]));
    for (size_t i = 0; i < request->query->n_stages; i++)
        answer->stages[answer->n_stages++] = answer_stage(arg, request->query->stages[i], arena);
    response->answer = answer;
    response->is_partial = ((struct scene *)arg)->is_partial;
    response->old_seconds = ((struct scene *)arg)->old_seconds;
    return 0;
}

/* Of what an old state told every offer is looked up: none is there any more. */
static int fetch_nothing(void *arg, const char *id, struct arena *arena, Torg__V1__Offer **offer,
                         struct err *err)
{
    (void)arg;
    (void)arena;
    (void)offer;
    return err_set(err, ERR_NOT_FOUND, "%s", id);
}

static int set_up(void **state)
{
    static struct scene scene;
    struct err err;

    scene = (struct scene){.arena = arena_new()};
    if (catalog_from_json(bytes_of(catalog_json), NULL, &scene.catalog, &err))
        fail_msg("%s", err.text);
    scene.search = (struct search){.clock = clock_system(),
                                   .catalog = catalog_of,
                                   .catalog_arg = &scene,
                                   .ask = ask,
                                   .fetch = fetch_nothing,
                                   .ask_arg = &scene};
    torg__v1__search_offers_request__init(&scene.request);
    scene.request.text = "toyota camry";
    scene.request.only_offers = true;
    scene.request.explain = true;
    *state = &scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;

    catalog_unref(scene->catalog);
    arena_free(scene->arena);
    return 0;
}

#define HAS(scene, list) has_offers(scene, list, ARRAY_COUNT(list))

static void has_offers(struct scene *scene, const struct offer *offers, uint32_t count)
{
    scene->offers = offers;
    scene->count = scene->whole_count = count;
}

static int try_search(struct scene *scene, struct err *err)
{
    scene->sample_count = scene->page_count = 0;
    torg__v1__search_offers_response__init(&scene->response);
    return search_offers(&scene->search, &scene->request, LANGUAGE_EN, INT64_MAX, scene->arena,
                         &scene->response, err);
}

static void search(struct scene *scene)
{
    struct err err;

    if (try_search(scene, &err))
        fail_msg("%s", err.text);
}

static void expect_asked(const struct scene *scene, int samples, int pages)
{
    assert_int_equal(scene->sample_count, samples);
    assert_int_equal(scene->page_count, pages);
}

/* --- what is likely --- */

static void the_thing_comes_before_its_parts(void **state)
{
    struct scene *scene = *state;

    HAS(scene, mixed);
    search(scene);
    expect_asked(scene, 1, 2);
    assert_string_equal(scene->formula, "score * (1 + 0.50 * has(category, \"cars\"))");
    assert_int_equal(scene->response.n_offers, ARRAY_COUNT(mixed)); /* nothing is hidden ... */
    assert_int_equal(scene->response.total, ARRAY_COUNT(mixed));    /* ... or not counted */
    assert_int_equal(scene->response.whole_total, ARRAY_COUNT(mixed));
    assert_string_equal(scene->response.ranking->formula, scene->formula);
    assert_int_equal(scene->response.ranking->n_categories, 1);
    assert_string_equal(scene->response.ranking->categories[0]->id, "cars");
    assert_string_equal(scene->response.ranking->categories[0]->name, "Cars");
    assert_int_equal(scene->response.ranking->categories[0]->percent, 100);
}

static void things_of_two_categories_are_alike(void **state)
{
    struct scene *scene = *state;

    HAS(scene, two_things);
    scene->request.text = "honda";
    search(scene);
    assert_string_equal(
        scene->formula,
        "score * (1 + 0.50 * max(has(category, \"cars\"), has(category, \"bikes\")))");
}

static void a_page_of_the_thing_is_asked_for_once(void **state)
{
    struct scene *scene = *state;

    HAS(scene, alike);
    search(scene);
    expect_asked(scene, 0, 1);
    assert_string_equal(scene->formula, "");
    assert_int_equal(scene->response.ranking->n_categories, 0);
    assert_string_equal(scene->response.ranking->formula, "score");
}

static void where_nothing_is_the_thing_relevance_decides(void **state)
{
    struct scene *scene = *state;

    HAS(scene, only_parts);
    search(scene);
    expect_asked(scene, 1, 1);
    assert_string_equal(scene->formula, "");
}

/* Offers that lack words have an order, too, and none of all words has to be there. */
static void of_partial_matches_any_word_is_looked_at(void **state)
{
    struct scene *scene = *state;

    HAS(scene, mixed);
    scene->whole_count = 0;
    search(scene);
    expect_asked(scene, 1, 2); /* of whole ones, of partial ones */
    assert_true(scene->sample_takes_any);
    assert_string_equal(scene->formula, "score * (1 + 0.50 * has(category, \"cars\"))");
}

static void what_is_meant_otherwise_is_left_alone(void **state)
{
    static char *const texts[] = {"\"toyota camry\"", "toyota -camry", "2015"};
    struct scene *scene = *state;

    HAS(scene, mixed);
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        scene->request.text = texts[i];
        search(scene);
        expect_asked(scene, 0, 1);
    }
    scene->request.text = "toyota camry";
    scene->request.order = TORG__V1__SEARCH_OFFERS_REQUEST__ORDER__CHEAPEST;
    search(scene);
    expect_asked(scene, 0, 1);
    assert_null(scene->response.ranking);
}

/* Jobs have no price: the number may be what their titles say. */
static void a_price_that_leaves_nothing_is_looked_for_in_titles(void **state)
{
    struct scene *scene = *state;

    HAS(scene, mixed);
    scene->whole_count = 0;
    scene->request.text = "camry от 75 000";
    search(scene);
    assert_string_equal(scene->preferred, "75 000");
    scene->whole_count = 1; /* with that price */
    search(scene);
    assert_string_not_equal(scene->preferred, "75 000");
}

/* --- what is kept --- */

static void a_text_is_not_looked_at_again_at_once(void **state)
{
    struct scene *scene = *state;
    struct clock_manual clock;

    clock_manual_init(&clock, 1);
    scene->search.clock = &clock.base;
    scene->search.votes = votes_new();
    HAS(scene, mixed);
    search(scene);
    expect_asked(scene, 1, 2);
    HAS(scene, only_parts); /* nobody looks */
    search(scene);
    expect_asked(scene, 0, 1);
    assert_string_equal(scene->formula, "score * (1 + 0.50 * has(category, \"cars\"))");
    assert_string_equal(scene->response.ranking->categories[0]->id, "cars");
    scene->request.offset = 1; /* in the order of the first page */
    search(scene);
    expect_asked(scene, 0, 1);
    scene->request.offset = 0;
    clock_manual_advance(&clock, VOTE_KEEP_MS * (int64_t)MS_US);
    search(scene);
    expect_asked(scene, 1, 1);
    HAS(scene, mixed); /* that nothing is likely is known as well */
    search(scene);
    expect_asked(scene, 0, 1);
    assert_string_equal(scene->formula, "");
    votes_free(scene->search.votes);
}

/* A single offer is of one category always. */
static void a_short_page_says_nothing_of_a_long_one(void **state)
{
    struct scene *scene = *state;

    scene->search.votes = votes_new();
    HAS(scene, two_things);
    scene->request.text = "honda";
    scene->request._limit_case = TORG__V1__SEARCH_OFFERS_REQUEST___LIMIT_LIMIT;
    scene->request.limit = 1;
    search(scene);
    expect_asked(scene, 0, 1);
    scene->request._limit_case = TORG__V1__SEARCH_OFFERS_REQUEST___LIMIT__NOT_SET;
    search(scene);
    expect_asked(scene, 1, 2);
    scene->request._limit_case = TORG__V1__SEARCH_OFFERS_REQUEST___LIMIT_LIMIT;
    scene->request.limit = SEARCH_PAGE_COUNT; /* as long as one that does not say */
    search(scene);
    expect_asked(scene, 0, 1);
    votes_free(scene->search.votes);
}

static void what_a_part_or_an_old_state_says_is_not_kept(void **state)
{
    struct scene *scene = *state;

    scene->search.votes = votes_new();
    HAS(scene, mixed);
    scene->is_partial = true;
    search(scene);
    scene->is_partial = false;
    scene->old_seconds = 1;
    search(scene);
    expect_asked(scene, 1, 2);
    scene->old_seconds = 0;
    search(scene);
    expect_asked(scene, 1, 2);
    search(scene);
    expect_asked(scene, 0, 1);
    votes_free(scene->search.votes);
}

static void of_a_category_that_is_gone_nothing_is_kept(void **state)
{
    struct scene *scene = *state;
    struct catalog *before = scene->catalog;
    struct err err;

    scene->search.votes = votes_new();
    HAS(scene, two_things);
    scene->request.text = "honda";
    search(scene);
    if (catalog_from_json(bytes_of(small_catalog_json), NULL, &scene->catalog, &err))
        fail_msg("%s", err.text);
    catalog_unref(before);
    HAS(scene, only_parts);
    search(scene);
    expect_asked(scene, 1, 1);
    assert_string_equal(scene->formula, "");
    votes_free(scene->search.votes);
}

static void what_is_searched_otherwise_is_looked_at(void **state)
{
    static char *values[] = {"new"};
    Torg__V1__FilterChoice choice, *choices[] = {&choice};
    struct scene *scene = *state;

    scene->search.votes = votes_new();
    HAS(scene, mixed);
    search(scene);
    scene->request.text = "toyota";
    search(scene);
    expect_asked(scene, 1, 2);
    torg__v1__filter_choice__init(&choice);
    choice.id = "condition";
    choice.values = values;
    choice.n_values = 1;
    scene->request.filters = choices;
    scene->request.n_filters = 1;
    search(scene);
    expect_asked(scene, 1, 2);
    scene->request.category = "parts";
    search(scene);
    expect_asked(scene, 1, 2);
    search(scene);
    expect_asked(scene, 0, 1);
    scene->request.n_wait = 1; /* who waits for a write wants to see what it changed */
    scene->request.wait = (char *[]){""};
    search(scene);
    expect_asked(scene, 1, 2);
    votes_free(scene->search.votes);
}

/* --- further pages --- */

static void pages_go_on_in_the_order_of_the_first(void **state)
{
    struct scene *scene = *state;

    HAS(scene, mixed);
    scene->request._limit_case = TORG__V1__SEARCH_OFFERS_REQUEST___LIMIT_LIMIT;
    scene->request.limit = 2;
    search(scene);
    assert_true(scene->response.cursor.len);
    HAS(scene, only_parts); /* all cars are sold */
    scene->request.cursor = scene->response.cursor;
    search(scene);
    expect_asked(scene, 0, 1);
    assert_string_equal(scene->formula, "score * (1 + 0.50 * has(category, \"cars\"))");
    assert_string_equal(scene->response.ranking->categories[0]->id, "cars");
}

static void pages_by_offset_ask_for_the_sample_again(void **state)
{
    struct scene *scene = *state;

    HAS(scene, mixed);
    scene->request.offset = 3; /* two cars */
    search(scene);
    expect_asked(scene, 1, 2);
    assert_string_equal(scene->formula, "score * (1 + 0.50 * has(category, \"cars\"))");
}

static void a_cursor_of_another_catalogue_is_refused(void **state)
{
    static const char *const texts[] = {
        "gone 50", "cars", "cars 101", "cars x", "cars 5,,", "cars 1,cars 1,cars 1,cars 1,cars 1"};
    struct scene *scene = *state;
    uint8_t bytes[64] = {0xFD};
    struct err err;

    HAS(scene, mixed);
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        size_t size = strlen(texts[i]);

        bytes[1] = (uint8_t)size;
        memcpy(bytes + 3, texts[i], size);
        bytes[3 + size] = 0xFE;
        scene->request.cursor = (ProtobufCBinaryData){.data = bytes, .len = 4 + size};
        assert_int_equal(try_search(scene, &err), ERR_INVALID);
        assert_memory_equal(err.text, "cursor: ", 8);
        scene->request.cursor.len = 3 + size; /* cut */
        assert_int_equal(try_search(scene, &err), ERR_INVALID);
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(the_thing_comes_before_its_parts),
        CASE(things_of_two_categories_are_alike),
        CASE(a_page_of_the_thing_is_asked_for_once),
        CASE(where_nothing_is_the_thing_relevance_decides),
        CASE(of_partial_matches_any_word_is_looked_at),
        CASE(what_is_meant_otherwise_is_left_alone),
        CASE(a_price_that_leaves_nothing_is_looked_for_in_titles),
        CASE(a_text_is_not_looked_at_again_at_once),
        CASE(a_short_page_says_nothing_of_a_long_one),
        CASE(what_a_part_or_an_old_state_says_is_not_kept),
        CASE(of_a_category_that_is_gone_nothing_is_kept),
        CASE(what_is_searched_otherwise_is_looked_at),
        CASE(pages_go_on_in_the_order_of_the_first),
        CASE(pages_by_offset_ask_for_the_sample_again),
        CASE(a_cursor_of_another_catalogue_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
