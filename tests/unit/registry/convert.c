/* SPDX-License-Identifier: Apache-2.0 */
/* Documents become the index's: every type, numbers as columns keep them, and what does not fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "codec/message.h"
#include "index/bounds.h"
#include "registry/clients/convert.h"

#define TYPE(name) TORG__V1__SCHEMA_FIELD__TYPE__##name
#define SET(field, kind, KIND, value)                                                              \
    do {                                                                                           \
        Torg__V1__RawField *set = (field);                                                         \
        set->_##kind##_case = TORG__V1__RAW_FIELD___##KIND##_##KIND;                               \
        set->kind = (value);                                                                       \
    } while (0)

static const struct epoch_field fields[] = {
    {.number = 1, .type = TYPE(TEXT), .name = "title", .weight = 1},
    {.number = 2, .type = TYPE(KEYWORD), .name = "seller"},
    {.number = 3, .type = TYPE(INTEGER), .name = "price"},
    {.number = 4, .type = TYPE(DECIMAL), .name = "weight", .scale = 2},
    {.number = 5, .type = TYPE(DATE), .name = "made"},
    {.number = 6, .type = TYPE(BOOLEAN), .name = "new"},
    {.number = 7, .type = TYPE(CATEGORY), .name = "category"},
    {.number = 8, .type = TYPE(POINT), .name = "place"},
    {.number = 9, .type = TYPE(STORED), .name = "picture"},
    {.number = 10, .type = TYPE(KEYWORDS), .name = "colours", .value_count_max = 50},
};

enum { FIELD_COUNT = sizeof(fields) / sizeof(fields[0]), SLOT_COUNT = 32 };

static struct arena *arena;
static struct epoch_view epoch;
static Torg__V1__RawDocument *document;
static Torg__V1__IndexDocument converted;

/* The table of names, as clients_load.c makes it. */
static void make_slots(void)
{
    uint16_t *slots = arena_array(arena, SLOT_COUNT, sizeof(*slots));

    for (uint32_t i = 0; i < FIELD_COUNT; i++) {
        uint32_t at = (uint32_t)hash64(bytes_of(fields[i].name)) % SLOT_COUNT;

        while (slots[at])
            at = (at + 1) % SLOT_COUNT;
        slots[at] = (uint16_t)(i + 1);
    }
    epoch.slots = slots;
    epoch.slot_mask = SLOT_COUNT - 1;
}

