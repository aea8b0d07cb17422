/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of net/local_call: handlers called without a server, and what they see of their call. */
#include "net/local_call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "echo.pb-c.h"
#include <cmocka.h>

static const struct local_caller caller = {.principal = "local", .language = "en"};
static int context;

/* Answers with what it sees of its caller, behind the text it was sent. */
static int echo(struct call *call, const ProtobufCMessage *request, ProtobufCMessage *response,
                struct err *err)
{
    const struct identity *identity = call_identity(call);
    struct bytes language = call_header(call, "accept-language");

    (void)err;
    assert_ptr_equal(call_context(call), &context);
    assert_true(identity_has_scope(identity, "admin"));
    assert_string_equal(identity->seller, "");
    assert_string_equal(identity->client, "");
    assert_int_equal(call_deadline_us(call), INT64_MAX);
    assert_false(call_cancelled(call));
    assert_int_equal(call_header(call, "idempotency-key").size, 0);
    ((Torg__Test__V1__EchoResponse *)response)->text = arena_printf(
        call_arena(call), "%s by %s in %.*s", ((const Torg__Test__V1__EchoRequest *)request)->text,
        identity->principal, BYTES_ARG(language));
    return 0;
}

static int refuse(struct call *call, const ProtobufCMessage *request, ProtobufCMessage *response,
                  struct err *err)
{
    (void)request;
    (void)response;
    call_violation(call, "code", "expected %d", 1);
    return err_set(err, ERR_PRECONDITION, "not now");
}

/* One message a number, then the end; whoever takes them may say when. */
static int count(struct call *call, struct err *err)
{
    Torg__Test__V1__EchoResponse answer = TORG__TEST__V1__ECHO_RESPONSE__INIT;
    ProtobufCMessage *message;
    char text[16];
    int rc = call_read(call, &message, err);
    int wanted;

    assert_int_equal(rc, 1);
    wanted = ((const Torg__Test__V1__CountRequest *)message)->count;
    assert_int_equal(call_read(call, &message, err), 0);
    answer.text = text;
    for (int i = 0; i < wanted; i++) {
        snprintf(text, sizeof(text), "%d", i);
        rc = call_write(call, &answer.base, err);
        if (rc)
            return rc;
    }
    return 0;
}

static const struct rpc_method methods[] = {
    {.name = "Echo", .unary = echo, .scope = "admin"},
    {.name = "Fail", .unary = refuse},
    {.name = "Count", .stream = count, .flags = RPC_SERVER_STREAM},
};

static const struct rpc_service service = {.descriptor = &torg__test__v1__echo_service__descriptor,
                                           .methods = methods,
                                           .method_count = ARRAY_COUNT(methods),
                                           .context = &context};

static void a_handler_sees_the_caller_and_answers_in_the_arena(void **state)
{
    Torg__Test__V1__EchoRequest request = TORG__TEST__V1__ECHO_REQUEST__INIT;
    struct arena *arena = arena_new();
    ProtobufCMessage *response;
    struct err err;

    (void)state;
    request.text = "said";
    assert_int_equal(local_call(&service, "Echo", &caller, &request.base, arena, &response, &err),
                     0);
    assert_string_equal(((const Torg__Test__V1__EchoResponse *)response)->text,
                        "said by local in en");
    arena_free(arena);
}

static void a_refusal_comes_back_with_its_code_and_text(void **state)
{
    Torg__Test__V1__FailRequest request = TORG__TEST__V1__FAIL_REQUEST__INIT;
    struct arena *arena = arena_new();
    ProtobufCMessage *response;
    struct err err;

    (void)state;
    assert_int_equal(local_call(&service, "Fail", &caller, &request.base, arena, &response, &err),
                     ERR_PRECONDITION);
    assert_string_equal(err.text, "not now");
    arena_free(arena);
}

static void a_method_without_a_handler_is_told(void **state)
{
    Torg__Test__V1__SleepRequest request = TORG__TEST__V1__SLEEP_REQUEST__INIT;
    struct arena *arena = arena_new();
    ProtobufCMessage *response;
    struct err err;

    (void)state;
    assert_int_equal(local_call(&service, "Sleep", &caller, &request.base, arena, &response, &err),
                     ERR_UNSUPPORTED);
    assert_string_equal(err.text, "torg.test.v1.EchoService/Sleep is not answered here");
    arena_free(arena);
}

struct taken {
    char all[64];
    int left; /* before it has had enough */
};

static int take(void *arg, const ProtobufCMessage *message, struct err *err)
{
    struct taken *taken = arg;
    const char *text = ((const Torg__Test__V1__EchoResponse *)message)->text;

    if (taken->left-- == 0)
        return err_set(err, ERR_CANCELLED, "enough");
    snprintf(taken->all + strlen(taken->all), sizeof(taken->all) - strlen(taken->all), "%s ", text);
    return 0;
}

static void a_stream_is_taken_message_by_message(void **state)
{
    Torg__Test__V1__CountRequest request = TORG__TEST__V1__COUNT_REQUEST__INIT;
    struct taken all = {.left = 100};
    struct taken few = {.left = 2};
    struct err err;

    (void)state;
    request.count = 4;
    assert_int_equal(local_stream(&service, "Count", &caller, &request.base, take, &all, &err), 0);
    assert_string_equal(all.all, "0 1 2 3 ");
    assert_int_equal(local_stream(&service, "Count", &caller, &request.base, take, &few, &err),
                     ERR_CANCELLED);
    assert_string_equal(few.all, "0 1 ");
    assert_string_equal(err.text, "enough");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handler_sees_the_caller_and_answers_in_the_arena),
        cmocka_unit_test(a_refusal_comes_back_with_its_code_and_text),
        cmocka_unit_test(a_method_without_a_handler_is_told),
        cmocka_unit_test(a_stream_is_taken_message_by_message),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
