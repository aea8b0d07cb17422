/* SPDX-License-Identifier: Apache-2.0 */
/* What an offer's attribute values are refused for, field by field; and their canonical form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/memory.h"
#include "catalog/bounds.h"
#include "catalog/validate.h"
#include "codec/json.h"

static const char catalog_json[] =
    "{\"attributes\": ["
    "{\"id\": \"title\", \"name\": {\"ru\": \"Имя\", \"en\": \"Name\"}, \"type\": \"TEXT\","
    " \"lengthMin\": 2, \"lengthMax\": 5, \"required\": true},"
    "{\"id\": \"rooms\", \"name\": {\"ru\": \"Комнат\", \"en\": \"Rooms\"}, \"type\": \"INTEGER\","
    " \"min\": \"1\", \"max\": \"9\", \"units\": [{\"id\": \"pc\", \"name\": {\"ru\": \"шт\"}}]},"
    "{\"id\": \"volume\", \"name\": {\"ru\": \"Объём\", \"en\": \"Engine\"}, \"type\": \"DECIMAL\","
    " \"min\": \"0.5\", \"max\": \"10\", \"digits\": 1, \"units\": ["
    "  {\"id\": \"l\", \"name\": {\"ru\": \"л\", \"en\": \"l\"}},"
    "  {\"id\": \"cm3\", \"name\": {\"ru\": \"см³\", \"en\": \"cm³\"}, \"factor\": \"0.001\"}]},"
    "{\"id\": \"ratio\", \"name\": {\"ru\": \"Доля\", \"en\": \"Ratio\"}, \"type\": \"DECIMAL\"},"
    "{\"id\": \"lift\", \"name\": {\"ru\": \"Лифт\", \"en\": \"Lift\"}, \"type\": \"FLAG\"},"
    "{\"id\": \"year\", \"name\": {\"ru\": \"Год\", \"en\": \"Year\"}, \"type\": \"YEAR\","
    " \"min\": \"1900\", \"max\": \"2030\"},"
    "{\"id\": \"color\", \"name\": {\"ru\": \"Цвет\", \"en\": \"Colour\"}, \"type\": \"OPTION\","
    " \"options\": [{\"id\": \"red\", \"name\": {\"ru\": \"к\"}},"
    "  {\"id\": \"blue\", \"name\": {\"ru\": \"с\"}}, "
    "  {\"id\": \"green\", \"name\": {\"ru\": \"з\"}}]},"
    "{\"id\": \"extras\", \"name\": {\"ru\": \"Опции\", \"en\": \"Extras\"}, \"type\": \"OPTIONS\","
    " \"countMax\": 2, \"options\": [{\"id\": \"a\", \"name\": {\"ru\": \"a\"}},"
    "  {\"id\": \"b\", \"name\": {\"ru\": \"b\"}}, {\"id\": \"c\", \"name\": {\"ru\": \"c\"}}]}],"
    "\"categories\": [{\"id\": \"top\", \"name\": {\"ru\": \"Верх\", \"en\": \"Top\"},"
    " \"attributes\": [\"title\", \"rooms\", \"volume\", \"ratio\", \"lift\", \"year\","
    "  \"color\", \"extras\"]},"
    "{\"id\": \"low\", \"name\": {\"ru\": \"Низ\", \"en\": \"Low\"}, \"parent\": \"top\","
    " \"hidden\": [\"lift\"], \"overrides\": [{\"id\": \"color\", \"options\": [\"red\"]},"
    "  {\"id\": \"title\", \"required\": false}]}]}";

static struct catalog *catalog;

static int load(void **state)
{
    struct err err;

    if (catalog_from_json(bytes_of(catalog_json), NULL, &catalog, &err)) {
        print_message("# %s\n", err.text);
        return -1;
    }
    return 0;
}

static int unload(void **state)
{
    catalog_unref(catalog);
    return 0;
}

/* The values of a list written as JSON. */
static Torg__V1__AttributeValue **values_of(const char *json, struct arena *arena, size_t *count)
{
    Torg__V1__AttributeValue **values = arena_array(arena, 300, sizeof(values[0]));
    const char *end;

    /* One object after the other, separated by |. */
    for (*count = 0; *json; json = *end ? end + 1 : end) {
        ProtobufCMessage *message;
        struct err err;

        end = json + strcspn(json, "|");
        if (json_decode(bytes_make(json, (size_t)(end - json)),
                        &torg__v1__attribute_value__descriptor, arena, &message, NULL, &err))
            fail_msg("%s: %s", json, err.text);
        values[(*count)++] = (Torg__V1__AttributeValue *)message;
    }
    return values;
}

