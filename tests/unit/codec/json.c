/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of codec/json.h. json_against_python.py compares with another implementation.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/bounds.h"
#include "base/memory.h"
#include "codec/bounds.h"
#include "codec/json.h"
#include "codec/message.h"
#include "echo.pb-c.h"
#include "echo_descriptors.h"
#include "google/rpc/error_details.pb-c.h"
#include "google/rpc/status.pb-c.h"
#include "random_message.h"

typedef Torg__Test__V1__Everything everything;
#define EVERYTHING (&torg__test__v1__everything__descriptor)

enum { JSON_SIZE_MAX = 64 << 20 };

static struct arena *arena;
static struct err err;
static struct violations violations;
static ProtobufCMessage *message;
static struct buf out;

static int set_up(void **state)
{
    (void)state;
    arena = arena_new();
    buf_init(&out, JSON_SIZE_MAX);
    return json_add_types(bytes_make(echo_descriptors, echo_descriptors_size), &err);
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(arena);
    buf_release(&out);
    return 0;
}

static int decode_as(const ProtobufCMessageDescriptor *type, struct bytes json)
{
    err.text[0] = 0;
    violations = violations_in(arena);
    return json_decode(json, type, arena, &message, &violations, &err);
}

static const everything *reads(const char *json)
{
    if (decode_as(EVERYTHING, bytes_of(json)) != 0)
        fail_msg("%s: %s", json, err.text);
    return (const everything *)message;
}

static void writes(const ProtobufCMessage *of, const char *json)
{
    buf_reset(&out);
    json_encode(of, &out);
    assert_string_equal(buf_text(&out), json);
}

/* Read, and written again: the canonical form. */
static void becomes(const char *json, const char *canonical)
{
    reads(json);
    writes(message, canonical);
}

static void refuses_bytes(struct bytes json, int code, const char *text)
{
    if (decode_as(EVERYTHING, json) != code)
        fail_msg("\"%.200s\": code is %d, text \"%s\"", json.data, err.code, err.text);
    assert_null(message);
    if (!strstr(err.text, text))
        fail_msg("\"%s\" does not say \"%s\"", err.text, text);
}

static void refuses(const char *json, const char *text)
{
    refuses_bytes(bytes_of(json), ERR_INVALID, text);
}

/* --- round trips --- */

static void random_messages_come_back(void **state)
{
    uint64_t seed = getenv("TORG_SEED") ? strtoull(getenv("TORG_SEED"), NULL, 0) : random_u64();
    struct rng rng = rng_seeded(seed);
    struct buf before = BUF_INIT(JSON_SIZE_MAX);
    struct buf after = BUF_INIT(JSON_SIZE_MAX);
    int i;

    (void)state;
    print_message("# seed %ju\n", (uintmax_t)seed);
    for (i = 0; i < 500; i++) {
        ProtobufCMessage *random;

        arena_reset(arena);
        random = random_message(&rng, EVERYTHING, arena, 2);
        buf_reset(&out);
        json_encode(random, &out);
        assert_false(buf_failed(&out));
        if (decode_as(EVERYTHING, buf_bytes(&out)) != 0)
            fail_msg("%s\n%s", err.text, buf_text(&out));
        buf_reset(&before);
        buf_reset(&after);
        message_encode(random, &before);
        message_encode(message, &after);
        if (!bytes_equal(buf_bytes(&before), buf_bytes(&after)))
            fail_msg("differs: %s", buf_text(&out));
    }
    buf_release(&before);
    buf_release(&after);
}

static void names_are_camel_case_and_the_protos_own_are_read(void **state)
{
    (void)state;
    becomes("{\"an_int32\":1,\"aBool\":true}", "{\"aBool\":true,\"anInt32\":1}");
    becomes(" { } ", "{}");
    becomes("{\"aBool\":false,\"aString\":\"\",\"manyInt64\":[],\"aMap\":{}}", "{}");
    becomes("{\"aString\":null,\"child\":null,\"manyInt64\":null,\"choiceText\":null,"
            "\"choiceChild\":{}}",
            "{\"choiceChild\":{}}");
}

