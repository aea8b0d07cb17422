/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of search/words/clicked.h, and of what learns from it: the categories a text is about,
 * and the lines that are suggested; with a searcher that has a few offers. */
#include "search/words/clicked.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "codec/message.h"
#include "model/offer_fields.h"
#include "search/search.h"
#include "search/suggest/suggest.h"
#include "store/migrate.h"

enum { DAY = 20000, DAY_S = 24 * 3600 };

static const char catalog_json[] =
    "{\"categories\": ["
    " {\"id\": \"cars\", \"name\": {\"ru\": \"Машины\", \"en\": \"Cars\"}},"
    " {\"id\": \"toys\", \"name\": {\"ru\": \"Игрушки\", \"en\": \"Toys\"}},"
    " {\"id\": \"parts\", \"name\": {\"ru\": \"Запчасти\", \"en\": \"Parts\"}}]}";

struct offer {
    const char *title, *words, *category;
};

/* Titles speak of parts alone, of no thing that was asked for. */
static const struct offer only_parts[] = {
    {"Бампер Toyota Camry", "бампер; бампер; Кузов", "parts"},
    {"Фара Toyota Camry", "фара; фара; Кузов", "parts"},
};

static const struct offer mixed[] = {
    {"Бампер Toyota Camry", "бампер; бампер; Кузов; Toyota; Camry", "parts"},
    {"Toyota Camry, 2015", "Toyota Camry; Toyota Camry; Машины; Toyota", "cars"},
    {"Toyota Camry 2018", "Toyota Camry; Camry; Camry; Машины", "cars"},
};

struct scene {
    const struct offer *offers;
    size_t count;
    bool is_typing;
    struct catalog *catalog;
    struct store *store;
    struct clock_manual clock;
    struct arena *arena;
    struct search search;
    Torg__V1__SearchOffersResponse found;
    Torg__V1__SuggestResponse suggested;
};

static struct catalog *catalog_of(void *arg)
{
    return catalog_ref(((struct scene *)arg)->catalog);
}

static void show(Torg__V1__Hit *hit, const char *name, const char *value, struct arena *arena)
{
    Torg__V1__ShownField *field = MESSAGE_NEW(shown_field, arena);

    field->name = (char *)name;
    field->values = arena_array(arena, 1, sizeof(field->values[0]));
    field->values[field->n_values++] = (char *)value;
    hit->fields[hit->n_fields++] = field;
}

enum { LEAST_SIZE = 3 }; /* what is shorter finds nothing */

/* As many as the line has bytes, so that lines of the same size find the same. */
static uint64_t total_of(const struct scene *scene, const Torg__V1__QueryStage *stage)
{
    if (scene->is_typing && *stage->text && strlen(stage->text) < LEAST_SIZE)
        return 0;
    if (stage->limit || !scene->is_typing || !*stage->text)
        return scene->count;
    return strstr(stage->text, "nothing") ? 0 : strlen(stage->text);
}

static Torg__V1__StageAnswer *answer_stage(struct scene *scene, const Torg__V1__QueryStage *stage,
                                           struct arena *arena)
{
    Torg__V1__StageAnswer *made = MESSAGE_NEW(stage_answer, arena);

    made->total = total_of(scene, stage);
    made->hits = arena_array(arena, scene->count, sizeof(made->hits[0]));
    for (size_t i = stage->offset; i < scene->count && made->n_hits < stage->limit; i++) {
        Torg__V1__Hit *hit = MESSAGE_NEW(hit, arena);

        hit->pk = arena_printf(arena, "%zu", i);
        hit->fields = arena_array(arena, 3, sizeof(hit->fields[0]));
        show(hit, OFFER_FIELD_TITLE, scene->offers[i].title, arena);
        show(hit, OFFER_FIELD_WORDS, scene->offers[i].words, arena);
        show(hit, OFFER_FIELD_CATEGORY, scene->offers[i].category, arena);
        made->hits[made->n_hits++] = hit;
    }
    return made;
}

static int ask(void *arg, const Torg__V1__SearchRequest *request, int64_t deadline_us,
               struct arena *arena, Torg__V1__SearchResponse *response, struct err *err)
{
    Torg__V1__QueryAnswer *answer = MESSAGE_NEW(query_answer, arena);

