/* SPDX-License-Identifier: Apache-2.0 */
/* Finding categories by words, in the demo catalogue and against a walk over all names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/memory.h"
#include "catalog/bounds.h"
#include "catalog/catalog.h"
#include "catalog/service.h"
#include "catalog/words.h"

static struct catalog *demo;

static int load_demo(void **state)
{
    struct buf json = BUF_INIT(CATALOG_FILE_SIZE_MAX);
    struct err err;

    if (file_read(DEMO_CATALOG, &json, &err) ||
        catalog_from_json(buf_bytes(&json), NULL, &demo, &err)) {
        print_message("# %s\n", err.text);
        return -1;
    }
    buf_release(&json);
    return 0;
}

static int free_demo(void **state)
{
    catalog_unref(demo);
    return 0;
}

static void the_best_comes_first(void **state)
{
    static const struct {
        const char *query;
        const char *under; /* NULL: everywhere */
        const char *first; /* NULL: nothing is found */
    } cases[] = {
        {"квартиры", NULL, "flats"},
        {"КВАРТИРЫ", NULL, "flats"},
        {"Flats", NULL, "flats"},
        {"купить кварт", NULL, "flats.sale"},
        {"кварт купить", NULL, "flats.sale"},
        {"мобильник", NULL, "phones.smartphones"},
        {"android", NULL, "phones.smartphones"},
        {"мебель", NULL, "furniture"},
        {"щен", NULL, "dogs"},
        {"котенок", NULL, "cats"}, /* the synonym is written with ё */
        {"jeans", "men", "men.trousers"},
        {"jeans", "women", "women.trousers"},
        {"авто", "transport", "transport"},
        {"квартирами", NULL, "flats"},
        {"диванов", NULL, "furniture.sofas"},
        {"хоккей", NULL, NULL},
        {"квартиры хоккей", NULL, NULL},
        {"", NULL, NULL},
        {" , !", NULL, NULL},
    };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct arena *arena = arena_new();
        const struct category *under = cases[i].under ? category_find(demo, cases[i].under) : NULL;
        size_t count;
        const struct category **found =
            catalog_search(demo, bytes_of(cases[i].query), under, 10, arena, &count);

        if (!cases[i].first && count)
            fail_msg("%s: %s", cases[i].query, found[0]->id);
        if (cases[i].first && (!count || strcmp(found[0]->id, cases[i].first) != 0))
            fail_msg("%s: %s", cases[i].query, count ? found[0]->id : "nothing");
        arena_free(arena);
    }
}

static void a_query_names_a_category(void **state)
{
    static const char *const cases[][2] = {
        {"квартиры", "flats"},
        {"Квартира", "flats"},
        {"диваны", "furniture.sofas"},
        {"диван", "furniture.sofas"},
        {"велик", "bikes"},
        {"телевизор", "tv-audio.tv"},
        {"тв", "tv-audio.tv"},
        {"машина", "cars"},
        {"угловой диван", NULL},
        {"одежда детская", "children.clothes"},
        {"детская детская", NULL}, /* each word as often as the name has it */
        {"квар", NULL},
        {"", NULL},
    };
    struct arena *arena = arena_new();

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const char *said;
        const struct category *named = catalog_named(demo, bytes_of(cases[i][0]), arena, &said);
        const char *id = named ? named->id : "nothing";

        if (strcmp(id, cases[i][1] ? cases[i][1] : "nothing") != 0)
            fail_msg("%s: %s", cases[i][0], id);
    }
    arena_free(arena);
}

static bool begins_a_word(const char *text, struct bytes word, struct arena *arena)
{
    const char *rest = words_fold(bytes_of(text), arena);
    struct bytes other;

    while (words_next(&rest, &other)) {
        if (bytes_begin(other, word))
            return true;
    }
    return false;
}

static bool naive_match(const struct category *category, struct bytes word, struct arena *arena)
{
    const Torg__V1__LocalWords *synonyms = category->message->synonyms;
    bool match = begins_a_word(category->name.in[LANGUAGE_RU], word, arena) ||
                 begins_a_word(category->name.in[LANGUAGE_EN], word, arena);

    for (size_t i = 0; synonyms && i < synonyms->n_ru; i++)
        match |= begins_a_word(synonyms->ru[i], word, arena);
    for (size_t i = 0; synonyms && i < synonyms->n_en; i++)
        match |= begins_a_word(synonyms->en[i], word, arena);
    return match;
}

