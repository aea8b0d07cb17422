/* SPDX-License-Identifier: Apache-2.0 */
/* plain.c - plain JSON and CSV as documents: which types are guessed, what is refused and how. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "codec/json.h"
#include "registry/plain/plain.h"

/* "field: reason" of what cannot be one, else the message as JSON; a line a document. */
static const char *read_form(struct arena *arena, enum plain_form form, const char *body,
                             const struct plain_options *given)
{
    struct plain_options options = given ? *given : (struct plain_options){0};
    struct buf out = BUF_INIT(1 << 20);
    struct plain_batch batch;
    struct err err = {0};
    const char *text;

    options.form = form;
    if (plain_read(bytes_of(body), &options, arena, &batch, &err))
        return arena_printf(arena, "%s", err.text);
    for (uint32_t i = 0; i < batch.count; i++) {
        const struct plain_document *one = &batch.list[i];

        if (i)
            buf_put_byte(&out, '\n');
        if (one->document) {
            /* what is kept beside the fields is looked at by a test of its own */
            Torg__V1__RawDocument *document = one->document;

            while (document->n_fields &&
                   strncmp(document->fields[document->n_fields - 1]->name, "plain-", 6) == 0)
                document->n_fields--;
            json_encode(&document->base, &out);
        } else {
            buf_printf(&out, "%u %s: %s", one->place, one->field, one->reason);
        }
    }
    text = arena_text(arena, buf_bytes(&out));
    buf_release(&out);
    return text;
}

static const char *read_json(struct arena *arena, const char *body)
{
    return read_form(arena, PLAIN_JSON, body, NULL);
}

static void a_document_gets_the_types_that_fit_all_of_them(void **state)
{
    struct arena *arena = arena_new();

    (void)state;
    assert_string_equal(
        read_json(arena, "[{\"id\": 1, \"title\": \"Bike\", \"price\": 5, \"used\": false,"
                         "\"colour\": \"red\", \"tags\": [\"a\", 7], \"made\": \"2026-11-15\","
                         "\"at\": {\"lat\": 55.5, \"lon\": 37}}, {\"id\": \"x\", \"price\": 9.5}]"),
        "{\"pk\":\"1\",\"fields\":[{\"name\":\"title\",\"text\":\"Bike\"},"
        "{\"name\":\"price\",\"decimal\":\"5\",\"options\":{\"scale\":4}},"
        "{\"name\":\"used\",\"boolean\":false},{\"name\":\"colour\",\"keyword\":\"red\"},"
        "{\"name\":\"tags\",\"keywords\":[\"a\",\"7\"]},"
        "{\"name\":\"made\",\"date\":\"2026-11-15T00:00:00Z\"},"
        "{\"name\":\"at\",\"point\":{\"latitude\":55.5,\"longitude\":37}}]}\n"
        "{\"pk\":\"x\",\"fields\":[{\"name\":\"price\",\"decimal\":\"9.5\","
        "\"options\":{\"scale\":4}}]}");
    arena_free(arena);
}

static void objects_are_gone_into_and_names_made_fit(void **state)
{
    struct arena *arena = arena_new();

    (void)state;
    assert_string_equal(
        read_json(arena, "{\"id\": 1, \"Specs\": {\"Frame Size\": \"M\", \"none\": null},"
                         "\"Цвет\": \"синий\", \"empty\": \"\"}"),
        "{\"pk\":\"1\",\"fields\":[{\"name\":\"specs.frame_size\",\"keyword\":\"M\"},"
        "{\"name\":\"cvet\",\"keyword\":\"синий\"}]}");
    arena_free(arena);
}

static void lines_and_tables_say_the_same(void **state)
{
    struct arena *arena = arena_new();
    const char *lines =
        read_json(arena, "{\"id\":\"1\",\"title\":\"A\",\"price\":5}\n"
                         "{\"id\":\"2\",\"title\":\"B; \\\"b\\\"\",\"price\":0.25}\n");
    const char *table = read_form(
        arena, PLAIN_CSV, "id;title;price\r\n1;A;5\r\n\r\n2;\"B; \"\"b\"\"\";0.25\r\n", NULL);

    (void)state;
    assert_string_equal(lines, table);
    assert_non_null(strstr(lines, "\"decimal\":\"0.25\""));
    arena_free(arena);
}

static void what_is_wrong_is_told_with_document_and_name(void **state)
{
    static const struct {
        const char *body, *told;
    } cases[] = {
        {"[{\"title\": 1}]", "1 id: is missing"},
        {"[{\"id\": 1.5}]", "1 id: expected a string or a whole number"},
        {"[{\"id\": 1}, 7]", "2 : is not an object"},
        {"[{\"id\": 1, \"_x\": 1}]", "1 _x: names that begin with _ are ours"},
        {"[{\"id\": 1, \"_version\": -1}]", "1 _version: expected a whole number from 0"},
        {"[{\"id\": 1, \"a\": 1, \"A\": 2}]", "1 A: comes twice"},
        {"[{\"id\": 1, \"1st\": 1}]", "1 1st: cannot be the name of a field"},
        {"[]", "there is no document in it"},
        {"[{\"id\": 1,}]", "the JSON: line 1, column 11: expected a key"},
        {"[{\"id\": 1, \"id\": 2}]", "a key that comes twice: \"id\""},
        {"", "the JSON is empty"},
    };
    struct arena *arena = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const char *told = read_json(arena, cases[i].body);

        if (!strstr(told, cases[i].told))
            fail_msg("%s: told \"%s\", not \"%s\"", cases[i].body, told, cases[i].told);
    }
    assert_non_null(strstr(read_form(arena, PLAIN_CSV, "id,a\n1,\"x\n", NULL), "line 2: a quote"));
    assert_non_null(strstr(read_form(arena, PLAIN_CSV, "id,a\n1,2,3\n", NULL), "line 2: has 3"));
    arena_free(arena);
}