static void integers_are_exact_at_their_extremes(void **state)
{
    (void)state;
    becomes("{\"anInt64\":\"-9223372036854775808\",\"aUint64\":18446744073709551615}",
            "{\"anInt64\":\"-9223372036854775808\",\"aUint64\":\"18446744073709551615\"}");
    becomes("{\"anInt64\":9223372036854775807,\"aFixed64\":\"18446744073709551615\"}",
            "{\"anInt64\":\"9223372036854775807\",\"aFixed64\":\"18446744073709551615\"}");
    becomes("{\"anInt32\":-2147483648,\"aUint32\":4294967295}",
            "{\"anInt32\":-2147483648,\"aUint32\":4294967295}");
    becomes("{\"anInt32\":1e2,\"anInt64\":1.5e1,\"aSint64\":-100.00,\"aUint32\":1000e-3}",
            "{\"anInt32\":100,\"anInt64\":\"15\",\"aUint32\":1,\"aSint64\":\"-100\"}");
    becomes("{\"anInt64\":9.223372036854775807e18}", "{\"anInt64\":\"9223372036854775807\"}");
    becomes("{\"anInt64\":0e999999,\"anInt32\":-0}", "{}");
    refuses("{\"anInt32\":2147483648}", "anInt32: expected an integer from -2147483648");
    refuses("{\"anInt32\":-2147483649}", "anInt32: expected an integer");
    refuses("{\"anInt32\":1.5}", "anInt32: expected an integer");
    refuses("{\"anInt32\":1e-1}", "anInt32: expected an integer");
    refuses("{\"anInt32\":\"\"}", "anInt32: expected an integer");
    refuses("{\"anInt32\":\" 1\"}", "anInt32: expected an integer");
    refuses("{\"anInt32\":true}", "anInt32: expected an integer");
    refuses("{\"aUint32\":-1}", "aUint32: expected an integer from 0 to 4294967295, got -1");
    refuses("{\"aUint64\":18446744073709551616}", "aUint64: expected an integer from 0");
    refuses("{\"anInt64\":\"9223372036854775808\"}", "got \"9223372036854775808\"");
    refuses("{\"anInt64\":1e19}", "anInt64: expected");
    refuses("{\"anInt64\":1e99999999999999999999}", "anInt64: expected");
}

static void reals_come_back_as_they_were(void **state)
{
    (void)state;
    becomes("{\"aFloat\":0.1,\"aDouble\":0.1}", "{\"aFloat\":0.1,\"aDouble\":0.1}");
    becomes("{\"aFloat\":\"NaN\",\"aDouble\":\"-Infinity\"}",
            "{\"aFloat\":\"NaN\",\"aDouble\":\"-Infinity\"}");
    becomes("{\"aDouble\":\"1.5\"}", "{\"aDouble\":1.5}");
    becomes("{\"aDouble\":1e300,\"aFloat\":3.4028235e38}",
            "{\"aFloat\":3.4028235e+38,\"aDouble\":1e+300}");
    becomes("{\"aDouble\":1e-400}", "{}");
    refuses("{\"aDouble\":1e400}", "aDouble: expected a number that fits a double");
    refuses("{\"aFloat\":1e39}", "aFloat: expected a number that fits a float");
    refuses("{\"aDouble\":\"0x10\"}", "aDouble: expected a number");
    refuses("{\"aDouble\":\"inf\"}", "aDouble: expected a number");
    refuses("{\"aDouble\":NaN}", "not valid JSON at byte");
}