/* Every beginning of every word of every name finds exactly what a walk finds. */
static void all_and_only_matches_are_found(void **state)
{
    size_t category_count;
    const struct category *const *categories = catalog_categories(demo, &category_count);

    for (size_t i = 0; i < category_count; i += 7) {
        struct arena *arena = arena_new();
        const char *rest = words_fold(bytes_of(categories[i]->name.in[LANGUAGE_RU]), arena);
        struct bytes word;

        while (words_next(&rest, &word)) {
            struct bytes begin = bytes_make(word.data, word.size < 6 ? word.size : 6);
            size_t wanted = 0;
            size_t count;

            catalog_search(demo, begin, NULL, SIZE_MAX, arena, &count);
            for (size_t j = 0; j < category_count; j++)
                wanted += naive_match(categories[j], begin, arena);
            if (count != wanted)
                fail_msg("%.*s: %zu, not %zu", BYTES_ARG(begin), count, wanted);
        }
        arena_free(arena);
    }
}

static void folding_keeps_to_words(void **state)
{
    struct arena *arena = arena_new();

    assert_string_equal(words_fold(bytes_of("  Ёлка — C++, Été! 24/7 "), arena), "елка c été 24 7");
    assert_string_equal(words_fold(bytes_of(""), arena), "");
    assert_string_equal(words_fold_name(bytes_of("C++ «Ё»"), arena), "c++ «е»");
    assert_int_equal(text_length(bytes_of("Ёж 3″")), 5);
    arena_free(arena);
}

static bool have_one_root(const char *one, const char *other)
{
    return bytes_equal(words_root(bytes_of(one)), words_root(bytes_of(other)));
}

static void one_and_many_have_one_root(void **state)
{
    static const char *const pairs[][2] = {
        {"tomato", "tomatoes"}, {"potato", "potatoes"}, {"bus", "buses"},     {"gas", "gases"},
        {"shoe", "shoes"},      {"toe", "toes"},        {"hoe", "hoes"},      {"canoe", "canoes"},
        {"stove", "stoves"},    {"house", "houses"},    {"glass", "glasses"}, {"use", "uses"},
        {"box", "boxes"},       {"axe", "axes"},        {"size", "sizes"},    {"waltz", "waltzes"},
        {"watch", "watches"},   {"cache", "caches"},    {"brush", "brushes"}, {"photo", "photos"},
        {"диван", "диваны"}};
    static const char *const others[][2] = {
        {"glass", "glas"}, {"tens", "tense"}, {"brows", "browse"}, {"toe", "tomato"}};

    for (size_t i = 0; i < ARRAY_COUNT(pairs); i++) {
        if (!have_one_root(pairs[i][0], pairs[i][1]))
            fail_msg("%s and %s have two roots", pairs[i][0], pairs[i][1]);
    }
    for (size_t i = 0; i < ARRAY_COUNT(others); i++) {
        if (have_one_root(others[i][0], others[i][1]))
            fail_msg("%s and %s have one root", others[i][0], others[i][1]);
    }
}

static void languages_are_read_as_browsers_send_them(void **state)
{
    assert_int_equal(language_of(bytes_of("en")), LANGUAGE_EN);
    assert_int_equal(language_of(bytes_of("EN-us,en;q=0.9,ru;q=0.8")), LANGUAGE_EN);
    assert_int_equal(language_of(bytes_of("de, ru;q=0.9, en;q=0.5")), LANGUAGE_RU);
    assert_int_equal(language_of(bytes_of("eng")), LANGUAGE_RU);
    assert_int_equal(language_of(bytes_of("")), LANGUAGE_RU);
}

/* A loop answers nothing that grows with the catalogue. */
static void what_may_be_long_leaves_the_reactor(void **state)
{
    struct catalog_service owner = {.holder = NULL};
    struct rpc_service service = catalog_rpc_service(&owner);

    for (size_t i = 0; i < service.method_count; i++)
        assert_true(!(service.methods[i].flags & RPC_INLINE) ||
                    strcmp(service.methods[i].name, "GetPath") == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_may_be_long_leaves_the_reactor),
        cmocka_unit_test(the_best_comes_first),
        cmocka_unit_test(a_query_names_a_category),
        cmocka_unit_test(all_and_only_matches_are_found),
        cmocka_unit_test(folding_keeps_to_words),
        cmocka_unit_test(one_and_many_have_one_root),
        cmocka_unit_test(languages_are_read_as_browsers_send_them),
    };

    return cmocka_run_group_tests_name("catalog search", tests, load_demo, free_demo);
}
