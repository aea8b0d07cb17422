/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of search/suggest/completions.h: how a typed line goes on, by titles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "search/suggest/completions.h"
#include "search/suggest/suggest.h"

enum { LIST_MAX = 16 };

static const char *const titles[] = {
    "Велосипед Stels Navigator 500",
    "Велосипед Stels Pilot, новый",
    "Велосипеды Stels для детей",
    "Горный велосипед Trek",
    "Шлем велосипедный",
    "iPhone 15 Pro Max",
    "iPhone15 mini",
    "Роутер Wi-Fi TP-Link",
};

/* "a 3|b 1": what is suggested, with its titles. */
static const char *suggest(const char *typed, const char *const *list, size_t count, size_t max)
{
    static char text[4096];
    struct arena *arena = arena_new();
    struct completions *completions = completions_new(bytes_of(typed), arena);
    struct completion found[LIST_MAX];
    size_t used = 0;

    for (size_t i = 0; i < count; i++)
        completions_add(completions, bytes_of(list[i]));
    count = completions_list(completions, false, found, max);
    text[0] = 0;
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %u", i ? "|" : "",
                                 found[i].text, found[i].title_count);
    completions_free(completions);
    arena_free(arena);
    return text;
}

#define SUGGEST(typed) suggest(typed, titles, ARRAY_COUNT(titles), LIST_MAX)

static void the_word_being_typed_is_completed_by_what_titles_say(void **state)
{
    (void)state;
    assert_string_equal(SUGGEST("вел"),
                        "велосипед 4|велосипед stels 3|велосипедный 1|велосипед trek 1"
                        "|велосипед stels navigator 1|велосипед stels pilot 1");
    assert_string_equal(SUGGEST("велосипед"),
                        "велосипед stels 3|велосипедный 1|велосипед trek 1"
                        "|велосипед stels navigator 1|велосипед stels pilot 1");
    assert_string_equal(SUGGEST("ВЕЛОСИПЕД ST"),
                        "велосипед stels 3|велосипед stels pilot 1|велосипед stels navigator 500 1"
                        "|велосипед stels для детей 1");
}

static void a_whole_word_goes_on_with_what_follows_it(void **state)
{
    (void)state;
    assert_string_equal(SUGGEST("stels "), "stels pilot 1|stels navigator 500 1|stels для детей 1");
    assert_string_equal(SUGGEST("trek "), "");
    assert_string_equal(SUGGEST("велосипед stels "),
                        "велосипед stels pilot 1|велосипед stels navigator 500 1"
                        "|велосипед stels для детей 1");
}

static void what_is_in_the_line_is_not_said_again(void **state)
{
    (void)state;
    assert_string_equal(SUGGEST("trek вел"),
                        "trek велосипед 4|trek велосипед stels 3|trek велосипедный 1"
                        "|trek велосипед stels navigator 1|trek велосипед stels pilot 1");
    assert_string_equal(SUGGEST("велосипед гор"), "велосипед горный 1");
    assert_string_equal(SUGGEST("trek"), "");
}

static void signs_inside_of_a_word_stay(void **state)
{
    (void)state;
    assert_string_equal(SUGGEST("роутер w"), "роутер wi-fi 1|роутер wi-fi tp-link 1");
    assert_string_equal(SUGGEST("iph"), "iphone 1|iphone15 1|iphone15 mini 1|iphone 15 pro 1");
    assert_string_equal(SUGGEST("\"iph"), "iphone 1|iphone15 1|iphone15 mini 1|iphone 15 pro 1");
}

static void nothing_typed_goes_on_with_nothing(void **state)
{
    (void)state;
    assert_string_equal(SUGGEST(""), "");
    assert_string_equal(SUGGEST("  "), "");
    assert_string_equal(SUGGEST("-!?"), "");
    assert_string_equal(SUGGEST("яхта"), "");
}

