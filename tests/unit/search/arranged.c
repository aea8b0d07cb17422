/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of search/choices/arranged.h: lists whose first places two formulas fill in turns, and
 * some of them new offers, page by page, with a searcher that has two orders of the same offers and
 * may change between pages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/random.h"
#include "codec/message.h"
#include "model/experiment.h"
#include "query/run/cursor.h"
#include "search/bounds.h"
#include "search/choices/ranking.h"
#include "search/search.h"

enum { OFFER_COUNT_MAX = 300, HASH_ALL = 1, HASH_SOME = 2 };

static const char tried_formula[] = "score + price";

struct scene {
    uint32_t all, some; /* offers that have all words, and that lack some */
    bool is_gone[OFFER_COUNT_MAX];
    uint64_t orders[EXPERIMENT_SIDE_COUNT]; /* seeds: offers are sorted by hashes of them */
    int stage_count;                        /* that were asked for */
    bool is_partial;
    struct catalog *catalog;
    struct ranking tried;
    struct experiment experiment;
    struct search search;
    struct arena *arena;
    Torg__V1__SearchOffersRequest request;
    Torg__V1__SearchOffersResponse response;
};

static struct catalog *catalog_of(void *arg)
{
    return catalog_ref(((struct scene *)arg)->catalog);
}

/* --- the searcher --- */

struct place {
    uint32_t offer;
    uint64_t key;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    return x->key < y->key ? -1 : x->key > y->key;
}

/* Offers of a part in an order; those with all words have the smaller numbers. */
static uint32_t sort_part(const struct scene *scene, bool is_some, enum experiment_side side,
                          struct place *places)
{
    uint32_t first = is_some ? scene->all : 0, end = scene->all + (is_some ? scene->some : 0);
    uint32_t count = 0;

    for (uint32_t i = first; i < end; i++) {
        if (!scene->is_gone[i])
            places[count++] =
                (struct place){i, hash64_seeded(bytes_make(&i, sizeof(i)), scene->orders[side])};
    }
    qsort(places, count, sizeof(*places), compare_places);
    return count;
}

static char *id_of(uint32_t offer, struct arena *arena)
{
    return arena_printf(arena, "offer-%u", offer);
}

/* Behind which key the page begins: the cursor tells it as its time. */
static bool read_place(const Torg__V1__QueryStage *stage, struct arena *arena, uint64_t *key)
{
    struct page_cursor cursor;
    struct err err;

    if (!stage->cursor.len)
        return false;
    assert_int_equal(cursor_decode(bytes_make(stage->cursor.data, stage->cursor.len),
                                   stage->not_all ? HASH_SOME : HASH_ALL, arena, &cursor, &err),
                     0);
    *key = (uint64_t)cursor.now;
    return true;
}

/* Each seventh offer is new. */
static bool is_new(uint32_t offer)
{
    return offer % 7 == 3;
}

static bool wants_new(const Torg__V1__QueryStage *stage)
{
    const Torg__V1__Filter *filter = stage->filter;

    if (!filter)
        return false;
    assert_int_equal(filter->kind_case, TORG__V1__FILTER__KIND_AND);
    assert_string_equal(filter->and_->of[0]->range->field, "created");
    assert_string_equal(filter->and_->of[1]->not_->range->field, "looks");
    return true;
}

/* Half of the offers are of one shop, the others of people. */
static const char *seller_of(uint32_t offer, struct arena *arena)
{
    return offer % 2 ? arena_printf(arena, "person-%u", offer) : "shop";
}

static void put_seller(Torg__V1__Hit *hit, uint32_t offer, struct arena *arena)
{
    Torg__V1__ShownField *field = MESSAGE_NEW(shown_field, arena);

    field->name = "seller";
    field->values = arena_array(arena, 1, sizeof(field->values[0]));
    field->values[field->n_values++] = (char *)seller_of(offer, arena);
    hit->fields = arena_array(arena, 1, sizeof(hit->fields[0]));
    hit->fields[hit->n_fields++] = field;
}

/* Takes the others out. */
static uint32_t leave_new(struct place *places, uint32_t count)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < count; i++)
        if (is_new(places[i].offer))
            places[left++] = places[i];
    return left;
}