static void texts_keep_every_character(void **state)
{
    (void)state;
    assert_string_equal(reads("{\"aString\":\"\\ud83d\\ude00\\u0416\\n\\/\"}")->a_string, "😀Ж\n/");
    becomes("{\"aString\":\"\\u0001\\\"\\\\ \\u007f é\"}",
            "{\"aString\":\"\\u0001\\\"\\\\ \\u007f é\"}");
    refuses("{\"aString\":\"\\ud83d\"}", "half of a surrogate pair at byte 12");
    refuses("{\"aString\":\"\\ud83dx\"}", "half of a surrogate pair");
    refuses("{\"aString\":\"\\ud83d\\u0041\"}", "half of a surrogate pair");
    refuses("{\"aString\":\"\\ude00\\ud83d\"}", "half of a surrogate pair");
    refuses("{\"aString\":\"\\uDE00\"}", "half of a surrogate pair");
    assert_string_equal(reads("{\"aString\":\"\\\\ud83d\"}")->a_string, "\\ud83d");
    refuses("{\"aString\":\"\\u0000\"}", "aString: the text holds U+0000");
    refuses("{\"aString\":\"\xc0\x80\"}", "not valid UTF-8");
    refuses("{\"aString\":\"\xed\xa0\x80\"}", "not valid UTF-8");
    refuses("{\"aString\":\"a\nb\"}", "not valid JSON at byte");
    refuses("{\"aString\":1}", "aString: expected a string, got 1");
}

static void invalid_text_of_ours_is_repaired(void **state)
{
    everything mine = TORG__TEST__V1__EVERYTHING__INIT;

    (void)state;
    mine.a_string = (char *)"a\xff\xd0\x96\xd0";
    writes(&mine.base, "{\"aString\":\"a\xef\xbf\xbdЖ\xef\xbf\xbd\"}");
}

static void enums_are_names(void **state)
{
    (void)state;
    becomes(
        "{\"aColor\":\"COLOR_DARK_GREEN\",\"manyColor\":[1,\"COLOR_UNSPECIFIED\",77]}",
        "{\"aColor\":\"COLOR_DARK_GREEN\",\"manyColor\":[\"COLOR_RED\",\"COLOR_UNSPECIFIED\",77]}");
    refuses("{\"aColor\":\"BLUE\"}", "aColor: \"BLUE\" is not a Color; known: COLOR_UNSPECIFIED, "
                                     "COLOR_RED, COLOR_DARK_GREEN");
    refuses("{\"aColor\":1.5}", "aColor: expected a name or an int32");
    refuses("{\"aColor\":true}", "aColor: expected a name");
}

static void bytes_are_base64(void **state)
{
    (void)state;
    becomes("{\"someBytes\":\"_-8\"}", "{\"someBytes\":\"/+8=\"}");
    becomes("{\"someBytes\":\"AAEC\"}", "{\"someBytes\":\"AAEC\"}");
    refuses("{\"someBytes\":\"A\"}", "someBytes: expected base64, got \"A\"");
    refuses("{\"someBytes\":\"A*==\"}", "someBytes: expected base64");
    refuses("{\"someBytes\":[1]}", "someBytes: expected a single value, got a list");
}