static void an_amount_of_nothing_is_not_proposed(void **state)
{
    static const char *const flats[] = {"Квартира, 61 м², новая", "Студия 61 м² светлая",
                                        "Телефон 128 ГБ, белый", "1280 предметов"};

    (void)state;
    assert_string_equal(suggest("61", flats, ARRAY_COUNT(flats), LIST_MAX), "61 м² светлая 1");
    assert_string_equal(suggest("студия 6", flats, ARRAY_COUNT(flats), LIST_MAX),
                        "студия 61 2|студия 61 м² 2|студия 61 м² светлая 1");
    assert_string_equal(suggest("12", flats, ARRAY_COUNT(flats), LIST_MAX), "1280 предметов 1");
}

static void at_most_so_many_are_given(void **state)
{
    (void)state;
    assert_string_equal(suggest("вел", titles, ARRAY_COUNT(titles), 2),
                        "велосипед 4|велосипед stels 3");
}

static void any_bytes_are_borne(void **state)
{
    struct rng random;
    uint64_t seed = random_u64();
    struct arena *arena = arena_new();

    (void)state;
    print_message("# seed %llu\n", (unsigned long long)seed);
    random = rng_seeded(seed);
    for (int round = 0; round < 300; round++) {
        static const char signs[] = "ab -\"\xd0\xb0\xd1\x8f\xff.,1/";
        char text[2][200];
        struct completion found[LIST_MAX];
        struct completions *completions;
        size_t count;

        for (int k = 0; k < 2; k++) {
            size_t size = rng_below(&random, sizeof(text[k]) - 1);

            for (size_t i = 0; i < size; i++)
                text[k][i] = signs[rng_below(&random, sizeof(signs) - 1)];
            text[k][size] = 0;
        }
        completions = completions_new(bytes_of(text[0]), arena);
        completions_add(completions, bytes_of(text[1]));
        completions_add(completions, bytes_of(text[0]));
        count = completions_list(completions, true, found, LIST_MAX);
        for (size_t i = 0; i < count; i++)
            assert_true(found[i].title_count >= 1 && found[i].title_count <= 2);
        completions_free(completions);
        arena_reset(arena);
    }
    arena_free(arena);
}

static void what_was_not_typed_is_marked(void **state)
{
    static const struct {
        const char *text, *typed, *html;
    } cases[] = {
        {"велосипед", "вел", "вел<b>осипед</b>"},
        {"велосипед", "велосипед", "велосипед"},
        {"велосипед", "", "<b>велосипед</b>"},
        {"вяз", "вел", "в<b>яз</b>"}, /* no half of a letter */
        {"a<b>&\"c", "a<", "a&lt;<b>b&gt;&amp;&quot;c</b>"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct buf html = BUF_INIT(1024);

        completion_mark(bytes_of(cases[i].text), bytes_of(cases[i].typed), &html);
        assert_string_equal(buf_text(&html), cases[i].html);
        buf_release(&html);
    }
}

static void a_line_of_the_other_layout_is_read(void **state)
{
    struct arena *arena = arena_new();

    (void)state;
    assert_string_equal(other_layout("yjen", arena), "ноут");
    assert_string_equal(other_layout("[kt, ytvtwrbq ", arena), "хлеб немецкий ");
    assert_string_equal(other_layout("шзрщ", arena), "ipho");
    assert_null(other_layout("iphone 15", arena));
    assert_null(other_layout("", arena));
    assert_string_equal(other_script("самс", arena), "sams");
    assert_string_equal(other_script("velosiped", arena), "велосипед");
    assert_null(other_script("xbox 360", arena));
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_word_being_typed_is_completed_by_what_titles_say),
        cmocka_unit_test(a_whole_word_goes_on_with_what_follows_it),
        cmocka_unit_test(what_is_in_the_line_is_not_said_again),
        cmocka_unit_test(signs_inside_of_a_word_stay),
        cmocka_unit_test(nothing_typed_goes_on_with_nothing),
        cmocka_unit_test(an_amount_of_nothing_is_not_proposed),
        cmocka_unit_test(at_most_so_many_are_given),
        cmocka_unit_test(any_bytes_are_borne),
        cmocka_unit_test(what_was_not_typed_is_marked),
        cmocka_unit_test(a_line_of_the_other_layout_is_read),
    };

    return cmocka_run_group_tests_name("search-completions", tests, NULL, NULL);
}
