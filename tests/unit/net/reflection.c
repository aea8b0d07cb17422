/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of net/server/routes/reflection.h, on a fake call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "codec/message.h"
#include "echo.pb-c.h"
#include "echo_descriptors.h"
#include "fake_call.h"
#include "google/protobuf/descriptor.pb-c.h"
#include "grpc/reflection/v1/reflection.pb-c.h"
#include "grpc/reflection/v1alpha/reflection.pb-c.h"
#include "model_descriptors.h"
#include "net/server/routes/reflection.h"

typedef Grpc__Reflection__V1__ServerReflectionRequest request_message;
typedef Grpc__Reflection__V1__ServerReflectionResponse response_message;

#define REQUEST(name) GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_##name
#define RESPONSE(name) GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_##name

static struct reflection *reflection;
static struct call call;

static int set_up(void **state)
{
    static const struct rpc_service echo = {.descriptor =
                                                &torg__test__v1__echo_service__descriptor};
    static const struct rpc_service *const services[] = {&echo, &echo};
    const struct bytes sets[] = {
        bytes_make(model_descriptors, model_descriptors_size),
        bytes_make(echo_descriptors, echo_descriptors_size),
    };
    struct err err;
    int rc;

    (void)state;
    rc = reflection_new(sets, 2, services, 2, &reflection, &err);
    if (!rc)
        fake_call_init(&call, reflection_v1(reflection));
    return rc;
}

static int tear_down(void **state)
{
    (void)state;
    fake_call_release(&call);
    reflection_free(reflection);
    return 0;
}

static const response_message *ask(request_message *request)
{
    struct err err;

    request->host = (char *)"here";
    call.requests[call.request_count++] = &request->base;
    assert_int_equal(reflection_v1(reflection)->methods[0].stream(&call, &err), 0);
    assert_true(call.answer_count == call.request_count);
    return (const response_message *)call.answers[call.answer_count - 1];
}

static const response_message *ask_text(unsigned request_case, const char *text)
{
    request_message request = GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__INIT;
    const response_message *response;

    request.message_request_case = request_case;
    request.list_services = (char *)text; /* all texts share the place */
    response = ask(&request);
    assert_string_equal(response->valid_host, "here");
    assert_int_equal(response->original_request->message_request_case, request_case);
    return response;
}

/* The answered files' names in a row; the first is the one asked for. */
static void has_files(const response_message *response, const char *names)
{
    struct buf got = BUF_INIT(4096);
    size_t i;

    assert_int_equal(response->message_response_case, RESPONSE(FILE_DESCRIPTOR_RESPONSE));
    for (i = 0; i < response->file_descriptor_response->n_file_descriptor_proto; i++) {
        const ProtobufCBinaryData *wire =
            &response->file_descriptor_response->file_descriptor_proto[i];
        ProtobufCMessage *file;
        struct err err;

        assert_int_equal(message_decode(bytes_make(wire->data, wire->len),
                                        &google__protobuf__file_descriptor_proto__descriptor,
                                        call.arena, &file, &err),
                         0);
        buf_printf(&got, "%s ", ((Google__Protobuf__FileDescriptorProto *)file)->name);
    }
    assert_string_equal(buf_text(&got), names);
    buf_release(&got);
}

static void is_error(const response_message *response, int code, const char *text)
{
    assert_int_equal(response->message_response_case, RESPONSE(ERROR_RESPONSE));
    assert_int_equal(response->error_response->error_code, code);
    assert_string_equal(response->error_response->error_message, text);
}

static void services_are_listed_once(void **state)
{
    const response_message *response = ask_text(REQUEST(LIST_SERVICES), "*");
    const Grpc__Reflection__V1__ListServiceResponse *list = response->list_services_response;

    (void)state;
    assert_int_equal(response->message_response_case, RESPONSE(LIST_SERVICES_RESPONSE));
    assert_int_equal(list->n_service, 3);
    assert_string_equal(list->service[0]->name, "torg.test.v1.EchoService");
    assert_string_equal(list->service[1]->name, "grpc.reflection.v1.ServerReflection");
    assert_string_equal(list->service[2]->name, "grpc.reflection.v1alpha.ServerReflection");
}

