/* SPDX-License-Identifier: Apache-2.0 */
/* document.c - every rule of a document, by the fault that is told; and tokens of changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "codec/json.h"
#include "model/change_token.h"
#include "registry/receiving/document.h"

/* Epoch 1 is over, 2 is written to, 3 is built. Epoch 2 has some fields, 3 has none. */
static const struct epoch_field fields[] = {
    {.number = 1, .type = TORG__V1__SCHEMA_FIELD__TYPE__TEXT, .name = "title", .weight = 2},
    {.number = 2,
     .type = TORG__V1__SCHEMA_FIELD__TYPE__DECIMAL,
     .name = "price",
     .scale = 2,
     .filter = true},
    {.number = 3,
     .type = TORG__V1__SCHEMA_FIELD__TYPE__KEYWORD,
     .name = "seller",
     .filter = true,
     .value_count_max = 100},
};
static const uint16_t no_slots[4];

static struct client_view client_of(struct arena *arena)
{
    struct client_view client = {.id = 1,
                                 .name = "shop",
                                 .shard_count = 1,
                                 .writing_epoch = 2,
                                 .serving_epoch = 2,
                                 .epoch_count = 2};

    client.epochs[0] = (struct epoch_view){.epoch = 2};
    client.epochs[1] = (struct epoch_view){.epoch = 3, .slots = no_slots, .slot_mask = 3};
    epoch_set_fields(&client.epochs[0], fields, ARRAY_COUNT(fields), arena);
    return client;
}

/* What is wrong with the document, as "field: reason" joined by " | "; "" when nothing is. */
static const char *faults_of(const char *json, struct arena *arena, struct document_check *check,
                             struct row *row)
{
    struct violations *reasons = arena_alloc(arena, sizeof(*reasons));
    struct client_view *client = arena_alloc(arena, sizeof(*client));
    ProtobufCMessage *message;
    const char *faults = "";
    struct err err = {0};

    if (json_decode(bytes_of(json), &torg__v1__raw_document__descriptor, arena, &message, NULL,
                    &err))
        fail_msg("%s: %s", json, err.text);
    *reasons = violations_in(arena);
    *client = client_of(arena);
    *check = (struct document_check){.client = client, .reasons = reasons, .arena = arena};
    document_check(check, (const Torg__V1__RawDocument *)message, 0, row);
    for (const struct violation *one = reasons->first; one; one = one->next)
        faults = arena_printf(arena, "%s%s%s: %s", faults, *faults ? " | " : "", one->field,
                              one->reason);
    return faults;
}

static void expect_faults(const char *json, size_t count, const char *const *starts)
{
    struct arena *arena = arena_new();
    struct document_check check;
    struct row row;
    const char *faults = faults_of(json, arena, &check, &row);

    if (check.reasons->count != count)
        fail_msg("%s: %zu faults, not %zu: %s", json, check.reasons->count, count, faults);
    for (size_t i = 0; i < count; i++) {
        if (!strstr(faults, starts[i]))
            fail_msg("%s: no fault \"%s\" in: %s", json, starts[i], faults);
    }
    arena_free(arena);
}

static void expect_fault(const char *json, const char *start)
{
    expect_faults(json, 1, &start);
}

static void expect_right(const char *json)
{
    expect_faults(json, 0, NULL);
}

#define FIELD(text) "{\"pk\": \"a\", \"fields\": [" text "]}"

static void what_is_right_is_taken(void **state)
{
    expect_right(FIELD("{\"name\": \"title\", \"text\": \"bicycle\"}"));
    expect_right(FIELD("{\"name\": \"title\", \"text\": \"\"}"));
    expect_right(FIELD("{\"name\": \"price\", \"decimal\": \"-12.5\"}"));
    expect_right(FIELD("{\"name\": \"a.b_1\", \"keywords\": [\"red\", \"red\"]}"));
    expect_right(FIELD("{\"name\": \"n\", \"integer\": \"-9223372036854775808\"}"));
    expect_right(FIELD("{\"name\": \"d\", \"date\": \"0001-01-01T00:00:00Z\"}"));
    expect_right(FIELD("{\"name\": \"c\", \"category\": \"transport/cars\"}"));
    expect_right(FIELD("{\"name\": \"p\", \"point\": {\"latitude\": -90, \"longitude\": 180}}"));
    expect_right(FIELD("{\"name\": \"title\", \"text\": \"x\", \"options\": {\"weight\": 2}}"));
    expect_right("{\"pk\": \"a\", \"event\": \"DELETE\", \"version\": 3}");
    expect_right(
        "{\"pk\": \"a\", \"epoch\": 3, \"fields\": [{\"name\": \"price\", \"text\": \"\"}]}");
}

