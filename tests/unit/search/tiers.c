/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of search/search.h: offers with all words come first, those that lack some behind
 * them, page by page, with a searcher that has so many of each. */
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
#include "query/run/cursor.h"
#include "search/search.h"

enum { HASH_ALL = 1, HASH_SOME = 2, HASH_FILTER = 2 };

/* What a stage filters by. */
enum money { NO_MONEY, PRICE, SALARY, MONEY_COUNT };

static const char catalog_json[] =
    "{\"categories\": ["
    " {\"id\": \"sofas\", \"name\": {\"ru\": \"Мягкая мебель\", \"en\": \"Sofas\"}},"
    " {\"id\": \"jobs\", \"name\": {\"ru\": \"Работа\", \"en\": \"Jobs\"},"
    "  \"filters\": [\"SALARY\"]}]}";

struct scene {
    uint32_t all, some;
    bool has_none[MONEY_COUNT]; /* that filter leaves no offer with all words */
    enum money asked;           /* by the last stage */
    int count_count;            /* stages that only count */
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

static enum money money_of(const Torg__V1__QueryStage *stage)
{
    for (size_t i = 0; stage->filter && i < stage->filter->and_->n_of; i++) {
        const Torg__V1__Filter *each = stage->filter->and_->of[i];

        if (each->kind_case == TORG__V1__FILTER__KIND_RANGE)
            return strcmp(each->range->field, OFFER_FIELD_PRICE) == 0 ? PRICE : SALARY;
    }
    return NO_MONEY;
}

/* As the index's: filters belong to the query. */
static uint64_t hash_of(const Torg__V1__QueryStage *stage)
{
    return (stage->not_all ? HASH_SOME : HASH_ALL) + HASH_FILTER * (uint64_t)money_of(stage);
}

/* Where the list goes on. */
static uint32_t place_of(const Torg__V1__QueryStage *stage, struct arena *arena)
{
    struct page_cursor cursor;
    struct err err;

    if (!stage->cursor.len)
        return stage->offset;
    assert_int_equal(cursor_decode(bytes_make(stage->cursor.data, stage->cursor.len),
                                   hash_of(stage), arena, &cursor, &err),
                     0);
    return cursor.depth;
}

static Torg__V1__StageAnswer *answer_stage(struct scene *scene, const Torg__V1__QueryStage *stage,
                                           struct arena *arena)
{
    Torg__V1__StageAnswer *made =
        (Torg__V1__StageAnswer *)message_new(&torg__v1__stage_answer__descriptor, arena);
    uint32_t all = scene->has_none[money_of(stage)] ? 0 : scene->all;
    uint32_t there = stage->not_all ? scene->some : stage->any_word ? all + scene->some : all;
    uint32_t at = place_of(stage, arena);

    scene->count_count += !stage->limit;
    scene->asked = money_of(stage);
    made->total = stage->no_total ? 0 : there;
    made->hits = arena_array(arena, stage->limit + 1, sizeof(made->hits[0]));
    for (; at < there && made->n_hits < stage->limit; at++) {
        Torg__V1__Hit *hit = (Torg__V1__Hit *)message_new(&torg__v1__hit__descriptor, arena);

        hit->pk = arena_printf(arena, "%s%u", stage->not_all ? "some-" : "all-", at);
        made->hits[made->n_hits++] = hit;
    }
    if (stage->limit && at < there) {
        const struct page_cursor cursor = {.query_hash = hash_of(stage), .depth = at};
        struct bytes bytes = cursor_encode(&cursor, arena);

        made->cursor = (ProtobufCBinaryData){.data = (uint8_t *)bytes.data, .len = bytes.size};
    }
    return made;
}

static int ask(void *arg, const Torg__V1__SearchRequest *request, int64_t deadline_us,
               struct arena *arena, Torg__V1__SearchResponse *response, struct err *err)
{
    Torg__V1__QueryAnswer *answer =
        (Torg__V1__QueryAnswer *)message_new(&torg__v1__query_answer__descriptor, arena);

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

