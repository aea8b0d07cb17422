/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of snippets/config/config.h: every contradiction and its place; inheritance;
 * groups; the numbers of snippets, which several allot at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "snippets/config/config.h"
#include "snippets/config/prefixes.h"

static struct err err;
static char dir[64];

static struct snippet_config *load(const char *text)
{
    struct snippet_config_options options = {.dir = dir};
    struct snippet_config *config;

    if (snippet_config_load(bytes_of(text), &options, &config, &err))
        return NULL;
    return config;
}

static void refused(const char *text, const char *reason)
{
    struct snippet_config *config = load(text);

    assert_null(config);
    if (!strstr(err.text, reason))
        fail_msg("%s\n%s", text, err.text);
}

static struct snippet_config *loaded(const char *text)
{
    struct snippet_config *config = load(text);

    if (!config)
        fail_msg("%s\n%s", text, err.text);
    return config;
}

static void write_file(const char *name, const char *content)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    assert_int_equal(file_write(path, bytes_of(content), &err), 0);
}

static void syntax_is_refused_with_its_place(void **state)
{
    refused("Body {\n  Output: JSON\n", "line 3, column 1: a bracket is not closed");
    refused("Body { Output JSON }", "line 1, column 15: expected a colon");
    refused("Body { Outpt: JSON }", "line 1, column 8: there is no option \"Outpt\"");
    refused("Body { Output: YAML }", "line 1, column 8: Output: expected TEXT, JSON");
    refused("Body { Output: JSON Output: TEXT }", "column 21: Output comes twice: line 1, too");
    refused("Body { TtlMinutes: -1 }", "expected a number");
    refused("Body { TtlMinutes: 99999999999 }", "at most 5270400");
    refused("Body { ChildrenOnly: maybe }", "expected true or false");
    refused("Body { Service: geo }", "expected a text in quotation marks");
    refused("Body { Service: \"a }", "line 1, column 21: the text does not end on its line");
    refused("Body { Service: \"\\q\" }", "an unknown escape");
    refused("Nme: \"\"", "a section has Name and Body, not \"Nme\"");
    refused("Name: \"x\"", "the Name of the root is empty");
    refused("Body { Sections { } }", "line 1, column 8: the section has no Name");
    refused("Body { Sections { Name: \"A\" } }", "Name: a name has only lower-case ASCII letters");
    refused("Body { Sections { Name: \"a//b\" } }", "Name: a name has an empty part");
    refused("Body { Sections { Name: \"a/../b\" } }",
            "Name: a part of a name consists only of dots");
    refused("Body { Output: JSON Sections { Name: \"a\" }\n Sections { Name: \"a\" } }",
            "line 2, column 13: \"a\" is described twice: line 1, too");
    refused("Body { Output: JSON Sections { Name: \"a/b\" } Sections { Name: \"a\" Body {\n"
            "Sections { Name: \"b\" } } } }",
            "line 2, column 12: \"a/b\" is described twice");
}

static void contradictions_are_refused(void **state)
{
    write_file("bad.json", "{\"type\":\n\"strin\"}");
    write_file("texts.json", "{\"ru\": \"Цена {/price}\"}");
    refused("Body { Sections { Name: \"a\" } }", "\"a\", Output: the snippet has no format");
    refused("Body { Output: JSON Sections { Name: \"a\" Body { Input: TEXT } } }",
            "Input differs from Output, and there is no SpecialConvertor");
    refused("Body { Output: JSON InputSameAsOutput: false Sections { Name: \"a\" } }",
            "InputSameAsOutput (inherited): it is false, and there is no Input");
    refused("Body { Output: JSON Sections { Name: \"a\" Body { OutputLanguages: [\"ru\"] } } }",
            "languages need a SpecialConvertor");
    refused("Body { Output: JSON Sections { Name: \"a\" Body { SpecialConvertor: \"pick:/a\" "
            "OutputLanguages: \"ru\" } } }",
            "the convertor knows no languages");
    refused("Body { Output: TEXT Sections { Name: \"a\" Body { Input: JSON SpecialConvertor: "
            "\"template:texts.json\" OutputLanguages: [\"ru\", \"en\"] } } }",
            "the convertor does not know one of them");
    refused("Body { Output: PB Sections { Name: \"a\" Body { Input: JSON SpecialConvertor: "
            "\"pick:/a\" } } }",
            "it cannot convert all formats of Input");
    refused("Body { Output: JSON Sections { Name: \"a\" Body { SpecialConvertor: \"x\" } } }",
            "there is no such convertor");
    refused("Body { Output: JSON Sections { Name: \"a\" Body { SpecialConvertor: \"pick\" } } }",
            "expected JSON pointers");
    refused("Body { Output: JSON Sections { Name: \"a\" Body { SpecialValidator: \"pb:No\" Input: "
            "PB } } }",
            "the program has no message \"No\"");
    refused(
        "Body { Output: JSON Sections { Name: \"a\" Body { InputJsonSchema: \"none.json\" } } }",
        "none.json");
    refused("Body { Output: JSON Sections { Name: \"a\" Body { InputJsonSchema: \"bad.json\" } } }",
            "bad.json#/type (line 2, column 1): there is no type \"strin\"");
    refused("Body { Output: TEXT Sections { Name: \"a\" Body { InputJsonSchema: \"bad.json\" } } }",
            "no Input is JSON");
    refused(
        "Body { Output: TEXT Sections { Name: \"a\" Body { OutputJsonSchema: \"bad.json\" } } }",
        "Output is not JSON");
    refused("Body { Output: JSON Sections { Name: \"a\" Body { InputTopic: \"t\" } } }",
            "a topic needs InputForLB");
    refused(
        "Body { Output: JSON Sections { Name: \"a\" Body { InputTopic: \"t\" InputForLB: JSON } "
        "} }",
        "a topic needs a KeyExtractor");
    refused("Body { Output: JSON Sections { Name: \"a\" Body { InputTopic: \"t\" InputForLB: PB "
            "KeyExtractor: \"pb-field:1\" } } }",
            "it is none of the formats of Input");
    refused("Body { Output: JSON Sections { Name: \"a\" Body { InputJsonSchema: \"../x\" } } }",
            "expected a file beside the config");
}