static const struct {
    const char *category;
    const char *values;
    const char *field;
    const char *reason;
} refusals[] = {
    {"low", "{\"attributeId\": \"none\", \"flag\": true}", "offer.attributes[0].attributeId",
     "the category \"Low\" has no attribute \"none\""},
    {"low", "{\"attributeId\": \"lift\", \"flag\": true}", "offer.attributes[0].attributeId",
     "the category \"Low\" has no attribute \"lift\""},
    {"low",
     "{\"attributeId\": \"year\", \"year\": 2000}|{\"attributeId\": \"year\", \"year\": 2001}",
     "offer.attributes[1].attributeId", "\"Year\" has a value at offer.attributes[0] too"},
    {"low", "{\"attributeId\": \"year\", \"integer\": 2000}", "offer.attributes[0].year",
     "\"Year\" needs a value in the field year"},
    {"low", "{\"attributeId\": \"year\"}", "offer.attributes[0].year", "needs a value"},
    {"low", "{\"attributeId\": \"year\", \"year\": 1899}", "offer.attributes[0].year",
     "1899 is below 1900, the minimum of \"Year\""},
    {"low", "{\"attributeId\": \"year\", \"year\": 2031}", "offer.attributes[0].year",
     "2031 is above 2030, the maximum of \"Year\""},
    {"low", "{\"attributeId\": \"year\", \"year\": 2000, \"options\": [\"a\"]}",
     "offer.attributes[0].options", "\"Year\" has no options"},
    {"low", "{\"attributeId\": \"year\", \"year\": 2000, \"unit\": \"m\"}",
     "offer.attributes[0].unit", "\"Year\" has no units"},
    {"low", "{\"attributeId\": \"rooms\", \"integer\": 10}", "offer.attributes[0].integer",
     "10 is above 9 шт, the maximum of \"Rooms\""},
    {"low", "{\"attributeId\": \"rooms\", \"integer\": \"9223372036854775807\"}",
     "offer.attributes[0].integer", "too large"},
    {"low", "{\"attributeId\": \"volume\", \"decimal\": \"17.5\"}", "offer.attributes[0].decimal",
     "17.5 l is above 10 l, the maximum of \"Engine\""},
    {"low", "{\"attributeId\": \"volume\", \"decimal\": \"400\", \"unit\": \"cm3\"}",
     "offer.attributes[0].decimal", "400 cm³ is below 0.5 l, the minimum of \"Engine\""},
    {"low", "{\"attributeId\": \"volume\", \"decimal\": \"1.55\"}", "offer.attributes[0].decimal",
     "1.55 has more than 1 digits after the point"},
    {"low", "{\"attributeId\": \"volume\", \"decimal\": \"1,5\"}", "offer.attributes[0].decimal",
     "\"1,5\" is not a number"},
    {"low", "{\"attributeId\": \"volume\", \"decimal\": \"1\", \"unit\": \"gal\"}",
     "offer.attributes[0].unit", "\"Engine\" is not measured in \"gal\"; in \"l\", for example"},
    {"low", "{\"attributeId\": \"title\", \"text\": \"x\"}", "offer.attributes[0].text",
     "1 characters; \"Name\" has at least 2"},
    {"low", "{\"attributeId\": \"title\", \"text\": \"шестью\"}", "offer.attributes[0].text",
     "6 characters; \"Name\" has at most 5"},
    {"low", "{\"attributeId\": \"title\", \"text\": \" \\n\"}", "offer.attributes[0].text",
     "\"Name\" is empty"},
    {"low", "{\"attributeId\": \"color\", \"text\": \"red\"}", "offer.attributes[0].text",
     "\"Colour\" is chosen from options"},
    {"low", "{\"attributeId\": \"color\"}", "offer.attributes[0].options", "has no value"},
    {"low", "{\"attributeId\": \"color\", \"options\": [\"blue\"]}",
     "offer.attributes[0].options[0]", "\"Colour\" has no option \"blue\" in this category"},
    {"low", "{\"attributeId\": \"extras\", \"options\": [\"a\", \"b\", \"c\"]}",
     "offer.attributes[0].options", "3 options; \"Extras\" has at most 2"},
    {"top",
     "{\"attributeId\": \"color\", \"options\": [\"red\", \"blue\"]}"
     "|{\"attributeId\": \"title\", \"text\": \"name\"}",
     "offer.attributes[0].options", "2 options; \"Colour\" has at most 1"},
    {"top", "{\"attributeId\": \"lift\", \"flag\": false}", "offer.attributes",
     "\"Name\" (title) is required here"},
};

