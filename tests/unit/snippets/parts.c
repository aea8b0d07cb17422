/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of snippets/parts/part.h: each validator, convertor and key extractor of the table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "codec/message.h"
#include "snippets/parts/part.h"
#include "torg/v1/offer.pb-c.h"

static struct err err;
static struct arena *arena;
static char dir[64];

static struct snippet_input input_of(enum snippet_format format, const char *body)
{
    struct snippet_input input = {.format = format, .body = bytes_of(body)};

    if (format == SNIPPET_JSON && placed_json_read(input.body, arena, &input.json, &err))
        fail_msg("%s", err.text);
    return input;
}

static int make(part_make *part, struct bytes argument, enum snippet_format output,
                const void **state)
{
    struct part_setup setup = {.argument = argument, .dir = dir, .output = output, .arena = arena};

    *state = NULL;
    return part ? part(&setup, state, &err) : 0;
}

static const char *convert(const char *name, const struct snippet_input *input,
                           enum snippet_format to, const char *language)
{
    struct bytes argument, output;
    const struct snippet_convertor *convertor = snippet_convertor_find(bytes_of(name), &argument);
    const void *state;

    assert_non_null(convertor);
    assert_true(convertor->can(input->format, to));
    if (make(convertor->make, argument, to, &state) ||
        convertor->convert(state, input, to, bytes_of(language), arena, &output, &err))
        return err.text;
    return arena_text(arena, output);
}

static const char *check(const char *name, const struct snippet_input *input)
{
    struct bytes argument;
    const struct snippet_validator *validator = snippet_validator_find(bytes_of(name), &argument);
    const void *state;

    assert_non_null(validator);
    if (make(validator->make, argument, input->format, &state) ||
        validator->check(state, input, arena, &err))
        return err.text;
    return "fine";
}

static const char *extract(const char *name, const char *record_key,
                           const struct snippet_input *input)
{
    const struct snippet_record record = {.key = bytes_of(record_key), .input = *input};
    struct bytes argument, key;
    const struct snippet_extractor *extractor = snippet_extractor_find(bytes_of(name), &argument);
    const void *state;

    assert_non_null(extractor);
    if (make(extractor->make, argument, input->format, &state) ||
        extractor->extract(state, &record, arena, &key, &err))
        return err.text;
    return arena_text(arena, key);
}

static void pick_takes_what_is_named(void **state)
{
    struct snippet_input input =
        input_of(SNIPPET_JSON, "{\"a\": {\"b\": [1, \"x\"]}, \"t\": \"é\", \"z\": null}");

    assert_string_equal(convert("pick:/t,/a/b,/none", &input, SNIPPET_JSON, ""),
                        "{\"t\":\"é\",\"b\":[1,\"x\"]}");
    assert_string_equal(convert("pick:/a/b/1", &input, SNIPPET_JSON, ""), "{\"1\":\"x\"}");
    assert_string_equal(convert("pick:/none", &input, SNIPPET_JSON, ""), "{}");
    assert_string_equal(convert("pick:/t", &input, SNIPPET_TEXT, ""), "é");
    assert_string_equal(convert("pick:/none", &input, SNIPPET_TEXT, ""), "/none is missing");
    assert_string_equal(convert("pick:/t,/z", &input, SNIPPET_TEXT, ""),
                        "a TEXT is picked by one pointer");
    assert_non_null(strstr(convert("pick:t", &input, SNIPPET_JSON, ""), "expected JSON pointers"));
}

static void templates_are_filled_by_language(void **state)
{
    struct snippet_input input = input_of(SNIPPET_JSON, "{\"p\": 5, \"n\": \"\\\"q\\\"\"}");
    char path[100];

    snprintf(path, sizeof(path), "%s/t.json", dir);
    assert_int_equal(
        file_write(path, bytes_of("{\"ru\": \"{p} {/p} {/n}\", \"\": \"[{/n}]\"}"), &err), 0);
    assert_string_equal(convert("template:t.json", &input, SNIPPET_TEXT, "ru"), "{p} 5 \"q\"");
    assert_string_equal(convert("template:t.json", &input, SNIPPET_JSON, ""), "[\"\\\"q\\\"\"]");
    assert_non_null(strstr(convert("template:t.json", &input, SNIPPET_TEXT, "en"), "no text for"));
    assert_non_null(
        strstr(convert("template:../t.json", &input, SNIPPET_TEXT, ""), "beside the config"));
    assert_non_null(strstr(convert("template:none", &input, SNIPPET_TEXT, ""), "none"));
}

