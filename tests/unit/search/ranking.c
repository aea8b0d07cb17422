/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of search/choices/ranking.h and search/choices/order.h: the operator's formulas, which
 * of them a request goes by, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/memory.h"
#include "search/choices/order.h"
#include "search/choices/ranking.h"

static const char catalog_json[] =
    "{\"categories\": [{\"id\": \"transport\", \"name\": {\"ru\": \"Транспорт\"}},"
    " {\"id\": \"cars\", \"parent\": \"transport\", \"name\": {\"ru\": \"Машины\"}},"
    " {\"id\": \"home\", \"name\": {\"ru\": \"Дом\"}}]}";

struct scene {
    struct arena *arena;
    struct catalog *catalog;
    struct ranking ranking;
    Torg__V1__SearchOffersRequest request;
    struct wanted wanted;
};

static int set_up(void **state)
{
    static struct scene scene;
    struct err err;

    scene = (struct scene){.arena = arena_new()};
    if (catalog_from_json(bytes_of(catalog_json), NULL, &scene.catalog, &err))
        fail_msg("%s", err.text);
    torg__v1__search_offers_request__init(&scene.request);
    scene.request.text = "bumper";
    scene.wanted = (struct wanted){.sent = &scene.request,
                                   .request = &scene.request,
                                   .text = "bumper",
                                   .meaning = {.text = "bumper"},
                                   .catalog = scene.catalog,
                                   .ranking = &scene.ranking,
                                   .arena = scene.arena};
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

static void rank(struct scene *scene, const char *text)
{
    struct err err;

    if (ranking_read(text, "ranking.best", scene->arena, &scene->ranking, &err))
        fail_msg("%s", err.text);
}

/* The order of a page in this category is told as it is asked for. */
static void expect(struct scene *scene, const char *category, const char *formula)
{
    Torg__V1__QueryStage stage = TORG__V1__QUERY_STAGE__INIT;
    bool is_plain = strcmp(formula, "score") == 0;

    scene->wanted.category = *category ? category_find(scene->catalog, category) : NULL;
    order_put(&scene->wanted, &stage);
    assert_int_equal(stage.n_sorts, 1);
    assert_int_equal(stage.sorts[0]->relevance, is_plain);
    assert_string_equal(stage.sorts[0]->formula, is_plain ? "" : formula);
    assert_string_equal(order_tell(&scene->wanted)->formula, formula);
}

static void without_formulas_relevance_decides(void **state)
{
    struct scene *scene = *state;

    rank(scene, "  ");
    expect(scene, "", "score");
    scene->wanted.by_clicks = true;
    expect(scene, "", "score * min(max(default(appeal, 1), 0.8), 1.25)");
}

static void the_nearest_category_s_formula_is_taken(void **state)
{
    struct scene *scene = *state;

    rank(scene, " score * 2 |transport : score * 3| home:score * 4 ");
    scene->wanted.by_clicks = true; /* they take its place */
    expect(scene, "", "score * 2");
    expect(scene, "transport", "score * 3");
    expect(scene, "cars", "score * 3");
    expect(scene, "home", "score * 4");
    scene->wanted.named = category_find(scene->catalog, "cars");
    expect(scene, "", "score * 3");
    expect(scene, "home", "score * 4"); /* what was chosen, not what the text names */
    rank(scene, "cars: score * 3");
    scene->wanted.named = NULL;
    scene->wanted.by_clicks = false;
    expect(scene, "transport", "score");
    expect(scene, "cars", "score * 3");
}

static void the_likely_category_counts_beside_them(void **state)
{
    struct scene *scene = *state;

    rank(scene, "score - 1");
    scene->wanted.likely.list[0].category = category_find(scene->catalog, "cars");
    scene->wanted.likely.count = 1;
    expect(scene, "", "(score - 1) * (1 + 0.50 * has(category, \"transport/cars\"))");
}

static void how_far_it_is_is_told_from_the_buyer(void **state)
{
    Torg__V1__GeoPoint point = TORG__V1__GEO_POINT__INIT;
    struct scene *scene = *state;

    rank(scene, "score / (1+near/1000) + nearby + a.near + has(place, \"near\")");
    expect(scene, "", "score / (1+near/1000) + nearby + a.near + has(place, \"near\")");
    point.latitude = 55.75;
    point.longitude = -37.5;
    scene->request.near = &point;
    expect(scene, "",
           "score / (1+distance(point, 55.7500000, -37.5000000)/1000) + nearby + a.near + "
           "has(place, \"near\")");
}

static void other_orders_know_no_formula(void **state)
{
    struct scene *scene = *state;
    Torg__V1__QueryStage stage = TORG__V1__QUERY_STAGE__INIT;

    rank(scene, "score * 2");
    scene->request.order = TORG__V1__SEARCH_OFFERS_REQUEST__ORDER__CHEAPEST;
    order_put(&scene->wanted, &stage);
    assert_string_equal(stage.sorts[0]->field, "price");
    assert_null(order_tell(&scene->wanted));
    scene->request.order = TORG__V1__SEARCH_OFFERS_REQUEST__ORDER__BEST;
    scene->wanted.text = scene->wanted.meaning.text = "";
    order_put(&scene->wanted, &stage);
    assert_string_equal(stage.sorts[0]->field, "created");
}

static void what_cannot_be_read_is_refused_by_name(void **state)
{
    static const struct {
        const char *text, *told;
    } cases[] = {
        {"|", "ranking.best: a formula is expected, such as score * 2"},
        {"score|", "ranking.best: a formula is expected, such as score * 2"},
        {"cars:", "ranking.best, category cars: a formula is expected, such as score * 2"},
        {" : score", "ranking.best: the id of a category is expected before \":\""},
        {"score|score", "ranking.best: there are two formulas of it; leave one out"},
        {"a:1|a:2", "ranking.best, category a: there are two formulas of it; leave one out"},
        {"0:1|1:1|2:1|3:1|4:1|5:1|6:1|7:1|8:1|9:1|a:1|b:1|c:1|d:1|e:1|f:1|g:1",
         "ranking.best: more than 16 formulas"},
    };
    struct scene *scene = *state;
    struct err err;

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        assert_true(
            ranking_read(cases[i].text, "ranking.best", scene->arena, &scene->ranking, &err) < 0);
        assert_string_equal(err.text, cases[i].told);
    }
}

static void faults_of_a_formula_tell_their_place(void **state)
{
    struct scene *scene = *state;
    struct schema *schema = schema_new();
    struct err err;

    rank(scene, "score * default(near, 1) | cars: score * nothing");
    assert_int_equal(
        ranking_check(&scene->ranking, schema, scene->catalog, "ranking.best", scene->arena, &err),
        ERR_INVALID);
    assert_string_equal(err.text, "ranking.best, category cars: byte 9: \"nothing\" is neither a "
                                  "field nor a function");
    rank(scene, "score * default(near, 1) | gone: score * default(a.none, 1)");
    assert_int_equal(
        ranking_check(&scene->ranking, schema, scene->catalog, "ranking.best", scene->arena, &err),
        0); /* the next catalogue may have both */
    schema_free(schema);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(without_formulas_relevance_decides),     CASE(the_nearest_category_s_formula_is_taken),
        CASE(the_likely_category_counts_beside_them), CASE(how_far_it_is_is_told_from_the_buyer),
        CASE(other_orders_know_no_formula),           CASE(what_cannot_be_read_is_refused_by_name),
        CASE(faults_of_a_formula_tell_their_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