static void each_fault_is_told_with_its_field(void **state)
{
    for (size_t i = 0; i < ARRAY_COUNT(refusals); i++) {
        struct arena *arena = arena_new();
        struct violations violations = violations_in(arena);
        size_t count;
        Torg__V1__AttributeValue **values = values_of(refusals[i].values, arena, &count);
        size_t added =
            catalog_validate_attributes(category_find(catalog, refusals[i].category), values, count,
                                        "offer.attributes", true, LANGUAGE_EN, &violations);

        if (added != 1 || strcmp(violations.first->field, refusals[i].field) != 0 ||
            !strstr(violations.first->reason, refusals[i].reason))
            fail_msg("%s: %zu: %s: %s", refusals[i].values, added,
                     added ? violations.first->field : "", added ? violations.first->reason : "");
        arena_free(arena);
    }
}

static void all_faults_are_told_at_once(void **state)
{
    struct arena *arena = arena_new();
    struct violations violations = violations_in(arena);
    size_t count;
    Torg__V1__AttributeValue **values =
        values_of("{\"attributeId\": \"year\", \"year\": 1}|{\"attributeId\": \"q\"}"
                  "|{\"attributeId\": \"color\", \"options\": [\"x\", \"y\"]}",
                  arena, &count);

    /* year, q, two unknown colours, too many colours, title */
    assert_int_equal(catalog_validate_attributes(category_find(catalog, "top"), values, count, "a",
                                                 true, LANGUAGE_RU, &violations),
                     6);
    /* A draft may lack what is required. */
    assert_int_equal(catalog_validate_attributes(category_find(catalog, "top"), values, count, "a",
                                                 false, LANGUAGE_RU, &violations),
                     5);
    arena_free(arena);
}

static void lists_have_a_limit(void **state)
{
    struct arena *arena = arena_new();
    struct violations violations = violations_in(arena);
    Torg__V1__AttributeValue value = TORG__V1__ATTRIBUTE_VALUE__INIT;
    Torg__V1__AttributeValue *values[CATALOG_VALUE_COUNT_MAX + 1];

    for (size_t i = 0; i < ARRAY_COUNT(values); i++)
        values[i] = &value;
    assert_int_equal(catalog_validate_attributes(category_find(catalog, "top"), values,
                                                 ARRAY_COUNT(values), "a", true, LANGUAGE_RU,
                                                 &violations),
                     1);
    assert_string_equal(violations.first->reason, "201 values; the limit is 200");
    arena_free(arena);
}

