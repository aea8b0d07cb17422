/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of schema/schema.h beside the official suite: where a schema and a value are refused,
 * and hostile ones of both.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "schema/schema.h"

static struct err err;

static void refused(const char *json, const char *reason)
{
    struct json_schema *schema;

    assert_true(json_schema_compile(bytes_of(json), NULL, &schema, &err) < 0);
    assert_null(schema);
    if (!strstr(err.text, reason))
        fail_msg("%s", err.text);
}

static int check(const char *schema_json, const char *json)
{
    struct arena *arena = arena_new();
    const struct placed_json *value;
    struct json_schema *schema;
    int rc;

    if (json_schema_compile(bytes_of(schema_json), NULL, &schema, &err))
        fail_msg("%s", err.text);
    if (placed_json_read(bytes_of(json), arena, &value, &err))
        fail_msg("%s", err.text);
    rc = json_schema_check(schema, value, arena, &err);
    json_schema_free(schema);
    arena_free(arena);
    return rc;
}

static void schemas_are_refused_with_their_place(void **state)
{
    refused("{\n  \"properties\": {\n    \"a\": {\"type\": \"strin\"}\n  }\n}",
            "#/properties/a/type (line 3, column 19): there is no type \"strin\"");
    refused("{\"items\": {\"pattern\": \"(a\"}}",
            "#/items/pattern (line 1, column 23): pattern, byte 1: the group has no end");
    refused("{\"patternProperties\": {\"[\": {}}}", "#/patternProperties/[ ");
    refused("{\"$ref\": \"#/definitions/a\"}", "#/$ref (line 1, column 10): "
                                               "\"#/definitions/a\" leads to nothing");
    refused("{\"$ref\": \"http://example.com/s\"}", "schemas are never fetched");
    refused("{\"properties\": {\"a~/b\": {\"minLength\": -1}}}",
            "#/properties/a~0~1b/minLength (line 1, column 39): minLength: expected a count");
    refused("{\"multipleOf\": 0}", "expected a number above 0");
    refused("{\"required\": \"a\"}", "expected a list of strings, found string");
    refused("{\"allOf\": []}", "at least one schema");
    refused("{\"enum\": []}", "at least one value");
    refused("{\"items\": 5}", "#/items (line 1, column 11)");
    refused("{\"additionalProperties\": 1}", "expected true, false or a schema");
    refused("[]", "expected a schema");
    refused("{\"type\": \"string\",}", "line 1, column 19: expected a key");
}

static void circles_are_refused(void **state)
{
    refused("{\"$ref\": \"#\"}", "leads back to itself");
    refused("{\"allOf\": [{\"$ref\": \"#\"}]}", "leads back to itself");
    refused("{\"definitions\": {\"a\": {\"anyOf\": [{\"$ref\": \"#/definitions/b\"}]}, "
            "\"b\": {\"not\": {\"$ref\": \"#/definitions/a\"}}}}",
            "leads back to itself");
    /* One that goes deeper each time is none. */
    assert_int_equal(check("{\"properties\": {\"next\": {\"$ref\": \"#\"}}, \"type\": \"object\"}",
                           "{\"next\": {\"next\": {}}}"),
                     0);
    assert_int_equal(check("{\"properties\": {\"next\": {\"$ref\": \"#\"}}, \"type\": \"object\"}",
                           "{\"next\": {\"next\": 1}}"),
                     ERR_INVALID);
    assert_string_equal(err.text, "/next/next: expected object, found number");
}

static void values_are_refused_with_their_place(void **state)
{
    assert_int_equal(check("{\"properties\": {\"a/b\": {\"items\": {\"maximum\": 3}}}}",
                           "{\"a/b\": [1, 2, 3.5]}"),
                     ERR_INVALID);
    assert_string_equal(err.text, "/a~1b/2: 3.5 is above the maximum");
    assert_int_equal(check("{\"required\": [\"x\"]}", "{}"), ERR_INVALID);
    assert_string_equal(err.text, "/: the property \"x\" is missing");
    assert_int_equal(check("{\"enum\": [1, \"b\"]}", "2"), ERR_INVALID);
    assert_string_equal(err.text, "/: expected one of the listed values: [1,\"b\"]");
    assert_int_equal(check("{\"maximum\": 0.1}", "0.10000000000000000000000000000000000001"),
                     ERR_INVALID);
    assert_int_equal(check("{\"multipleOf\": 0.01}", "1e99999"), 0);
    assert_int_equal(check("{\"uniqueItems\": true}", "[1, {\"a\": 1, \"b\": 2}, "
                                                      "{\"b\": 2.0, \"a\": 1e0}]"),
                     ERR_INVALID);
}

