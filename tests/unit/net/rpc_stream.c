/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of net/client/rpc_stream.h against a server of this program: streams out, back and
 * both ways, a reader that does not read, and calls that end early.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "echo.pb-c.h"
#include "net/bounds.h"
#include "net/client/rpc_stream.h"
#include "net/server/server.h"

typedef Torg__Test__V1__EchoRequest echo_request;
typedef Torg__Test__V1__EchoResponse echo_response;

enum { BIG_SIZE = 100 * 1000 };

static pthread_mutex_t gate_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_changed = PTHREAD_COND_INITIALIZER;
static bool gate_open = true;

static void set_gate(bool open)
{
    pthread_mutex_lock(&gate_mutex);
    gate_open = open;
    pthread_cond_broadcast(&gate_changed);
    pthread_mutex_unlock(&gate_mutex);
}

/* Counts what comes, not before the gate is open; "stop" ends it with a reason. */
static int collect(struct call *call, struct err *err)
{
    echo_response out = TORG__TEST__V1__ECHO_RESPONSE__INIT;
    ProtobufCMessage *message;
    int rc;

    pthread_mutex_lock(&gate_mutex);
    while (!gate_open)
        pthread_cond_wait(&gate_changed, &gate_mutex);
    pthread_mutex_unlock(&gate_mutex);
    for (;;) {
        rc = call_read(call, &message, err);
        if (rc != 1)
            break;
        if (strcmp(((echo_request *)message)->text, "stop") == 0)
            return err_set(err, ERR_PRECONDITION, "хватит: 100%% of it");
        out.count++;
    }
    return rc ? rc : call_write(call, &out.base, err);
}

/* Answers each message with another. */
static int chat(struct call *call, struct err *err)
{
    char *text = mem_zero(BIG_SIZE + 1);
    int64_t count = 0;
    int rc;

    memset(text, 'x', BIG_SIZE);
    for (;;) {
        echo_response out = TORG__TEST__V1__ECHO_RESPONSE__INIT;
        ProtobufCMessage *message;

        rc = call_read(call, &message, err);
        if (rc != 1)
            break;
        out.count = ++count;
        out.text = text;
        rc = call_write(call, &out.base, err);
        if (rc)
            break;
    }
    free(text);
    return rc;
}

static int count(struct call *call, struct err *err)
{
    ProtobufCMessage *message;
    int rc = call_read(call, &message, err);

    for (int i = 1; rc == 1 && i <= ((Torg__Test__V1__CountRequest *)message)->count; i++) {
        echo_response out = TORG__TEST__V1__ECHO_RESPONSE__INIT;

        out.count = i;
        if (call_write(call, &out.base, err))
            return err->code;
    }
    return rc < 0 ? rc : 0;
}

static const struct rpc_method methods[] = {
    {.name = "Collect", .stream = collect, .flags = RPC_CLIENT_STREAM},
    {.name = "Chat", .stream = chat, .flags = RPC_CLIENT_STREAM | RPC_SERVER_STREAM},
    {.name = "Count", .stream = count, .flags = RPC_SERVER_STREAM},
};
static const struct rpc_service service = {
    .descriptor = &torg__test__v1__echo_service__descriptor,
    .methods = methods,
    .method_count = ARRAY_COUNT(methods),
};

static struct server *server;
static char url[64];
static struct arena *arena;
static struct rpc_stream *stream;
static struct err err;

static int start_server(void **state)
{
    const struct server_options options = {.listen = "127.0.0.1:0", .reactor_count = 1};

    if (server_new(&options, &server, &err))
        return -1;
    server_add_service(server, &service);
    if (server_start(server, &err))
        return -1;
    snprintf(url, sizeof(url), "http://127.0.0.1:%u", server_port(server));
    return 0;
}

static int stop_server(void **state)
{
    server_drain(server, 5000);
    server_free(server);
    return 0;
}

static int set_up(void **state)
{
    arena = arena_new();
    set_gate(true);
    return 0;
}

static int tear_down(void **state)
{
    set_gate(true);
    rpc_stream_close(stream);
    stream = NULL;
    arena_free(arena);
    return 0;
}

static void call(const char *method)
{
    char name[64];
    struct rpc_stream_options options = {.url = url, .method = name};

    snprintf(name, sizeof(name), "torg.test.v1.EchoService/%s", method);
    assert_int_equal(rpc_stream_open(&options, &stream, &err), 0);
}

static int say(const char *text)
{
    echo_request message = TORG__TEST__V1__ECHO_REQUEST__INIT;

    message.text = (char *)text;
    return rpc_stream_write(stream, &message.base, &err);
}

/* The count in the next answer; -1 at the end; else the failure's code. */
static int64_t hear(void)
{
    ProtobufCMessage *message;
    int rc =
        rpc_stream_read(stream, &torg__test__v1__echo_response__descriptor, arena, &message, &err);

    if (rc == 1)
        return ((echo_response *)message)->count;
    return rc ? rc : -1;
}

static void many_messages_go_out_and_one_answer_comes(void **state)
{
    call("Collect");
    for (int i = 0; i < 20000; i++)
        assert_int_equal(say("a text of some length, so that windows fill and open again"), 0);
    rpc_stream_finish(stream);
    assert_int_equal(hear(), 20000);
    assert_int_equal(hear(), -1);
    assert_int_equal(hear(), -1); /* and so it stays */
}