static int set_up(void **state)
{
    (void)state;
    arena = arena_new();
    epoch = (struct epoch_view){.epoch = 3, .fields = fields, .field_count = FIELD_COUNT};
    make_slots();
    document = (Torg__V1__RawDocument *)message_new(&torg__v1__raw_document__descriptor, arena);
    document->pk = (char *)"bike-1";
    document->version = 7;
    document->fields = arena_array(arena, FIELD_COUNT, sizeof(document->fields[0]));
    torg__v1__index_document__init(&converted);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static Torg__V1__RawField *add(const char *name)
{
    Torg__V1__RawField *field =
        (Torg__V1__RawField *)message_new(&torg__v1__raw_field__descriptor, arena);

    field->name = (char *)name;
    document->fields[document->n_fields++] = field;
    return field;
}

static const Torg__V1__IndexValue *convert_one(void)
{
    struct err err = {0};

    if (convert_document(document, &epoch, arena, &converted, &err))
        fail_msg("%s", err.text);
    assert_int_equal(converted.n_values, document->n_fields);
    return converted.values[converted.n_values - 1];
}

static void refuse_one(int code, const char *part)
{
    struct err err = {0};

    assert_int_equal(convert_document(document, &epoch, arena, &converted, &err), code);
    if (!strstr(err.text, part))
        fail_msg("\"%s\" does not say %s", err.text, part);
}

static void texts_are_passed_on(void **state)
{
    (void)state;
    SET(add("title"), text, TEXT, (char *)"Red bicycle");
    assert_string_equal(convert_one()->texts[0], "Red bicycle");
    assert_int_equal(convert_one()->number, 1);
    SET(add("seller"), keyword, KEYWORD, (char *)"s-1");
    assert_string_equal(convert_one()->texts[0], "s-1");
    SET(add("category"), category, CATEGORY, (char *)"transport/bikes");
    assert_string_equal(convert_one()->texts[0], "transport/bikes");
    SET(add("picture"), stored, STORED, (char *)"a.jpg");
    assert_string_equal(convert_one()->texts[0], "a.jpg");
    assert_string_equal(converted.pk, "bike-1");
    assert_int_equal(converted.version, 7);
}

static void several_keywords_are_kept_in_order(void **state)
{
    char *colours[] = {(char *)"red", (char *)"blue"};
    Torg__V1__RawField *field = add("colours");

    (void)state;
    field->keywords = colours;
    field->n_keywords = 2;
    assert_int_equal(convert_one()->n_texts, 2);
    assert_string_equal(convert_one()->texts[1], "blue");
}

static void numbers_are_as_columns_keep_them(void **state)
{
    Google__Protobuf__Timestamp date = GOOGLE__PROTOBUF__TIMESTAMP__INIT;
    Torg__V1__GeoPoint point = TORG__V1__GEO_POINT__INIT;

    (void)state;
    SET(add("price"), integer, INTEGER, -15000);
    assert_int_equal(convert_one()->integer, -15000);
    SET(add("weight"), decimal, DECIMAL, (char *)"12.5");
    assert_int_equal(convert_one()->integer, 1250);
    date.seconds = 1800000000;
    date.nanos = 999;
    SET(add("made"), date, DATE, &date);
    assert_int_equal(convert_one()->integer, 1800000000);
    SET(add("new"), boolean, BOOLEAN, true);
    assert_int_equal(convert_one()->integer, 1);
    point.latitude = 55.75;
    point.longitude = -180;
    add("place")->point = &point;
    assert_int_equal(convert_one()->lat, 557500000);
    assert_int_equal(convert_one()->lon, -1800000000);
}

static void times_are_told(void **state)
{
    Google__Protobuf__Timestamp modified = GOOGLE__PROTOBUF__TIMESTAMP__INIT;
    Google__Protobuf__Timestamp expires = GOOGLE__PROTOBUF__TIMESTAMP__INIT;

    (void)state;
    modified.seconds = 5;
    modified.nanos = 7000;
    expires.seconds = 99;
    document->modify_timestamp = &modified;
    document->expire_time = &expires;
    SET(add("price"), integer, INTEGER, 1);
    convert_one();
    assert_int_equal(converted.modify_us, 5000007);
    assert_int_equal(converted.expires_at, 99);
}

static void an_unknown_field_does_not_fit(void **state)
{
    (void)state;
    SET(add("colour"), keyword, KEYWORD, (char *)"red");
    refuse_one(ERR_INVALID, "field colour: epoch 3 does not have it");
}

static void another_type_does_not_fit(void **state)
{
    (void)state;
    SET(add("price"), text, TEXT, (char *)"cheap");
    refuse_one(ERR_INVALID, "field price: it is integer in epoch 3, not text");
}

static void another_type_fits_where_nothing_is_lost(void **state)
{
    (void)state;
    SET(add("price"), decimal, DECIMAL, (char *)"-15.00");
    assert_int_equal(convert_one()->integer, -15);
    SET(add("weight"), integer, INTEGER, 12);
    assert_int_equal(convert_one()->integer, 1200);
}

static void a_fraction_is_no_integer(void **state)
{
    (void)state;
    SET(add("price"), decimal, DECIMAL, (char *)"15.50");
    refuse_one(ERR_INVALID, "field price: it is integer in epoch 3, not decimal");
}

static void a_decimal_with_too_many_digits_does_not_fit(void **state)
{
    (void)state;
    SET(add("weight"), decimal, DECIMAL, (char *)"12.505");
    refuse_one(ERR_INVALID, "field weight: \"12.505\" is not a number with at most 2 digits");
}

static void a_number_that_no_column_holds_does_not_fit(void **state)
{
    (void)state;
    SET(add("price"), integer, INTEGER, INT64_MAX);
    refuse_one(ERR_INVALID, "field price");
}

static void a_point_off_the_earth_does_not_fit(void **state)
{
    Torg__V1__GeoPoint point = TORG__V1__GEO_POINT__INIT;

    (void)state;
    point.latitude = 91;
    add("place")->point = &point;
    refuse_one(ERR_INVALID, "field place");
}

static void what_the_index_cannot_hold_does_not_fit(void **state)
{
    char *keywords[KEYWORD_VALUES_MAX + 1];
    char *long_text = arena_zero(arena, STORED_RECORD_SIZE_MAX + 2);
    Torg__V1__RawField *field = add("colours");

    (void)state;
    for (size_t i = 0; i <= KEYWORD_VALUES_MAX; i++)
        keywords[i] = (char *)"red";
    field->keywords = keywords;
    field->n_keywords = KEYWORD_VALUES_MAX + 1;
    refuse_one(ERR_LIMIT, "KEYWORD_VALUES_MAX");
    field->n_keywords = 1;
    memset(long_text, 'x', STORED_RECORD_SIZE_MAX + 1);
    keywords[0] = long_text;
    refuse_one(ERR_LIMIT, "KEYWORD_SIZE_MAX");
    document->n_fields = 0;
    SET(add("picture"), stored, STORED, long_text);
    refuse_one(ERR_LIMIT, "STORED_RECORD_SIZE_MAX");
}

static void a_schema_is_told_whole(void **state)
{
    const Torg__V1__IndexSchema *schema = convert_schema(&epoch, arena);

    (void)state;
    assert_int_equal(schema->n_fields, FIELD_COUNT);
    assert_string_equal(schema->fields[3]->name, "weight");
    assert_int_equal(schema->fields[3]->number, 4);
    assert_int_equal(schema->fields[3]->options->scale, 2);
    assert_int_equal(schema->fields[9]->options->value_count_max, 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(texts_are_passed_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(several_keywords_are_kept_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(numbers_are_as_columns_keep_them, set_up, tear_down),
        cmocka_unit_test_setup_teardown(times_are_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_unknown_field_does_not_fit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_type_does_not_fit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_type_fits_where_nothing_is_lost, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_fraction_is_no_integer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_decimal_with_too_many_digits_does_not_fit, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_number_that_no_column_holds_does_not_fit, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_point_off_the_earth_does_not_fit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_the_index_cannot_hold_does_not_fit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_schema_is_told_whole, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("registry/convert", tests, NULL, NULL);
}
