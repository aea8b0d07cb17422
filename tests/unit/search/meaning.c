/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of search/words/meaning.h: which words of a line are searched, and what the others
 * are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "search/words/meaning.h"

static struct meaning read(struct arena *arena, const char *line)
{
    struct meaning meaning;
    struct err err;

    assert_int_equal(meaning_read(line, NULL, 0, arena, &meaning, &err), 0);
    return meaning;
}

static void expect_text(const char *line, const char *text, bool is_several)
{
    struct arena *arena = arena_new();
    struct meaning meaning = read(arena, line);

    assert_string_equal(meaning.text, text);
    assert_int_equal(meaning.is_several, is_several);
    arena_free(arena);
}

static void fillers_and_grammar_are_left_out(void **state)
{
    (void)state;
    expect_text("купить диван недорого", "диван", false);
    expect_text("Продам: велосипед, Дёшево!", "велосипед,", false);
    expect_text("чехол для айфона", "чехол айфона", true);
    expect_text("iPhone 13 for sale", "iPhone 13", true);
    expect_text("case for the iphone", "case iphone", true);
    expect_text("ceiling fan w/ light", "ceiling fan light", true);
    expect_text("ceiling fan W/light", "ceiling fan light", true);
    expect_text("ceiling fan w light", "ceiling fan light", true);
    expect_text("", "", false);
    expect_text("диван", "диван", false);
    expect_text("угловой  диван", "угловой  диван", true);
}

static void a_line_of_nothing_else_is_searched(void **state)
{
    (void)state;
    expect_text("купить недорого", "купить недорого", true);
    expect_text("на", "на", false);
}

static void units_are_no_grammar(void **state)
{
    (void)state;
    expect_text("48 in vanity", "48 in vanity", true);
    expect_text("насос 220 в", "насос 220 в", true);
    expect_text("60 w bulb", "60 w bulb", true);
    expect_text("ремонт в москве", "ремонт москве", true);
}

static void what_has_a_sign_is_meant_as_it_stands(void **state)
{
    (void)state;
    expect_text("\"купить диван\" дешево", "\"купить диван\"", true);
    expect_text("диван -купить", "диван -купить", false);
    expect_text("!купить диван", "!купить диван", true);
}

static void slashes_between_words_are_blanks(void **state)
{
    (void)state;
    expect_text("faucet brass/chrome", "faucet brass chrome", true);
    expect_text("brass/chrome", "brass chrome", true);
    expect_text("диван/кровать", "диван кровать", true);
    expect_text("self-drilling/tapping/wood screw", "self-drilling tapping wood screw", true);
    expect_text("plywood 1/2", "plywood 1/2", true);
    expect_text("a/c unit", "a/c unit", true);
    expect_text("90 км/ч", "90 км/ч", true);
    expect_text("\"brass/chrome\"", "\"brass/chrome\"", false);
    expect_text("купить/куплю", "купить куплю", true);
    expect_text("диван/", "диван/", false);
}

/* Parts of a word may be missing, too, if one of them says something alone. */
static void words_of_parts_are_several(void **state)
{
    (void)state;
    expect_text("led-bulb", "led-bulb", true);
    expect_text("iphone15", "iphone15", true);
    expect_text("wi-fi", "wi-fi", false);
    expect_text("t1-11", "t1-11", false);
    expect_text("128гб", "128гб", false);
    expect_text("\"led-bulb\"", "\"led-bulb\"", false);
}

static void expect_price(const char *line, const char *text, int64_t min, int64_t max)
{
    struct arena *arena = arena_new();
    struct meaning meaning = read(arena, line);

    assert_string_equal(meaning.text, text);
    assert_int_equal(meaning.count, 1);
    assert_int_equal(meaning.list[0].kind, MEANT_PRICE);
    assert_int_equal(meaning.list[0].min, min);
    assert_int_equal(meaning.list[0].max, max);
    arena_free(arena);
}