    (void)deadline_us;
    (void)err;
    answer->stages = arena_array(arena, request->query->n_stages, sizeof(answer->stages[0]));
    for (size_t i = 0; i < request->query->n_stages; i++)
        answer->stages[answer->n_stages++] = answer_stage(arg, request->query->stages[i], arena);
    response->answer = answer;
    return 0;
}

static int set_up(void **state)
{
    static struct scene scene;
    struct err err;

    scene = (struct scene){.arena = arena_new(), .offers = only_parts, .count = 2};
    clock_manual_init(&scene.clock, (int64_t)DAY * DAY_S * SECOND_US);
    if (catalog_from_json(bytes_of(catalog_json), NULL, &scene.catalog, &err) ||
        store_open("sqlite::memory:", &scene.store, &err) || store_migrate(scene.store, NULL, &err))
        fail_msg("%s", err.text);
    scene.search = (struct search){.clock = &scene.clock.base,
                                   .catalog = catalog_of,
                                   .catalog_arg = &scene,
                                   .ask = ask,
                                   .ask_arg = &scene};
    if (clicked_open(scene.store, &scene.clock.base, false, &scene.search.clicked, &err))
        fail_msg("%s", err.text);
    *state = &scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;

    clicked_close(scene->search.clicked);
    store_close(scene->store);
    catalog_unref(scene->catalog);
    arena_free(scene->arena);
    return 0;
}

static void clicks_of(struct scene *scene, const char *text, const char *category, int64_t day,
                      int64_t visits, int64_t marks)
{
    struct err err;

    if (store_write_one(scene->store,
                        "INSERT INTO click_text (text, category, day, visits, marks) "
                        "VALUES ($1, $2, $3, $4, $5)",
                        STORE_WITH(STORE_V_STRING(text), STORE_V_STRING(category), STORE_V_INT(day),
                                   STORE_V_INT(visits), STORE_V_INT(marks)),
                        NULL, &err))
        fail_msg("%s", err.text);
}

/* Of as many persons as will do. */
static void clicks(struct scene *scene, const char *text, const char *category, int64_t day,
                   int64_t visits)
{
    clicks_of(scene, text, category, day, visits, (1 << CLICKED_PERSON_MIN) - 1);
}

static void refresh(struct scene *scene)
{
    struct err err;

    if (clicked_refresh(scene->search.clicked, &err))
        fail_msg("%s", err.text);
}

static const Torg__V1__Ranking *search_for(struct scene *scene, const char *text)
{
    Torg__V1__SearchOffersRequest request = TORG__V1__SEARCH_OFFERS_REQUEST__INIT;
    struct err err;

    request.text = (char *)text;
    request.only_offers = request.explain = true;
    torg__v1__search_offers_response__init(&scene->found);
    if (search_offers(&scene->search, &request, LANGUAGE_EN, INT64_MAX, scene->arena, &scene->found,
                      &err))
        fail_msg("%s", err.text);
    assert_int_equal(scene->found.n_offers, scene->count); /* nothing is hidden, ever */
    return scene->found.ranking;
}

/* --- the table --- */

static size_t shares(struct scene *scene, const char *text, struct clicked_share *list)
{
    return clicked_shares(scene->search.clicked, text, scene->arena, list);
}

static void texts_of_the_same_words_are_one(void **state)
{
    struct clicked_share list[CLICKED_SHARE_COUNT];
    struct scene *scene = *state;

    clicks(scene, "Toyota Camry", "cars", DAY, 2);
    clicks(scene, "camry toyota", "cars", DAY, 1);
    clicks(scene, "toyota  CAMRY!", "toys", DAY, 1);
    assert_int_equal(shares(scene, "toyota camry", list), 0); /* not read yet */
    refresh(scene);
    assert_int_equal(shares(scene, "TOYOTA camry", list), 2);
    assert_string_equal(list[0].category, "cars");
    assert_true(list[0].share > 0.74 && list[0].share < 0.76);
    assert_int_equal(shares(scene, "toyota", list), 0);
    assert_int_equal(shares(scene, "", list), 0);
    assert_int_equal(clicked_shares(NULL, "toyota camry", scene->arena, list), 0);
}

