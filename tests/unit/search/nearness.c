/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of search/choices/nearness.h: the neighbours of a text as phrases that nobody has to
 * match. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "search/choices/nearness.h"

/* What is asked for beside the text: phrases, then exact forms and numbers with a sign. */
static const char *told_of(const char *text, bool is_whole)
{
    static char told[256];
    struct arena *arena = arena_new();
    Torg__V1__QueryStage stage = TORG__V1__QUERY_STAGE__INIT;
    Torg__V1__TextClause own = TORG__V1__TEXT_CLAUSE__INIT, *list[] = {&own};

    stage.clauses = list;
    stage.n_clauses = 1;
    nearness_add(text, is_whole, &stage, arena);
    assert_ptr_equal(stage.clauses[0], &own);
    told[0] = 0;
    for (size_t i = 1; i < stage.n_clauses; i++) {
        const Torg__V1__TextClause *clause = stage.clauses[i];

        bool is_form = clause->kind == TORG__V1__TEXT_CLAUSE__KIND__EXACT;

        assert_int_equal(clause->occur, TORG__V1__TEXT_CLAUSE__OCCUR__BONUS);
        bool is_word = clause->kind == TORG__V1__TEXT_CLAUSE__KIND__WORD;

        assert_true(is_form || is_word || clause->kind == TORG__V1__TEXT_CLAUSE__KIND__PHRASE);
        assert_int_equal(clause->n_fields, is_form); /* of titles */
        assert_true(clause->boost > 0 && clause->boost < 1);
        snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s%s%s", i > 1 ? ", " : "",
                 is_form   ? "!"
                 : is_word ? "+"
                           : "",
                 clause->text);
    }
    arena_free(arena);
    return told;
}

static const char *phrases(const char *text)
{
    return told_of(text, true);
}

/* The word that offers should say they are; "": none is asked for. */
static const char *head(const char *text)
{
    static char told[256];
    struct arena *arena = arena_new();
    Torg__V1__QueryStage stage = TORG__V1__QUERY_STAGE__INIT;

    nearness_head(text, &stage, arena);
    assert_true(stage.n_clauses <= 1);
    snprintf(told, sizeof(told), "%s", stage.n_clauses ? stage.clauses[0]->text : "");
    if (stage.n_clauses) {
        assert_int_equal(stage.clauses[0]->occur, TORG__V1__TEXT_CLAUSE__OCCUR__BONUS);
        assert_int_equal(stage.clauses[0]->n_fields, 1);
        assert_string_equal(stage.clauses[0]->fields[0], "words");
    }
    arena_free(arena);
    return told;
}

static void the_last_noun_is_what_is_asked_for(void **state)
{
    (void)state;
    assert_string_equal(head("ge refrigerator water filter"), "filter");
    assert_string_equal(head("ceiling fan with light"), "fan");
    assert_string_equal(head("ceiling fan w/ light"), "fan");
    assert_string_equal(head("angle bracket 12 in"), "bracket");
    assert_string_equal(head("2x4 8ft lumber"), ""); /* alone it weighs enough */
    assert_string_equal(head("water \"filter\" ge"), "");
    assert_string_equal(head("велосипед Stels Navigator"), "");
    assert_string_equal(head("black 2 in x 4 in wide glass bowl lamp shade"), "shade");
    assert_string_equal(head("vanity bath 36 inch"), "bath");
    assert_string_equal(head("bathroom vanity 36 inch wide"), "vanity");
    assert_string_equal(head("step ladder 6 foot"), "ladder");
    assert_string_equal(head("toilet white"), "toilet");
    assert_string_equal(head("kitchen faucet brushed nickel"), "faucet");
    assert_string_equal(head("dishwasher stainless steel"), "dishwasher");
    assert_string_equal(head("white oak"), ""); /* nothing else is said */
    assert_string_equal(head("ge side by side refrigerator"), "refrigerator");
    assert_string_equal(head("drop in sink"), "sink");
    assert_string_equal(head("kitchen sink drop in"), "sink");
    assert_string_equal(head("kitchen sink drop in white"), "sink");
    assert_string_equal(head("ready to assemble cabinet"), "cabinet");
    assert_string_equal(head("bathroom shelf over toilet"), "shelf");
    assert_string_equal(head("whirlwind over the range microwave"), "microwave");
    assert_string_equal(head("led under cabinet lights"), "lights");
    assert_string_equal(head("storage cabinet on wheels"), "cabinet");
    assert_string_equal(head("36 in bath vanity in white"), "vanity");
    assert_string_equal(head(""), "");
}

/* Partial matches do not go by neighbours. */
static void forms_count_wherever_words_are_found(void **state)
{
    (void)state;
    assert_string_equal(told_of("nova 128 ГБ", false), "!ГБ, +128");
    assert_string_equal(told_of("gray flooring", false), "!flooring");
    assert_string_equal(told_of("cake ring", false), "");
    assert_string_equal(told_of("gas lawn mower", false), "");
    assert_string_equal(phrases("128 ГБ"), "128 ГБ, !ГБ");
    assert_string_equal(phrases("128 GB"), "128 GB, !GB");    /* before 128 ГБ */
    assert_string_equal(phrases("13 drawers"), "13 drawers"); /* no unit: its form says nothing */
}