static void symbols_lead_to_files_and_their_imports(void **state)
{
    static const char *const symbols[] = {
        "torg.test.v1.EchoService",          "torg.test.v1.EchoService.Chat",
        "torg.test.v1.Everything",           "torg.test.v1.Everything.Color",
        "torg.test.v1.Everything.AMapEntry",
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
        has_files(ask_text(REQUEST(FILE_CONTAINING_SYMBOL), symbols[i]),
                  "echo.proto google/protobuf/duration.proto google/protobuf/timestamp.proto ");
    has_files(ask_text(REQUEST(FILE_BY_FILENAME), "torg/v1/system.proto"),
              "torg/v1/system.proto google/protobuf/timestamp.proto ");
}

static void what_is_not_there_is_told(void **state)
{
    request_message request = GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__INIT;
    Grpc__Reflection__V1__ExtensionRequest extension =
        GRPC__REFLECTION__V1__EXTENSION_REQUEST__INIT;

    (void)state;
    is_error(ask_text(REQUEST(FILE_CONTAINING_SYMBOL), "torg.Nothing"), 5,
             "no symbol \"torg.Nothing\"");
    is_error(ask_text(REQUEST(FILE_CONTAINING_SYMBOL), ""), 5, "no symbol \"\"");
    is_error(ask_text(REQUEST(FILE_BY_FILENAME), "x.proto"), 5, "no file \"x.proto\"");
    is_error(ask(&request), 3, "the request asks for nothing");
    request.message_request_case = REQUEST(FILE_CONTAINING_EXTENSION);
    extension.containing_type = (char *)"torg.test.v1.Everything";
    extension.extension_number = 7;
    request.file_containing_extension = &extension;
    is_error(ask(&request), 5, "no extension 7 of \"torg.test.v1.Everything\"");
    is_error(ask_text(REQUEST(ALL_EXTENSION_NUMBERS_OF_TYPE), "x"), 5, "no message type \"x\"");
}

static void extension_numbers_of_a_type_without_any(void **state)
{
    const response_message *response =
        ask_text(REQUEST(ALL_EXTENSION_NUMBERS_OF_TYPE), "torg.test.v1.Everything");

    (void)state;
    assert_int_equal(response->message_response_case, RESPONSE(ALL_EXTENSION_NUMBERS_RESPONSE));
    assert_int_equal(response->all_extension_numbers_response->n_extension_number, 0);
}

static void the_older_protocol_is_answered_too(void **state)
{
    Grpc__Reflection__V1alpha__ServerReflectionRequest request =
        GRPC__REFLECTION__V1ALPHA__SERVER_REFLECTION_REQUEST__INIT;
    const Grpc__Reflection__V1alpha__ServerReflectionResponse *response;
    struct err err;

    (void)state;
    request.message_request_case =
        GRPC__REFLECTION__V1ALPHA__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_LIST_SERVICES;
    request.list_services = (char *)"*";
    call.requests[call.request_count++] = &request.base;
    assert_int_equal(reflection_v1alpha(reflection)->methods[0].stream(&call, &err), 0);
    response = (const void *)call.answers[0];
    assert_ptr_equal(response->base.descriptor,
                     &grpc__reflection__v1alpha__server_reflection_response__descriptor);
    assert_int_equal(response->list_services_response->n_service, 3);
}

static void a_damaged_set_is_refused(void **state)
{
    struct bytes set = bytes_make("\x0a\x05\x0a\x09zzz", 7);
    struct reflection *none;
    struct err err;

    (void)state;
    assert_int_equal(reflection_new(&set, 1, NULL, 0, &none, &err), ERR_INVALID);
    assert_null(none);
    set = bytes_of("nonsense");
    assert_int_equal(reflection_new(&set, 1, NULL, 0, &none, &err), ERR_CORRUPT);
    assert_string_equal(err.text, "descriptor set 0: not a FileDescriptorSet");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(services_are_listed_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(symbols_lead_to_files_and_their_imports, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_there_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(extension_numbers_of_a_type_without_any, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_older_protocol_is_answered_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_damaged_set_is_refused, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