static void the_document_itself(void **state)
{
    expect_fault("{\"fields\": [{\"name\": \"title\", \"text\": \"x\"}]}", "pk: is empty");
    expect_fault("{\"pk\": \"a\\u0007\", \"fields\": [{\"name\": \"title\", \"text\": \"x\"}]}",
                 "pk: has a control character at byte 1");
    expect_fault("{\"pk\": \"a\\u0085\", \"fields\": [{\"name\": \"title\", \"text\": \"x\"}]}",
                 "pk: has a control character at byte 1");
    expect_fault("{\"pk\": \"a\"}", "fields: is empty");
    expect_fault("{\"pk\": \"a\", \"event\": \"DELETE\", \"fields\": [{\"name\": \"title\", "
                 "\"text\": \"x\"}]}",
                 "fields: a deletion has none");
    expect_fault("{\"pk\": \"a\", \"event\": \"DELETE\", \"version\": -1}", "version: -1");
    expect_fault("{\"pk\": \"a\", \"event\": \"DELETE\", \"epoch\": -1}", "epoch: -1 is negative");
    expect_fault("{\"pk\": \"a\", \"event\": \"DELETE\", \"epoch\": 4}",
                 "epoch: 4: the client's epoch is 2");
    expect_fault("{\"pk\": \"a\", \"event\": 7, \"fields\": [{\"name\": \"title\", \"text\": "
                 "\"x\"}]}",
                 "event: 7 is neither");
    expect_fault("{\"pk\": \"a\", \"event\": \"DELETE\", \"modifyTimestamp\": "
                 "\"1969-01-01T00:00:00Z\"}",
                 "modifyTimestamp: is not between");
    expect_fault("{\"pk\": \"a\", \"event\": \"DELETE\", \"expireTime\": "
                 "\"2030-01-01T00:00:00Z\"}",
                 "expireTime: a deletion has none");
    expect_fault("{\"pk\": \"a\", \"event\": \"DELETE\", \"placementClass\": "
                 "\"01234567890123456789012345678901234567890123456789012345678901234\"}",
                 "placementClass: has 65 bytes; the limit is 64");
}

static void its_fields(void **state)
{
    expect_fault(FIELD("{\"name\": \"title\"}"), "fields[0]: has no value");
    expect_fault(FIELD("{\"name\": \"x\", \"text\": \"\", \"keyword\": \"a\", \"integer\": 1}"),
                 "fields[0]: has values of 3 kinds (text, keyword, ...)");
    expect_fault(FIELD("{\"name\": \"Title\", \"text\": \"x\"}"), "fields[0].name: \"Title\"");
    expect_fault(FIELD("{\"name\": \"_pk\", \"text\": \"x\"}"), "fields[0].name: \"_pk\"");
    expect_fault(FIELD("{\"text\": \"x\"}"), "fields[0].name: \"\"");
    expect_fault(FIELD("{\"name\": \"title\", \"text\": \"x\"}, {\"name\": \"title\", \"text\": "
                       "\"y\"}"),
                 "fields[1].name: \"title\" is there already");
    expect_fault(FIELD("{\"name\": \"new\", \"text\": \"x\"}, {\"name\": \"new\", \"integer\": 1}"),
                 "fields[1].name: \"new\" is there already");
    expect_fault(FIELD("{\"name\": \"price\", \"integer\": 1}"),
                 "fields[0].integer: field \"price\" is decimal in epoch 2 and cannot be integer");
    expect_fault(FIELD("{\"name\": \"seller\", \"keywords\": [\"a\"]}"),
                 "fields[0].keywords: field \"seller\" is keyword");
    expect_fault(FIELD("{\"name\": \"a\", \"text\": \"\"}, {\"name\": \"b\", \"text\": \"\"}, "
                       "{\"name\": \"c\", \"text\": \"\"}, {\"name\": \"d\", \"text\": \"\"}"),
                 "fields[3].text: \"d\" would be text field 5");
}