static void times_are_rfc_3339(void **state)
{
    (void)state;
    becomes("{\"aTimestamp\":\"2026-11-15T08:41:26.5Z\"}",
            "{\"aTimestamp\":\"2026-11-15T08:41:26.500Z\"}");
    becomes("{\"aTimestamp\":\"2026-11-15T02:41:26+03:00\"}",
            "{\"aTimestamp\":\"2026-11-14T23:41:26Z\"}");
    becomes("{\"aTimestamp\":\"0001-01-01T00:00:00Z\"}",
            "{\"aTimestamp\":\"0001-01-01T00:00:00Z\"}");
    becomes("{\"aTimestamp\":\"9999-12-31T23:59:59.999999999Z\"}",
            "{\"aTimestamp\":\"9999-12-31T23:59:59.999999999Z\"}");
    becomes("{\"aTimestamp\":\"2000-02-29T00:00:00.000001Z\"}",
            "{\"aTimestamp\":\"2000-02-29T00:00:00.000001Z\"}");
    becomes("{\"aTimestamp\":\"1970-01-01T00:00:00Z\"}",
            "{\"aTimestamp\":\"1970-01-01T00:00:00Z\"}");
    refuses("{\"aTimestamp\":\"1900-02-29T00:00:00Z\"}", "aTimestamp: expected a time as");
    refuses("{\"aTimestamp\":\"2026-11-15 08:41:26Z\"}", "aTimestamp: expected a time as");
    refuses("{\"aTimestamp\":\"2026-11-15T08:41:26\"}", "aTimestamp: expected a time as");
    refuses("{\"aTimestamp\":\"2026-13-15T08:41:26Z\"}", "aTimestamp: expected a time as");
    refuses("{\"aTimestamp\":\"2026-11-15T24:00:00Z\"}", "aTimestamp: expected a time as");
    refuses("{\"aTimestamp\":\"0001-01-01T00:00:00+01:00\"}", "aTimestamp: expected a time as");
    refuses("{\"aTimestamp\":\"2026-11-15T08:41:26.1234567890Z\"}", "aTimestamp: expected a time");
    refuses("{\"aTimestamp\":{\"seconds\":1}}",
            "aTimestamp: expected a single value, got an object");
    becomes("{\"aDuration\":\"1.5s\"}", "{\"aDuration\":\"1.500s\"}");
    becomes("{\"aDuration\":\"-0.000000001s\"}", "{\"aDuration\":\"-0.000000001s\"}");
    becomes("{\"aDuration\":\"315576000000s\"}", "{\"aDuration\":\"315576000000s\"}");
    refuses("{\"aDuration\":\"315576000001s\"}", "aDuration: expected a duration as \"1.5s\"");
    refuses("{\"aDuration\":\"1.5\"}", "aDuration: expected a duration");
    refuses("{\"aDuration\":\"s\"}", "aDuration: expected a duration");
    refuses("{\"aDuration\":1.5}", "aDuration: expected a duration");
}

static void times_out_of_range_are_written_as_null(void **state)
{
    everything mine = TORG__TEST__V1__EVERYTHING__INIT;
    Google__Protobuf__Timestamp time = GOOGLE__PROTOBUF__TIMESTAMP__INIT;

    (void)state;
    time.seconds = INT64_MAX;
    mine.a_timestamp = &time;
    writes(&mine.base, "{\"aTimestamp\":null}");
}

static void maps_are_objects(void **state)
{
    (void)state;
    becomes("{\"aMap\":{\"x\":\"5\",\"\":6},\"childMap\":{\"-7\":{\"anInt32\":1},\"8\":{}}}",
            "{\"aMap\":{\"x\":\"5\",\"\":\"6\"},\"childMap\":{\"-7\":{\"anInt32\":1},\"8\":{}}}");
    refuses("{\"aMap\":{\"x\":1,\"y\":2,\"x\":3}}", "aMap[\"x\"]: the key comes twice");
    refuses("{\"childMap\":{\"1\":{},\"2\":{},\"1e0\":{}}}",
            "childMap[\"1\"]: the key comes twice");
    refuses("{\"aMap\":{\"x\":null}}", "aMap[\"x\"]: null is not allowed");
    refuses("{\"aMap\":{\"x\":\"y\"}}", "aMap[\"x\"]: expected an integer");
    refuses("{\"childMap\":{\"one\":{}}}", "childMap[\"one\"]: expected an integer");
    refuses("{\"childMap\":{\"1\":{\"child\":{\"aBool\":1}}}}", "childMap[\"1\"].child.aBool: ");
    refuses("{\"aMap\":[]}", "aMap: expected an object, got a list");
    refuses("{\"aMap\":3}", "aMap: expected an object");
}

/* A map entry without its value, as the wire may bring it, is the default value. */
static void a_map_value_left_out_is_the_default(void **state)
{
    (void)state;
    assert_int_equal(
        message_decode(bytes_make("\x9a\x01\x02\x08\x05", 5), EVERYTHING, arena, &message, &err),
        0);
    writes(message, "{\"childMap\":{\"5\":{}}}");
}