static void circles_in_recursive_are_refused(void **state)
{
    refused("Body { Output: JSON\n"
            "Sections { Name: \"a\" Body { Recursive: \"/b\" Sections { Name: \"x\" } } }\n"
            "Sections { Name: \"b\" Body { Recursive: \"/a\" Sections { Name: \"y\" } } } }",
            "Recursive: \"/a\" leads back here");
    refused("Body { Output: JSON Sections { Name: \"a\" Body { Recursive: \"/a\" "
            "Sections { Name: \"x\" } } } }",
            "leads back here");
    refused("Body { Output: JSON Sections { Name: \"a\" Body { Recursive: \"z\" "
            "Sections { Name: \"x\" } } } }",
            "Recursive: \"z\" is not a section");
    refused("Body { Output: JSON Sections { Name: \"a\" Body { Recursive: \"z\" } } }",
            "is below a snippet, which is not a group");
}

static void options_are_inherited(void **state)
{
    struct snippet_config *config =
        loaded("Body { ChildrenOnly: true Output: JSON TtlMinutes: 5 Service: \"s\"\n"
               "Sections { Name: \"a/b\" Body { TtlMinutes: 0 } }\n"
               "Sections { Name: \"a\" Body { Output: TEXT ChildrenOnly: false Recursive: \"b\"\n"
               "  Sections { Name: \"c\" } } } }");
    const struct snippet *b = snippet_config_snippet(config, bytes_of("a/b"));
    const struct snippet *a = snippet_config_snippet(config, bytes_of("a"));
    const struct snippet_section *group = snippet_config_find(config, bytes_of("a"));
    size_t count;

    assert_non_null(a);
    assert_int_equal(b->output, SNIPPET_TEXT);
    assert_int_equal(b->ttl_us, 0);
    assert_int_equal(a->ttl_us, 5 * 60 * 1000000ll);
    assert_string_equal(b->service, "s");
    assert_int_equal(group->target_count, 2); /* itself and b; c is not named */
    assert_ptr_equal(group->targets[0], a);
    assert_ptr_equal(group->targets[1], b);
    (void)snippet_config_snippets(config, &count);
    assert_int_equal(count, 3);
    assert_null(snippet_config_find(config, bytes_of("a/b/c")));
    snippet_config_unref(config);
}

