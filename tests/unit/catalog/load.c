/* SPDX-License-Identifier: Apache-2.0 */
/* Everything a catalogue can be refused for, each told with its place; all at once; big ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "catalog/bounds.h"
#include "catalog/catalog.h"

/* Quotes are written as ' here, in what is read and in what is wanted. */
#define N(text) "'name': {'ru': '" text "'}"
#define ATTRIBUTE(id, rest) "{'id': '" id "', " N(id) ", " rest "}"
#define CATEGORY(id, rest) "{'id': '" id "', " N(id) rest "}"
#define TAKES(list) "'policy': {'currencies': [" list "]}"
#define ATTRIBUTES(list) "{'attributes': [" list "]}"
#define TREE(list) "{'attributes': [" STOCK "], 'categories': [" list "]}"
/* A few sound attributes to make categories of. */
#define STOCK                                                                                      \
    "{'id': 'text', 'name': {'ru': 'text'}, 'type': 'TEXT'}, "                                     \
    "{'id': 'count', 'name': {'ru': 'count'}, 'type': 'INTEGER', 'min': '1', 'max': '9'}, "        \
    "{'id': 'same', 'name': {'ru': 'x', 'en': 'TEXT'}, 'type': 'FLAG'}, "                          \
    "{'id': 'pick', 'name': {'ru': 'pick'}, 'type': 'OPTION', 'options': ["                        \
    "{'id': 'a', 'name': {'ru': 'a'}}, {'id': 'b', 'name': {'ru': 'b'}}]}"