static void what_few_did_or_did_long_ago_says_little(void **state)
{
    struct clicked_share list[CLICKED_SHARE_COUNT];
    struct scene *scene = *state;
    double fresh, old;

    clicks_of(scene, "rare", "cars", DAY, 100, (1 << (CLICKED_PERSON_MIN - 1)) - 1);
    clicks(scene, "fresh", "cars", DAY, CLICKED_HALF_COUNT);
    clicks(scene, "old", "cars", DAY - CLICKED_HALF_DAYS, CLICKED_HALF_COUNT);
    refresh(scene);
    assert_int_equal(shares(scene, "rare", list), 0);
    fresh = clicked_strength(scene->search.clicked, "fresh", scene->arena);
    old = clicked_strength(scene->search.clicked, "old", scene->arena);
    assert_true(fresh > 0.499 && fresh < 0.501);
    assert_true(old > 0.333 && old < 0.334);
    clock_manual_advance(&scene->clock, (int64_t)30 * DAY_S * SECOND_US);
    refresh(scene);
    assert_true(clicked_strength(scene->search.clicked, "fresh", scene->arena) < 0.05);
}

/* In how many categories, on how many days and in which words they may have visited. */
static void persons_count_and_not_what_they_did(void **state)
{
    const char *lines[CLICKED_LINE_COUNT];
    struct clicked_share list[CLICKED_SHARE_COUNT];
    struct scene *scene = *state;

    for (int64_t day = DAY - 20; day <= DAY; day += 4) {
        clicks_of(scene, "Ivan 8 900 1234567", "cars", day, 1, 1);
        clicks_of(scene, "Ivan 8 900 1234567", "toys", day, 1, 1);
        clicks_of(scene, "8 900 1234567 ivan", "parts", day, 1, 1);
    }
    clicks_of(scene, "8 900 1234567 IVAN", "cars", DAY, 1, 2);
    refresh(scene);
    assert_int_equal(shares(scene, "ivan 8 900 1234567", list), 0);
    assert_int_equal(clicked_lines(scene->search.clicked, "8", scene->arena, lines), 0);
    assert_int_equal(clicked_lines(scene->search.clicked, "ivan", scene->arena, lines), 0);
    clicks_of(scene, "8 900 1234567, ivan", "cars", DAY, 1, 4); /* the third person */
    refresh(scene);
    assert_int_equal(shares(scene, "ivan 8 900 1234567", list), 3);
    assert_int_equal(clicked_lines(scene->search.clicked, "8", scene->arena, lines), 1);
    assert_string_equal(lines[0], "8 900 1234567 ivan"); /* as most persons have typed it */
    assert_int_equal(clicked_lines(scene->search.clicked, "ivan", scene->arena, lines), 0);
}

/* --- categories --- */

static void clicks_tell_the_category_where_titles_do_not(void **state)
{
    struct scene *scene = *state;
    const Torg__V1__Ranking *ranking = search_for(scene, "toyota camry");

    assert_int_equal(ranking->n_categories, 0);
    clicks(scene, "toyota camry", "cars", DAY, 30);
    clicks(scene, "toyota camry", "parts", DAY, 10);
    refresh(scene);
    ranking = search_for(scene, "toyota camry");
    assert_int_equal(ranking->n_categories, 2);
    assert_string_equal(ranking->categories[0]->id, "parts");
    assert_int_equal(ranking->categories[0]->clicked_percent, 25);
    assert_string_equal(ranking->categories[1]->id, "cars");
    assert_int_equal(ranking->categories[1]->clicked_percent, 75);
    assert_non_null(strstr(ranking->formula, "has(category, \"cars\")"));
    clicks(scene, "toyota camry", "gone", DAY, 1000); /* of a catalogue of before */
    refresh(scene);
    assert_int_equal(search_for(scene, "toyota camry")->n_categories, 2);
}