/* a0 = allOf[a1, a1], a1 = allOf[a2, a2], …: two to the power of n steps, unless they are counted.
 */
static void steps_are_bounded(void **state)
{
    struct buf text = BUF_INIT(1 << 20);
    unsigned i;

    buf_put_text(&text, "{\"$ref\": \"#/definitions/a0\", \"definitions\": {");
    for (i = 0; i < 28; i++)
        buf_printf(&text,
                   "\"a%u\": {\"allOf\": [{\"$ref\": \"#/definitions/a%u\"}, "
                   "{\"$ref\": \"#/definitions/a%u\"}]},",
                   i, i + 1, i + 1);
    buf_put_text(&text, "\"a28\": {\"type\": \"integer\"}}}");
    assert_int_equal(check(buf_text(&text), "1"), ERR_LIMIT);
    assert_non_null(strstr(err.text, "SCHEMA_STEP_COUNT_MAX"));
    buf_release(&text);
}

static void chains_and_depth_are_bounded(void **state)
{
    struct buf text = BUF_INIT(1 << 20);
    struct arena *arena = arena_new();
    const struct placed_json *value;
    unsigned i;

    buf_put_text(&text, "{\"definitions\": {");
    for (i = 0; i < 200; i++)
        buf_printf(&text, "\"a%u\": {\"$ref\": \"#/definitions/a%u\"},", i, i + 1);
    buf_put_text(&text, "\"a200\": {}}}");
    refused(buf_text(&text), "SCHEMA_CHAIN_MAX");
    buf_reset(&text);
    for (i = 0; i < 100; i++)
        buf_put_byte(&text, '[');
    assert_int_equal(placed_json_read(buf_bytes(&text), arena, &value, &err), ERR_LIMIT);
    assert_non_null(strstr(err.text, "line 1, column 65: nested too deeply"));
    buf_release(&text);
    arena_free(arena);
}

static void trees_are_read_strictly(void **state)
{
    static const struct {
        const char *json, *reason;
    } cases[] = {
        {"{\"a\": 1,\n \"a\": 2}", "line 2, column 7: a key that comes twice"},
        {"\"\\ud800\"", "half of a surrogate pair"},
        {"\"\\x\"", "line 1, column 2: an unknown escape"},
        {"[1 2]", "line 1, column 4: expected a comma"},
        {"01", "line 1, column 2: expected the end"},
        {"1e999999", "too many digits"},
        {"\"a", "the string does not end"},
        {"\"a\\\"", "the string does not end"},
        {"", "found the end"},
        {"nul", "expected a JSON value"},
        {"\"\n\"", "a control character"},
        {"\xff", "not valid UTF-8"},
    };
    struct arena *arena = arena_new();
    const struct placed_json *value;
    size_t i;

    for (i = 0; i < ARRAY_COUNT(cases); i++) {
        assert_true(placed_json_read(bytes_of(cases[i].json), arena, &value, &err) < 0);
        if (!strstr(err.text, cases[i].reason))
            fail_msg("%s: %s", cases[i].json, err.text);
    }
    assert_int_equal(placed_json_read(bytes_of("\"\\ud83d\\udc32\\u0000\""), arena, &value, &err),
                     0);
    assert_int_equal(value->text.size, 5);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schemas_are_refused_with_their_place),
        cmocka_unit_test(circles_are_refused),
        cmocka_unit_test(values_are_refused_with_their_place),
        cmocka_unit_test(steps_are_bounded),
        cmocka_unit_test(chains_and_depth_are_bounded),
        cmocka_unit_test(trees_are_read_strictly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