static void prefixes_are_kept(void **state)
{
    struct snippet_config *config =
        loaded("Body { Output: JSON Sections { Name: \"a\" } Sections { Name: \"b/c\" } }");
    struct arena *arena = arena_new();
    struct snippet_prefixes prefixes;
    char path[128];
    size_t added;

    snprintf(path, sizeof(path), "%s/prefixes.txt", dir);
    assert_int_equal(snippet_prefixes_allot(path, config, clock_system(), &added, &err), 0);
    assert_int_equal(added, 2);
    assert_int_equal(snippet_prefixes_allot(path, config, clock_system(), &added, &err), 0);
    assert_int_equal(added, 0);
    assert_int_equal(snippet_prefixes_load(path, arena, &prefixes, &err), 0);
    assert_int_equal(snippet_prefixes_find(&prefixes, bytes_of("b/c")), 1001);
    assert_int_equal(snippet_prefixes_find(&prefixes, bytes_of("b")), 0);
    assert_int_equal(snippet_prefixes_free(path, bytes_of("a"), clock_system(), &err), 0);
    assert_int_equal(snippet_prefixes_free(path, bytes_of("a"), clock_system(), &err),
                     ERR_NOT_FOUND);
    /* A number that was the largest is not given to another while its line stands. */
    assert_int_equal(snippet_prefixes_allot(path, config, clock_system(), &added, &err), 0);
    assert_int_equal(snippet_prefixes_load(path, arena, &prefixes, &err), 0);
    assert_int_equal(snippet_prefixes_find(&prefixes, bytes_of("a")), 1002);
    assert_int_equal(snippet_prefixes_read(bytes_of("5 a\n# x\n5 b\n"), arena, &prefixes, &err),
                     ERR_INVALID);
    assert_string_equal(err.text, "lines 1 and 3: a and b have the same prefix, 5, and would "
                                  "overwrite each other");
    assert_true(snippet_prefixes_read(bytes_of("5 a\n6 a"), arena, &prefixes, &err) < 0);
    assert_string_equal(err.text, "lines 1 and 2: a has two prefixes");
    assert_true(snippet_prefixes_read(bytes_of("\nx a"), arena, &prefixes, &err) < 0);
    assert_non_null(strstr(err.text, "line 2, column 1"));
    assert_true(snippet_prefixes_read(bytes_of("7 A"), arena, &prefixes, &err) < 0);
    assert_non_null(strstr(err.text, "line 1, column 3"));
    arena_free(arena);
    snippet_config_unref(config);
}

enum { ALLOTTER_COUNT = 4, NAME_COUNT = 16 };

/* Nothing but its number is the allotter's own: all write one file. */
static void *allot(void *arg)
{
    const int *number = arg;
    char path[128], text[128];

    snprintf(path, sizeof(path), "%s/shared.txt", dir);
    for (int i = 0; i < NAME_COUNT; i++) {
        struct snippet_config *config;
        struct err own_err;
        size_t added = 0;

        snprintf(text, sizeof(text), "Body { Output: JSON Sections { Name: \"n%d.%d\" } }", *number,
                 i);
        if (snippet_config_load(bytes_of(text), &(struct snippet_config_options){.dir = dir},
                                &config, &own_err) ||
            snippet_prefixes_allot(path, config, clock_system(), &added, &own_err) || added != 1) {
            fprintf(stderr, "%s: %s\n", text, own_err.text);
            abort();
        }
        snippet_config_unref(config);
    }
    return NULL;
}

static void who_allots_waits_for_another_who_does(void **state)
{
    struct arena *arena = arena_new();
    struct snippet_prefixes prefixes;
    pthread_t threads[ALLOTTER_COUNT];
    int numbers[ALLOTTER_COUNT];
    char path[128];

    for (int i = 0; i < ALLOTTER_COUNT; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, allot, &numbers[i]), 0);
    }
    for (int i = 0; i < ALLOTTER_COUNT; i++)
        pthread_join(threads[i], NULL);
    snprintf(path, sizeof(path), "%s/shared.txt", dir);
    assert_int_equal(snippet_prefixes_load(path, arena, &prefixes, &err), 0);
    assert_int_equal(prefixes.count, ALLOTTER_COUNT * NAME_COUNT);
    assert_int_equal(prefixes.last, 1000 + ALLOTTER_COUNT * NAME_COUNT - 1);
    arena_free(arena);
}

static void a_snippet_without_a_prefix_is_refused(void **state)
{
    struct snippet_prefixes prefixes = {0};
    struct snippet_config_options options = {.dir = dir, .prefixes = &prefixes};
    struct snippet_config *config;

    assert_int_equal(
        snippet_config_load(bytes_of("Body { Output: JSON\n Sections { Name: \"a\" } }"), &options,
                            &config, &err),
        ERR_PRECONDITION);
    assert_string_equal(err.text, "line 2, column 13: \"a\" has no key prefix: run `torg snippets "
                                  "prefixes --allot`");
}

static int setup(void **state)
{
    snprintf(dir, sizeof(dir), P_tmpdir "/torg-snippets-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
    return dir_remove(dir, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(syntax_is_refused_with_its_place),
        cmocka_unit_test(contradictions_are_refused),
        cmocka_unit_test(circles_in_recursive_are_refused),
        cmocka_unit_test(options_are_inherited),
        cmocka_unit_test(prefixes_are_kept),
        cmocka_unit_test(who_allots_waits_for_another_who_does),
        cmocka_unit_test(a_snippet_without_a_prefix_is_refused),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
