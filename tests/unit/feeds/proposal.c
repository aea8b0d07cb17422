/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of feeds/mapping/proposal.h, category_tally.h and reasons.h: what a seller is proposed, the
 * file that says so, and reasons told by groups.
 */
#include "feeds/mapping/proposal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "feeds/bounds.h"
#include "feeds/mapping/category_map.h"
#include "feeds/mapping/category_tally.h"
#include "feeds/mapping/mapping.h"
#include "feeds/report/reasons.h"
#include <cmocka.h>

static const char catalog_json[] =
    "{\"attributes\": ["
    "{\"id\":\"pram-type\",\"name\":{\"ru\":\"Тип коляски\"},\"type\":\"OPTION\",\"required\":true,"
    " \"options\":[{\"id\":\"walk\",\"name\":{\"ru\":\"Прогулочная\"}},"
    "  {\"id\":\"2in1\",\"name\":{\"ru\":\"2 в 1\"}}]}],"
    "\"categories\": ["
    "{\"id\":\"furniture\",\"name\":{\"ru\":\"Мебель\"}},"
    "{\"id\":\"sofas\",\"parent\":\"furniture\",\"name\":{\"ru\":\"Диваны и кресла\"},"
    " \"synonyms\":{\"ru\":[\"софа\"]}},"
    "{\"id\":\"tables\",\"parent\":\"furniture\",\"name\":{\"ru\":\"Столы и стулья\"}},"
    "{\"id\":\"garden\",\"name\":{\"ru\":\"Сад\"}},"
    "{\"id\":\"garden-tables\",\"parent\":\"garden\",\"name\":{\"ru\":\"Столы для сада\"}},"
    "{\"id\":\"small\",\"name\":{\"ru\":\"Мелкая техника\"},"
    " \"synonyms\":{\"ru\":[\"чайник\",\"утюг\"]}},"
    "{\"id\":\"prams\",\"name\":{\"ru\":\"Коляски\"},\"attributes\":[\"pram-type\"]}]}";

static struct catalog *catalog_of(void)
{
    struct arena *arena = arena_new();
    struct violations violations = violations_in(arena);
    struct catalog *catalog;
    struct err err;

    if (catalog_from_json(bytes_of(catalog_json), &violations, &catalog, &err))
        fail_msg("%s", err.text);
    arena_free(arena);
    return catalog;
}

static void names_words_and_titles_propose(void **state)
{
    static const struct {
        const char *path;
        const char *title;
        const char *category;
        enum feed_proposal_by by;
    } cases[] = {
        {"Товары/Софы", "", "sofas", FEED_BY_NAME},
        {"Мебель/Диваны угловые", "", "sofas", FEED_BY_WORDS},
        {"Мебель/Столы обеденные", "", "tables", FEED_BY_WORDS}, /* by what stands above */
        {"Сад/Столы раскладные", "", "garden-tables", FEED_BY_WORDS},
        {"Распродажа/Разное", "Чайник Bosch K12", "small", FEED_BY_TITLES},
        {"Распродажа/Разное", "Арматура", NULL, FEED_BY_NOTHING},
        {"", "", NULL, FEED_BY_NOTHING},
    };
    struct catalog *catalog = catalog_of();
    struct feed_proposer *proposer = feed_proposer_new(catalog);

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct feed_proposal made =
            feed_propose(proposer, bytes_of(cases[i].path), &cases[i].title, 1);

        if (made.by != cases[i].by || !made.category != !cases[i].category ||
            (made.category && strcmp(made.category->id, cases[i].category) != 0))
            fail_msg("%s: %s", cases[i].path, made.category ? made.category->id : "none");
    }
    feed_proposer_free(proposer);
    catalog_unref(catalog);
}

static struct feed_row row_of(const char *id, const char *path, const char *title)
{
    return (struct feed_row){
        .category_id = bytes_of(id), .category = bytes_of(path), .title = bytes_of(title)};
}