/* However many click something else, what is on sale says more. */
static void clicks_never_say_more_than_titles(void **state)
{
    struct scene *scene = *state;
    const Torg__V1__Ranking *ranking;

    scene->offers = mixed;
    scene->count = ARRAY_COUNT(mixed);
    clicks(scene, "toyota camry", "toys", DAY, 1000000);
    refresh(scene);
    ranking = search_for(scene, "toyota camry");
    assert_string_equal(ranking->categories[0]->id, "cars");
    assert_int_equal(ranking->categories[0]->clicked_percent, 0);
    assert_true(ranking->categories[0]->percent >= 70);
    assert_true(ranking->n_categories == 1 || ranking->categories[1]->percent <= 30);
}

/* --- suggestions --- */

/* Texts of the lines, "bike red; bike blue". */
static const char *suggest(struct scene *scene, const char *text, uint32_t limit)
{
    Torg__V1__SuggestRequest request = TORG__V1__SUGGEST_REQUEST__INIT;
    const char *lines = "";
    struct err err;

    scene->is_typing = true;
    request.text = (char *)text;
    request.limit = limit;
    torg__v1__suggest_response__init(&scene->suggested);
    if (search_suggest(&scene->search, &request, LANGUAGE_EN, INT64_MAX, scene->arena,
                       &scene->suggested, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < scene->suggested.n_queries; i++)
        lines = arena_printf(scene->arena, "%s%s%s", lines, i ? "; " : "",
                             scene->suggested.queries[i]->text);
    return lines;
}

static void lines_that_were_clicked_are_suggested_first(void **state)
{
    static const struct offer bikes[] = {{"Bike blue", "", "toys"}, {"Bike pink", "", "toys"}};
    struct scene *scene = *state;

    scene->offers = bikes;
    assert_string_equal(suggest(scene, "bike ", 0), "bike blue; bike pink");
    clicks(scene, "bike pink", "toys", DAY, 100);
    refresh(scene);
    assert_string_equal(suggest(scene, "bike ", 0), "bike pink; bike blue");
}

static void what_visitors_typed_is_suggested_if_it_finds_something(void **state)
{
    static const struct offer bikes[] = {{"Bike blue", "", "toys"}, {"Bike pink", "", "toys"}};
    struct scene *scene = *state;

    scene->offers = bikes;
    clicks(scene, "Bike for a girl", "toys", DAY, 5);
    clicks(scene, "bike nothing", "toys", DAY, 50);
    clicks_of(scene, "bike of one", "toys", DAY, 100, 1);
    clicks(scene, "bikers", "toys", DAY, 50);
    refresh(scene);
    assert_string_equal(suggest(scene, "bike ", 0), "bike for a girl; bike blue; bike pink");
    assert_null(strstr(suggest(scene, "bike p", 0), "girl"));
    assert_string_equal(suggest(scene, "bike ", 1), "bike for a girl"); /* the longest finds most */
}

/* No title begins so: what was typed is asked for twice, and each line is there once. */
static void a_clicked_line_goes_on_where_no_title_does(void **state)
{
    struct scene *scene = *state;

    scene->count = 0;
    clicks(scene, "ps5 slim", "toys", DAY, 5);
    refresh(scene);
    assert_string_equal(suggest(scene, "ps", 0), "ps5 slim");
    assert_string_equal(suggest(scene, "½²", 0), "");
}

static void a_line_of_titles_and_visitors_comes_once(void **state)
{
    static const struct offer routers[] = {{"Router Wi-Fi 6", "", "toys"}};
    struct scene *scene = *state;

    scene->offers = routers;
    scene->count = 1;
    clicks(scene, "router wi-fi 6", "toys", DAY, 5);
    refresh(scene);
    assert_string_equal(suggest(scene, "router ", 0), "router wi-fi 6");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(texts_of_the_same_words_are_one),
        CASE(what_few_did_or_did_long_ago_says_little),
        CASE(persons_count_and_not_what_they_did),
        CASE(clicks_tell_the_category_where_titles_do_not),
        CASE(clicks_never_say_more_than_titles),
        CASE(lines_that_were_clicked_are_suggested_first),
        CASE(what_visitors_typed_is_suggested_if_it_finds_something),
        CASE(a_clicked_line_goes_on_where_no_title_does),
        CASE(a_line_of_titles_and_visitors_comes_once),
    };

    return cmocka_run_group_tests_name("search-clicked", tests, NULL, NULL);
}