/* A quantity is one word, and so are sizes: their numbers alone are worth something. */
static void numbers_count_where_quantities_are_not_found(void **state)
{
    (void)state;
    assert_string_equal(told_of("1.28 gallon toilet", false), "+1.28");
    assert_string_equal(told_of("4x8 3/4 plywood", false), "+4, +8, +3/4");
    assert_string_equal(told_of("toilet 12", false), "");
    assert_string_equal(told_of("1.28 gallon", true), "1.28 gallon");
}

static void signs_inside_words_are_none(void **state)
{
    (void)state;
    assert_string_equal(phrases("self-propelled mower"), "self-propelled mower");
    assert_string_equal(phrases("30\" range"), "30\" range");
    assert_string_equal(head("z-wave dimmer switch"), "switch");
    assert_string_equal(head("30\" slide-in gas range"), "range");
}

static void neighbours_are_phrases(void **state)
{
    (void)state;
    assert_string_equal(phrases("gas lawn  mower"), "gas lawn, lawn mower");
    assert_string_equal(phrases("a b c d e f g"), "a b, b c, c d, d e, e f, f g");
    assert_string_equal(phrases("a b c d e f g h"), ""); /* says enough by its words */
    assert_string_equal(phrases("диван"), "!диван");
    assert_string_equal(phrases("на дом"), "на дом, !дом");
    assert_string_equal(phrases("sofa"), "");
    assert_string_equal(phrases(""), "");
    assert_string_equal(phrases("\"синий диван\" угловой"), "");
    assert_string_equal(phrases("диван -синий"), "");
}

static const char colours[] =
    "{\"attributes\": [{\"id\": \"color\", \"type\": \"OPTION\","
    "  \"name\": {\"ru\": \"Цвет\", \"en\": \"Colour\"},"
    "  \"options\": [{\"id\": \"blue\", \"name\": {\"ru\": \"Синий\", \"en\": \"Blue\"}},"
    "   {\"id\": \"dark\", \"name\": {\"ru\": \"Тёмно-синий\", \"en\": \"Dark blue\"}},"
    "   {\"id\": \"n\", \"name\": {\"ru\": \"12\", \"en\": \"12\"}}]}],"
    " \"categories\": [{\"id\": \"sofas\", \"name\": {\"ru\": \"Диваны\", \"en\": \"Sofas\"},"
    "  \"attributes\": [\"color\"]}]}";

/* The values that offers should have. */
static const char *values(const char *text, const char *kept)
{
    static char told[256];
    struct arena *arena = arena_new();
    Torg__V1__QueryStage stage = TORG__V1__QUERY_STAGE__INIT;
    char *keep = (char *)kept;
    struct catalog *catalog;
    struct err err;

    if (catalog_from_json(bytes_of(colours), NULL, &catalog, &err))
        fail_msg("%s", err.text);
    nearness_values(text, catalog, &keep, kept ? 1 : 0, &stage, arena);
    told[0] = 0;
    for (size_t i = 0; i < stage.n_clauses; i++) {
        assert_int_equal(stage.clauses[i]->occur, TORG__V1__TEXT_CLAUSE__OCCUR__BONUS);
        assert_int_equal(stage.clauses[i]->n_fields, 1);
        assert_string_equal(stage.clauses[i]->fields[0], "words");
        snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s%s%s", i ? ", " : "",
                 stage.clauses[i]->kind == TORG__V1__TEXT_CLAUSE__KIND__PHRASE ? "~" : "",
                 stage.clauses[i]->text);
    }
    catalog_unref(catalog);
    arena_free(arena);
    return told;
}

static void values_of_attributes_are_of_offers_that_have_them(void **state)
{
    (void)state;
    assert_string_equal(values("синие диваны", NULL), "синие");
    assert_string_equal(values("sofa dark blue", NULL), "~dark blue");
    assert_string_equal(values("тёмно-синий диван", NULL), "тёмно-синий");
    assert_string_equal(values("диван 12", NULL), ""); /* a number of anything */
    assert_string_equal(values("диван", NULL), "");
    assert_string_equal(values("синий диван", "синий"), "");
    assert_string_equal(values("\"синий\" диван", NULL), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_are_phrases),
        cmocka_unit_test(forms_count_wherever_words_are_found),
        cmocka_unit_test(numbers_count_where_quantities_are_not_found),
        cmocka_unit_test(signs_inside_words_are_none),
        cmocka_unit_test(the_last_noun_is_what_is_asked_for),
        cmocka_unit_test(values_of_attributes_are_of_offers_that_have_them)};

    return cmocka_run_group_tests_name("search-nearness", tests, NULL, NULL);
}