    scene = (struct scene){.arena = arena_new()};
    assert_int_equal(catalog_from_json(bytes_of(catalog_json), NULL, &scene.catalog, &err), 0);
    scene.search = (struct search){.clock = clock_system(),
                                   .catalog = catalog_of,
                                   .catalog_arg = &scene,
                                   .ask = ask,
                                   .ask_arg = &scene};
    torg__v1__search_offers_request__init(&scene.request);
    scene.request.text = "угловой диван";
    scene.request.only_offers = true;
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

static void search(struct scene *scene, uint32_t limit)
{
    struct err err;

    scene->count_count = 0;
    scene->request._limit_case = TORG__V1__SEARCH_OFFERS_REQUEST___LIMIT_LIMIT;
    scene->request.limit = limit;
    torg__v1__search_offers_response__init(&scene->response);
    assert_int_equal(search_offers(&scene->search, &scene->request, LANGUAGE_RU, INT64_MAX,
                                   scene->arena, &scene->response, &err),
                     0);
}

/* The offer at this place of the whole list. */
static void expect_offer(const struct scene *scene, const Torg__V1__FoundOffer *offer,
                         uint32_t place)
{
    bool is_some = place >= scene->all;
    char *id = arena_printf(scene->arena, "%s%u", is_some ? "some-" : "all-",
                            is_some ? place - scene->all : place);

    assert_string_equal(offer->id, id);
    assert_int_equal(offer->lacks_words, is_some);
}

static void the_whole_list_by_cursor(void **state)
{
    struct scene *scene = *state;

    for (scene->all = 0; scene->all < 8; scene->all++) {
        for (scene->some = 0; scene->some < 8; scene->some++) {
            uint32_t met = 0;

            scene->request.cursor = (ProtobufCBinaryData){0};
            do {
                search(scene, 3);
                assert_int_equal(scene->response.total, scene->all + scene->some);
                assert_int_equal(scene->response.whole_total, scene->all);
                for (size_t i = 0; i < scene->response.n_offers; i++)
                    expect_offer(scene, scene->response.offers[i], met++);
                assert_true(scene->response.n_offers == 3 || !scene->response.cursor.len);
                scene->request.cursor = scene->response.cursor;
            } while (scene->request.cursor.len);
            assert_int_equal(met, scene->all + scene->some);
        }
    }
}

static void the_whole_list_by_offset(void **state)
{
    struct scene *scene = *state;

    scene->all = 5;
    scene->some = 7;
    for (uint32_t offset = 0; offset < 14; offset++) {
        uint32_t left = offset < 12 ? 12 - offset : 0;

        scene->request.offset = offset;
        search(scene, 3);
        assert_int_equal(scene->response.n_offers, left < 3 ? left : 3);
        for (uint32_t i = 0; i < scene->response.n_offers; i++)
            expect_offer(scene, scene->response.offers[i], offset + i);
    }
}

static void who_asks_for_all_words_gets_no_others(void **state)
{
    struct scene *scene = *state;

    scene->all = 2;
    scene->some = 5;
    scene->request.all_words = true;
    search(scene, 10);
    assert_int_equal(scene->response.n_offers, 2);
    assert_int_equal(scene->response.total, 2);
    assert_int_equal(scene->response.whole_total, 2);
    assert_int_equal(scene->count_count, 0);
}

static void one_word_is_one_question(void **state)
{
    struct scene *scene = *state;

    scene->all = 2;
    scene->some = 5;
    scene->request.text = "диван недорого";
    search(scene, 10);
    assert_int_equal(scene->response.n_offers, 2);
    assert_int_equal(scene->count_count, 0);
    assert_int_equal(scene->response.n_understood, 1);
    assert_string_equal(scene->response.understood[0]->text, "недорого");
    assert_string_equal(scene->response.understood[0]->as, "filler");
    assert_null(scene->response.understood[0]->choice);
}

/* Where a filter of the text's words leaves nothing, its first page finds out what they mean; the
 * others go on with that. */
static void pages_go_on_with_what_words_chose(void **state)
{
    static const struct {
        bool has_none[MONEY_COUNT];
        enum money asked;
    } cases[] = {
        {{false, false, false}, PRICE},
        {{false, true, false}, SALARY},
        {{false, true, true}, NO_MONEY},
        {{true, true, true}, PRICE}, /* offers that lack words alone: as they were understood */
    };
    struct scene *scene = *state;

    scene->all = 5;
    scene->some = 3;
    scene->request.text = "главный бухгалтер от 75 000";
    scene->request.order = TORG__V1__SEARCH_OFFERS_REQUEST__ORDER__CHEAPEST;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        uint32_t met = cases[i].has_none[NO_MONEY] ? scene->all : 0;

        memcpy(scene->has_none, cases[i].has_none, sizeof(scene->has_none));
        scene->request.cursor = (ProtobufCBinaryData){0};
        do {
            search(scene, 1);
            assert_int_equal(scene->response.n_offers, 1);
            expect_offer(scene, scene->response.offers[0], met++);
            assert_int_equal(scene->asked, cases[i].asked);
            scene->request.cursor = scene->response.cursor;
        } while (scene->request.cursor.len);
        assert_int_equal(met, scene->all + scene->some);
    }
}

/* A list whose offers are sold while it is read ends; it does not become another. */
static void what_words_chose_stays_when_the_rest_is_gone(void **state)
{
    struct scene *scene = *state;

    scene->all = 5;
    scene->request.text = "бухгалтер от 75 000";
    search(scene, 1);
    scene->request.cursor = scene->response.cursor;
    scene->has_none[PRICE] = true;
    search(scene, 1);
    assert_int_equal(scene->asked, PRICE);
    assert_int_equal(scene->response.n_offers, 0);
    assert_int_equal(scene->response.cursor.len, 0);
}

static void expect_refused(struct scene *scene, uint8_t *cursor, size_t size)
{
    struct err err;

    scene->request.cursor = (ProtobufCBinaryData){.data = cursor, .len = size};
    torg__v1__search_offers_response__init(&scene->response);
    assert_int_equal(search_offers(&scene->search, &scene->request, LANGUAGE_RU, INT64_MAX,
                                   scene->arena, &scene->response, &err),
                     ERR_INVALID);
}

static void damaged_cursors_are_refused(void **state)
{
    struct scene *scene = *state;
    uint8_t marks[] = {0xFE, 0xFE, 1, 2, 3};
    uint8_t *chooses;
    size_t whole;

    for (size_t size = 1; size <= sizeof(marks); size++)
        expect_refused(scene, marks, size);
    scene->all = 5;
    scene->request.cursor = (ProtobufCBinaryData){0};
    search(scene, 1);
    whole = scene->response.cursor.len;
    chooses = arena_alloc(scene->arena, 2 + whole);
    memcpy(chooses + 2, scene->response.cursor.data, whole);
    chooses[0] = 0xFB;
    for (int each = 0; each <= UINT8_MAX; each++) {
        chooses[1] = (uint8_t)each;
        expect_refused(scene, chooses, 1);
        expect_refused(scene, chooses, 2);
        if (each == 0 || each > 3)
            expect_refused(scene, chooses, 2 + whole);
    }
    chooses[1] = 3;
    scene->request.cursor = (ProtobufCBinaryData){.data = chooses, .len = 2 + whole};
    search(scene, 1);
    expect_offer(scene, scene->response.offers[0], 1);
}

/* The part behind begins: of the searcher's cursor nothing is left that could tell. */
static void a_cursor_of_another_text_is_refused(void **state)
{
    struct scene *scene = *state;
    struct err err;

    scene->all = 3;
    scene->some = 2;
    search(scene, 3);
    scene->request.cursor = scene->response.cursor;
    scene->request.text = "угловой шкаф";
    torg__v1__search_offers_response__init(&scene->response);
    assert_int_equal(search_offers(&scene->search, &scene->request, LANGUAGE_RU, INT64_MAX,
                                   scene->arena, &scene->response, &err),
                     ERR_INVALID);
    assert_non_null(strstr(err.text, "another query"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(the_whole_list_by_cursor),
        TEST(the_whole_list_by_offset),
        TEST(who_asks_for_all_words_gets_no_others),
        TEST(one_word_is_one_question),
        TEST(pages_go_on_with_what_words_chose),
        TEST(what_words_chose_stays_when_the_rest_is_gone),
        TEST(damaged_cursors_are_refused),
        TEST(a_cursor_of_another_text_is_refused),
    };

    return cmocka_run_group_tests_name("search-tiers", tests, NULL, NULL);
}
