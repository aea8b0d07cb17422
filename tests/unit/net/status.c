/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of net/status and net/identity: codes, error bodies, scopes. */
#include "net/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/err.h"
#include "google/rpc/error_details.pb-c.h"
#include "google/rpc/status.pb-c.h"
#include "model/identity.h"
#include <cmocka.h>

static void every_error_code_has_a_status(void **state)
{
    bool used[STATUS_COUNT] = {false};

    for (int code = ERR_STALE; code < 0; code++) {
        int status = status_of_err(code);

        assert_true(status > 0 && status < STATUS_COUNT);
        assert_true(status_http(status) >= 400);
        used[status] = true;
    }
    for (int status = 1; status < STATUS_COUNT; status++)
        assert_true(used[status] || status == STATUS_UNKNOWN);
    assert_int_equal(status_of_err(0), STATUS_OK);
    assert_int_equal(status_of_err(-1000), STATUS_UNKNOWN);
    assert_int_equal(status_of_err(7), STATUS_UNKNOWN);
}

static void details_name_fields_and_delay(void **state)
{
    struct arena *arena = arena_new();
    struct violations violations = violations_in(arena);
    struct bytes packed;
    Google__Rpc__Status *status;
    Google__Rpc__BadRequest *bad;
    Google__Rpc__RetryInfo *retry;

    violations_add(&violations, "offer.price", "must be positive");
    packed = status_pack(3, "bad offer", &violations, 5, arena);
    status = google__rpc__status__unpack(NULL, packed.size, packed.data);
    assert_non_null(status);
    assert_int_equal(status->code, 3);
    assert_string_equal(status->message, "bad offer");
    assert_int_equal(status->n_details, 2);
    assert_string_equal(status->details[0]->type_url, "type.googleapis.com/google.rpc.BadRequest");
    bad = google__rpc__bad_request__unpack(NULL, status->details[0]->value.len,
                                           status->details[0]->value.data);
    assert_string_equal(bad->field_violations[0]->field, "offer.price");
    assert_string_equal(bad->field_violations[0]->description, "must be positive");
    retry = google__rpc__retry_info__unpack(NULL, status->details[1]->value.len,
                                            status->details[1]->value.data);
    assert_int_equal(retry->retry_delay->seconds, 5);
    google__rpc__retry_info__free_unpacked(retry, NULL);
    google__rpc__bad_request__free_unpacked(bad, NULL);
    google__rpc__status__free_unpacked(status, NULL);
    arena_free(arena);
}

static void texts_are_made_safe(void **state)
{
    struct arena *arena = arena_new();
    struct buf json = BUF_INIT(1000);

    assert_true(bytes_equal_text(status_message("a%b\n\xc3\xa4", arena), "a%25b%0A%C3%A4"));
    status_put_json(&json, 5, "no \"x\" \xff", NULL, 0);
    assert_string_equal(buf_text(&json), "{\"code\":\"not_found\",\"message\":\"no \\\"x\\\" ?\"}");
    buf_release(&json);
    arena_free(arena);
}

static void json_has_connects_details(void **state)
{
    struct arena *arena = arena_new();
    struct violations violations = violations_in(arena);
    struct buf json = BUF_INIT(1000);

    violations_add(&violations, "a", "b\xff");
    status_put_json(&json, 3, "no", &violations, 2);
    assert_string_equal(
        buf_text(&json),
        "{\"code\":\"invalid_argument\",\"message\":\"no\",\"details\":["
        "{\"type\":\"google.rpc.BadRequest\",\"value\":\"CgcKAWESAmI/\","
        "\"debug\":{\"fieldViolations\":[{\"field\":\"a\",\"description\":\"b?\"}]}},"
        "{\"type\":\"google.rpc.RetryInfo\",\"value\":\"CgIIAg\",\"debug\":{\"retryDelay\":\"2s\"}}"
        "]}");
    buf_release(&json);
    arena_free(arena);
}

static void scopes_are_whole_words(void **state)
{
    struct identity identity = {.scopes = "offers.read  offers.write"};

    assert_true(identity_has_scope(&identity, "offers.read"));
    assert_true(identity_has_scope(&identity, "offers.write"));
    assert_false(identity_has_scope(&identity, "offers"));
    assert_false(identity_has_scope(&identity, "offers.readx"));
    assert_false(identity_has_scope(&identity, ""));
    assert_true(identity_has_scope(&(struct identity){.scopes = "a *"}, "anything"));
    assert_false(identity_has_scope(&(struct identity){.scopes = "a*"}, "anything"));
    assert_false(identity_has_scope(&(struct identity){.scopes = ""}, "anything"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_error_code_has_a_status),
        cmocka_unit_test(details_name_fields_and_delay),
        cmocka_unit_test(texts_are_made_safe),
        cmocka_unit_test(json_has_connects_details),
        cmocka_unit_test(scopes_are_whole_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