static void put_hits(struct scene *scene, const Torg__V1__QueryStage *stage, struct arena *arena,
                     Torg__V1__StageAnswer *made)
{
    bool is_tried = stage->n_sorts && strstr(stage->sorts[0]->formula, tried_formula);
    struct place places[OFFER_COUNT_MAX];
    uint32_t count =
        sort_part(scene, stage->not_all, is_tried ? EXPERIMENT_B : EXPERIMENT_A, places);
    uint32_t at = stage->offset;
    uint64_t key = 0;

    if (wants_new(stage))
        count = leave_new(places, count);
    if (read_place(stage, arena, &key))
        while (at < count && places[at].key <= key)
            at++;
    made->hits = arena_array(arena, stage->limit + 1, sizeof(made->hits[0]));
    for (; at < count && made->n_hits < stage->limit; at++) {
        Torg__V1__Hit *hit = MESSAGE_NEW(hit, arena);

        hit->pk = id_of(places[at].offer, arena);
        put_seller(hit, places[at].offer, arena);
        made->hits[made->n_hits++] = hit;
        key = places[at].key;
    }
    if (stage->limit && at < count) {
        const struct page_cursor cursor = {.query_hash = stage->not_all ? HASH_SOME : HASH_ALL,
                                           .now = (int64_t)key};
        struct bytes bytes = cursor_encode(&cursor, arena);

        made->cursor = (ProtobufCBinaryData){.data = (uint8_t *)bytes.data, .len = bytes.size};
    }
}

static uint32_t count_part(const struct scene *scene, bool is_some)
{
    struct place places[OFFER_COUNT_MAX];

    return sort_part(scene, is_some, EXPERIMENT_A, places);
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
        const Torg__V1__QueryStage *stage = request->query->stages[i];
        Torg__V1__StageAnswer *made = MESSAGE_NEW(stage_answer, arena);

        scene->stage_count++;
        made->total = count_part(scene, false) + (stage->any_word ? count_part(scene, true) : 0);
        put_hits(scene, stage, arena, made);
        response->answer->stages[response->answer->n_stages++] = made;
    }
    response->is_partial = scene->is_partial;
    return 0;
}

/* --- the scene --- */

static int set_up(void **state)
{
    static struct scene scene;
    struct err err;

    scene = (struct scene){.arena = arena_new(), .orders = {11, 22}};
    assert_int_equal(catalog_from_json(bytes_of("{}"), NULL, &scene.catalog, &err), 0);
    assert_int_equal(
        ranking_read(tried_formula, "search.experiment", scene.arena, &scene.tried, &err), 0);
    scene.experiment = experiment_of("score", tried_formula);
    scene.search = (struct search){.clock = clock_system(),
                                   .catalog = catalog_of,
                                   .catalog_arg = &scene,
                                   .ask = ask,
                                   .ask_arg = &scene,
                                   .experiment = &scene.experiment,
                                   .tried = &scene.tried};
    torg__v1__search_offers_request__init(&scene.request);
    scene.request.text = "угловой диван";
    scene.request.session = "visit";
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

    scene->stage_count = 0;
    scene->request._limit_case = TORG__V1__SEARCH_OFFERS_REQUEST___LIMIT_LIMIT;
    scene->request.limit = limit;
    torg__v1__search_offers_response__init(&scene->response);
    if (search_offers(&scene->search, &scene->request, LANGUAGE_RU, INT64_MAX, scene->arena,
                      &scene->response, &err))
        fail_msg("%s", err.text);
}

static uint32_t number_of(const Torg__V1__FoundOffer *offer)
{
    return (uint32_t)strtoul(offer->id + strlen("offer-"), NULL, 10);
}

/* A list by its cursors. */
struct walk {
    uint32_t offers[OFFER_COUNT_MAX];
    uint32_t count;
    bool is_met[OFFER_COUNT_MAX];
};

/* The page that the request asks for; false: there is none behind it. */
static bool walk_page(struct scene *scene, struct walk *walk, uint32_t limit)
{
    search(scene, limit);
    assert_true(scene->response.n_offers == limit || !scene->response.cursor.len);
    for (size_t i = 0; i < scene->response.n_offers; i++) {
        uint32_t number = number_of(scene->response.offers[i]);

        assert_false(walk->is_met[number]); /* none comes twice */
        assert_int_equal(scene->response.offers[i]->lacks_words, number >= scene->all);
        walk->is_met[number] = true;
        walk->offers[walk->count++] = number;
    }
    scene->request.cursor = scene->response.cursor;
    return scene->request.cursor.len > 0;
}

