/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of search/suggest/similar.h: what is asked for an offer, with a searcher that refuses
 * what the engine does. */
#include "search/suggest/similar.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/memory.h"
#include "codec/message.h"
#include "index/text/analysis.h"
#include "query/bounds.h"

struct scene {
    struct arena *arena;
    struct catalog *catalog;
    char *title; /* of the offer that others are like */
    bool by_clicks;
    const char *asked;   /* words that were looked for */
    const char *formula; /* that the most alike were weighed by; "": none */
};

static struct catalog *catalog_of(void *arg)
{
    return catalog_ref(((struct scene *)arg)->catalog);
}

static int fetch(void *arg, const char *offer_id, struct arena *arena, Torg__V1__Offer **offer,
                 struct err *err)
{
    const struct scene *scene = arg;

    (void)err;
    *offer = (Torg__V1__Offer *)message_new(&torg__v1__offer__descriptor, arena);
    (*offer)->id = arena_strdup(arena, offer_id);
    (*offer)->content =
        (Torg__V1__OfferContent *)message_new(&torg__v1__offer_content__descriptor, arena);
    (*offer)->content->title = scene->title;
    (*offer)->content->category = "bikes";
    return 0;
}

static size_t word_count(const char *text)
{
    struct analysis *analysis = analysis_new();
    size_t count = analysis_run(analysis, bytes_of(text)).count;

    analysis_free(analysis);
    return count;
}

static int ask(void *arg, const Torg__V1__SearchRequest *request, int64_t deadline_us,
               struct arena *arena, Torg__V1__SearchResponse *response, struct err *err)
{
    struct scene *scene = arg;
    Torg__V1__QueryAnswer *answer =
        (Torg__V1__QueryAnswer *)message_new(&torg__v1__query_answer__descriptor, arena);

    (void)deadline_us;
    assert_int_equal(request->query->n_stages, 1);
    scene->asked = request->query->stages[0]->clauses[0]->text;
    scene->formula =
        request->query->stages[0]->rerank ? request->query->stages[0]->rerank->formula : "";
    if (word_count(scene->asked) > QUERY_TEXT_CLAUSE_COUNT_MAX)
        return err_set(err, ERR_INVALID, "stages[0]: text: more than %d words; ask for fewer",
                       QUERY_TEXT_CLAUSE_COUNT_MAX);
    answer->stages = arena_array(arena, 1, sizeof(answer->stages[0]));
    answer->stages[answer->n_stages++] =
        (Torg__V1__StageAnswer *)message_new(&torg__v1__stage_answer__descriptor, arena);
    response->answer = answer;
    return 0;
}

/* The words that were looked for. */
static const char *compare(struct scene *scene, const char *title)
{
    const struct search search = {.clock = clock_system(),
                                  .catalog = catalog_of,
                                  .catalog_arg = scene,
                                  .ask = ask,
                                  .ask_arg = scene,
                                  .fetch = fetch,
                                  .fetch_arg = scene,
                                  .by_clicks = scene->by_clicks};
    Torg__V1__SimilarRequest request = TORG__V1__SIMILAR_REQUEST__INIT;
    Torg__V1__SimilarResponse response = TORG__V1__SIMILAR_RESPONSE__INIT;
    struct err err = {0};

    scene->title = arena_strdup(scene->arena, title);
    request.id = "1";
    if (search_similar(&search, &request, INT64_MAX, scene->arena, &response, &err))
        fail_msg("%s", err.text);
    return scene->asked;
}

static int set_up(void **state)
{
    static const char json[] =
        "{\"categories\": [{\"id\": \"bikes\", \"name\": {\"ru\": \"Велосипеды\", "
        "\"en\": \"Bicycles\"}}]}";
    static struct scene scene;
    struct err err = {0};

    scene = (struct scene){.arena = arena_new()};
    if (catalog_from_json(bytes_of(json), NULL, &scene.catalog, &err))
        fail_msg("%s", err.text);
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

static void all_words_of_a_title_are_looked_for(void **state)
{
    static const char title[] =
        "Велосипед горный Stels Navigator, колёса 27.5, рама 18, почти новый,"
        " с фонарём и звонком";

    assert_string_equal(compare(*state, title), title);
}

/* A category may allow five hundred characters. */
static void a_title_of_very_many_words_is_cut(void **state)
{
    struct scene *scene = *state;
    struct buf title = BUF_INIT(1024);
    const char *asked;

    for (int i = 0; i < 2 * QUERY_TEXT_CLAUSE_COUNT_MAX; i++)
        buf_put_text(&title, "a, ");
    asked = compare(scene, buf_text(&title));
    assert_int_equal(word_count(asked), QUERY_TEXT_CLAUSE_COUNT_MAX);
    assert_memory_equal(asked, buf_text(&title), strlen(asked));
    buf_release(&title);
}

/* A little: from four fifths to five quarters. */
static void what_is_clicked_more_comes_before_what_is_as_much_alike(void **state)
{
    struct scene *scene = *state;

    compare(scene, "Велосипед");
    assert_string_equal(scene->formula, "");
    scene->by_clicks = true;
    compare(scene, "Велосипед");
    assert_string_equal(scene->formula, "score * min(max(default(appeal, 1), 0.8), 1.25)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_words_of_a_title_are_looked_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_title_of_very_many_words_is_cut, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_clicked_more_comes_before_what_is_as_much_alike,
                                        set_up, tear_down),
    };

    return cmocka_run_group_tests_name("search-similar", tests, NULL, NULL);
}