static void a_call_without_messages_is_answered(void **state)
{
    call("Collect");
    rpc_stream_finish(stream);
    assert_int_equal(hear(), 0);
    assert_int_equal(hear(), -1);
}

static void *open_gate_when_full(void *context)
{
    const atomic_int *written = context;
    int before = -1;

    /* The writer has begun and stands still: the same count twice, a while apart. */
    while (before < 1 || atomic_load(written) != before) {
        struct timespec pause = {.tv_nsec = 100 * 1000 * 1000};

        before = atomic_load(written);
        nanosleep(&pause, NULL);
    }
    set_gate(true);
    return (void *)(intptr_t)before;
}

static void a_write_waits_for_a_server_that_does_not_read(void **state)
{
    static char big[BIG_SIZE];
    atomic_int written = 0;
    pthread_t opener;
    void *stood_at;

    memset(big, 'y', sizeof(big) - 1);
    set_gate(false);
    call("Collect");
    pthread_create(&opener, NULL, open_gate_when_full, &written);
    for (int i = 0; i < 300; i++) { /* 30 MB */
        assert_int_equal(say(big), 0);
        atomic_fetch_add(&written, 1);
    }
    rpc_stream_finish(stream);
    assert_int_equal(hear(), 300);
    pthread_join(opener, &stood_at);
    assert_in_range((intptr_t)stood_at, 1, 100); /* windows, socket buffers and ours */
}

static void nobody_waits_for_ever_when_both_sides_write(void **state)
{
    int64_t heard = 0;

    call("Chat");
    for (int i = 0; i < 300; i++) { /* 30 MB come back meanwhile */
        while (rpc_stream_ready(stream))
            assert_int_equal(hear(), ++heard);
        assert_int_equal(say("more"), 0);
    }
    rpc_stream_finish(stream);
    while (heard < 300)
        assert_int_equal(hear(), ++heard);
    assert_int_equal(hear(), -1);
}

static void a_stream_of_answers_is_read_to_its_end(void **state)
{
    Torg__Test__V1__CountRequest request = TORG__TEST__V1__COUNT_REQUEST__INIT;

    call("Count");
    request.count = 50000;
    assert_int_equal(rpc_stream_write(stream, &request.base, &err), 0);
    rpc_stream_finish(stream);
    for (int i = 1; i <= 50000; i++)
        assert_int_equal(hear(), i);
    assert_int_equal(hear(), -1);
}

static void the_servers_reason_is_told_to_a_writer_in_the_middle(void **state)
{
    int rc = 0;

    call("Collect");
    assert_int_equal(say("stop"), 0);
    for (int i = 0; i < 1000 * 1000 && !rc && !rpc_stream_ready(stream); i++)
        rc = say("a text that nobody will read any more");
    if (!rc)
        rc = (int)hear();
    assert_int_equal(rc, ERR_PRECONDITION);
    assert_string_equal(err.text, "хватит: 100% of it");
}

static void faults_are_told(void **state)
{
    struct rpc_stream_options options = {.url = "http://127.0.0.1:1", .method = "a.B/C"};

    call("Nothing");
    rpc_stream_finish(stream);
    assert_int_equal(hear(), ERR_UNSUPPORTED);
    rpc_stream_close(stream);
    assert_int_equal(rpc_stream_open(&options, &stream, &err), 0);
    rpc_stream_finish(stream);
    assert_int_equal(hear(), ERR_UNAVAILABLE);
    assert_non_null(strstr(err.text, "http://127.0.0.1:1/a.B/C: "));
    rpc_stream_close(stream);
    options.authorization = "Bearer a\r\nX: 1";
    assert_int_equal(rpc_stream_open(&options, &stream, &err), ERR_INVALID);
}

static void a_silent_server_is_not_waited_for_longer_than_asked(void **state)
{
    struct rpc_stream_options options = {
        .url = url, .method = "torg.test.v1.EchoService/Collect", .idle_timeout_ms = 300};

    set_gate(false);
    assert_int_equal(rpc_stream_open(&options, &stream, &err), 0);
    rpc_stream_finish(stream);
    assert_int_equal(hear(), ERR_TIMEOUT);
}

static void a_message_that_is_too_large_is_refused_here(void **state)
{
    char *huge = mem_zero(NET_MESSAGE_SIZE_MAX + 1);

    memset(huge, 'x', NET_MESSAGE_SIZE_MAX);
    call("Collect");
    assert_int_equal(say(huge), ERR_LIMIT);
    free(huge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(many_messages_go_out_and_one_answer_comes, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_call_without_messages_is_answered, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_write_waits_for_a_server_that_does_not_read, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(nobody_waits_for_ever_when_both_sides_write, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_stream_of_answers_is_read_to_its_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_servers_reason_is_told_to_a_writer_in_the_middle,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(faults_are_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_silent_server_is_not_waited_for_longer_than_asked, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_message_that_is_too_large_is_refused_here, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests_name("rpc_stream", tests, start_server, stop_server);
}