/* What the descriptor set says of map entries and names counts, not what they look like. */
static void a_list_that_looks_like_a_map_is_a_list(void **state)
{
    const ProtobufCMessageDescriptor *type = &torg__test__v1__lookalike__descriptor;
    static const char json[] = "{\"pairs\":[{\"key\":\"a\",\"value\":\"1\"}],\"otherName\":\"x\"}";

    (void)state;
    assert_int_equal(decode_as(type, bytes_of(json)), 0);
    writes(message, json);
    assert_int_equal(decode_as(type, bytes_of("{\"renamed_field\":\"x\"}")), 0);
    assert_int_equal(decode_as(type, bytes_of("{\"renamedField\":\"x\"}")), ERR_INVALID);
    assert_int_equal(decode_as(type, bytes_of("{\"pairs\":{\"a\":1}}")), ERR_INVALID);
    assert_non_null(strstr(err.text, "pairs: expected a list, got an object"));
}

static void a_damaged_descriptor_set_is_refused(void **state)
{
    (void)state;
    assert_true(json_add_types(bytes_of("nonsense"), &err) < 0);
    assert_memory_equal(err.text, "descriptor set: ", 16);
}

static void presence_is_kept(void **state)
{
    (void)state;
    becomes("{\"maybeInt32\":0,\"maybeString\":\"\"}", "{\"maybeInt32\":0,\"maybeString\":\"\"}");
    becomes("{\"choiceText\":\"\"}", "{\"choiceText\":\"\"}");
    becomes("{\"child\":{}}", "{\"child\":{}}");
    becomes("{\"maybeInt32\":null}", "{}");
}

static void one_member_of_a_oneof(void **state)
{
    (void)state;
    refuses("{\"choiceText\":\"a\",\"choiceChild\":{}}",
            "choiceChild: choiceText is set too; only one of them may be");
    refuses("{\"choiceChild\":{},\"choiceText\":\"a\"}", "choiceText: choiceChild is set too");
}

/* --- what is refused --- */

static void unknown_and_repeated_keys_are_refused(void **state)
{
    (void)state;
    refuses("{\"priice\":1}", "priice: unknown field; known: aBool, anInt32, ");
    refuses("{\"child\":{\"manyChildren\":[{},{\"x\":{\"y\":[1,{}]}}]}}",
            "child.manyChildren[1].x: unknown field");
    refuses("{\"anInt32\":1,\"anInt32\":1}", "anInt32: the field comes twice");
    refuses("{\"anInt32\":1,\"an_int32\":1}", "an_int32: the field comes twice");
}

static void every_problem_is_told(void **state)
{
    const struct violation *violation;

    (void)state;
    refuses("{\"priice\":{\"a\":[1]},\"anInt32\":\"x\",\"manyChildren\":[{},{\"anInt32\":[]},{},"
            "{\"anInt32\":1e10}],\"aBool\":1,\"aString\":\"good\"}",
            "priice: unknown field");
    assert_non_null(strstr(err.text, "(and 4 more)"));
    assert_int_equal(violations.count, 5);
    violation = violations.first->next;
    assert_string_equal(violation->field, "anInt32");
    violation = violation->next;
    assert_string_equal(violation->field, "manyChildren[1].anInt32");
    violation = violation->next;
    assert_string_equal(violation->field, "manyChildren[3].anInt32");
    violation = violation->next;
    assert_string_equal(violation->field, "aBool");
    assert_string_equal(violation->reason, "expected true or false, got 1");
}

static void too_many_problems_end_it(void **state)
{
    int i;

    (void)state;
    buf_reset(&out);
    buf_put_text(&out, "{\"manyInt64\":[");
    for (i = 0; i < 100000; i++)
        buf_put_text(&out, "true,");
    refuses_bytes(buf_bytes(&out), ERR_INVALID, "more than 100 fields are wrong");
    assert_int_equal(violations.count, VIOLATION_COUNT_MAX);
}

