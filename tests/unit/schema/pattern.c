/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of schema/pattern.h: what matches, what is refused and where, and that time is linear.
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
#include "base/random.h"
#include "schema/bounds.h"
#include "schema/pattern.h"

static struct err err;

static bool matches(const char *text, const char *in)
{
    struct arena *arena = arena_new();
    const struct pattern *pattern;
    uint64_t steps = SCHEMA_STEP_COUNT_MAX;
    bool found = false;

    if (pattern_compile(bytes_of(text), arena, &pattern, &err))
        fail_msg("%s: %s", text, err.text);
    assert_int_equal(pattern_matches(pattern, bytes_of(in), arena, &steps, &found, &err), 0);
    arena_free(arena);
    return found;
}

static void refused(const char *text, const char *reason)
{
    struct arena *arena = arena_new();
    const struct pattern *pattern;

    assert_true(pattern_compile(bytes_of(text), arena, &pattern, &err) < 0);
    if (!strstr(err.text, reason))
        fail_msg("%s: %s", text, err.text);
    arena_free(arena);
}

static void matches_as_javascript_does(void **state)
{
    static const struct {
        const char *pattern, *yes, *no;
    } cases[] = {
        {"^abc$", "abc", "abc\n"},
        {"^\\p{L}+$", "Жёлтыйß漢", "a1"},
        {"^\\p{Lu}\\p{Ll}+$", "Юла", "юла"},
        {"^\\P{L}+$", "1 2-3", "1a"},
        {"^[\\p{Nd}_x]+$", "1٣x_", "½"},
        {"^[^\\p{Letter}]$", "7", "ы"},
        {"^[\\P{gc=L}a]$", "a", "b"},
        {"^\\p{General_Category=Currency_Symbol}$", "€", "E"},
        {"^\\p{Any}$", "\xf4\x8f\xbf\xbf", ""},
        {"^\\p{Cn}$", "\xf4\x8f\xbf\xbf", "a"},
        {"a|b", "xbx", "xcx"},
        {"^(?:a|bc)*$", "abcbca", "abcb"},
        {"^a{2,3}$", "aaa", "aaaa"},
        {"^a{2}$", "aa", "a"},
        {"^a{2,}$", "aaaaa", "a"},
        {"^x{0}$", "", "x"},
        {"^[^a-c\\d]+$", "xyz", "xaz"},
        {"^[\\w-]+$", "a-b_9", "a b"},
        {"^[a\\-z]$", "-", "b"},
        {"\\bcat\\b", "a cat!", "concat"},
        {"\\Bcat", "concat", "cat"},
        {"^.$", "\xf0\x9f\x90\xb2", "\n"},
        {"^\\u0434\\u{43e}\\u043C$", "дом", "дам"},
        {"^\\ud83d\\udc32*$", "🐲🐲", "🐲x"},
        {"^\\x41\\cJ\\t$", "A\n\t", "A"},
        {"^(a*)*$", "aaaa", "b"},
        {"^[а-я]+$", "елка", "Z"},
        {"^{a}$", "{a}", "a"},
        {"^\\/\\.\\$$", "/.$", "/x$"},
        {"^(|a)b", "b", "c"},
        {"^a+?$", "aaa", ""},
        {"[]", "", ""},
    };
    size_t i;

    for (i = 0; i + 1 < ARRAY_COUNT(cases); i++) {
        if (!matches(cases[i].pattern, cases[i].yes) || matches(cases[i].pattern, cases[i].no))
            fail_msg("%s", cases[i].pattern);
    }
    assert_false(matches("[]", "a"));
    assert_true(matches("[^]", "\n"));
    assert_true(matches("", ""));
}

static void refuses_with_the_place(void **state)
{
    char text[4000];

    refused("(a", "byte 1: the group has no end");
    refused("ab)", "byte 3: a bracket that closes nothing");
    refused("a**", "byte 3: nothing to repeat");
    refused("[b-a]", "byte 2: a range that ends before it begins");
    refused("x[a", "byte 2: the class has no end");
    refused("(a)\\1", "byte 4: back references");
    refused("(?=a)", "byte 1: look-ahead");
    refused("(?<=a)", "byte 1: look-ahead");
    refused("a\\p{Script=Latin}", "byte 2: not a general category");
    refused("\\p{L", "not a general category");
    refused("\\pL", "expected a category");
    refused("[\\p]", "expected a category");
    refused("\\Z", "byte 1: an escape that stands for nothing");
    refused("a\\", "byte 2: a backslash at the end");
    refused("a{3,2}", "byte 2: the greatest repetition is below the least");
    refused("a{1001}", "PATTERN_REPEAT_MAX");
    refused("((a{100}){100}){100}", "PATTERN_SIZE_MAX");
    refused("(((a{1000}){1000}){1000}){1000}", "PATTERN_SIZE_MAX");
    memset(text, '(', 100);
    text[100] = 0;
    refused(text, "PATTERN_DEPTH_MAX");
    memset(text, 'a', sizeof(text) - 1);
    text[sizeof(text) - 1] = 0;
    refused(text, "PATTERN_TEXT_SIZE_MAX");
}

/* Each takes a backtracking matcher longer than anybody lives. */
static void takes_linear_time(void **state)
{
    static const char *const patterns[] = {"^(a+)+$", "^(a|aa)+$", "^(a|a?)+$", "^(.*a){20}$",
                                           "^(([a-z])+.)+[A-Z]([a-z])+$"};
    struct arena *arena = arena_new();
    char *text = mem_alloc(10001);
    size_t i;

    memset(text, 'a', 10000);
    text[9999] = '!';
    text[10000] = 0;
    for (i = 0; i < ARRAY_COUNT(patterns); i++) {
        const struct pattern *pattern;
        uint64_t steps = 10000 * 400;
        bool found;

        assert_int_equal(pattern_compile(bytes_of(patterns[i]), arena, &pattern, &err), 0);
        assert_int_equal(pattern_matches(pattern, bytes_of(text), arena, &steps, &found, &err), 0);
        assert_false(found);
    }
    free(text);
    arena_free(arena);
}

static void ends_when_steps_do(void **state)
{
    struct arena *arena = arena_new();
    const struct pattern *pattern;
    uint64_t steps = 100;
    bool found;

    assert_int_equal(pattern_compile(bytes_of("(a?){50}b"), arena, &pattern, &err), 0);
    assert_int_equal(pattern_matches(pattern, bytes_of("aaaaaaaaaa"), arena, &steps, &found, &err),
                     ERR_LIMIT);
    assert_int_equal(steps, 0);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_as_javascript_does),
        cmocka_unit_test(refuses_with_the_place),
        cmocka_unit_test(takes_linear_time),
        cmocka_unit_test(ends_when_steps_do),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
