/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of search/search.h: when another text is searched than the one sent, and what that
 * costs, with a searcher that knows what each text finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/memory.h"
#include "codec/message.h"
#include "query/run/cursor.h"
#include "search/choices/choices.h"
#include "search/search.h"
#include "unit/spell/spell_world.h"

enum { ASKED_MAX = 16 };

struct known_text {
    const char *text;
    uint64_t total;    /* whatever is chosen beside it */
    uint64_t filtered; /* beside the filters */
};

enum { PLACE = 4711 }; /* that a searcher's cursor tells */

static ProtobufCBinaryData place(struct arena *arena)
{
    const struct page_cursor cursor = {.query_hash = PLACE, .depth = PLACE};
    struct bytes bytes = cursor_encode(&cursor, arena);

    return (ProtobufCBinaryData){.data = (uint8_t *)bytes.data, .len = bytes.size};
}

/* The searcher gets its own cursor back, whatever text it was sent with. */
static void expect_place(ProtobufCBinaryData data, struct arena *arena)
{
    struct page_cursor cursor;
    struct err err;

    assert_int_equal(cursor_decode(bytes_make(data.data, data.len), PLACE, arena, &cursor, &err),
                     0);
    assert_int_equal(cursor.depth, PLACE);
}

struct scene {
    const struct known_text *texts;
    size_t text_count;
    int round_count; /* questions to the searcher */
    int count_count; /* of their stages, those that only count */
    const char *page_text;
    const char *begun; /* a word that begins some of titles, or is near them */
    bool is_near;
    uint64_t some_count; /* offers that have some of the words */
    struct speller *speller;
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

static struct speller *speller_of(void *arg)
{
    return ((struct scene *)arg)->speller;
}

static uint64_t total_of(const struct scene *scene, const Torg__V1__QueryStage *stage)
{
    for (size_t i = 0; i < scene->text_count; i++) {
        if (strcmp(scene->texts[i].text, stage->text) == 0)
            return stage->filter ? scene->texts[i].filtered : scene->texts[i].total;
    }
    return stage->any_word ? scene->some_count : 0;
}

/* Titles that have words which begin so. */
static void complete(const struct scene *scene, const Torg__V1__TextClause *clause,
                     Torg__V1__StageAnswer *made, struct arena *arena)
{
    bool is_near = clause->kind == TORG__V1__TEXT_CLAUSE__KIND__FUZZY;

    made->total = 0;
    if (!scene->begun || strcmp(clause->text, scene->begun) != 0 || is_near != scene->is_near)
        return;
    made->total = 5;
    made->hits = arena_array(arena, made->total, sizeof(made->hits[0]));
    for (size_t i = 0; i < made->total; i++) {
        Torg__V1__Hit *hit = (Torg__V1__Hit *)message_new(&torg__v1__hit__descriptor, arena);
        Torg__V1__ShownField *field =
            (Torg__V1__ShownField *)message_new(&torg__v1__shown_field__descriptor, arena);

        field->name = "title";
        field->values = arena_array(arena, 1, sizeof(field->values[0]));
        field->values[0] = i == 0 ? "новые <b>Ноутбуки</b>" : "<b>Ноутбук</b> ASUS";
        field->n_values = 1;
        hit->highlights = arena_array(arena, 1, sizeof(hit->highlights[0]));
        hit->highlights[0] = field;
        hit->n_highlights = 1;
        made->hits[made->n_hits++] = hit;
    }
}

static int ask(void *arg, const Torg__V1__SearchRequest *request, int64_t deadline_us,
               struct arena *arena, Torg__V1__SearchResponse *response, struct err *err)
{
    struct scene *scene = arg;
    Torg__V1__QueryAnswer *answer =
        (Torg__V1__QueryAnswer *)message_new(&torg__v1__query_answer__descriptor, arena);