static void prices_are_filters(void **state)
{
    (void)state;
    expect_price("диван до 20000", "диван", 0, 20000);
    expect_price("диван до 20 000 руб", "диван", 0, 20000);
    expect_price("диван не дороже 20 тыс", "диван", 0, 20000);
    expect_price("диван от 5 до 10 тыс", "диван", 5000, 10000);
    expect_price("диван от 80 000 до 100 тыс", "диван", 80000, 100000);
    expect_price("диван от 80 до 100 тыс", "диван", 80000, 100000);
    expect_price("iphone under 500", "iphone", 0, 500);
    expect_price("sofa under $5,000", "sofa", 0, 5000);
    expect_price("car from 1,500,000 up to 12,000k", "car", 1500000, 12000000);
    expect_text("sofa under $5,00", "sofa under $5,00", true);
    expect_text("milk under $0,500", "milk under $0,500", true);
    expect_text("sofa under 5,0000", "sofa under 5,0000", true);
    expect_text("sofa under 5000,000", "sofa under 5000,000", true);
    expect_text("car under 1,000,000,000,000,000,000", "car under 1,000,000,000,000,000,000", true);
    expect_price("iphone under $99", "iphone", 0, 99);
    expect_price("sofa from 100 up to 300 usd", "sofa", 100, 300);
    expect_price("велосипед дороже 30к", "велосипед", 30000, 0);
    expect_text("шкаф до 200 см", "шкаф 200 см", true); /* a size */
    expect_text("flashlight over 300 lumens", "flashlight over 300 lumens", true);
    expect_text("range hood above 800 cfm", "range hood above 800 cfm", true);
    expect_text("pressure washer over 3000 psi", "pressure washer over 3000 psi", true);
    expect_text("heater above 5000 btu", "heater above 5000 btu", true);
    expect_text("tank over 500 gallons", "tank over 500 gallons", true);
    expect_text("насос до 900 ватт", "насос 900 ватт", true);
    expect_price("heater above 5000", "heater", 5000, 0);
    expect_text("toyota до 2015", "toyota 2015", true); /* a year */
    expect_text("дети до 12", "дети 12", true);         /* too little, and no currency */
    expect_text("диван от 0 руб", "диван 0 руб", true); /* nothing is cheaper */
    expect_text("диван от 0 тыс до 0 руб", "диван 0 тыс 0 руб", true);
    expect_price("диван от 0 до 500 руб", "диван", 0, 500);
    expect_text("диван -до 20000", "диван -до 20000", true);
    expect_text("диван \"до 20000\"", "диван \"до 20000\"", true);
}

static void words_are_filters(void **state)
{
    static const struct {
        const char *line, *text, *meant;
        enum meant_kind kind;
    } cases[] = {
        {"айфон б/у", "айфон", "б/у", MEANT_USED},
        {"Б/У айфон", "айфон", "Б/У", MEANT_USED},
        {"айфон б у", "айфон", "б у", MEANT_USED},
        {"айфон бу.", "айфон", "бу.", MEANT_USED},
        {"диван рядом со мной", "диван", "рядом со мной", MEANT_NEAR},
        {"sofa near me", "sofa", "near me", MEANT_NEAR},
        {"second hand sofa", "sofa", "second hand", MEANT_USED},
    };
    struct arena *arena = arena_new();

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct meaning meaning = read(arena, cases[i].line);

        assert_string_equal(meaning.text, cases[i].text);
        assert_int_equal(meaning.count, 1);
        assert_int_equal(meaning.list[0].kind, cases[i].kind);
        assert_string_equal(meaning.list[0].text, cases[i].meant);
    }
    arena_free(arena);
}

static void what_is_to_be_kept_is_a_word(void **state)
{
    static char *kept[] = {"б/у"};
    struct arena *arena = arena_new();
    struct meaning meaning;
    struct err err;

    (void)state;
    assert_int_equal(meaning_read("айфон б/у", kept, 1, arena, &meaning, &err), 0);
    assert_string_equal(meaning.text, "айфон б/у");
    assert_int_equal(meaning.count, 0);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fillers_and_grammar_are_left_out),
        cmocka_unit_test(a_line_of_nothing_else_is_searched),
        cmocka_unit_test(units_are_no_grammar),
        cmocka_unit_test(what_has_a_sign_is_meant_as_it_stands),
        cmocka_unit_test(slashes_between_words_are_blanks),
        cmocka_unit_test(words_of_parts_are_several),
        cmocka_unit_test(prices_are_filters),
        cmocka_unit_test(words_are_filters),
        cmocka_unit_test(what_is_to_be_kept_is_a_word),
    };

    return cmocka_run_group_tests_name("search-meaning", tests, NULL, NULL);
}