static void wrong_shapes_are_refused(void **state)
{
    (void)state;
    refuses("{\"child\":[]}", "child: expected an object, got a list");
    refuses("{\"child\":1}", "child: expected an object, got 1");
    refuses("{\"manyInt64\":1}", "manyInt64: expected a list");
    refuses("{\"manyInt64\":{}}", "manyInt64: expected a list, got an object");
    refuses("{\"manyInt64\":[1,[2]]}", "manyInt64[1]: expected a single value, got a list");
    refuses("{\"manyInt64\":[1,null]}", "manyInt64[1]: null is not allowed");
    refuses("{\"manyChildren\":[{},3]}", "manyChildren[1]: expected an object, got 3");
    refuses("{\"manyChildren\":[[{}]]}", "manyChildren[0]: expected an object, got a list");
    refuses("{\"aBool\":\"true\"}", "aBool: expected true or false, got \"true\"");
}

static void broken_json_is_refused(void **state)
{
    static const char *const broken[] = {
        "{",
        "{\"a",
        "{\"aBool\":}",
        "{\"aBool\":true,}",
        "{\"aBool\" true}",
        "{aBool:1}",
        "{} {}",
        "{}x",
        "{\"anInt32\":01}",
        "{\"anInt32\":+1}",
        "{\"a\":\"\\x\"}",
        "/**/{}",
        "{\"anInt32\":.5}",
        "{'aBool':true}",
        "\xef\xbb\xbf{}",
        "{\"manyInt64\":[1,]}",
        "{\"aBool\":tru}",
        "{\"anInt32\":1.}",
        "{}\\u",
        "\\ud800",
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_COUNT(broken); i++)
        refuses(broken[i], "");
    refuses("", "the JSON is empty");
    refuses("   ", "not valid JSON at byte");
    refuses("{}]", "trailing garbage");
    refuses("{\"child\":{\"anInt32\":1 2}}", "in child.anInt32");
    refuses("[]", "must be an object");
    refuses("null", "must be an object");
    refuses("\"x\"", "must be an object");
    refuses_bytes(bytes_make("{}\0", 3), ERR_INVALID, "not valid JSON");
}

static void nest(const char *open, unsigned count)
{
    buf_reset(&out);
    buf_put_byte(&out, '{');
    while (--count)
        buf_put_text(&out, open);
}

static void nesting_is_bounded(void **state)
{
    unsigned i;

    (void)state;
    nest("\"child\":{", MESSAGE_DEPTH_MAX);
    for (i = 0; i < MESSAGE_DEPTH_MAX; i++)
        buf_put_byte(&out, '}');
    assert_int_equal(decode_as(EVERYTHING, buf_bytes(&out)), 0);
    buf_reset(&out);
    json_encode(message, &out); /* what can be read can be written */
    assert_false(buf_failed(&out));
    nest("\"child\":{", MESSAGE_DEPTH_MAX + 1);
    refuses_bytes(buf_bytes(&out), ERR_LIMIT, "nested deeper than 64");
    nest("\"manyChildren\":[{", 100000);
    refuses_bytes(buf_bytes(&out), ERR_LIMIT, "nested deeper than 64");
    nest("\"childMap\":{\"1\":{", 100000);
    refuses_bytes(buf_bytes(&out), ERR_LIMIT, "nested deeper than 64");
    buf_reset(&out);
    buf_put_text(&out, "{\"unknown\":");
    for (i = 0; i < 100000; i++)
        buf_put_byte(&out, '[');
    refuses_bytes(buf_bytes(&out), ERR_LIMIT, "nested too deep");
}

static void memory_is_bounded(void **state)
{
    int i;

    (void)state;
    buf_reset(&out);
    buf_put_text(&out, "{\"manyChildren\":[{}");
    for (i = 0; i < 1 << 20; i++)
        buf_put_text(&out, ",{}");
    refuses_bytes(buf_bytes(&out), ERR_LIMIT, "more than 32 MB");
    assert_true(arena_size(arena) < 3 * (size_t)MESSAGE_MEMORY_MAX);
}

static void a_message_too_deep_to_read_is_not_written(void **state)
{
    everything chain[MESSAGE_DEPTH_MAX + 1];
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_COUNT(chain); i++) {
        torg__test__v1__everything__init(&chain[i]);
        chain[i].child = i ? &chain[i - 1] : NULL;
    }
    buf_reset(&out);
    json_encode(&chain[MESSAGE_DEPTH_MAX].base, &out);
    assert_true(buf_failed(&out));
}