static void walk_list(struct scene *scene, struct walk *walk, uint32_t limit)
{
    *walk = (struct walk){0};
    scene->request.cursor = (ProtobufCBinaryData){0};
    while (walk_page(scene, walk, limit))
        ;
}

/* The first new offer with all words that is not taken, of as many as have places so far; NULL:
 * none is left. */
static const struct place *first_new(const struct scene *scene, const struct place *order,
                                     uint32_t place_count, const bool *is_taken)
{
    uint32_t left = place_count / scene->search.new_every;

    for (uint32_t i = 0; i < scene->all && left; i++) {
        if (is_new(order[i].offer) && !is_taken[order[i].offer])
            return &order[i];
        left -= is_new(order[i].offer);
    }
    return NULL;
}

/* What team-draft interleaving makes of two orders, as written in a book; and places of new
 * offers. */
static uint32_t draft(const struct scene *scene, uint64_t seed, uint32_t *offers)
{
    struct place orders[EXPERIMENT_SIDE_COUNT][OFFER_COUNT_MAX];
    bool is_taken[OFFER_COUNT_MAX] = {0};
    uint32_t count = 0;

    for (int side = 0; side < EXPERIMENT_SIDE_COUNT; side++) {
        uint32_t all = sort_part(scene, false, (enum experiment_side)side, orders[side]);

        sort_part(scene, true, (enum experiment_side)side, orders[side] + all);
    }
    for (; count < scene->all + scene->some && count < ARRANGED_PLACE_COUNT; count++) {
        uint32_t every = scene->search.new_every;
        const struct place *order =
            orders[scene->search.experiment ? experiment_side_at(seed, count) : EXPERIMENT_A];
        const struct place *fresh = every && (count + 1) % every == 0
                                        ? first_new(scene, orders[0], count + 1, is_taken)
                                        : NULL;

        while (is_taken[order->offer])
            order++;
        order = fresh ? fresh : order;
        is_taken[order->offer] = true;
        offers[count] = order->offer;
    }
    return count;
}

/* --- tests --- */

static void each_formula_has_one_of_two_places(void **state)
{
    int first_count = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        for (uint32_t place = 0; place < ARRANGED_PLACE_COUNT; place += 2)
            assert_int_not_equal(experiment_side_at(seed, place),
                                 experiment_side_at(seed, place + 1));
        first_count += experiment_side_at(seed, 0) == EXPERIMENT_B;
    }
    assert_in_range(first_count, 450, 550);
}

static void a_list_s_name_tells_its_experiment_and_its_seed(void **state)
{
    const struct experiment other = experiment_of("score", "score * 2");
    struct scene *scene = *state;
    char name[EXPERIMENT_LIST_SIZE];
    uint64_t seed = 0;

    experiment_list_name(&scene->experiment, 0xfedcba9876543210, name);
    assert_true(experiment_list_read(&scene->experiment, name, &seed));
    assert_true(seed == 0xfedcba9876543210);
    assert_true(experiment_list_read(&scene->experiment,
                                     arena_printf(scene->arena, "%s.k3Jd9", name), &seed));
    assert_false(experiment_list_read(&other, name, &seed));
    assert_false(experiment_list_read(&scene->experiment,
                                      arena_printf(scene->arena, "%sk3Jd9", name), &seed));
    for (size_t size = 0; size < strlen(name); size++)
        assert_false(experiment_list_read(&scene->experiment,
                                          arena_text(scene->arena, bytes_make(name, size)), &seed));
}

static void the_formulas_take_turns_and_nothing_is_hidden(void **state)
{
    static const uint32_t limits[] = {1, 3, 20, 24, 99, 100};
    struct scene *scene = *state;

    scene->all = 130;
    scene->some = 60;
    for (size_t i = 0; i < ARRAY_COUNT(limits); i++) {
        uint32_t places = ARRANGED_PLACE_COUNT / limits[i] * limits[i]; /* of whole pages */
        uint32_t expected[OFFER_COUNT_MAX];
        struct walk walk;
        uint64_t seed;

        scene->request.cursor = (ProtobufCBinaryData){0};
        search(scene, limits[i]);
        assert_true(experiment_list_read(&scene->experiment, scene->response.query_id, &seed));
        draft(scene, seed, expected);
        walk_list(scene, &walk, limits[i]);
        assert_int_equal(walk.count, scene->all + scene->some);
        for (uint32_t k = 0; k < places; k++)
            assert_int_equal(walk.offers[k], expected[k]);
    }
}