static char *quoted(const char *text, struct arena *arena)
{
    char *copy = arena_strdup(arena, text);

    for (char *at = copy; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    return copy;
}

static const struct {
    const char *json;
    const char *field;
    const char *reason; /* a part of it */
} refusals[] = {
    /* attributes */
    {ATTRIBUTES("{" N("x") ", 'type': 'TEXT'}"), "attributes[0].id", "is not 1 to 64"},
    {ATTRIBUTES(ATTRIBUTE("Bad Id", "'type': 'TEXT'")), "attributes[0].id", "'Bad Id'"},
    {ATTRIBUTES("{'id': 'a', 'type': 'TEXT'}"), "attributes[0].name", "needs a name"},
    {ATTRIBUTES("{'id': 'a', " N(" a") ", 'type': 'TEXT'}"), "attributes[0].name.ru",
     "blanks at its ends"},
    {ATTRIBUTES(ATTRIBUTE("a", "'type': 'TEXT'") "," ATTRIBUTE("a", "'type': 'FLAG'")),
     "attributes[1].id", "'a' is the id of attributes[0] too"},
    {ATTRIBUTES(ATTRIBUTE("a", "'required': true")), "attributes[0].type", "expected TEXT"},
    {ATTRIBUTES(ATTRIBUTE("a", "'type': 99")), "attributes[0].type", "expected TEXT"},
    {ATTRIBUTES(ATTRIBUTE("a", "'type': 'TEXT', 'min': '1'")), "attributes[0].min",
     "only an INTEGER"},
    {ATTRIBUTES(ATTRIBUTE("a", "'type': 'INTEGER', 'min': 'one'")), "attributes[0].min",
     "'one' is not a number"},
    {ATTRIBUTES(ATTRIBUTE("a", "'type': 'INTEGER', 'max': '1.5'")), "attributes[0].max",
     "more than 0 digits"},
    {ATTRIBUTES(ATTRIBUTE("a", "'type': 'INTEGER', 'min': '3', 'max': '2'")), "attributes[0].min",
     "min 3 is above max 2"},
    {ATTRIBUTES(ATTRIBUTE("a", "'type': 'FLAG', 'lengthMax': 3")), "attributes[0].lengthMax",
     "only a TEXT"},
    {ATTRIBUTES(ATTRIBUTE("a", "'type': 'TEXT', 'lengthMax': 10001")), "attributes[0].lengthMax",
     "above the limit of 10000"},
    {ATTRIBUTES(ATTRIBUTE("a", "'type': 'TEXT', 'lengthMin': 5, 'lengthMax': 4")),
     "attributes[0].lengthMin", "5 is above lengthMax, 4"},
    {ATTRIBUTES(ATTRIBUTE("a", "'type': 'OPTION'")), "attributes[0].options", "0 options"},
    {ATTRIBUTES(ATTRIBUTE("a", "'type': 'FLAG', 'options': [" CATEGORY("x", "") "]")),
     "attributes[0].options", "only an OPTION"},
    {ATTRIBUTES(ATTRIBUTE(
         "a", "'type': 'OPTION', 'options': [" CATEGORY("x", "") "," CATEGORY("x", "") "]")),
     "attributes[0].options[1].id", "is the id of options[0] too"},
    {ATTRIBUTES(ATTRIBUTE(
         "a", "'type': 'OPTION', 'options': [{'id': 'x', " N("Да") "}, {'id': 'y', " N("да") "}]")),
     "attributes[0].options[1].name", "'x' and 'y' have the same name"},
    {ATTRIBUTES(ATTRIBUTE("a", "'type': 'OPTION', 'options': [" CATEGORY(
                                   "x", ", 'parent': 'y'") "," CATEGORY("y", "") "]")),
     "attributes[0].options[0].parent", "no option 'y' stands before it"},
    {ATTRIBUTES(
         ATTRIBUTE("a", "'type': 'OPTION', 'countMax': 2, 'options': [" CATEGORY("x", "") "]")),
     "attributes[0].countMax", "only OPTIONS"},
    {ATTRIBUTES(ATTRIBUTE("a", "'type': 'TEXT', 'filter': 'RANGE'")), "attributes[0].filter",
     "RANGE is for"},
    {ATTRIBUTES(ATTRIBUTE("a", "'type': 'TEXT', 'filter': 'TOGGLE'")), "attributes[0].filter",
     "TOGGLE is for a FLAG"},
    {ATTRIBUTES(ATTRIBUTE("a", "'type': 'FLAG', 'filter': 'LIST'")), "attributes[0].filter",
     "LIST is for"},
    {ATTRIBUTES(ATTRIBUTE("a", "'type': 'FLAG', 'filter': 'TREE'")), "attributes[0].filter",
     "TREE is for"},
    {ATTRIBUTES(ATTRIBUTE("a", "'type': 'TEXT', 'units': [" CATEGORY("m", "") "]")),
     "attributes[0].units", "at most 0"},
    {ATTRIBUTES(ATTRIBUTE("a", "'type': 'INTEGER', 'units': [" CATEGORY("m", "") "," CATEGORY(
                                   "km", ", 'factor': '1000'") "]")),
     "attributes[0].units", "at most 1"},
    {ATTRIBUTES(
         ATTRIBUTE("a", "'type': 'DECIMAL', 'units': [" CATEGORY("m", ", 'factor': '2'") "]")),
     "attributes[0].units[0].factor", "the first unit is the base"},
    {ATTRIBUTES(ATTRIBUTE(
         "a", "'type': 'DECIMAL', 'units': [" CATEGORY("m", "") "," CATEGORY("km", "") "]")),
     "attributes[0].units[1].factor", "how many m one km is"},
    {ATTRIBUTES(ATTRIBUTE("a", "'type': 'DECIMAL', 'units': [" CATEGORY("m", "") "," CATEGORY(
                                   "km", ", 'factor': '-1'") "]")),
     "attributes[0].units[1].factor", "'-1' is not a number above 0"},
    {ATTRIBUTES(ATTRIBUTE("a", "'type': 'DECIMAL', 'units': [" CATEGORY("m", "") "," CATEGORY(
                                   "m", ", 'factor': '3'") "]")),
     "attributes[0].units[1].id", "is the id of units[0] too"},
    {ATTRIBUTES(ATTRIBUTE("a", "'type': 'DECIMAL', 'digits': 7")), "attributes[0].digits",
     "at most 6"},
    {ATTRIBUTES(ATTRIBUTE("a", "'type': 'INTEGER', 'digits': 1")), "attributes[0].digits",
     "only a DECIMAL"},
    /* the tree */
    {TREE("{" N("x") "}"), "categories[0].id", "is not 1 to 64"},
    {TREE("{'id': 'a'}"), "categories[0].name", "needs a name"},
    {TREE(CATEGORY("a", "") "," CATEGORY("a", "")), "categories[1].id",
     "is the id of categories[0] too"},
    {TREE(CATEGORY("a", ", 'parent': 'z'")), "categories[0].parent", "there is no category 'z'"},
    {TREE(CATEGORY("a", ", 'parent': 'a'")), "categories[0].parent", "a circle: a > a"},
    {TREE(CATEGORY("a", ", 'parent': 'c'") "," CATEGORY("b", ", 'parent': 'a'") "," CATEGORY(
         "c", ", 'parent': 'b'") "," CATEGORY("d", ", 'parent': 'c'")),
     "categories[0].parent", "a circle: a > c > b > a"},
    {TREE(CATEGORY("a", ", 'synonyms': {'ru': ['']}")), "categories[0].synonyms.ru",
     "the synonym at 0 is empty"},
    /* inheritance */
    {TREE(CATEGORY("a", ", 'attributes': ['none']")), "categories[0].attributes[0]",
     "no attribute 'none' is defined"},
    {TREE(CATEGORY("a", ", 'attributes': ['text', 'text']")), "categories[0].attributes[1]",
     "'a' adds the attribute 'text', which it has already, from 'a'"},
    {TREE(CATEGORY("a", ", 'attributes': ['text']") "," CATEGORY(
         "b", ", 'parent': 'a', 'attributes': ['text']")),
     "categories[1].attributes[0]",
     "'b' adds the attribute 'text', which it has already, from 'a'"},
    {TREE(CATEGORY("a", ", 'attributes': ['text']") "," CATEGORY(
         "b", ", 'parent': 'a', 'attributes': ['same']")),
     "categories[1]",
     "two attributes of 'b' have the name 'TEXT': 'text' (from 'a') and 'same' (from "
     "'b')"},
    {TREE(CATEGORY("a", ", 'attributes': ['text', 'count'], 'overrides': [{'id': "
                        "'count', " N("Text") "}]")),
     "categories[0]", "'text' (from 'a') and 'count' (from 'a')"},
    {TREE(CATEGORY("a", ", 'hidden': ['text']")), "categories[0].hidden[0]",
     "'a' inherits no attribute 'text' that it could hide"},
    {TREE(CATEGORY("a", ", 'overrides': [{'id': 'text'}]")), "categories[0].overrides[0].id",
     "'a' has no attribute 'text' to override"},
    {TREE(CATEGORY("a", ", 'attributes': ['text']") "," CATEGORY(
         "b", ", 'parent': 'a', 'hidden': ['text'], 'overrides': [{'id': 'text'}]")),
     "categories[1].overrides[0].id", "'b' has no attribute 'text' to override"},
    {TREE(CATEGORY("a", ", 'attributes': ['count'], 'overrides': [{'id': 'count'}, "
                        "{'id': 'count'}]")),
     "categories[0].overrides[1].id", "overrides[0] is of 'count' too"},
    {TREE(CATEGORY("a", ", 'attributes': ['count'], 'overrides': [{'id': 'count', "
                        "'min': '10'}]")),
     "categories[0].overrides[0].min", "min 10 is above max 9"},
    {TREE(CATEGORY("a", ", 'attributes': ['pick'], 'overrides': [{'id': 'pick', "
                        "'options': ['a', 'z']}]")),
     "categories[0].overrides[0].options", "'pick' has no option 'z'"},
    {TREE(CATEGORY("a", ", 'attributes': ['pick'], 'overrides': [{'id': 'pick', "
                        "'options': ['a', 'a']}]")),
     "categories[0].overrides[0].options", "'a' comes twice"},
    {TREE(CATEGORY("a", ", 'attributes': ['same'], 'overrides': [{'id': 'same', "
                        "'filter': 'LIST'}]")),
     "categories[0].overrides[0].filter", "LIST is for"},
    /* filters and rules */
    {TREE(CATEGORY("a", ", 'filters': ['PRICE', 'PRICE']")), "categories[0].filters",
     "comes twice"},
    {TREE(CATEGORY("a", ", 'hiddenFilters': ['PRICE']")), "categories[0].hiddenFilters",
     "inherits no filter PRICE"},
    {TREE(CATEGORY("a", ", 'filters': ['PRICE']") "," CATEGORY(
         "b", ", 'parent': 'a', 'filters': ['PRICE']")),
     "categories[1].filters", "'b' has the filter PRICE already"},
    {TREE(CATEGORY("a", ", 'filters': [77]")), "categories[0].filters", "no standard filter 77"},
    {TREE(CATEGORY("a", ", 'policy': {'photosMax': 101}")), "categories[0].policy.photosMax",
     "101 is not between 0 and 100"},
    {TREE(CATEGORY("a", ", 'policy': {'photosMin': 11}")), "categories[0].policy.photosMin",
     "the minimum, 11, is above the maximum, 10"},
    {TREE(CATEGORY("a", ", 'policy': {'titleMin': 200}")), "categories[0].policy.titleMin",
     "above the maximum, 100"},
    {TREE(CATEGORY("a", ", 'policy': {'lifetimeDays': 0}")), "categories[0].policy.lifetimeDays",
     "0 is not between 1 and 3650"},
    {TREE(CATEGORY("a", ", 'policy': {'currencies': ['rub']}")), "categories[0].policy.currencies",
     "'rub' is not a currency"},
    {TREE(CATEGORY("a", ", 'policy': {'currencies': ['RUB', 'RUB']}")),
     "categories[0].policy.currencies", "'RUB' comes twice"},
    {TREE(CATEGORY("a", ", 'policy': {'photosMax': 0, 'publish': 'WITH_PHOTO'}")),
     "categories[0].policy.publish", "without photos"},
    {"{'defaults': {'policy': {'titleMax': 501}}}", "defaults.policy.titleMax",
     "501 is not between 1 and 500"},
    {"{'defaults': {'filters': ['PRICE', 'PRICE']}}", "defaults.filters", "comes twice"},
    /* and what the reader of JSON finds */
    {"{'categories': [{'id': 'a', 'nmae': {}}]}", "categories[0].nmae", ""},
};

static void each_fault_is_told_with_its_place(void **state)
{
    for (size_t i = 0; i < ARRAY_COUNT(refusals); i++) {
        struct arena *arena = arena_new();
        struct violations violations = violations_in(arena);
        const struct bytes json = bytes_of(quoted(refusals[i].json, arena));
        const char *reason = quoted(refusals[i].reason, arena);
        struct catalog *catalog;
        struct err err;
        int rc = catalog_from_json(json, &violations, &catalog, &err);

        if (!rc)
            fail_msg("%s: taken", refusals[i].json);
        assert_int_equal(rc, ERR_INVALID);
        assert_null(catalog);
        if (violations.count != 1 || strcmp(violations.first->field, refusals[i].field) != 0 ||
            !strstr(violations.first->reason, reason))
            fail_msg("%s: %zu: %s: %s", refusals[i].json, violations.count,
                     violations.first ? violations.first->field : "", err.text);
        /* Without a list the first one is told. */
        assert_int_equal(catalog_from_json(json, NULL, &catalog, &err), ERR_INVALID);
        if (!strstr(err.text, reason))
            fail_msg("%s: %s", refusals[i].json, err.text);
        arena_free(arena);
    }
}

static void all_faults_are_told_at_once(void **state)
{
    static const char json[] =
        "{'attributes': [{'id': 'a', 'name': {'ru': 'a'}, 'type': 'TEXT', 'min': '1'}, "
        "{'id': 'b', 'name': {'ru': 'b'}, 'filter': 'NONE'}], 'categories': ["
        "{'id': 'x', 'name': {'ru': 'x'}, 'parent': 'q'}, "
        "{'id': 'y', 'name': {'ru': 'y'}, 'parent': 'z'}, "
        "{'id': 'z', 'name': {'ru': 'z'}, 'parent': 'y'}, "
        "{'id': 'w', 'name': {'ru': 'w'}, 'hidden': ['a'], 'attributes': ['q']}]}";
    static const char *const fields[] = {"attributes[0].min",           "attributes[1].type",
                                         "categories[0].parent",        "categories[3].hidden[0]",
                                         "categories[3].attributes[0]", "categories[1].parent"};
    struct arena *arena = arena_new();
    struct violations violations = violations_in(arena);
    const struct violation *at;
    struct catalog *catalog;
    struct err err;

    assert_int_equal(catalog_from_json(bytes_of(quoted(json, arena)), &violations, &catalog, &err),
                     ERR_INVALID);
    assert_int_equal(violations.count, ARRAY_COUNT(fields));
    at = violations.first;
    for (size_t i = 0; i < ARRAY_COUNT(fields); i++, at = at->next)
        assert_string_equal(at->field, fields[i]);
    arena_free(arena);
}

/* --- limits --- */

static size_t depth_of(size_t category, size_t fan)
{
    size_t depth = 0;

    for (; category; category = (category - 1) / fan)
        depth++;
    return depth;
}

/* A chain or a wide tree of `count` categories under one another or under the first. */
static void put_tree(struct buf *out, size_t count, size_t fan)
{
    buf_put_text(out, "{\"attributes\": [");
    for (size_t i = 0; i < 200; i++)
        buf_printf(out,
                   "%s{\"id\": \"a%zu\", \"name\": {\"ru\": \"Свойство %zu\", \"en\": \"Trait "
                   "%zu\"}, \"type\": \"INTEGER\", \"filter\": \"RANGE\", \"max\": \"100\"}",
                   i ? "," : "", i, i, i);
    buf_put_text(out, "], \"categories\": [");
    for (size_t i = 0; i < count; i++) {
        buf_printf(out,
                   "%s{\"id\": \"c%zu\", \"name\": {\"ru\": \"Раздел номер %zu\", \"en\": "
                   "\"Section number %zu\"}, \"synonyms\": {\"ru\": [\"слово%zu\", \"ещё "
                   "слово\"], \"en\": [\"word%zu\"]}, \"policy\": {\"photosMax\": %zu}",
                   i ? ",\n" : "", i, i, i, i, i, i % 50);
        if (i)
            buf_printf(out, ", \"parent\": \"c%zu\"", (i - 1) / fan);
        if (i < 15)
            buf_printf(out, ", \"attributes\": [\"a%zu\", \"a%zu\"]", i, i + 15);
        else
            buf_printf(out,
                       ", \"attributes\": [\"a%zu\"], \"overrides\": [{\"id\": \"a0\", \"max\": "
                       "\"%zu\"}]",
                       30 + depth_of(i, fan) * 15 + i % 15, 1 + i % 99);
        buf_put_text(out, "}");
    }
    buf_put_text(out, "]}");
    assert_false(buf_failed(out));
}

static void depth_and_sizes_have_limits(void **state)
{
    struct buf json = BUF_INIT(CATALOG_FILE_SIZE_MAX);
    struct arena *arena = arena_new();
    struct violations violations = violations_in(arena);
    struct catalog *catalog;
    struct err err;

    put_tree(&json, CATALOG_DEPTH_MAX, 1);
    assert_int_equal(catalog_from_json(buf_bytes(&json), NULL, &catalog, &err), 0);
    catalog_unref(catalog);
    buf_reset(&json);
    put_tree(&json, CATALOG_DEPTH_MAX + 3, 1);
    assert_int_equal(catalog_from_json(buf_bytes(&json), &violations, &catalog, &err), ERR_INVALID);
    assert_int_equal(violations.count, 1);
    assert_string_equal(violations.first->field, "categories[12].parent");
    assert_non_null(strstr(violations.first->reason, "deeper than 12 levels"));

    buf_reset(&json);
    buf_put_text(&json, "{\"categories\": [");
    for (int i = 0; i <= CATALOG_CATEGORY_COUNT_MAX; i++)
        buf_printf(&json, "%s{\"id\": \"c%d\", \"name\": {\"ru\": \"x\"}}", i ? "," : "", i);
    buf_put_text(&json, "]}");
    assert_int_equal(catalog_from_json(buf_bytes(&json), NULL, &catalog, &err), ERR_INVALID);
    assert_non_null(strstr(err.text, "20001 categories; the limit is 20000"));
    buf_release(&json);
    arena_free(arena);
}

static void more_faults_than_the_list_holds_are_counted(void **state)
{
    struct buf json = BUF_INIT(CATALOG_FILE_SIZE_MAX);
    struct arena *arena = arena_new();
    struct violations violations = violations_in(arena);
    struct catalog *catalog;
    struct err err;

    buf_put_text(&json, "{\"categories\": [");
    for (int i = 0; i < 500; i++)
        buf_printf(&json, "%s{\"id\": \"c%d\", \"parent\": \"none\"}", i ? "," : "", i);
    buf_put_text(&json, "]}");
    assert_int_equal(catalog_from_json(buf_bytes(&json), &violations, &catalog, &err), ERR_INVALID);
    assert_int_equal(violations.count, 1000); /* no name, no parent */
    buf_release(&json);
    arena_free(arena);
}

static int64_t processor_us(void)
{
    struct timespec spent;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    return (int64_t)spent.tv_sec * SECOND_US + spent.tv_nsec / 1000;
}

/* The promise is a second; the bound here is loose, because sanitizers are slow, and of the
 * processor's time, because others use the machine too. What it must catch is work that grows with
 * the square of the tree: minutes. */
static void fifteen_thousand_categories_load_in_time(void **state)
{
    struct buf json = BUF_INIT(CATALOG_FILE_SIZE_MAX);
    const struct category *category;
    struct catalog *catalog;
    int64_t start_us;
    int64_t spent_us;
    struct err err;

    put_tree(&json, 15000, 5);
    start_us = processor_us();
    if (catalog_from_json(buf_bytes(&json), NULL, &catalog, &err))
        fail_msg("%s", err.text);
    spent_us = processor_us() - start_us;
    print_message("# 15000 categories, %zu bytes: %" PRId64 " ms\n", json.size, spent_us / MS_US);
    assert_true(spent_us < 20 * (int64_t)SECOND_US);
    category = category_find(catalog, "c14999");
    assert_non_null(category);
    assert_int_equal(category->policy.photos_max, 14999 % 50);
    assert_int_equal(attribute_find(category, "a0")->max.millionths,
                     (1 + 14999 % 99) * (int64_t)DECIMAL_ONE);
    catalog_unref(catalog);
    buf_release(&json);
}

static void prices_are_compared_in_the_first_currency(void **state)
{
    static const struct {
        const char *json, *currency;
    } cases[] = {
        {"{}", "RUB"},
        {"{'categories': [" CATEGORY("a", "") "]}", "RUB"},
        {"{'defaults': {" TAKES("'EUR', 'USD'") "}, 'categories': [{'id': 'a', " N("a") ", " TAKES(
             "'USD'") "}]}",
         "EUR"},
        /* Who names them in categories only: that of the first at the top. */
        {"{'categories': [{'id': 'a', 'parent': 'b', " N("a") ", " TAKES(
             "'USD'") "}, {'id': 'b', " N("b") ", " TAKES("'KZT', 'USD'") "}]}",
         "KZT"},
    };
    struct arena *arena = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct catalog *catalog;
        struct err err;

        if (catalog_from_json(bytes_of(quoted(cases[i].json, arena)), NULL, &catalog, &err))
            fail_msg("%s: %s", cases[i].json, err.text);
        assert_string_equal(catalog_currency(catalog), cases[i].currency);
        catalog_unref(catalog);
    }
    arena_free(arena);
}

