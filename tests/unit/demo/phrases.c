/* SPDX-License-Identifier: Apache-2.0 */
/* Templates and formulas of the demo's grammar: what they give, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "demo/formula.h"
#include "demo/phrase.h"

static const char grammar_text[] = "@words color\n"
                                   "red | красный/красная/красное/красные | red\n"
                                   "@list end.ru\n"
                                   "Звоните.\n"
                                   "@list end.en\n"
                                   "Call me.\n"
                                   "@list loop.ru\n"
                                   "<loop>\n"
                                   "@cities\n"
                                   "Тверь | Tver | 56.8 35.9 | 1 | центр | centre\n"
                                   "@shops\n"
                                   "s-1 | Лавка | Shop | things other\n"
                                   "@kind things\n"
                                   "category c\n"
                                   "picture box\n"
                                   "columns noun g\n"
                                   "row стол/стола | m\n"
                                   "own.ru своё\n";

struct fixture {
    struct arena *arena;
    struct grammar *grammar;
    struct rng rng;
    struct scope scope;
};

static int open_fixture(void **state)
{
    struct fixture *fixture = mem_zero(sizeof(*fixture));
    struct err err;

    fixture->arena = arena_new();
    fixture->rng = rng_seeded(1);
    if (grammar_read(bytes_of(grammar_text), fixture->arena, &fixture->grammar, &err)) {
        print_error("%s\n", err.text);
        return -1;
    }
    fixture->scope = (struct scope){.grammar = fixture->grammar,
                                    .kind = fixture->grammar->kinds[0],
                                    .arena = fixture->arena,
                                    .rng = &fixture->rng,
                                    .language = LANGUAGE_RU};
    scope_set(&fixture->scope, "color", "red");
    scope_set(&fixture->scope, "noun", "стол/стола");
    scope_set(&fixture->scope, "g", "f");
    scope_set(&fixture->scope, "n", "22");
    scope_set(&fixture->scope, "km", "1200000");
    scope_set(&fixture->scope, "none", "");
    *state = fixture;
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *fixture = *state;

    arena_free(fixture->arena);
    free(fixture);
    return 0;
}

static void templates_give_what_they_say(void **state)
{
    static const struct {
        const char *template;
        const char *russian;
        const char *english;
    } cases[] = {
        {"{color}", "красный", "red"},
        {"{color.n} {color.4}", "красное красные", "red red"},
        {"{^color@g}", "Красная", "Red"},
        {"{noun} {noun.2}", "стол стола", "стол стола"},
        {"{@g новый/новая/новое/новые}", "новая", "новая"},
        {"нов{@g ый/ая}", "новая", "новая"},
        {"{n} {n#год/года/лет}", "22 года", "22 года"},
        {"{km'}", "1 200 000", "1,200,000"},
        {"{?color=red:да}{?color!=red:нет}", "да", "да"},
        {"{?color=blue,red:да}{?color!=blue,red:нет}", "да", "да"},
        {"{?n>21:много}{?n<21:мало}", "много", "много"},
        {"{?none=:пусто}{?none!=:полно}", "пусто", "пусто"},
        {"{?color=red:{?g=f:обе}}", "обе", "обе"},
        {"<end>", "Звоните.", "Call me."},
        {"[x|x|x]", "x", "x"},
        {"[{color}|{color}]", "красный", "red"},
        {"a\\{b\\nc", "a{b\nc", "a{b\nc"},
    };
    struct fixture *fixture = *state;

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        for (size_t k = 0; k < LANGUAGE_COUNT; k++) {
            const char *text;
            struct err err;

            fixture->scope.language = (enum language)k;
            if (phrase_text(&fixture->scope, cases[i].template, &text, &err))
                fail_msg("%s: %s", cases[i].template, err.text);
            assert_string_equal(text, k ? cases[i].english : cases[i].russian);
        }
    }
}

static void plurals_are_russian(void **state)
{
    static const struct {
        const char *number;
        const char *word;
    } cases[] = {{"0", "лет"},  {"1", "год"},   {"2", "года"},  {"4", "года"},  {"5", "лет"},
                 {"11", "лет"}, {"12", "лет"},  {"14", "лет"},  {"21", "год"},  {"22", "года"},
                 {"25", "лет"}, {"101", "год"}, {"111", "лет"}, {"112", "лет"}, {"1003", "года"}};
    struct fixture *fixture = *state;

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const char *text;
        struct err err;

        scope_set(&fixture->scope, "n", cases[i].number);
        assert_int_equal(phrase_text(&fixture->scope, "{n#год/года/лет}", &text, &err), 0);
        assert_string_equal(text, cases[i].word);
    }
}

static void wrong_templates_are_refused(void **state)
{
    static const char *const cases[] = {"{nobody}",      "{color.x}", "{color@color}", "{?color}",
                                        "{?nobody=1:x}", "<nobody>",  "{color",        "[a|b",
                                        "<loop>",        "{@g}",      "{@nobody a/b}"};
    struct fixture *fixture = *state;

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const char *text;
        struct err err;

        if (phrase_text(&fixture->scope, cases[i], &text, &err) != ERR_INVALID)
            fail_msg("%s was taken", cases[i]);
        assert_non_null(strstr(err.text, "things"));
    }
}

static void leftovers_are_removed(void **state)
{
    static const struct {
        const char *text;
        const char *tidy;
    } cases[] = {{"  синий  диван , новый . ", "Синий диван, новый."},
                 {"хорошо.. Да", "Хорошо. Да"},
                 {"iPhone 13", "iPhone 13"},
                 {"realme C55", "Realme C55"},
                 {"ёлка", "Ёлка"},
                 {"яблоко\n  груша", "Яблоко\nГруша"},
                 {"стол, ", "Стол"}};
    struct fixture *fixture = *state;

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        assert_string_equal(phrase_tidy(cases[i].text, fixture->arena), cases[i].tidy);
}

static bool find(void *arg, struct bytes name, double *value)
{
    (void)arg;
    *value = 7;
    return bytes_equal_text(name, "seven");
}

static void formulas_are_worked_out(void **state)
{
    static const struct {
        const char *text;
        double value;
    } good[] = {{"1 + 2 * 3", 7},     {"(1 + 2) * 3", 9},   {"seven / 2", 3.5},
                {"round(13, 5)", 15}, {"pow(2, 10)", 1024}, {"min(3, seven) - max(1, 2)", 1},
                {"rnd(4, 4)", 4},     {"10 - 2 - 3", 5},    {"8 / 2 / 2", 2}};
    static const char *const bad[] = {"",
                                      "1 +",
                                      "nobody",
                                      "(1",
                                      "1)",
                                      "rnd(1)",
                                      "sin(1, 2)",
                                      "1 / 0",
                                      "1 2",
                                      "round(1, 0)",
                                      "((((((((((((((((((1))))))))))))))))))"};
    struct fixture *fixture = *state;
    const struct formula_scope scope = {.rng = &fixture->rng, .find = find};
    struct err err;
    double value;

    for (size_t i = 0; i < ARRAY_COUNT(good); i++) {
        assert_int_equal(formula_eval(good[i].text, &scope, &value, &err), 0);
        assert_true(value == good[i].value);
    }
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        if (formula_eval(bad[i], &scope, &value, &err) != ERR_INVALID)
            fail_msg("%s was taken", bad[i]);
    }
    for (size_t i = 0; i < 1000; i++) {
        assert_int_equal(formula_eval("rnd(1, 6)", &scope, &value, &err), 0);
        assert_true(value >= 1 && value <= 6 && value == (double)(int)value);
    }
}

static void wrong_files_are_refused_by_their_line(void **state)
{
    static const struct {
        const char *text;
        const char *place;
    } cases[] = {
        {"x\n", ":1:"},
        {"@nothing\n", ":1:"},
        {"@words w\na | b\n", ":2:"},
        {"@kind k\ncolumns a b\nrow 1\n", ":3:"},
        {"@kind k\nweight many\n", ":2:"},
        {"@kind k\nnonsense x\n", ":2:"},
        {"@kind k\nnum a 1\n", ":2:"},
        {"@cities\nA | B | north | 1 | x | y\n", ":2:"},
        {"@cities\nA | B | 1 2 | 1 | x; z | y\n", ":2:"},
        {"@kind k\ncategory c\n", "kind k"},
        {"", "no kinds"},
    };
    struct fixture *fixture = *state;

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct grammar *grammar;
        struct err err;

        if (grammar_read(bytes_of(cases[i].text), fixture->arena, &grammar, &err) != ERR_INVALID)
            fail_msg("%s was taken", cases[i].text);
        if (!strstr(err.text, cases[i].place))
            fail_msg("%s: %s", cases[i].text, err.text);
    }
}

static void shops_sell_their_kinds(void **state)
{
    struct fixture *fixture = *state;
    const struct kind *kind = grammar_kind(fixture->grammar, "things");

    assert_non_null(kind);
    assert_null(grammar_kind(fixture->grammar, "thing"));
    assert_int_equal(kind->shop_count, 1);
    assert_string_equal(kind->shops[0]->id, "s-1");
    assert_non_null(grammar_list(fixture->grammar, kind, bytes_of("own"), LANGUAGE_RU));
    assert_null(grammar_list(fixture->grammar, kind, bytes_of("own"), LANGUAGE_EN));
    assert_null(grammar_list(fixture->grammar, NULL, bytes_of("own"), LANGUAGE_RU));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(templates_give_what_they_say, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(plurals_are_russian, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(wrong_templates_are_refused, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(leftovers_are_removed, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(formulas_are_worked_out, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(wrong_files_are_refused_by_their_line, open_fixture,
                                        close_fixture),
        cmocka_unit_test_setup_teardown(shops_sell_their_kinds, open_fixture, close_fixture),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