static void short_lists_are_whole_too(void **state)
{
    struct scene *scene = *state;
    struct walk walk;

    for (scene->all = 0; scene->all < 7; scene->all++) {
        for (scene->some = 0; scene->some < 7; scene->some++) {
            for (uint32_t limit = 1; limit < 15; limit += 3) {
                walk_list(scene, &walk, limit);
                assert_int_equal(walk.count, scene->all + scene->some);
            }
        }
    }
}

/* Formulas of one order, too. */
static void equal_formulas_give_the_list_that_there_was(void **state)
{
    struct scene *scene = *state;
    struct place places[OFFER_COUNT_MAX];
    struct walk walk;

    scene->all = 150;
    scene->orders[EXPERIMENT_B] = scene->orders[EXPERIMENT_A];
    sort_part(scene, false, EXPERIMENT_A, places);
    walk_list(scene, &walk, 20);
    assert_int_equal(walk.count, scene->all);
    for (uint32_t i = 0; i < walk.count; i++)
        assert_int_equal(walk.offers[i], places[i].offer);
}

static void offsets_within_the_arranged_places_fit_each_other(void **state)
{
    struct scene *scene = *state;
    struct walk walk;

    scene->all = 60;
    scene->some = 100;
    walk_list(scene, &walk, 20);
    scene->request.cursor = (ProtobufCBinaryData){0};
    for (uint32_t offset = 0; offset + 7 <= ARRANGED_PLACE_COUNT; offset += 7) {
        scene->request.offset = offset;
        search(scene, 7);
        assert_int_equal(scene->response.n_offers, 7);
        for (uint32_t i = 0; i < 7; i++)
            assert_int_equal(number_of(scene->response.offers[i]), walk.offers[offset + i]);
    }
}

/* Offers come, go and change their places in both orders while a visitor turns pages: what stays is
 * shown once. */
static void nothing_comes_twice_however_the_index_changes(void **state)
{
    struct scene *scene = *state;

    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct rng rng = rng_seeded(seed);
        bool was_gone[OFFER_COUNT_MAX];
        struct walk walk = {0};
        uint32_t limit = 1 + (uint32_t)rng_below(&rng, 40);

        memset(scene->is_gone, 0, sizeof(scene->is_gone));
        scene->all = 100 + (uint32_t)rng_below(&rng, 60);
        scene->some = (uint32_t)rng_below(&rng, 100);
        for (uint32_t i = 0; i < 20; i++)
            scene->is_gone[rng_below(&rng, scene->all + scene->some)] = true;
        memcpy(was_gone, scene->is_gone, sizeof(was_gone));
        scene->request.cursor = (ProtobufCBinaryData){0};
        while (walk_page(scene, &walk, limit)) {
            uint32_t one = (uint32_t)rng_below(&rng, scene->all + scene->some);

            scene->is_gone[one] = !scene->is_gone[one];
            was_gone[one] = true; /* it may be shown or not */
            scene->orders[EXPERIMENT_B] = rng_next(&rng);
        }
        for (uint32_t i = 0; i < scene->all + scene->some; i++)
            if (!was_gone[i] && !walk.is_met[i])
                fail_msg("seed %d: offer %u was hidden", (int)seed, i);
    }
}

static void a_list_goes_on_when_the_experiment_is_over(void **state)
{
    struct scene *scene = *state;
    struct walk walk = {0};

    scene->all = 180;
    assert_true(walk_page(scene, &walk, 20));
    assert_true(walk_page(scene, &walk, 20));
    scene->search.experiment = NULL;
    while (walk_page(scene, &walk, 20))
        assert_string_equal(scene->response.query_id, "");
    assert_int_equal(walk.count, scene->all);
}

static void a_visit_s_list_is_the_same_each_time(void **state)
{
    struct scene *scene = *state;
    struct walk first, again;
    int different = 0;

    scene->all = 60;
    walk_list(scene, &first, 20);
    walk_list(scene, &again, 20);
    assert_memory_equal(first.offers, again.offers, sizeof(first.offers));
    for (int i = 0; i < 8; i++) {
        scene->request.session = arena_printf(scene->arena, "visit-%d", i);
        walk_list(scene, &again, 20);
        different += memcmp(first.offers, again.offers, sizeof(first.offers)) != 0;
    }
    assert_in_range(different, 6, 8);
}