static void the_schema_and_the_caller_have_the_last_word(void **state)
{
    static const struct epoch_field fields[] = {
        {.number = 1, .type = TORG__V1__SCHEMA_FIELD__TYPE__INTEGER, .name = "price"},
        {.number = 2, .type = TORG__V1__SCHEMA_FIELD__TYPE__KEYWORDS, .name = "colour"},
    };
    struct arena *arena = arena_new();
    struct epoch_view epoch = {.epoch = 1};
    struct plain_options options = {.epoch = &epoch, .types = bytes_of("Shape:text")};

    (void)state;
    epoch_set_fields(&epoch, fields, ARRAY_COUNT(fields), arena);
    assert_string_equal(read_form(arena, PLAIN_JSON,
                                  "[{\"id\":1,\"price\":5,\"colour\":\"red\",\"shape\":\"o\"},"
                                  "{\"id\":2,\"price\":5.5}]",
                                  &options),
                        "{\"pk\":\"1\",\"fields\":[{\"name\":\"price\",\"integer\":\"5\"},"
                        "{\"name\":\"colour\",\"keywords\":[\"red\"]},"
                        "{\"name\":\"shape\",\"text\":\"o\"}]}\n"
                        "2 price: is of type integer: expected a whole number");
    options.types = bytes_of("price");
    assert_non_null(strstr(read_form(arena, PLAIN_JSON, "[{\"id\":1}]", &options), "types: "));
    arena_free(arena);
}

static void signs_say_what_becomes_of_a_document(void **state)
{
    struct arena *arena = arena_new();

    (void)state;
    assert_string_equal(
        read_json(arena, "[{\"id\":1,\"_delete\":true,\"a\":1},"
                         "{\"id\":2,\"_version\":7,\"_expires\":\"2030-01-01\","
                         "\"a\":1}]"),
        "{\"pk\":\"1\",\"event\":\"DELETE\"}\n"
        "{\"pk\":\"2\",\"version\":\"7\",\"expireTime\":\"2030-01-01T00:00:00Z\","
        "\"fields\":[{\"name\":\"a\",\"decimal\":\"1\",\"options\":{\"scale\":4}}]}");
    arena_free(arena);
}

static void the_document_and_its_words_are_kept_beside_it(void **state)
{
    struct arena *arena = arena_new();
    struct plain_options options = {0};
    struct plain_batch batch;
    struct err err = {0};
    const Torg__V1__RawDocument *document;

    (void)state;
    assert_int_equal(
        plain_read(
            bytes_of("[{\"id\": 1,  \"colour\": \"red\", \"deep\": [{\"a\": \"words here\"}]}]"),
            &options, arena, &batch, &err),
        0);
    document = batch.list[0].document;
    assert_int_equal(document->n_fields, 3);
    assert_string_equal(document->fields[1]->name, PLAIN_WORDS_FIELD);
    assert_string_equal(document->fields[1]->text, "red\nwords here");
    assert_string_equal(document->fields[2]->stored,
                        "{\"id\":1,\"colour\":\"red\",\"deep\":[{\"a\":\"words here\"}]}");
    assert_string_equal(plain_path(&batch, &batch.list[0], "fields[0].keyword", arena), "colour");
    arena_free(arena);
}

static void numbers_keep_their_digits(void **state)
{
    static const struct {
        const char *number, *decimal;
    } cases[] = {{"5", "5"},
                 {"-0.50", "-0.5"},
                 {"1e3", "1000"},
                 {"1.5e-3", "0.0015"},
                 {"0.30000000000000004", "0.3"},
                 {"100", "100"}};
    struct arena *arena = arena_new();
    const char *decimal;

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        assert_true(plain_decimal(bytes_of(cases[i].number), arena, &decimal, NULL));
        assert_string_equal(decimal, cases[i].decimal);
    }
    assert_non_null(strstr(read_json(arena, "[{\"id\":1,\"n\":1},{\"id\":2,\"n\":2},"
                                            "{\"id\":3,\"n\":\"cheap\"}]"),
                           "\n3 n: is of type decimal: expected a number"));
    assert_non_null(strstr(read_json(arena, "[{\"id\":1,\"n\":9007199254740993}]"),
                           "\"integer\":\"9007199254740993\""));
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_gets_the_types_that_fit_all_of_them),
        cmocka_unit_test(objects_are_gone_into_and_names_made_fit),
        cmocka_unit_test(lines_and_tables_say_the_same),
        cmocka_unit_test(what_is_wrong_is_told_with_document_and_name),
        cmocka_unit_test(the_schema_and_the_caller_have_the_last_word),
        cmocka_unit_test(signs_say_what_becomes_of_a_document),
        cmocka_unit_test(the_document_and_its_words_are_kept_beside_it),
        cmocka_unit_test(numbers_keep_their_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
