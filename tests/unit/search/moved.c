/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of search/search.h: offers of a category that was moved are looked for and counted
 * where it is now, whether their documents were composed anew or not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "codec/message.h"
#include "model/offer_fields.h"
#include "search/search.h"

#define NAMED(id, more) "{\"id\": \"" id "\", \"name\": {\"en\": \"" id "\"}" more "}"
#define UNDER(id) ", \"parent\": \"" id "\""

static const char before_json[] =
    "{\"categories\": [" NAMED("hobby", "") "," NAMED("sport", "") "," NAMED(
        "books", UNDER("hobby")) "," NAMED("bikes", UNDER("hobby")) "," NAMED("bmx",
                                                                              UNDER("bikes")) "]}";
static const char after_json[] =
    "{\"categories\": [" NAMED("hobby", "") "," NAMED("sport", "") "," NAMED(
        "books", UNDER("hobby")) "," NAMED("bikes", UNDER("sport")) "," NAMED("bmx",
                                                                              UNDER("bikes")) "]}";

struct scene {
    struct catalog *catalog;
    struct arena *arena;
    char *paths; /* of the filter that was asked for, one after the other */
};

static struct catalog *catalog_of(void *arg)
{
    return catalog_ref(((struct scene *)arg)->catalog);
}

/* Of ten offers of bikes three are composed anew, one of them of those below. */
static const struct {
    const char *path;
    uint64_t count;
} found[] = {{"hobby", 12}, {"hobby/books", 5}, {"hobby/bikes", 7},    {"hobby/bikes/bmx", 2},
             {"sport", 3},  {"sport/bikes", 3}, {"sport/bikes/bmx", 1}};

static Torg__V1__FacetAnswer *make_tree(struct arena *arena)
{
    Torg__V1__FacetAnswer *tree = MESSAGE_NEW(facet_answer, arena);

    tree->name = arena_strdup(arena, OFFER_FIELD_CATEGORY);
    tree->values = arena_array(arena, ARRAY_COUNT(found), sizeof(tree->values[0]));
    for (size_t i = 0; i < ARRAY_COUNT(found); i++) {
        tree->values[i] = MESSAGE_NEW(facet_value, arena);
        tree->values[i]->value = arena_strdup(arena, found[i].path);
        tree->values[i]->count = found[i].count;
        tree->n_values++;
    }
    return tree;
}

static void note_paths(struct scene *scene, const Torg__V1__Filter *filter)
{
    if (filter && filter->kind_case == TORG__V1__FILTER__KIND_AND)
        for (size_t i = 0; i < filter->and_->n_of; i++)
            note_paths(scene, filter->and_->of[i]);
    if (!filter || filter->kind_case != TORG__V1__FILTER__KIND_SUBTREE)
        return;
    scene->paths = arena_strdup(scene->arena, "");
    for (size_t i = 0; i < filter->subtree->n_values; i++)
        scene->paths =
            arena_printf(scene->arena, "%s%s ", scene->paths, filter->subtree->values[i]);
}

static int ask(void *arg, const Torg__V1__SearchRequest *request, int64_t deadline_us,
               struct arena *arena, Torg__V1__SearchResponse *response, struct err *err)
{
    struct scene *scene = arg;

    (void)deadline_us;
    (void)err;
    response->answer = MESSAGE_NEW(query_answer, arena);
    response->answer->stages =
        arena_array(arena, request->query->n_stages, sizeof(response->answer->stages[0]));
    for (size_t i = 0; i < request->query->n_stages; i++) {
        Torg__V1__StageAnswer *stage = MESSAGE_NEW(stage_answer, arena);

        note_paths(scene, request->query->stages[i]->filter);
        stage->total = 15;
        stage->facets = arena_array(arena, 1, sizeof(stage->facets[0]));
        stage->facets[stage->n_facets++] = make_tree(arena);
        response->answer->stages[response->answer->n_stages++] = stage;
    }
    return 0;
}

static Torg__V1__SearchOffersResponse search(struct scene *scene, const char *category)
{
    const struct search search = {.clock = clock_system(),
                                  .catalog = catalog_of,
                                  .catalog_arg = scene,
                                  .ask = ask,
                                  .ask_arg = scene,
                                  .is_quiet = true};
    Torg__V1__SearchOffersRequest request = TORG__V1__SEARCH_OFFERS_REQUEST__INIT;
    Torg__V1__SearchOffersResponse response = TORG__V1__SEARCH_OFFERS_RESPONSE__INIT;
    struct err err;

    request.category = (char *)category;
    scene->paths = NULL;
    if (search_offers(&search, &request, LANGUAGE_EN, INT64_MAX, scene->arena, &response, &err))
        fail_msg("%s", err.text);
    return response;
}

static uint64_t count_of(const Torg__V1__SearchOffersResponse *response, const char *category)
{
    for (size_t i = 0; i < response->n_categories; i++)
        if (strcmp(response->categories[i]->id, category) == 0)
            return response->categories[i]->count;
    return 0;
}

static void begin(struct scene *scene)
{
    struct catalog *before;
    struct err err;

    *scene = (struct scene){.arena = arena_new()};
    if (catalog_from_json(bytes_of(before_json), NULL, &before, &err) ||
        catalog_from_json(bytes_of(after_json), NULL, &scene->catalog, &err))
        fail_msg("%s", err.text);
    catalog_add_former(scene->catalog, before);
    catalog_unref(before);
}

static void end(struct scene *scene)
{
    catalog_unref(scene->catalog);
    arena_free(scene->arena);
}

static void offers_count_where_their_category_is_now(void **state)
{
    Torg__V1__SearchOffersResponse response;
    struct scene scene;

    (void)state;
    begin(&scene);
    response = search(&scene, "");
    assert_null(scene.paths);
    assert_int_equal(count_of(&response, "bikes"), 10);
    assert_int_equal(count_of(&response, "bmx"), 3);
    assert_int_equal(count_of(&response, "sport"), 10);
    assert_int_equal(count_of(&response, "hobby"), 5);
    assert_int_equal(count_of(&response, "books"), 5);
    end(&scene);
}

static void offers_are_found_by_both_paths(void **state)
{
    struct scene scene;

    (void)state;
    begin(&scene);
    search(&scene, "bikes");
    assert_string_equal(scene.paths, "sport/bikes hobby/bikes ");
    search(&scene, "bmx");
    assert_string_equal(scene.paths, "sport/bikes/bmx hobby/bikes/bmx ");
    search(&scene, "sport"); /* where it has come to */
    assert_string_equal(scene.paths, "sport hobby/bikes ");
    search(&scene, "books");
    assert_string_equal(scene.paths, "hobby/books ");
    end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offers_count_where_their_category_is_now),
        cmocka_unit_test(offers_are_found_by_both_paths),
    };

    return cmocka_run_group_tests_name("moved", tests, NULL, NULL);
}