static void other_lists_cost_what_they_did(void **state)
{
    struct scene *scene = *state;
    int with_it, without;

    scene->all = 60;
    scene->some = 60;
    search(scene, 20);
    with_it = scene->stage_count;
    scene->search.experiment = NULL;
    search(scene, 20);
    without = scene->stage_count;
    assert_int_equal(with_it, without + 2);
    assert_string_equal(scene->response.query_id, "");
    scene->search.experiment = &scene->experiment;
    scene->request.order = TORG__V1__SEARCH_OFFERS_REQUEST__ORDER__NEWEST;
    search(scene, 20);
    assert_int_equal(scene->stage_count, without);
    scene->request.order = TORG__V1__SEARCH_OFFERS_REQUEST__ORDER__BEST;
    scene->request.session = ""; /* no visitor's */
    search(scene, 20);
    assert_int_equal(scene->stage_count, without);
    assert_string_equal(scene->response.query_id, "");
}

/* Where a shard is missing, places say nothing. */
static void half_a_list_is_credited_to_nobody(void **state)
{
    struct scene *scene = *state;

    scene->all = 60;
    scene->is_partial = true;
    search(scene, 20);
    assert_int_equal(scene->response.n_offers, 20);
    assert_string_equal(scene->response.query_id, "");
}

static void expect_draft(struct scene *scene, uint64_t seed)
{
    uint32_t expected[OFFER_COUNT_MAX];
    uint32_t count = draft(scene, seed, expected);
    struct walk walk;

    walk_list(scene, &walk, 20);
    assert_int_equal(walk.count, scene->all + scene->some);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(walk.offers[i], expected[i]);
}

static void one_of_some_places_is_a_new_offer_s(void **state)
{
    struct scene *scene = *state;
    uint64_t seed;

    scene->search.new_age_us = INT64_C(3600) * SECOND_US;
    scene->search.by_clicks = true;
    for (scene->search.new_every = 1; scene->search.new_every < 12; scene->search.new_every += 3) {
        for (scene->all = 5; scene->all < 200; scene->all += 60) {
            scene->some = 200 - scene->all;
            scene->search.experiment = &scene->experiment;
            scene->request.cursor = (ProtobufCBinaryData){0};
            search(scene, 20);
            assert_true(experiment_list_read(&scene->experiment, scene->response.query_id, &seed));
            expect_draft(scene, seed);
            scene->search.experiment = NULL;
            scene->request.session = ""; /* a list that is nobody's has them each time */
            expect_draft(scene, 0);
            scene->request.session = "visit";
        }
    }
}

/* A quarter of the lists has them: they cost a question. */
static void lists_of_some_visits_have_places_for_new_offers(void **state)
{
    struct scene *scene = *state;
    int without, with_places = 0;

    scene->all = 60;
    scene->search.experiment = NULL;
    scene->search.by_clicks = true;
    search(scene, 20);
    without = scene->stage_count;
    scene->search.new_every = 10;
    scene->search.new_age_us = INT64_C(3600) * SECOND_US;
    for (int i = 0; i < 300; i++) {
        scene->request.session = arena_printf(scene->arena, "visit-%d", i);
        search(scene, 20);
        with_places += scene->stage_count > without;
    }
    assert_in_range(with_places, 45, 110);
}

/* Where clicks decide nothing, new offers have the places of their words. */
static void new_offers_need_no_place_where_clicks_do_not_count(void **state)
{
    struct scene *scene = *state;
    int without;

    scene->all = 60;
    scene->search.experiment = NULL;
    scene->request.session = "";
    search(scene, 20);
    without = scene->stage_count;
    scene->search.new_every = 10;
    scene->search.new_age_us = INT64_C(3600) * SECOND_US;
    search(scene, 20);
    assert_int_equal(scene->stage_count, without);
    scene->search.by_clicks = true;
    search(scene, 20);
    assert_int_equal(scene->stage_count, without + 1); /* the page is known */
    scene->request.order = TORG__V1__SEARCH_OFFERS_REQUEST__ORDER__CHEAPEST;
    search(scene, 20);
    assert_int_equal(scene->stage_count, without);
}