    (void)deadline_us;
    (void)err;
    answer->stages = arena_array(arena, request->query->n_stages, sizeof(answer->stages[0]));
    for (size_t i = 0; i < request->query->n_stages; i++) {
        const Torg__V1__QueryStage *stage = request->query->stages[i];
        Torg__V1__StageAnswer *made =
            (Torg__V1__StageAnswer *)message_new(&torg__v1__stage_answer__descriptor, arena);

        made->total = total_of(scene, stage);
        if (stage->n_clauses && !*stage->text)
            complete(scene, stage->clauses[0], made, arena);
        made->cursor = place(arena);
        if (stage->cursor.len)
            expect_place(stage->cursor, arena);
        answer->stages[answer->n_stages++] = made;
        if (stage->limit && (*stage->text || !stage->n_clauses))
            scene->page_text = stage->text;
        else
            scene->count_count++;
    }
    scene->round_count++;
    response->answer = answer;
    return 0;
}

static int set_up(void **state)
{
    static struct scene scene;
    struct err err;

    scene = (struct scene){.arena = arena_new(), .speller = world_speller(NULL)};
    assert_int_equal(catalog_from_json(bytes_of("{}"), NULL, &scene.catalog, &err), 0);
    scene.search = (struct search){.clock = clock_system(),
                                   .catalog = catalog_of,
                                   .catalog_arg = &scene,
                                   .ask = ask,
                                   .ask_arg = &scene,
                                   .speller = speller_of,
                                   .speller_arg = &scene};
    torg__v1__search_offers_request__init(&scene.request);
    *state = &scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;

    speller_close(scene->speller);
    catalog_unref(scene->catalog);
    arena_free(scene->arena);
    return 0;
}

/* The text that was searched. */
static const char *search(struct scene *scene, const char *text, const struct known_text *texts,
                          size_t count)
{
    struct err err;

    scene->texts = texts;
    scene->text_count = count;
    scene->round_count = scene->count_count = 0;
    scene->request.text = (char *)text;
    scene->request.only_offers = true;
    torg__v1__search_offers_response__init(&scene->response);
    assert_int_equal(search_offers(&scene->search, &scene->request, LANGUAGE_RU, INT64_MAX,
                                   scene->arena, &scene->response, &err),
                     0);
    return scene->page_text;
}

/* Something is chosen, so that texts find less. */
static void choose_a_price(struct scene *scene)
{
    Torg__V1__FilterChoice **choices = arena_array(scene->arena, 1, sizeof(choices[0]));

    choices[0] = arena_alloc(scene->arena, sizeof(*choices[0]));
    torg__v1__filter_choice__init(choices[0]);
    choices[0]->id = "price";
    choices[0]->max = "100";
    scene->request.filters = choices;
    scene->request.n_filters = 1;
}

static void a_misspelt_text_is_put_right_and_offered_back(void **state)
{
    static const struct known_text texts[] = {{"велосипед", 7, 7}, {"велосепед", 1, 1}};
    struct scene *scene = *state;

    assert_string_equal(search(scene, "велосепед", texts, ARRAY_COUNT(texts)), "велосипед");
    assert_int_equal(scene->response.total, 7);
    assert_non_null(scene->response.corrected);
    assert_string_equal(scene->response.corrected->original, "велосепед");
    assert_string_equal(scene->response.corrected->corrected, "велосипед");
    assert_string_equal(scene->response.corrected->reason, "typo");
    assert_int_equal(scene->response.corrected->original_total, 1);
    assert_string_equal(scene->response.times[0]->step, "spelling");
    assert_string_equal(scene->response.times[1]->step, "page");
}

static void a_text_without_mistakes_costs_no_other_query(void **state)
{
    static const struct known_text texts[] = {{"велосипед", 7, 7}};
    struct scene *scene = *state;

    assert_string_equal(search(scene, "велосипед", texts, ARRAY_COUNT(texts)), "велосипед");
    assert_null(scene->response.corrected);
    assert_int_equal(scene->round_count, 1);
    assert_int_equal(scene->count_count, 0);
}

static void words_are_put_right_one_by_one(void **state)
{
    /* no offer has all words */
    static const struct known_text texts[] = {{"велосипед", 7, 7}, {"самокат", 3, 3}};
    struct scene *scene = *state;

    assert_string_equal(search(scene, "велосепед самокат", texts, ARRAY_COUNT(texts)),
                        "велосипед самокат");
    assert_string_equal(scene->response.corrected->reason, "typo");
    /* other offers than before do not have to come: those that have the word are first now */
    scene->some_count = 7;
    assert_string_equal(search(scene, "велосепед самокат", texts, ARRAY_COUNT(texts)),
                        "велосипед самокат");
    scene->some_count = 0;
    /* nor is one corrected into what finds nothing */
    assert_string_equal(search(scene, "велосепед самокат", texts + 1, 1), "велосепед самокат");
    assert_null(scene->response.corrected);
}

static void the_beginning_of_a_word_is_completed(void **state)
{
    static const struct known_text texts[] = {
        {"ноутбук", 134, 134}, {"asus", 20, 20}, {"ноутбук asus", 2, 2}};
    struct scene *scene = *state;

    scene->begun = "ноут";
    assert_string_equal(search(scene, "ноут", texts, ARRAY_COUNT(texts)), "ноутбук");
    assert_string_equal(scene->response.corrected->reason, "completion");
    assert_string_equal(search(scene, "ноут asus", texts, ARRAY_COUNT(texts)), "ноутбук asus");
    scene->begun = "ноыыбук"; /* nothing else is known of it */
    scene->is_near = true;
    assert_string_equal(search(scene, "ноыыбук", texts, ARRAY_COUNT(texts)), "ноутбук");
    assert_string_equal(scene->response.corrected->reason, "typo");
    scene->is_near = false;
    scene->begun = "ноу"; /* three letters may begin anything: the last resort */
    assert_string_equal(search(scene, "ноу", texts, ARRAY_COUNT(texts)), "ноутбук");
    assert_string_equal(scene->response.corrected->reason, "nearest");
    assert_string_equal(search(scene, "ноуxyzzz", texts, ARRAY_COUNT(texts)), "ноутбук");
    scene->begun = "бук"; /* three letters end too much */
    assert_string_equal(search(scene, "ксерокбук", texts, ARRAY_COUNT(texts)), "ксерокбук");
    assert_null(scene->response.corrected);
    scene->begun = "тбук";
    assert_string_equal(search(scene, "ксеротбук", texts, ARRAY_COUNT(texts)), "ноутбук");
    assert_string_equal(scene->response.corrected->reason, "nearest");
}

static void two_words_that_titles_write_as_one_are_joined(void **state)
{
    static const struct known_text texts[] = {
        {"deck", 70, 70},         {"over", 40, 40},    {"deckover", 9, 9},
        {"deckover paint", 2, 2}, {"kwikset", 30, 30}, {"set", 100, 100},
        {"door", 200, 200},       {"knob", 50, 50},    {"doorknob", 1, 1}};
    struct scene *scene = *state;

    assert_string_equal(search(scene, "deck over", texts, ARRAY_COUNT(texts)), "deckover");
    assert_string_equal(scene->response.corrected->reason, "join");
    assert_string_equal(search(scene, "deck over paint", texts, ARRAY_COUNT(texts)),
                        "deckover paint");
    /* one of the two is in no title */
    assert_string_equal(search(scene, "kwik set knob", texts, ARRAY_COUNT(texts)), "kwikset knob");
    /* both are in many, and as one word they find no more of the line */
    assert_string_equal(search(scene, "door knob over", texts, ARRAY_COUNT(texts)),
                        "door knob over");
    assert_null(scene->response.corrected);
}

static void a_common_word_beside_others_is_what_was_meant(void **state)
{
    static const struct known_text texts[] = {
        {"велосипед", 7, 7}, {"мдф", 5, 5}, {"ноутбук", 134, 134}};
    struct scene *scene = *state;

    scene->some_count = 7;
    scene->begun = "стул"; /* titles have words that begin so */
    assert_string_equal(search(scene, "стул мдф", texts, ARRAY_COUNT(texts)), "стул мдф");
    assert_string_equal(search(scene, "стул велосипед", texts, ARRAY_COUNT(texts)),
                        "стул велосипед");
    assert_null(scene->response.corrected);
    assert_string_equal(search(scene, "стул", texts, ARRAY_COUNT(texts)), "ноутбук");
    scene->begun = "сту"; /* in no dictionary, and too short */
    assert_string_equal(search(scene, "сту велосипед", texts, ARRAY_COUNT(texts)), "сту велосипед");
}

static void nothing_but_the_nearest_words_are_searched_at_last(void **state)
{
    static const struct known_text texts[] = {{"ноутбук", 134, 134}};
    struct scene *scene = *state;

    scene->begun = "ноутц"; /* most of its letters begin a word */
    assert_string_equal(search(scene, "ноутцщщщ", texts, ARRAY_COUNT(texts)), "ноутбук");
    assert_string_equal(scene->response.corrected->reason, "nearest");
    assert_string_equal(scene->response.corrected->original, "ноутцщщщ");
    choose_a_price(scene);
    assert_string_equal(search(scene, "ноутцщщщ", texts, ARRAY_COUNT(texts)), "ноутцщщщ");
    assert_null(scene->response.corrected);
}

/* Of two sides of three more is left than of the numbers alone. */
static void sizes_that_nothing_has_are_searched_side_by_side(void **state)
{
    static const struct known_text texts[] = {{"2x4 2 4x8 4 8", 3, 3}, {"2 4 8", 9, 9}};
    struct scene *scene = *state;

    assert_string_equal(search(scene, "2x4x8", texts, ARRAY_COUNT(texts)), "2x4 2 4x8 4 8");
    assert_string_equal(scene->response.corrected->reason, "nearest");
}

static void what_finds_nothing_when_corrected_is_kept(void **state)
{
    static const struct known_text texts[] = {{"велосепед", 1, 1}};
    struct scene *scene = *state;

    assert_string_equal(search(scene, "велосепед", texts, ARRAY_COUNT(texts)), "велосепед");
    assert_null(scene->response.corrected);
    assert_int_equal(scene->response.total, 1);
}

static void filters_do_not_make_a_right_word_wrong(void **state)
{
    /* eager spelling would make айфон of a base word that live data lacks */
    static const struct known_text texts[] = {{"самокат", 5, 0}};
    struct scene *scene = *state;

    choose_a_price(scene);
    world_learn(scene->speller, "велосипед", 50);
    assert_string_equal(search(scene, "самокат", texts, ARRAY_COUNT(texts)), "самокат");
    assert_null(scene->response.corrected);
    assert_int_equal(scene->response.total, 0);
    assert_int_equal(scene->round_count, 2);
}

static void a_correction_that_the_filters_leave_nothing_of_is_taken_back(void **state)
{
    static const struct known_text texts[] = {{"велосипед", 700, 0}, {"велосепед", 3, 2}};
    struct scene *scene = *state;

    choose_a_price(scene);
    assert_string_equal(search(scene, "велосепед", texts, ARRAY_COUNT(texts)), "велосепед");
    assert_null(scene->response.corrected);
    assert_int_equal(scene->response.total, 2);
}

static void a_correction_that_finds_no_more_is_not_made(void **state)
{
    static const struct known_text texts[] = {{"велосипед", 7, 7}, {"велосепед", 7, 7}};
    struct scene *scene = *state;

    assert_string_equal(search(scene, "велосепед", texts, ARRAY_COUNT(texts)), "велосепед");
    assert_null(scene->response.corrected);
}

static void a_text_that_is_to_be_kept_is_kept(void **state)
{
    static const struct known_text texts[] = {{"велосипед", 7, 7}};
    struct scene *scene = *state;

    scene->request.keep_spelling = true;
    assert_string_equal(search(scene, "велосепед", texts, ARRAY_COUNT(texts)), "велосепед");
    assert_int_equal(scene->round_count, 1);
    scene->request.keep_spelling = false;
    scene->request.offset = 20; /* a next page is of the text it was sent with */
    assert_string_equal(search(scene, "велосепед", texts, ARRAY_COUNT(texts)), "велосепед");
    scene->request.offset = 0;
    scene->request.cursor = place(scene->arena);
    assert_string_equal(search(scene, "велосепед", texts, ARRAY_COUNT(texts)), "велосепед");
    scene->request.cursor = (ProtobufCBinaryData){0};
    assert_string_equal(search(scene, "", texts, ARRAY_COUNT(texts)), "");
    assert_int_equal(scene->round_count, 1);
    assert_null(scene->response.corrected);
}

static void the_next_page_searches_the_same_text(void **state)
{
    static const struct known_text texts[] = {{"велосипед", 7, 7}};
    struct scene *scene = *state;

    assert_string_equal(search(scene, "велосепед", texts, ARRAY_COUNT(texts)), "велосипед");
    for (int i = 0; i < 3; i++) { /* as it was typed, on each page */
        scene->request.cursor = scene->response.cursor;
        assert_string_equal(search(scene, "велосепед", texts, ARRAY_COUNT(texts)), "велосипед");
        assert_int_equal(scene->round_count, 1);
        assert_null(scene->response.corrected);
    }
    scene->request.cursor = scene->response.cursor;
    assert_string_equal(search(scene, "велосипед", texts, ARRAY_COUNT(texts)), "велосипед");
    scene->request.cursor = scene->response.cursor;
    assert_string_equal(search(scene, "велосипед", texts, ARRAY_COUNT(texts)), "велосипед");
    assert_string_equal(search(scene, "куртка", texts, ARRAY_COUNT(texts)), "куртка");
}

static void damaged_cursors_are_refused(void **state)
{
    struct scene *scene = *state;
    struct bytes cursor =
        cursor_with_text(bytes_make(place(scene->arena).data, place(scene->arena).len), "sent",
                         "searched", scene->arena);
    struct wanted wanted;
    struct err err;

    scene->request.text = "sent";
    for (size_t i = 1; i <= cursor.size; i++) {
        scene->request.cursor = (ProtobufCBinaryData){.data = (uint8_t *)cursor.data, .len = i};
        assert_int_equal(
            wanted_read(&wanted, scene->catalog, &scene->request, LANGUAGE_EN, scene->arena, &err),
            i < cursor.size ? ERR_INVALID : 0);
    }
    assert_string_equal(wanted.text, "searched");
    scene->request.cursor = (ProtobufCBinaryData){0};
}

static void without_a_speller_nothing_is_corrected(void **state)
{
    static const struct known_text texts[] = {{"велосипед", 7, 7}};
    struct scene *scene = *state;
    struct speller *speller = scene->speller;

    scene->speller = NULL;
    assert_string_equal(search(scene, "велосепед", texts, ARRAY_COUNT(texts)), "велосепед");
    assert_int_equal(scene->response.n_times, 1);
    scene->speller = speller;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_misspelt_text_is_put_right_and_offered_back),
        TEST(a_text_without_mistakes_costs_no_other_query),
        TEST(words_are_put_right_one_by_one),
        TEST(the_beginning_of_a_word_is_completed),
        TEST(two_words_that_titles_write_as_one_are_joined),
        TEST(a_common_word_beside_others_is_what_was_meant),
        TEST(nothing_but_the_nearest_words_are_searched_at_last),
        TEST(sizes_that_nothing_has_are_searched_side_by_side),
        TEST(what_finds_nothing_when_corrected_is_kept),
        TEST(filters_do_not_make_a_right_word_wrong),
        TEST(a_correction_that_the_filters_leave_nothing_of_is_taken_back),
        TEST(a_correction_that_finds_no_more_is_not_made),
        TEST(a_text_that_is_to_be_kept_is_kept),
        TEST(the_next_page_searches_the_same_text),
        TEST(damaged_cursors_are_refused),
        TEST(without_a_speller_nothing_is_corrected),
    };

    return cmocka_run_group_tests_name("search-corrected", tests, NULL, NULL);
}