static void the_demo_catalogue_is_what_was_promised(void **state)
{
    struct buf json = BUF_INIT(CATALOG_FILE_SIZE_MAX);
    struct catalog *catalog;
    struct err err;
    size_t count;
    size_t top_count;
    const struct category *const *categories;

    if (file_read(DEMO_CATALOG, &json, &err) ||
        catalog_from_json(buf_bytes(&json), NULL, &catalog, &err))
        fail_msg("%s", err.text);
    categories = catalog_categories(catalog, &count);
    catalog_top(catalog, &top_count);
    assert_true(count >= 150);
    assert_true(top_count >= 12);
    assert_true(catalog_attribute_count(catalog) >= 60);
    for (size_t i = 0; i < count; i++) {
        const Torg__V1__LocalText *name = categories[i]->message->name;

        if (!*name->ru || !*name->en)
            fail_msg("%s lacks a language", categories[i]->id);
        /* Every descendant of Jobs has a salary and no condition. */
        if (category_is_within(categories[i], category_find(catalog, "jobs"))) {
            assert_true(category_has_filter(categories[i], TORG__V1__CATEGORY__FILTER__SALARY));
            assert_false(category_has_filter(categories[i], TORG__V1__CATEGORY__FILTER__CONDITION));
        }
    }
    catalog_unref(catalog);
    buf_release(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fault_is_told_with_its_place),
        cmocka_unit_test(all_faults_are_told_at_once),
        cmocka_unit_test(depth_and_sizes_have_limits),
        cmocka_unit_test(more_faults_than_the_list_holds_are_counted),
        cmocka_unit_test(fifteen_thousand_categories_load_in_time),
        cmocka_unit_test(prices_are_compared_in_the_first_currency),
        cmocka_unit_test(the_demo_catalogue_is_what_was_promised),
    };

    return cmocka_run_group_tests_name("catalog load", tests, NULL, NULL);
}