static void their_values(void **state)
{
    expect_fault(FIELD("{\"name\": \"price\", \"decimal\": \"1.234\"}"),
                 "fields[0].decimal: \"1.234\" is not a decimal with at most 2 digits");
    expect_fault(FIELD("{\"name\": \"price\", \"decimal\": \"cheap\"}"), "fields[0].decimal");
    expect_fault(FIELD("{\"name\": \"price\", \"decimal\": \"92233720368547758.07\"}"),
                 "fields[0].decimal");
    expect_fault(FIELD("{\"name\": \"n\", \"integer\": \"9223372036854775807\"}"),
                 "fields[0].integer: is the greatest integer");
    expect_fault(FIELD("{\"name\": \"seller\", \"keyword\": \"\"}"), "fields[0].keyword: is empty");
    expect_fault(FIELD("{\"name\": \"k\", \"keywords\": [\"a\", \"\"]}"),
                 "fields[0].keywords[1]: is empty");
    expect_fault(FIELD("{\"name\": \"c\", \"category\": \"a//b\"}"), "fields[0].category");
    expect_fault(FIELD("{\"name\": \"c\", \"category\": \"/a\"}"), "fields[0].category");
    expect_fault(FIELD("{\"name\": \"c\", \"category\": \"a/\"}"), "fields[0].category");
    expect_fault(FIELD("{\"name\": \"c\", \"category\": \"1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/"
                       "17\"}"),
                 "fields[0].category: has 17 parts");
    expect_fault(FIELD("{\"name\": \"p\", \"point\": {\"latitude\": 91}}"),
                 "fields[0].point.latitude: 91");
    expect_fault(FIELD("{\"name\": \"p\", \"point\": {\"longitude\": \"NaN\"}}"),
                 "fields[0].point.longitude");
}

static void their_options(void **state)
{
    expect_fault(FIELD("{\"name\": \"title\", \"text\": \"x\", \"options\": {\"weight\": 3}}"),
                 "fields[0].options.weight: field \"title\" has weight 2 in epoch 2");
    expect_fault(FIELD("{\"name\": \"price\", \"decimal\": \"1\", \"options\": {\"scale\": 3}}"),
                 "fields[0].options.scale: field \"price\" has 2 digits");
    expect_fault(FIELD("{\"name\": \"price\", \"decimal\": \"1\", \"options\": {\"filter\": "
                       "false}}"),
                 "fields[0].options.filter");
    expect_fault(FIELD("{\"name\": \"n\", \"integer\": 1, \"options\": {\"weight\": 1}}"),
                 "fields[0].options.weight: only text");
    expect_fault(FIELD("{\"name\": \"t2\", \"text\": \"x\", \"options\": {\"weight\": 1000.5}}"),
                 "fields[0].options.weight: expected a number above 0, at most 1000");
    expect_fault(FIELD("{\"name\": \"n\", \"integer\": 1, \"options\": {\"scale\": 1}}"),
                 "fields[0].options.scale: only decimals");
    expect_fault(FIELD("{\"name\": \"n\", \"decimal\": \"1\", \"options\": {\"scale\": 10}}"),
                 "fields[0].options.scale: expected 0 to 9");
    expect_fault(FIELD("{\"name\": \"n\", \"text\": \"1\", \"options\": {\"filter\": true}}"),
                 "fields[0].options.filter");
    expect_fault(FIELD("{\"name\": \"n\", \"keyword\": \"1\", \"options\": {\"valueCountMax\": "
                       "99999999}}"),
                 "fields[0].options.valueCountMax");
    expect_right(FIELD("{\"name\": \"n\", \"decimal\": \"1.2345\", \"options\": {\"scale\": 4}}"));
}

