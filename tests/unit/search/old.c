/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of search/search.h: a page that an old state of the index has made says so, and shows
 * nothing that may not be seen any more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "codec/message.h"
#include "search/search.h"

enum { OLD_SECONDS = 90 };

struct scene {
    bool is_old;    /* the index has an old state alone */
    int fetch_code; /* of the offer "gone" */
    int fetch_count;
    struct catalog *catalog;
    struct arena *arena;
};

static struct catalog *catalog_of(void *arg)
{
    return catalog_ref(((struct scene *)arg)->catalog);
}

static Torg__V1__Hit *make_hit(const char *pk, struct arena *arena)
{
    Torg__V1__Hit *hit = MESSAGE_NEW(hit, arena);

    hit->pk = arena_strdup(arena, pk);
    return hit;
}

static int ask(void *arg, const Torg__V1__SearchRequest *request, int64_t deadline_us,
               struct arena *arena, Torg__V1__SearchResponse *response, struct err *err)
{
    const struct scene *scene = arg;

    (void)deadline_us;
    if (scene->is_old && request->old_max_seconds < OLD_SECONDS)
        return err_set(err, ERR_UNAVAILABLE, "it is not ready");
    response->answer = MESSAGE_NEW(query_answer, arena);
    response->answer->stages =
        arena_array(arena, request->query->n_stages, sizeof(response->answer->stages[0]));
    for (size_t i = 0; i < request->query->n_stages; i++) {
        Torg__V1__StageAnswer *stage = MESSAGE_NEW(stage_answer, arena);

        stage->hits = arena_array(arena, 3, sizeof(stage->hits[0]));
        stage->hits[stage->n_hits++] = make_hit("first", arena);
        stage->hits[stage->n_hits++] = make_hit("gone", arena);
        stage->hits[stage->n_hits++] = make_hit("last", arena);
        stage->total = 3;
        response->answer->stages[response->answer->n_stages++] = stage;
    }
    response->old_seconds = scene->is_old ? OLD_SECONDS : 0;
    return 0;
}

static int fetch(void *arg, const char *offer_id, struct arena *arena, Torg__V1__Offer **offer,
                 struct err *err)
{
    struct scene *scene = arg;

    scene->fetch_count++;
    if (strcmp(offer_id, "gone") == 0)
        return err_set(err, scene->fetch_code, "it may not be seen");
    *offer = MESSAGE_NEW(offer, arena);
    return 0;
}

static int search(struct scene *scene, uint32_t old_max, char **wait,
                  Torg__V1__SearchOffersResponse *response)
{
    const struct search search = {.clock = clock_system(),
                                  .catalog = catalog_of,
                                  .catalog_arg = scene,
                                  .ask = ask,
                                  .ask_arg = scene,
                                  .fetch = fetch,
                                  .fetch_arg = scene,
                                  .old_max_seconds = old_max,
                                  .is_quiet = true};
    Torg__V1__SearchOffersRequest request = TORG__V1__SEARCH_OFFERS_REQUEST__INIT;
    struct err err;

    request.only_offers = true;
    request.wait = wait; /* none is left to wait for */
    torg__v1__search_offers_response__init(response);
    scene->fetch_count = 0;
    return search_offers(&search, &request, LANGUAGE_EN, INT64_MAX, scene->arena, response, &err);
}

static void what_may_not_be_seen_is_left_out_of_an_old_page(void **state)
{
    struct scene scene = {.is_old = true, .fetch_code = ERR_NOT_FOUND, .arena = arena_new()};
    Torg__V1__SearchOffersResponse response;
    char *tokens[] = {NULL};
    struct err err;

    (void)state;
    assert_int_equal(catalog_from_json(bytes_of("{}"), NULL, &scene.catalog, &err), 0);
    assert_int_equal(search(&scene, 3600, NULL, &response), 0);
    assert_int_equal(response.old_seconds, OLD_SECONDS);
    assert_int_equal(response.n_offers, 2);
    assert_string_equal(response.offers[0]->id, "first");
    assert_string_equal(response.offers[1]->id, "last");
    scene.fetch_code = ERR_TIMEOUT; /* nobody can say whether it may be seen */
    assert_int_equal(search(&scene, 3600, NULL, &response), ERR_UNAVAILABLE);
    scene.fetch_code = ERR_NOT_FOUND;
    assert_int_equal(search(&scene, OLD_SECONDS - 1, NULL, &response), ERR_UNAVAILABLE);
    assert_int_equal(search(&scene, 0, NULL, &response), ERR_UNAVAILABLE);
    assert_int_equal(search(&scene, 3600, tokens, &response), ERR_UNAVAILABLE); /* has waited */
    scene.is_old = false;
    assert_int_equal(search(&scene, 3600, NULL, &response), 0);
    assert_int_equal(response.old_seconds, 0);
    assert_int_equal(response.n_offers, 3);
    assert_int_equal(scene.fetch_count, 0);
    catalog_unref(scene.catalog);
    arena_free(scene.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_may_not_be_seen_is_left_out_of_an_old_page),
    };

    return cmocka_run_group_tests_name("old", tests, NULL, NULL);
}