static void a_template_is_a_map_by_itself(void **state)
{
    struct catalog *catalog = catalog_of();
    struct feed_tally *tally = feed_tally_new();
    struct feed_row prams = row_of("26", "Дети, игры/Коляски 2 в 1", "Коляска \"Тутис\" 2 в 1");
    struct feed_row none = row_of("", "Ложки", "Ложка");
    struct feed_row refused = row_of("", "Яхты", "Коляска");
    struct buf out = BUF_INIT(1 << 16);
    struct feed_mapping_options options = {0};
    const struct feed_placement *placement;
    struct feed_mapping *mapping;
    struct err err;
    const char *reason;

    (void)state;
    for (int i = 0; i < 3; i++)
        feed_tally_add(tally, &prams, NULL, "is none of ours");
    feed_tally_add(tally, &none, NULL, NULL);
    feed_tally_add(tally, &refused, NULL, FEED_CATEGORY_REFUSED); /* stays so */
    feed_tally_propose(tally, catalog, NULL);
    feed_tally_write(tally, &out);
    assert_string_equal(buf_text(&out),
                        "\xef\xbb\xbf"
                        "feed,category,attributes,rows,by,name,path,title,another title\r\n"
                        "26,prams,pram-type=2in1,3,words,Коляски,\"Дети, игры/Коляски 2 в 1\","
                        "\"Коляска \"\"Тутис\"\" 2 в 1\",\"Коляска \"\"Тутис\"\" 2 в 1\"\r\n"
                        "Ложки,,,1,,,Ложки,Ложка,\r\n"
                        "Яхты,-,,1,known,,Яхты,Коляска,\r\n"
                        "*,,,,,,,,\r\n");
    options.categories = buf_bytes(&out);
    assert_int_equal(feed_mapping_new(catalog, &options, &mapping, &err), 0);
    placement = feed_mapping_place(mapping, &prams, &reason);
    assert_string_equal(placement->category->id, "prams");
    assert_int_equal(placement->attribute_count, 1);
    assert_null(feed_mapping_place(mapping, &none, &reason));
    feed_mapping_free(mapping);
    feed_tally_free(tally);
    buf_release(&out);
    catalog_unref(catalog);
}

/* --- by what is on offer --- */

struct market {
    const struct feed_neighbour *list;
    size_t count;
    size_t asked; /* questions */
    bool is_gone;
};

static int find_similar(void *arg, const char *title, int64_t deadline_us, struct arena *arena,
                        struct feed_neighbour *list, size_t max, size_t *count, struct err *err)
{
    struct market *market = arg;

    (void)title;
    (void)arena;
    assert_int_equal(deadline_us, 77);
    market->asked++;
    if (market->is_gone)
        return err_set(err, ERR_UNAVAILABLE, "nobody is there");
    for (*count = 0; *count < market->count && *count < max; ++*count)
        list[*count] = market->list[*count];
    return 0;
}

static void offers_that_agree_propose(void **state)
{
    static const struct feed_neighbour agree[] = {
        {"small", "Кофеварка Bosch"}, {"small", "Новая кофеварка DeLonghi, белая"},
        {"small", "Кофеварки"},       {"tables", "Стол под кофеварку"},
        {"no-such", "Кофеварка"},     {"sofas", "Диван Vitek"}};
    static const struct feed_neighbour differ[] = {{"small", "Кофеварка"}, {"tables", "Кофеварка"},
                                                   {"small", "Кофеварка"}, {"tables", "Кофеварка"},
                                                   {"small", "Кофеварка"}, {"sofas", "Кофеварка"}};
    static const struct feed_neighbour strange[] = {
        {"sofas", "Набор Vitek D848"}, {"sofas", "Диван D848"}, {"sofas", "Диван Vitek"}};
    static const struct {
        const struct feed_neighbour *list;
        size_t count;
        const char *category;
    } cases[] = {{agree, 6, "small"},
                 {agree, 2, NULL}, /* two may agree by chance */
                 {differ, 6, NULL},
                 {strange, 3, NULL},
                 {NULL, 0, NULL}};
    static const char *const titles[] = {"Кофеварка Vitek D848"};
    struct catalog *catalog = catalog_of();
    struct arena *arena = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct market market = {.list = cases[i].list, .count = cases[i].count};
        struct feed_similar similar = {find_similar, &market, 0, 77};
        const struct category *found;
        struct err err;

        assert_int_equal(feed_similar_vote(&similar, catalog, titles, 1, arena, &found, &err), 0);
        if (!found != !cases[i].category || (found && strcmp(found->id, cases[i].category) != 0))
            fail_msg("case %zu: %s", i, found ? found->id : "none");
    }
    arena_free(arena);
    catalog_unref(catalog);
}

/* Names go before what is on offer, and that before words of titles. Who does not answer is asked
 * no more. */