static void all_reasons_are_told(void **state)
{
    static const char *const starts[] = {
        "pk: ", "version: ", "fields[0]: ", "fields[1].name: ", "fields[2].decimal: "};

    expect_faults("{\"version\": -1, \"fields\": [{\"name\": \"title\"}, {\"name\": \"T\", "
                  "\"text\": \"x\"}, {\"name\": \"price\", \"decimal\": \"x\"}]}",
                  ARRAY_COUNT(starts), starts);
}

static void what_depends_on_others_waits(void **state)
{
    struct arena *arena = arena_new();
    struct document_check check;
    struct new_fields before = {0};
    struct row row;
    Torg__V1__RawDocument *document;
    struct client_view client;
    ProtobufCMessage *message;
    struct err err = {0};

    assert_string_equal(
        faults_of(FIELD("{\"name\": \"size\", \"integer\": 1}"), arena, &check, &row), "");
    assert_int_equal(check.added.count, 1);
    assert_int_equal(check.added.list[0].epoch, 2);
    new_fields_add(&before, &check.added.list[0], arena);
    for (int i = 0; i < 2; i++) {
        const char *json = i ? FIELD("{\"name\": \"size\", \"text\": \"large\"}")
                             : FIELD("{\"name\": \"size\", \"integer\": 2}");
        struct violations reasons = violations_in(arena);

        assert_int_equal(json_decode(bytes_of(json), &torg__v1__raw_document__descriptor, arena,
                                     &message, NULL, &err),
                         0);
        document = (Torg__V1__RawDocument *)message;
        client = client_of(arena);
        check = (struct document_check){
            .client = &client, .before = &before, .reasons = &reasons, .arena = arena};
        document_check(&check, document, 0, &row);
        assert_int_equal(reasons.count, 0);
        assert_int_equal(check.waits, i == 1);
        assert_int_equal(check.added.count, 1);
    }
    arena_free(arena);
}

static void an_epoch_that_is_over(void **state)
{
    struct arena *arena = arena_new();
    struct document_check check;
    struct row row;

    assert_string_equal(
        faults_of("{\"pk\": \"a\", \"event\": \"DELETE\", \"epoch\": 1}", arena, &check, &row), "");
    assert_true(check.is_too_old);
    arena_free(arena);
}

static void tokens_come_back(void **state)
{
    const struct change_token token = {.client_id = INT64_MAX,
                                       .lane = 2,
                                       .shard = UINT32_MAX,
                                       .idx = INT64_MAX,
                                       .version = INT64_MAX,
                                       .hash = INT64_MIN};
    static const char *const wrong[] = {"", "A", "BAEAAA", "BAEAAAEA", "AQEAAAE", "!!!!"};
    const struct seal seal = {{7}}, other = {{8}};
    struct arena *arena = arena_new();
    struct change_token parsed;
    struct err err;
    char *text = change_token_text(&token, &seal, arena);

    assert_int_equal(change_token_parse(bytes_of(text), &seal, &parsed, &err), 0);
    assert_memory_equal(&parsed, &token, sizeof(token));
    assert_int_equal(change_token_parse(bytes_of(text), NULL, &parsed, &err), 0);
    assert_memory_equal(&parsed, &token, sizeof(token));
    assert_int_equal(change_token_parse(bytes_of(text), &other, &parsed, &err), ERR_INVALID);
    for (size_t i = 0; i < ARRAY_COUNT(wrong); i++) {
        assert_int_equal(change_token_parse(bytes_of(wrong[i]), &seal, &parsed, &err), ERR_INVALID);
        assert_int_equal(change_token_parse(bytes_of(wrong[i]), NULL, &parsed, &err), ERR_INVALID);
    }
    assert_int_equal(change_token_parse(bytes_of("AgEAAAE"), &seal, &parsed, &err),
                     ERR_PRECONDITION); /* of before there was a seal */
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_right_is_taken),
        cmocka_unit_test(the_document_itself),
        cmocka_unit_test(its_fields),
        cmocka_unit_test(their_values),
        cmocka_unit_test(their_options),
        cmocka_unit_test(all_reasons_are_told),
        cmocka_unit_test(what_depends_on_others_waits),
        cmocka_unit_test(an_epoch_that_is_over),
        cmocka_unit_test(tokens_come_back),
    };

    return cmocka_run_group_tests_name("registry document", tests, NULL, NULL);
}