static void a_full_buffer_is_told(void **state)
{
    struct buf small = BUF_INIT(10);

    (void)state;
    reads("{\"aString\":\"long enough\"}");
    json_encode(message, &small);
    assert_true(buf_failed(&small));
    buf_release(&small);
}

/* --- Any --- */

static void an_any_says_its_type(void **state)
{
    static const char json[] =
        "{\"code\":3,\"details\":[{\"@type\":\"type.googleapis.com/google.rpc.BadRequest\","
        "\"fieldViolations\":[{\"field\":\"a\",\"description\":\"b\"}]},"
        "{\"@type\":\"type.googleapis.com/google.rpc.RetryInfo\",\"retryDelay\":\"1s\"}]}";
    const Google__Rpc__Status *status;
    ProtobufCMessage *detail;

    (void)state;
    assert_int_equal(decode_as(&google__rpc__status__descriptor, bytes_of(json)), 0);
    status = (const Google__Rpc__Status *)message;
    assert_int_equal(status->n_details, 2);
    assert_int_equal(
        message_decode(bytes_make(status->details[0]->value.data, status->details[0]->value.len),
                       &google__rpc__bad_request__descriptor, arena, &detail, &err),
        0);
    assert_string_equal(((Google__Rpc__BadRequest *)detail)->field_violations[0]->field, "a");
    writes(message, json);
}

static void an_any_of_an_unknown_type(void **state)
{
    Google__Rpc__Status status = GOOGLE__RPC__STATUS__INIT;
    Google__Protobuf__Any any = GOOGLE__PROTOBUF__ANY__INIT;
    Google__Protobuf__Any *details[] = {&any};

    (void)state;
    any.type_url = (char *)"example.org/Strange";
    any.value = (ProtobufCBinaryData){3, (uint8_t *)"abc"};
    status.n_details = 1;
    status.details = details;
    writes(&status.base, "{\"details\":[{\"@type\":\"example.org/Strange\",\"value\":\"YWJj\"}]}");
    assert_int_equal(decode_as(&google__rpc__status__descriptor, buf_bytes(&out)), ERR_INVALID);
    assert_non_null(strstr(err.text, "details[0].@type: \"example.org/Strange\" is not a type"));
    assert_int_equal(
        decode_as(&google__rpc__status__descriptor, bytes_of("{\"details\":[{\"value\":\"\"}]}")),
        ERR_INVALID);
    assert_non_null(strstr(err.text, "details[0].value: \"@type\" must come first"));
    assert_int_equal(decode_as(&google__rpc__status__descriptor, bytes_of("{\"details\":[{}]}")),
                     ERR_INVALID);
    assert_non_null(strstr(err.text, "\"@type\" is missing"));
}

static void answers_tell_zeros_that_say_something(void **state)
{
    static const char zeros[] =
        "\"aBool\":false,\"anInt32\":0,\"anInt64\":\"0\",\"aUint32\":0,\"aUint64\":\"0\","
        "\"aSint64\":\"0\",\"aFixed64\":\"0\",\"aFloat\":0,\"aDouble\":0,"
        "\"aColor\":\"COLOR_UNSPECIFIED\",";
    static const char lists[] = "\"manyInt64\":[],\"manyString\":[],\"manyColor\":[],"
                                "\"manyChildren\":[],\"aMap\":{},\"childMap\":{}";
    Torg__Test__V1__EchoResponse response = TORG__TEST__V1__ECHO_RESPONSE__INIT;
    everything outer = TORG__TEST__V1__EVERYTHING__INIT;
    everything inner = TORG__TEST__V1__EVERYTHING__INIT;

    (void)state;
    buf_reset(&out);
    json_encode_answer(&response.base, &out);
    assert_string_equal(buf_text(&out), "{\"count\":\"0\"}");
    outer.child = &inner;
    buf_reset(&out);
    json_encode_answer(&outer.base, &out);
    assert_string_equal(buf_text(&out),
                        arena_printf(arena, "{%s\"child\":{%s%s},%s}", zeros, zeros, lists, lists));
    assert_int_equal(decode_as(EVERYTHING, buf_bytes(&out)), 0);
    writes(message, "{\"child\":{}}");
}