static void offers_are_asked_where_names_say_nothing(void **state)
{
    static const struct feed_neighbour sofas[] = {
        {"sofas", "Чайник"}, {"sofas", "Чайник"}, {"sofas", "Чайник"}};
    struct feed_row rows[] = {row_of("1", "Софы", "Чайник"), row_of("2", "Уценка", "Чайник"),
                              row_of("3", "Столы обеденные", "Чайник"),
                              row_of("4", "Разное", "Чайник")};
    static const enum feed_proposal_by by[2][4] = {
        {FEED_BY_NAME, FEED_BY_OFFERS, FEED_BY_WORDS, FEED_BY_OFFERS},
        {FEED_BY_NAME, FEED_BY_TITLES, FEED_BY_WORDS, FEED_BY_TITLES}};

    (void)state;
    for (int is_gone = 0; is_gone < 2; is_gone++) {
        struct market market = {.list = sofas, .count = 3, .is_gone = is_gone};
        struct feed_similar similar = {find_similar, &market, 0, 77};
        struct catalog *catalog = catalog_of();
        struct feed_tally *tally = feed_tally_new();
        struct feed_tallied *const *list;
        size_t count;

        for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
            feed_tally_add(tally, &rows[i], NULL, "is none of ours");
        feed_tally_propose(tally, catalog, &similar);
        list = feed_tally_list(tally, &count);
        assert_int_equal(count, ARRAY_COUNT(rows));
        for (size_t i = 0; i < count; i++)
            assert_int_equal(list[i]->proposal.by, by[is_gone][list[i]->id[0] - '1']);
        assert_int_equal(market.asked, is_gone ? 1 : 2);
        feed_tally_free(tally);
        catalog_unref(catalog);
    }
}

static void reasons_that_say_the_same_are_one(void **state)
{
    struct feed_reasons *reasons = feed_reasons_new();
    struct buf out = BUF_INIT(1 << 16);

    (void)state;
    for (uint64_t i = 1; i <= 6; i++) {
        struct feed_reason_example row = {i, 10 * i, "a"};

        for (int k = 0; i > 1 && k < 2; k++) /* twice in a row of the file is once */
            feed_reasons_add(reasons, "content.price",
                             i % 2 ? "\"1,999\" is bad; 12" : "\"x\" is bad; 3", &row);
        feed_reasons_add(reasons, "category", i % 2 ? "no \"Ложки\"" : "no \"Вилки\"", &row);
        feed_reasons_add(reasons, "category", i % 2 ? "no \"Ложки\"" : "no \"Вилки\"", &row);
    }
    feed_reasons_print(reasons, false, &out);
    assert_string_equal(
        buf_text(&out),
        "         5  price: \"x\" is bad; 3\n"
        "            row 2 (a, line 20), row 3 (a, line 30), row 4 (a, line 40) and 2 more\n"
        "         3  category: no \"Ложки\"\n"
        "            row 1 (a, line 10), row 3 (a, line 30), row 5 (a, line 50)\n"
        "         3  category: no \"Вилки\"\n"
        "            row 2 (a, line 20), row 4 (a, line 40), row 6 (a, line 60)\n");
    buf_reset(&out);
    feed_reasons_print(reasons, true, &out);
    assert_non_null(strstr(buf_text(&out),
                           "запись 2 (a, строка 20), запись 3 (a, строка 30), запись 4 (a, "
                           "строка 40) и ещё 2\n"));
    buf_reset(&out);
    for (int i = 0; i < 2 * FEED_REASON_COUNT_MAX; i++) {
        struct feed_reason_example row = {(uint64_t)i + 7, 0, "b"};
        char name[16];

        snprintf(name, sizeof(name), "category");
        feed_reasons_add(reasons, name, i % 3 ? "one" : "two", &row);
        snprintf(name, sizeof(name), "f%d", i);
        feed_reasons_add(reasons, name, "bad", &row);
    }
    feed_reasons_json(reasons, false, &out);
    assert_non_null(strstr(buf_text(&out), "\"other reasons\""));
    feed_reasons_free(reasons);
    buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_words_and_titles_propose),
        cmocka_unit_test(a_template_is_a_map_by_itself),
        cmocka_unit_test(offers_that_agree_propose),
        cmocka_unit_test(offers_are_asked_where_names_say_nothing),
        cmocka_unit_test(reasons_that_say_the_same_are_one),
    };

    return cmocka_run_group_tests_name("feed_proposal", tests, NULL, NULL);
}