enum { CAPPED_PAGE_COUNT = 20 };

/* The order with at most so many of the shop on a page, as far as others are left. */
static void expect_capped(struct scene *scene, const struct walk *walk, uint32_t end)
{
    struct place order[OFFER_COUNT_MAX];
    bool is_taken[OFFER_COUNT_MAX] = {0};
    uint32_t of_shop = 0;

    sort_part(scene, true, EXPERIMENT_A, order + sort_part(scene, false, EXPERIMENT_A, order));
    for (uint32_t place = 0; place < end; place++) {
        const struct place *first = order, *found;

        if (place % CAPPED_PAGE_COUNT == 0)
            of_shop = 0;
        while (is_taken[first->offer])
            first++;
        for (found = first; found < order + scene->all + scene->some; found++) {
            if ((found->offer < scene->all) != (first->offer < scene->all))
                break;
            if (!is_taken[found->offer] && (found->offer % 2 || of_shop < scene->search.seller_cap))
                break;
        }
        if (found == order + scene->all + scene->some ||
            (found->offer < scene->all) != (first->offer < scene->all))
            found = first;
        assert_int_equal(walk->offers[place], found->offer);
        is_taken[found->offer] = true;
        of_shop += found->offer % 2 == 0;
    }
}

static void a_seller_s_further_offers_come_later_and_none_is_lost(void **state)
{
    static const char *const texts[] = {"угловой диван", ""};
    struct scene *scene = *state;
    struct walk walk;

    scene->search.experiment = NULL;
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        scene->request.text = (char *)texts[i];
        for (scene->search.seller_cap = 1; scene->search.seller_cap < 8;
             scene->search.seller_cap += 3) {
            for (scene->all = 30; scene->all <= 170; scene->all += 70) {
                scene->some = *texts[i] ? 200 - scene->all : 0;
                walk_list(scene, &walk, CAPPED_PAGE_COUNT);
                assert_int_equal(walk.count, scene->all + scene->some);
                expect_capped(scene, &walk, walk.count < 100 ? walk.count : 100);
            }
        }
    }
    scene->search.experiment = &scene->experiment; /* beside each other */
    scene->search.by_clicks = true;
    scene->search.new_every = 10;
    scene->search.new_age_us = INT64_C(3600) * SECOND_US;
    walk_list(scene, &walk, CAPPED_PAGE_COUNT);
    assert_int_equal(walk.count, scene->all + scene->some);
}

static void damaged_cursors_are_refused(void **state)
{
    struct scene *scene = *state;
    struct err err;
    struct bytes whole;

    scene->all = 60;
    search(scene, 20);
    whole = arena_copy(scene->arena,
                       bytes_make(scene->response.cursor.data, scene->response.cursor.len));
    for (size_t size = 1; size < 11 + 20 * 8; size++) {
        scene->request.cursor = (ProtobufCBinaryData){.data = (uint8_t *)whole.data, .len = size};
        torg__v1__search_offers_response__init(&scene->response);
        assert_int_equal(search_offers(&scene->search, &scene->request, LANGUAGE_RU, INT64_MAX,
                                       scene->arena, &scene->response, &err),
                         ERR_INVALID);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(each_formula_has_one_of_two_places),
        TEST(a_list_s_name_tells_its_experiment_and_its_seed),
        TEST(the_formulas_take_turns_and_nothing_is_hidden),
        TEST(short_lists_are_whole_too),
        TEST(equal_formulas_give_the_list_that_there_was),
        TEST(offsets_within_the_arranged_places_fit_each_other),
        TEST(nothing_comes_twice_however_the_index_changes),
        TEST(a_list_goes_on_when_the_experiment_is_over),
        TEST(a_visit_s_list_is_the_same_each_time),
        TEST(other_lists_cost_what_they_did),
        TEST(half_a_list_is_credited_to_nobody),
        TEST(one_of_some_places_is_a_new_offer_s),
        TEST(lists_of_some_visits_have_places_for_new_offers),
        TEST(new_offers_need_no_place_where_clicks_do_not_count),
        TEST(a_seller_s_further_offers_come_later_and_none_is_lost),
        TEST(damaged_cursors_are_refused),
    };

    return cmocka_run_group_tests_name("search-arranged", tests, NULL, NULL);
}
