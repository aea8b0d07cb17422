/* SPDX-License-Identifier: Apache-2.0 */
/* convert_as.c - a value of one type, read as another: what one would write by hand, no more. */
#include "registry/clients/convert_as.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define TYPE(name) TORG__V1__SCHEMA_FIELD__TYPE__##name

static struct arena *arena;
static Torg__V1__RawField field, as;
static Google__Protobuf__Timestamp date;

static bool reads_as(Torg__V1__SchemaField__Type type)
{
    const struct epoch_field wanted = {.type = type};

    field.name = "f";
    return convert_as(&field, &wanted, arena, &as) && strcmp(as.name, "f") == 0;
}

static void begin(void)
{
    torg__v1__raw_field__init(&field);
}

static void set_text(const char *text)
{
    begin();
    field._text_case = TORG__V1__RAW_FIELD___TEXT_TEXT;
    field.text = (char *)text;
}

static void set_integer(int64_t integer)
{
    begin();
    field._integer_case = TORG__V1__RAW_FIELD___INTEGER_INTEGER;
    field.integer = integer;
}

static void set_decimal(const char *decimal)
{
    begin();
    field._decimal_case = TORG__V1__RAW_FIELD___DECIMAL_DECIMAL;
    field.decimal = (char *)decimal;
}

static int make_arena(void **state)
{
    (void)state;
    arena = arena_new();
    return 0;
}

static int free_arena(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static void texts_are_one_another(void **state)
{
    (void)state;
    set_text("red");
    assert_true(reads_as(TYPE(KEYWORD)));
    assert_string_equal(as.keyword, "red");
    assert_true(reads_as(TYPE(CATEGORY)));
    assert_string_equal(as.category, "red");
    assert_true(reads_as(TYPE(STORED)));
    assert_string_equal(as.stored, "red");
    assert_true(reads_as(TYPE(KEYWORDS)));
    assert_int_equal(as.n_keywords, 1);
    assert_string_equal(as.keywords[0], "red");
    assert_true(reads_as(TYPE(TEXT)));
    assert_string_equal(as.text, "red");
}

static void keywords_are_one_when_there_is_one(void **state)
{
    char *two[] = {"red", "blue"};

    (void)state;
    begin();
    field.keywords = two;
    field.n_keywords = 1;
    assert_true(reads_as(TYPE(KEYWORD)));
    assert_string_equal(as.keyword, "red");
    field.n_keywords = 2;
    assert_false(reads_as(TYPE(KEYWORD)));
}

static void numbers_are_their_texts_and_back(void **state)
{
    (void)state;
    set_integer(INT64_MIN);
    assert_true(reads_as(TYPE(KEYWORD)));
    assert_string_equal(as.keyword, "-9223372036854775808");
    assert_true(reads_as(TYPE(DECIMAL)));
    assert_string_equal(as.decimal, "-9223372036854775808");
    set_text("-42");
    assert_true(reads_as(TYPE(INTEGER)));
    assert_int_equal(as.integer, -42);
    set_text("42 pieces");
    assert_false(reads_as(TYPE(INTEGER)));
    set_text("");
    assert_false(reads_as(TYPE(INTEGER)));
}

static void a_fraction_of_zeros_is_none(void **state)
{
    (void)state;
    set_decimal("15.00");
    assert_true(reads_as(TYPE(INTEGER)));
    assert_int_equal(as.integer, 15);
    set_decimal("15.01");
    assert_false(reads_as(TYPE(INTEGER)));
    set_decimal("15.");
    assert_false(reads_as(TYPE(INTEGER)));
    set_decimal(".0");
    assert_false(reads_as(TYPE(INTEGER)));
}

static void truths_are_words(void **state)
{
    (void)state;
    begin();
    field._boolean_case = TORG__V1__RAW_FIELD___BOOLEAN_BOOLEAN;
    field.boolean = true;
    assert_true(reads_as(TYPE(TEXT)));
    assert_string_equal(as.text, "true");
    set_text("false");
    assert_true(reads_as(TYPE(BOOLEAN)));
    assert_false(as.boolean);
    set_text("perhaps");
    assert_false(reads_as(TYPE(BOOLEAN)));
}

static void dates_are_written_as_they_are_read(void **state)
{
    char *text;

    (void)state;
    begin();
    google__protobuf__timestamp__init(&date);
    date.seconds = 1767225600; /* 2026-01-01 */
    field._date_case = TORG__V1__RAW_FIELD___DATE_DATE;
    field.date = &date;
    assert_true(reads_as(TYPE(TEXT)));
    assert_int_equal(strncmp(as.text, "2026-01-01", 10), 0);
    text = as.text;
    set_text(text);
    assert_true(reads_as(TYPE(DATE)));
    assert_int_equal(as.date->seconds, 1767225600);
    set_text("yesterday");
    assert_false(reads_as(TYPE(DATE)));
}

static void points_are_only_points(void **state)
{
    (void)state;
    set_text("55.7,37.6");
    assert_false(reads_as(TYPE(POINT)));
    begin(); /* no value at all */
    assert_false(reads_as(TYPE(TEXT)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_one_another),
        cmocka_unit_test(keywords_are_one_when_there_is_one),
        cmocka_unit_test(numbers_are_their_texts_and_back),
        cmocka_unit_test(a_fraction_of_zeros_is_none),
        cmocka_unit_test(truths_are_words),
        cmocka_unit_test(dates_are_written_as_they_are_read),
        cmocka_unit_test(points_are_only_points),
    };

    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