static void paths_have_the_names_of_their_reader(void **state)
{
    static const char *const paths[][2] = {
        {"an_int32", "anInt32"},
        {"child.child_map[\"an_int32].x\"].an_int32", "child.childMap[\"an_int32].x\"].anInt32"},
        {"many_children[2].choice_child.a_map[\"a_map\"]",
         "manyChildren[2].choiceChild.aMap[\"a_map\"]"},
        {"child_map[\"open", "childMap[\"open"},
        {"a_timestamp.an_int32", "aTimestamp.an_int32"},
        {"no_such.an_int32", "no_such.an_int32"},
        {"", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(paths); i++)
        for (unsigned from = 0; from < 2; from++) {
            buf_reset(&out);
            json_put_field_path(&out, paths[i][from], EVERYTHING, true);
            assert_string_equal(buf_text(&out), paths[i][1]);
            buf_reset(&out);
            json_put_field_path(&out, paths[i][from], EVERYTHING, false);
            assert_string_equal(buf_text(&out), paths[i][0]);
        }
}

static void a_text_may_begin_with_the_path_of_a_field(void **state)
{
    static const char *const with[] = {"an_int32: is odd", "anInt32: is odd",
                                       "child.manyChildren[3].aString: is odd",
                                       "a_map[\"x: y\"]: is odd", "aString.below-it: is odd"};
    static const char *const without[] = {"",
                                          "is odd",
                                          ": is odd",
                                          "priice: unknown field",
                                          "an_int32 is odd: see",
                                          "child.: is odd",
                                          "http://an_int32: is odd",
                                          "an_int32"};

    for (size_t i = 0; i < ARRAY_COUNT(with); i++)
        assert_int_equal(json_field_path_size(with[i], EVERYTHING),
                         strstr(with[i], ": is odd") - with[i]);
    for (size_t i = 0; i < ARRAY_COUNT(without); i++)
        assert_int_equal(json_field_path_size(without[i], EVERYTHING), 0);
    assert_int_equal(json_field_path_size("an_int32: is odd", NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_messages_come_back),
        cmocka_unit_test(a_text_may_begin_with_the_path_of_a_field),
        cmocka_unit_test(names_are_camel_case_and_the_protos_own_are_read),
        cmocka_unit_test(integers_are_exact_at_their_extremes),
        cmocka_unit_test(reals_come_back_as_they_were),
        cmocka_unit_test(texts_keep_every_character),
        cmocka_unit_test(invalid_text_of_ours_is_repaired),
        cmocka_unit_test(enums_are_names),
        cmocka_unit_test(bytes_are_base64),
        cmocka_unit_test(times_are_rfc_3339),
        cmocka_unit_test(times_out_of_range_are_written_as_null),
        cmocka_unit_test(maps_are_objects),
        cmocka_unit_test(a_map_value_left_out_is_the_default),
        cmocka_unit_test(a_list_that_looks_like_a_map_is_a_list),
        cmocka_unit_test(a_damaged_descriptor_set_is_refused),
        cmocka_unit_test(presence_is_kept),
        cmocka_unit_test(one_member_of_a_oneof),
        cmocka_unit_test(unknown_and_repeated_keys_are_refused),
        cmocka_unit_test(every_problem_is_told),
        cmocka_unit_test(too_many_problems_end_it),
        cmocka_unit_test(wrong_shapes_are_refused),
        cmocka_unit_test(broken_json_is_refused),
        cmocka_unit_test(nesting_is_bounded),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(a_message_too_deep_to_read_is_not_written),
        cmocka_unit_test(a_full_buffer_is_told),
        cmocka_unit_test(an_any_says_its_type),
        cmocka_unit_test(an_any_of_an_unknown_type),
        cmocka_unit_test(answers_tell_zeros_that_say_something),
        cmocka_unit_test(paths_have_the_names_of_their_reader),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