static void html_is_stripped(void **state)
{
    static const char *const cases[][2] = {
        {"<p>a &lt; b &amp;&nbsp;c</p>", "a < b & c"},
        {"a<script>x < y</script>b<style>z</style>", "a b"},
        {"1 < 2 and 3 > 2", "1 < 2 and 3 > 2"},
        {"&#1044;&#x43e;&#0; &bogus; &", "До &bogus; &"},
        {"<b unclosed", ""},
        {"<!-- > -->x<br/>y", "x y"},
        {"  \n a \t b ", "a b"},
    };
    struct snippet_input input;

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        input = input_of(SNIPPET_TEXT, cases[i][0]);
        assert_string_equal(convert("strip-html", &input, SNIPPET_TEXT, ""), cases[i][1]);
    }
    input = input_of(SNIPPET_TEXT, "слово за слово");
    assert_string_equal(convert("strip-html:8", &input, SNIPPET_TEXT, ""), "слово за");
    assert_string_equal(convert("strip-html:6", &input, SNIPPET_TEXT, ""), "слово");
    assert_non_null(strstr(convert("strip-html:0", &input, SNIPPET_TEXT, ""), "how many"));
}

static void json_becomes_a_message_and_comes_back(void **state)
{
    struct snippet_input json = input_of(SNIPPET_JSON, "{\"amount\":\"5\",\"currency\":\"RUB\"}");
    struct snippet_input wire = {.format = SNIPPET_PB};
    Torg__V1__Price price = TORG__V1__PRICE__INIT;
    struct buf out = BUF_INIT(1000);

    price.amount = 5;
    price.currency = (char *)"RUB";
    message_encode(&price.base, &out);
    wire.body = buf_bytes(&out);
    assert_memory_equal(convert("json-pb:torg.v1.Price", &json, SNIPPET_PB, ""), out.data,
                        out.size);
    assert_string_equal(convert("json-pb:torg.v1.Price", &wire, SNIPPET_JSON, ""),
                        "{\"amount\":\"5\",\"currency\":\"RUB\"}");
    assert_string_equal(check("pb:torg.v1.Price", &wire), "fine");
    assert_string_equal(extract("pb-field:1", "", &wire), "5");
    assert_string_equal(extract("pb-field:2", "", &wire), "RUB");
    assert_non_null(strstr(extract("pb-field:9", "", &wire), "does not have the field"));
    assert_non_null(strstr(extract("pb-field:0", "", &wire), "expected numbers of fields"));
    wire.body = bytes_of("\xff\xff");
    assert_non_null(strstr(extract("pb-field:1", "", &wire), "not a protobuf message"));
    assert_string_not_equal(check("pb:torg.v1.Price", &wire), "fine");
    wire.body = BYTES_EMPTY;
    assert_string_equal(extract("pb-field:1", "own", &wire), "own");
    buf_release(&out);
}

static void validators_look(void **state)
{
    struct snippet_input input = input_of(SNIPPET_JSON, "{\"a\": 1, \"n\": null}");

    assert_string_equal(check("required:/a", &input), "fine");
    assert_string_equal(check("required:/a,/n", &input), "/n is missing");
    assert_string_equal(check("max-size:1KB", &input), "fine");
    assert_non_null(strstr(check("max-size:3", &input), "at most 3 are expected"));
    assert_non_null(strstr(check("max-size:0", &input), "expected a size"));
}

static void keys_are_found(void **state)
{
    struct snippet_input input = input_of(SNIPPET_JSON, "{\"id\": 17, \"s\": \"x/1\", \"l\": []}");

    assert_string_equal(extract("json-pointer:/id", "", &input), "17");
    assert_string_equal(extract("json-pointer:/s", "", &input), "x/1");
    assert_non_null(strstr(extract("json-pointer:/l", "", &input), "has no key"));
    assert_non_null(strstr(extract("json-pointer:/none", "", &input), "has no key"));
    assert_string_equal(extract("message-key", "k", &input), "k");
    assert_null(snippet_extractor_find(bytes_of("none"), &(struct bytes){0}));
}

static int setup(void **state)
{
    arena = arena_new();
    snprintf(dir, sizeof(dir), P_tmpdir "/torg-parts-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
    arena_free(arena);
    return dir_remove(dir, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pick_takes_what_is_named),
        cmocka_unit_test(templates_are_filled_by_language),
        cmocka_unit_test(html_is_stripped),
        cmocka_unit_test(json_becomes_a_message_and_comes_back),
        cmocka_unit_test(validators_look),
        cmocka_unit_test(keys_are_found),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
