/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of search/synonyms/synonyms.h: files of rules, and lines that are expanded by them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "codec/message.h"
#include "search/bounds.h"
#include "search/synonyms/shipped_synonyms.h"
#include "search/synonyms/synonyms.h"

static struct arena *arena;

static int begin(void **state)
{
    (void)state;
    arena = arena_new();
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static struct synonyms *table(const char *file)
{
    struct violations faults = violations_in(arena);
    struct synonym_rules rules;
    struct err err;

    if (synonyms_parse(bytes_of(file), arena, &rules, &faults, &err))
        fail_msg("%s", err.text);
    return synonyms_new(&rules, 1);
}

/* "велик: байк, велосипед | тв: телевизор" */
static const char *found_in(const struct synonyms *synonyms, const char *line, const char *kept)
{
    char *keep = (char *)kept;
    struct synonym_use *uses;
    size_t count = synonyms_find(synonyms, line, &keep, kept ? 1 : 0, arena, &uses);
    const char *text = "";

    for (size_t i = 0; i < count; i++) {
        text = arena_printf(arena, "%s%s%s:", text, i ? " | " : "", uses[i].text);
        assert_memory_equal(line + uses[i].start, uses[i].text, uses[i].end - uses[i].start);
        for (size_t k = 0; k < uses[i].count; k++)
            text = arena_printf(arena, "%s%s %s", text, k ? "," : "", uses[i].others[k]);
    }
    return text;
}

static const char *const rules = "# two ways, one way, several words\n"
                                 "велик, байк,  велосипед\n"
                                 "тв => телевизор   # not the other way\r\n"
                                 "\n"
                                 "ps5, пс5 => playstation 5\n"
                                 "стиралка, стиральная машина\n"
                                 "машина => автомобиль\n"
                                 "wi-fi => вайфай";

static void those_that_come_with_the_program_are_rules(void **state)
{
    static const char *const cases[][2] = {
        {"gas stove", "stove: range"},
        {"electric range", ""}, /* what "over the range" has, too */
        {"weed wackers", "weed wackers: string trimmer"},
        {"2 commodes", "commodes: toilet"},
        {"8000 btu a/c", "a/c: air conditioner, air conditioning"},
        {"half inch pipe", "half inch: 1/2 in | pipe: tubing"},
        {"three way switch", "three: 3"},
        {"torches", "torches: flashlight"}, /* one of a sh, ch, x has "es" more */
    };
    struct synonyms *synonyms = table((const char *)shipped_synonyms().data);

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(found_in(synonyms, cases[i][0], NULL), cases[i][1]);
    synonyms_unref(synonyms);
}

static void lines_are_expanded(void **state)
{
    static const struct {
        const char *line, *found;
    } cases[] = {
        {"велик", "велик: байк, велосипед"},
        {"Велики детские", "Велики: байк, велосипед"},
        {"детский велосипед", "велосипед: велик, байк"},
        {"тв", "тв: телевизор"},
        {"телевизор", ""}, /* one way */
        {"ПС5 диск", "ПС5: playstation 5"},
        {"playstation 5", ""},
        {"стиралка", "стиралка: стиральная машина"},
        {"белая стиральная машина бош", "стиральная машина: стиралка"}, /* most words */
        {"машину велик", "машину: автомобиль | велик: байк, велосипед"},
        {"стиральная \"машина\"", ""}, /* what has a sign is meant as it stands */
        {"-велик", ""},
        {"велик*", ""},
        {"wi fi", "wi fi: вайфай"},
        {"Wi-Fi", "Wi-Fi: вайфай"},
        {"великан", ""},
        {"", ""},
    };
    struct synonyms *synonyms = table(rules);

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(found_in(synonyms, cases[i].line, NULL), cases[i].found);
    assert_string_equal(found_in(synonyms, "велик тв", "велик"), "тв: телевизор");
    assert_true(synonyms_decided(synonyms, "велики", "велосипеды", arena));
    assert_false(synonyms_decided(synonyms, "телевизор", "тв", arena));
    synonyms_unref(synonyms);
}

static void what_is_refused_is_known_and_not_found(void **state)
{
    struct synonyms *synonyms = table("тв =/> тумба, твой дом\nтв => телевизор\n");

    (void)state;
    assert_string_equal(found_in(synonyms, "тв", NULL), "тв: телевизор");
    assert_true(synonyms_decided(synonyms, "ТВ", "тумбы", arena));
    assert_true(synonyms_decided(synonyms, "тв", "твой дом", arena));
    assert_false(synonyms_decided(synonyms, "тумба", "тв", arena));
    assert_false(synonyms_decided(synonyms, "тв", "дом", arena));
    synonyms_unref(synonyms);
}

static void a_stage_has_clauses_for_what_is_expanded(void **state)
{
    struct synonyms *synonyms = table(rules);
    Torg__V1__QueryStage *stage = MESSAGE_NEW(query_stage, arena);

    (void)state;
    stage->text = "новый велик москва";
    synonyms_expand(synonyms, NULL, 0, stage, arena);
    assert_int_equal(stage->n_clauses, 1);
    assert_string_equal(stage->clauses[0]->text, "велик");
    assert_int_equal(stage->clauses[0]->occur, TORG__V1__TEXT_CLAUSE__OCCUR__MUST);
    assert_int_equal(stage->clauses[0]->n_also, 2);
    assert_string_equal(stage->clauses[0]->also[1]->text, "велосипед");
    assert_true(stage->clauses[0]->also[0]->boost < 1);
    assert_null(strstr(stage->text, "велик"));
    assert_non_null(strstr(stage->text, "новый"));
    synonyms_expand(synonyms, NULL, 0, stage, arena); /* once is enough */
    assert_int_equal(stage->n_clauses, 1);

    stage = MESSAGE_NEW(query_stage, arena);
    stage->text = "тв";
    stage->any_word = true;
    synonyms_expand(synonyms, NULL, 0, stage, arena);
    assert_string_equal(stage->text, "");
    assert_int_equal(stage->clauses[0]->occur, TORG__V1__TEXT_CLAUSE__OCCUR__SHOULD);
    synonyms_unref(synonyms);
}

static void what_is_wrong_is_told_by_line(void **state)
{
    static const struct {
        const char *file, *line, *reason;
    } cases[] = {
        {"велик", "line 1", "a single term"},
        {"# fine\nа, б\nвелик =>", "line 3", "no letter"},
        {"=> велик", "line 1", "no letter"},
        {"a => b => c", "line 1", "more than one arrow"},
        {"a =/> b => c", "line 1", "more than one arrow"},
        {"велик =/> велики", "line 1", "both sides"},
        {"a, , b", "line 1", "no letter"},
        {"велик, велики", "line 1", "the same word"},
        {"велик => байк, велика", "line 1", "both sides"},
        {"a, b c d e f", "line 1", "5 words; the limit is 4"},
        {"1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", "line 1", "more than 16 terms"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct violations faults = violations_in(arena);
        struct synonym_rules read;
        struct err err;

        assert_int_equal(synonyms_parse(bytes_of(cases[i].file), arena, &read, &faults, &err),
                         ERR_INVALID);
        assert_int_equal(faults.count, 1);
        assert_string_equal(faults.first->field, cases[i].line);
        if (!strstr(faults.first->reason, cases[i].reason))
            fail_msg("%s: %s", cases[i].file, faults.first->reason);
    }
}

static void files_are_bounded(void **state)
{
    struct violations faults = violations_in(arena);
    char *file = arena_alloc(arena, SYNONYM_FILE_SIZE_MAX + 2), *to = file;
    struct synonym_rules read;
    struct err err;

    (void)state;
    memset(file, '\n', SYNONYM_FILE_SIZE_MAX + 1);
    assert_int_equal(
        synonyms_parse(bytes_make(file, SYNONYM_FILE_SIZE_MAX + 1), arena, &read, &faults, &err),
        ERR_LIMIT);
    assert_int_equal(
        synonyms_parse(bytes_make(file, SYNONYM_FILE_SIZE_MAX), arena, &read, &faults, &err), 0);
    assert_int_equal(read.count, 0);
    for (int i = 0; i <= SYNONYM_RULE_COUNT_MAX; i++, to += 4)
        memcpy(to, "a,b\n", 4);
    assert_int_equal(
        synonyms_parse(bytes_make(file, (size_t)(to - file)), arena, &read, &faults, &err),
        ERR_INVALID);
    assert_non_null(strstr(err.text, "more than 10000 rules"));
    assert_int_equal(synonyms_parse(bytes_of("\xff"), arena, &read, &faults, &err), ERR_INVALID);
}

/* However many lines say what a word means, a query has a bounded number of them. */
static void what_one_word_means_is_bounded(void **state)
{
    struct synonyms *synonyms;
    struct synonym_use *uses;
    const char *file = "";

    (void)state;
    for (int i = 0; i < 2 * SYNONYM_OTHER_COUNT_MAX; i++)
        file = arena_printf(arena, "%sтв => марка%d\n", file, i);
    synonyms = table(file);
    assert_int_equal(
        synonyms_find(synonyms, "тв тв тв тв тв тв тв тв тв тв", NULL, 0, arena, &uses),
        SYNONYM_USE_COUNT_MAX);
    assert_int_equal(uses[0].count, SYNONYM_OTHER_COUNT_MAX);
    assert_string_equal(uses[0].others[0], "марка0");
    synonyms_unref(synonyms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_that_come_with_the_program_are_rules),
        cmocka_unit_test(lines_are_expanded),
        cmocka_unit_test(what_is_refused_is_known_and_not_found),
        cmocka_unit_test(a_stage_has_clauses_for_what_is_expanded),
        cmocka_unit_test(what_is_wrong_is_told_by_line),
        cmocka_unit_test(files_are_bounded),
        cmocka_unit_test(what_one_word_means_is_bounded),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