/* Forty options with one above each: thirty-two of them are sixty-four values. */
static void what_stands_above_options_counts(void **state)
{
    enum { TREE_COUNT = 40, FITS = CATALOG_CHOSEN_COUNT_MAX / 2 };
    struct arena *arena = arena_new();
    struct violations violations = violations_in(arena);
    struct buf json = BUF_INIT(1 << 20);
    struct catalog *deep;
    const struct attribute *attribute;
    Torg__V1__AttributeValue value = TORG__V1__ATTRIBUTE_VALUE__INIT;
    Torg__V1__AttributeValue *values[] = {&value};
    char *options[TREE_COUNT];
    struct err err;

    buf_printf(&json, "{\"attributes\": [{\"id\": \"fits\", \"name\": {\"en\": \"Fits\"}, "
                      "\"type\": \"OPTIONS\", \"options\": [");
    for (int i = 0; i < TREE_COUNT; i++) {
        buf_printf(&json,
                   "%s{\"id\": \"make%d\", \"name\": {\"en\": \"make %d\"}}, {\"id\": "
                   "\"model%d\", \"name\": {\"en\": \"model\"}, \"parent\": \"make%d\"}",
                   i ? ", " : "", i, i, i, i);
        options[i] = arena_printf(arena, "model%d", i);
    }
    buf_printf(&json, "]}], \"categories\": [{\"id\": \"a\", \"name\": {\"en\": \"A\"}, "
                      "\"attributes\": [\"fits\"]}]}");
    assert_int_equal(catalog_from_json(buf_bytes(&json), NULL, &deep, &err), 0);
    attribute = attribute_find(category_find(deep, "a"), "fits");
    assert_int_equal(attribute->count_max, CATALOG_CHOSEN_COUNT_MAX); /* of 80 */
    value.attribute_id = "fits";
    value.options = options;
    value.n_options = FITS;
    assert_int_equal(catalog_validate_attributes(category_find(deep, "a"), values, 1, "a", true,
                                                 LANGUAGE_EN, &violations),
                     0);
    value.n_options = FITS + 1;
    assert_int_equal(catalog_validate_attributes(category_find(deep, "a"), values, 1, "a", true,
                                                 LANGUAGE_EN, &violations),
                     1);
    assert_string_equal(violations.first->field, "a[0].options");
    assert_non_null(strstr(violations.first->reason, "more than 64 options"));
    assert_non_null(strstr(violations.first->reason, "\"Fits\""));
    catalog_unref(deep);
    buf_release(&json);
    arena_free(arena);
}

static void valid_values_get_their_canonical_form(void **state)
{
    struct arena *arena = arena_new();
    struct violations violations = violations_in(arena);
    const struct category *category = category_find(catalog, "top");
    size_t count;
    Torg__V1__AttributeValue **values =
        values_of("{\"attributeId\": \"extras\", \"options\": [\"c\", \"a\", \"c\"]}"
                  "|{\"attributeId\": \"volume\", \"decimal\": \"1598\", \"unit\": \"cm3\"}"
                  "|{\"attributeId\": \"ratio\", \"decimal\": \"-00.2500\"}"
                  "|{\"attributeId\": \"rooms\", \"integer\": 3}"
                  "|{\"attributeId\": \"lift\", \"flag\": false}"
                  "|{\"attributeId\": \"title\", \"text\": \"  имя \\n\"}",
                  arena, &count);

    /* Twice: the canonical form is valid, and its own canonical form. */
    for (int round = 0; round < 2; round++) {
        assert_int_equal(catalog_validate_attributes(category, values, count, "a", true,
                                                     LANGUAGE_RU, &violations),
                         0);
        catalog_normalize_attributes(category, values, count, arena);
        assert_int_equal(count, 6);
        assert_string_equal(values[0]->attribute_id, "title");
        assert_string_equal(values[0]->text, "имя");
        assert_string_equal(values[1]->attribute_id, "rooms");
        assert_string_equal(values[1]->unit, "pc");
        assert_string_equal(values[2]->decimal, "1.6");
        assert_string_equal(values[2]->unit, "l");
        assert_string_equal(values[3]->decimal, "-0.25");
        assert_string_equal(values[3]->unit, "");
        assert_string_equal(values[4]->attribute_id, "lift");
        assert_int_equal(values[5]->n_options, 2);
        assert_string_equal(values[5]->options[0], "a");
        assert_string_equal(values[5]->options[1], "c");
    }
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fault_is_told_with_its_field),
        cmocka_unit_test(all_faults_are_told_at_once),
        cmocka_unit_test(lists_have_a_limit),
        cmocka_unit_test(what_stands_above_options_counts),
        cmocka_unit_test(valid_values_get_their_canonical_form),
    };

    return cmocka_run_group_tests_name("catalog validate", tests, load, unload);
}
