/* SPDX-License-Identifier: Apache-2.0 */
/* filter_text.c - filters as people write them: what they mean, and what is told of those that mean
 * nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "codec/json.h"
#include "query/request/filter_text.h"

static const char *read(struct arena *arena, const char *text)
{
    struct buf out = BUF_INIT(1 << 20);
    Torg__V1__Filter *filter;
    struct err err = {0};
    const char *json;

    if (filter_text_read(bytes_of(text), arena, &filter, &err)) {
        assert_null(filter);
        return arena_strdup(arena, err.text);
    }
    if (!filter)
        return "";
    json_encode(&filter->base, &out);
    json = arena_text(arena, buf_bytes(&out));
    buf_release(&out);
    return json;
}

static void conditions_become_messages(void **state)
{
    static const struct {
        const char *text, *json;
    } cases[] = {
        {"", ""},
        {"   ", ""},
        {"colour=red", "{\"in\":{\"field\":\"colour\",\"values\":[\"red\"]}}"},
        {"Цвет = \"тёмно-синий \\\"X\\\"\"",
         "{\"in\":{\"field\":\"cvet\",\"values\":[\"тёмно-синий \\\"X\\\"\"]}}"},
        {"price >= 5", "{\"range\":{\"field\":\"price\",\"min\":\"5\"}}"},
        {"price<=5.50", "{\"range\":{\"field\":\"price\",\"max\":\"5.50\"}}"},
        {"price<10", "{\"and\":{\"of\":[{\"exists\":\"price\"},"
                     "{\"not\":{\"range\":{\"field\":\"price\",\"min\":\"10\"}}}]}}"},
        {"price > -1", "{\"and\":{\"of\":[{\"exists\":\"price\"},"
                       "{\"not\":{\"range\":{\"field\":\"price\",\"max\":\"-1\"}}}]}}"},
        {"price = 5..10", "{\"range\":{\"field\":\"price\",\"min\":\"5\",\"max\":\"10\"}}"},
        {"price = ..10", "{\"range\":{\"field\":\"price\",\"max\":\"10\"}}"},
        {"a != 1", "{\"not\":{\"in\":{\"field\":\"a\",\"values\":[\"1\"]}}}"},
        {"a IN (1, \"b c\")", "{\"in\":{\"field\":\"a\",\"values\":[\"1\",\"b c\"]}}"},
        {"a in [x,y]", "{\"in\":{\"field\":\"a\",\"values\":[\"x\",\"y\"]}}"},
        {"a EXISTS", "{\"exists\":\"a\"}"},
        {"c under transport/cars",
         "{\"subtree\":{\"field\":\"c\",\"values\":[\"transport/cars\"]}}"},
        {"at NEAR (55.75, 37.62, 5km)",
         "{\"radius\":{\"field\":\"at\",\"center\":{\"latitude\":55.75,\"longitude\":37.62},"
         "\"meters\":5000}}"},
        {"not a=1", "{\"not\":{\"in\":{\"field\":\"a\",\"values\":[\"1\"]}}}"},
        {"not not a=1", "{\"in\":{\"field\":\"a\",\"values\":[\"1\"]}}"},
        {"a EXISTS and b EXISTS && c EXISTS",
         "{\"and\":{\"of\":[{\"exists\":\"a\"},{\"exists\":\"b\"},{\"exists\":\"c\"}]}}"},
        {"a EXISTS or b EXISTS and c EXISTS",
         "{\"or\":{\"of\":[{\"exists\":\"a\"},{\"and\":{\"of\":[{\"exists\":\"b\"},"
         "{\"exists\":\"c\"}]}}]}}"},
        {"(a EXISTS || b EXISTS) AND !c EXISTS",
         "{\"and\":{\"of\":[{\"or\":{\"of\":[{\"exists\":\"a\"},{\"exists\":\"b\"}]}},"
         "{\"not\":{\"exists\":\"c\"}}]}}"},
    };
    struct arena *arena = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        assert_string_equal(read(arena, cases[i].text), cases[i].json);
    arena_free(arena);
}

static void faults_are_told_with_their_place(void **state)
{
    static const struct {
        const char *text, *told;
    } cases[] = {
        {"price < ", "filter, character 9: the text ends here: expected a value, as 10 or "
                     "\"sky blue\""},
        {"price", "filter, character 6: the text ends here: expected =, !=, <, <=, >, >=, IN, "
                  "EXISTS, UNDER or NEAR"},
        {"price ~ 5", "filter, character 7: \"~\": expected =, !=, <, <=, >, >=, IN, EXISTS, UNDER "
                      "or NEAR"},
        {"цвет = \"синий", "filter, character 8: a quote that is not closed"},
        {"a=1 b=2", "filter, character 5: \"b\": expected AND, OR or the end"},
        {"(a=1", "filter, character 5: the text ends here: expected AND, OR or \")\""},
        {"a=1)", "filter, character 4: \")\": expected AND, OR or the end"},
        {"a=1 AND", "filter, character 8: the text ends here: expected the name of a field"},
        {"= 5", "filter, character 1: \"=\": expected the name of a field"},
        {"9a = 5", "filter, character 1: \"9a\": expected the name of a field, beginning with a "
                   "letter"},
        {"a IN red", "filter, character 6: \"red\": expected a list of values in brackets, as "
                     "(red, blue)"},
        {"a IN (red", "filter, character 10: the text ends here: expected \",\" or \")\""},
        {"a NEAR (1, x, 5km)", "filter, character 12: \"x\": expected a longitude, as 37.62"},
        {"a = ..", "filter, character 5: \"..\": expected an end, as 5..10 or 5.."},
        {"((((((((((((((((((a=1", "filter, character 17: more than 16 brackets in each other"},
    };
    struct arena *arena = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        assert_string_equal(read(arena, cases[i].text), cases[i].told);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_become_messages),
        cmocka_unit_test(faults_are_told_with_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
