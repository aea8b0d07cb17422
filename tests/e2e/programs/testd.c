/* SPDX-License-Identifier: Apache-2.0 */
/*
 * testd.c - a server with torg.test.v1.EchoService and nothing else, for tests and benchmarks.
 *
 *     testd [--tls CERT KEY] [--client-ca CA] [--client-required] [--auth] [--reactors N]
 *           [--workers N] [--port N] [--connections N] [--calls N] [--head-timeout-ms N]
 *           [--body-grace-ms N] [--idle-timeout-ms N] [--stall-timeout-ms N] [--turn-ms-max N]
 *           [--stream-silence-ms N] [--anonymous-stream-ms N] [--key-rate N] [--seller-rate N]
 *           [--address-rate N] [--address-connections N] [--proxies ADDRESSES] [--cors ORIGINS]
 *           [--reuse-port] [--drain-pause-ms N]
 *
 * Prints {"port":…,"operator_port":…,"pid":…} as one line when it listens, and serves until
 * SIGTERM, then drains for ten minutes at most. With --auth the keys are "Bearer good" (scope
 * "echo"), "Bearer poor" (none) and "Bearer tom-…" (of the seller tom); Count needs the scope.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "echo.pb-c.h"
#include "echo_descriptors.h"
#include "net/bounds.h"
#include "net/server/server.h"
#include "testd_seen.h"

enum { DRAIN_MS = 600 * 1000, REPLY_SIZE_MAX = 16 << 20, NUMBER_MAX = 1000 * 1000 };

typedef Torg__Test__V1__EchoRequest echo_request;
typedef Torg__Test__V1__EchoResponse echo_response;

static char *make_text(struct call *call, const char *text, int size)
{
    char *filled;

    if (size <= 0)
        return (char *)text;
    if (size > REPLY_SIZE_MAX)
        size = REPLY_SIZE_MAX;
    filled = arena_alloc(call_arena(call), (size_t)size + 1);
    memset(filled, 'x', (size_t)size);
    filled[size] = 0;
    return filled;
}

static int echo(struct call *call, const ProtobufCMessage *request, ProtobufCMessage *response,
                struct err *err)
{
    const echo_request *in = (const echo_request *)request;
    echo_response *out = (echo_response *)response;

    out->text = make_text(call, in->text, in->reply_size);
    out->everything = in->everything;
    out->principal = (char *)call_identity(call)->principal;
    return 0;
}

static int fail(struct call *call, const ProtobufCMessage *request, ProtobufCMessage *response,
                struct err *err)
{
    const Torg__Test__V1__FailRequest *in = (const Torg__Test__V1__FailRequest *)request;

    for (size_t i = 0; i < in->n_fields; i++)
        call_violation(call, in->fields[i], "%s is at fault", in->fields[i]);
    for (int code = ERR_STALE; code < 0; code++)
        if (strcmp(err_name(code), in->code) == 0)
            return err_set(err, code, "%s", in->text);
    return err_set(err, ERR_INVALID, "there is no code '%s'", in->code);
}

static int sleep_some(struct call *call, const ProtobufCMessage *request,
                      ProtobufCMessage *response, struct err *err)
{
    const Torg__Test__V1__SleepRequest *in = (const Torg__Test__V1__SleepRequest *)request;
    echo_response *out = (echo_response *)response;
    struct timespec step = {.tv_nsec = 1000 * 1000};
    const struct clock *clock = clock_system();
    int64_t end_us = clock_mono_us(clock) + in->milliseconds * (int64_t)1000;

    log_info("sleep began", LOG_INT("milliseconds", in->milliseconds));
    while (clock_mono_us(clock) < end_us || (*in->until && access(in->until, F_OK))) {
        if (call_cancelled(call)) {
            log_info("sleep was cancelled");
            return err_set(err, ERR_CANCELLED, "cancelled");
        }
        nanosleep(&step, NULL);
    }
    out->text = (char *)"slept";
    return 0;
}

/* What no handler of its kind may do: it holds the reactor until the file is there. */
static int block(struct call *call, const ProtobufCMessage *request, ProtobufCMessage *response,
                 struct err *err)
{
    const echo_request *in = (const echo_request *)request;
    struct timespec step = {.tv_nsec = 1000 * 1000};

    while (access(in->text, F_OK))
        nanosleep(&step, NULL);
    ((echo_response *)response)->text = (char *)"released";
    return 0;
}

static int count(struct call *call, struct err *err)
{
    Torg__Test__V1__CountRequest *in;
    ProtobufCMessage *message;
    int rc = call_read(call, &message, err);

    if (rc != 1)
        return rc < 0 ? rc : err_set(err, ERR_INVALID, "count what?");
    in = (Torg__Test__V1__CountRequest *)message;
    for (int i = 1; i <= in->count; i++) {
        echo_response out = TORG__TEST__V1__ECHO_RESPONSE__INIT;
        struct arena_mark mark = arena_mark(call_arena(call));

        out.count = i;
        out.text = make_text(call, "", in->reply_size);
        rc = call_write(call, &out.base, err);
        arena_rewind(call_arena(call), mark);
        if (rc)
            return rc;
    }
    return 0;
}

static int collect(struct call *call, struct err *err)
{
    echo_response out = TORG__TEST__V1__ECHO_RESPONSE__INIT;
    struct buf text = BUF_INIT(NET_MESSAGE_SIZE_MAX);
    ProtobufCMessage *message;
    int rc;

    for (;;) {
        rc = call_read(call, &message, err);
        if (rc != 1)
            break;
        out.count++;
        if (text.size < 1024)
            buf_put_text(&text, ((echo_request *)message)->text);
    }
    if (rc == 0) {
        out.text = (char *)buf_text(&text);
        rc = call_write(call, &out.base, err);
    }
    buf_release(&text);
    return rc;
}

static int chat(struct call *call, struct err *err)
{
    ProtobufCMessage *message;
    int64_t number = 0;
    int rc;

    for (;;) {
        echo_response out = TORG__TEST__V1__ECHO_RESPONSE__INIT;
        struct arena_mark mark = arena_mark(call_arena(call));
        const echo_request *in;

        rc = call_read(call, &message, err);
        if (rc != 1)
            return rc;
        in = (const echo_request *)message;
        out.count = ++number;
        out.text = make_text(call, in->text, in->reply_size);
        rc = call_write(call, &out.base, err);
        arena_rewind(call_arena(call), mark);
        if (rc)
            return rc;
    }
}

static int authenticate(struct authenticator *self, const struct credential *credential,
                        struct identity *identity, struct err *err)
{
    struct bytes authorization = credential->authorization;

    if (bytes_begin(authorization, bytes_of("Bearer dear-")))
        log_info("a dear credential is checked");
    if (bytes_equal_text(authorization, "Bearer good"))
        snprintf(identity->scopes, sizeof(identity->scopes), "echo other");
    else if (bytes_begin(authorization, bytes_of("Bearer tom-")))
        snprintf(identity->seller, sizeof(identity->seller), "tom");
    else if (!bytes_equal_text(authorization, "Bearer poor"))
        return err_set(err, ERR_UNAUTHENTICATED, "the key is not known");
    snprintf(identity->principal, sizeof(identity->principal), "%.*s",
             BYTES_ARG(bytes_skip(authorization, strlen("Bearer "))));
    return 0;
}

static const struct rpc_method methods[] = {
    {.name = "Echo", .unary = echo, .flags = RPC_INLINE | RPC_OF_SELLER},
    {.name = "Fail", .unary = fail, .flags = RPC_PUBLIC},
    {.name = "Sleep", .unary = sleep_some, .flags = RPC_OF_SELLER},
    {.name = "Block", .unary = block, .flags = RPC_INLINE},
    {.name = "Count", .stream = count, .flags = RPC_SERVER_STREAM, .scope = "echo"},
    {.name = "Collect", .stream = collect, .flags = RPC_CLIENT_STREAM},
    {.name = "Chat", .stream = chat, .flags = RPC_CLIENT_STREAM | RPC_SERVER_STREAM},
};

static const struct rpc_service service = {
    .descriptor = &torg__test__v1__echo_service__descriptor,
    .methods = methods,
    .method_count = ARRAY_COUNT(methods),
};

static bool is_dear(struct authenticator *self, const struct credential *credential)
{
    return bytes_begin(credential->authorization, bytes_of("Bearer dear-"));
}

static struct authenticator authenticator = {.authenticate = authenticate, .is_dear = is_dear};

static unsigned number(const char *text)
{
    uint64_t value = 0;

    if (!text || !text_to_u64(bytes_of(text), &value) || value > NUMBER_MAX) {
        fprintf(stderr, "testd: '%s' is not a number up to %d\n", text ? text : "", NUMBER_MAX);
        exit(2);
    }
    return (unsigned)value;
}

/* Sets the number that a flag stands for; false: it stands for none. */
static bool read_number(const char *flag, const char *text, struct server_options *options)
{
    const struct {
        const char *flag;
        unsigned *to;
    } numbers[] = {
        {"--reactors", &options->reactor_count},
        {"--workers", &options->worker_count},
        {"--connections", &options->connection_count_max},
        {"--calls", &options->call_count_max},
        {"--head-timeout-ms", &options->head_timeout_ms},
        {"--body-grace-ms", &options->body_grace_ms},
        {"--idle-timeout-ms", &options->idle_timeout_ms},
        {"--stall-timeout-ms", &options->stall_timeout_ms},
        {"--turn-ms-max", &options->turn_ms_max},
        {"--stream-silence-ms", &options->stream_silence_ms},
        {"--anonymous-stream-ms", &options->anonymous_stream_ms},
        {"--key-rate", &options->key_rate},
        {"--seller-rate", &options->seller_rate},
        {"--address-rate", &options->address_rate},
        {"--drain-pause-ms", &options->drain_pause_ms},
        {"--address-connections", &options->address_connection_max},
    };

    for (size_t i = 0; i < ARRAY_COUNT(numbers); i++) {
        if (strcmp(flag, numbers[i].flag) == 0) {
            *numbers[i].to = number(text);
            return true;
        }
    }
    return false;
}

static void read_options(char **args, struct server_options *options, char *address, size_t size)
{
    for (char **at = args + 1; *at; at++) {
        if (strcmp(*at, "--auth") == 0) {
            options->authenticator = &authenticator;
        } else if (strcmp(*at, "--tls") == 0 && at[1] && at[2]) {
            options->tls_certificate = *++at;
            options->tls_key = *++at;
        } else if (strcmp(*at, "--client-ca") == 0 && at[1]) {
            options->tls_client_ca = *++at;
        } else if (strcmp(*at, "--cors") == 0 && at[1]) {
            options->cors_origins = *++at;
        } else if (strcmp(*at, "--client-required") == 0) {
            options->tls_client_required = true;
        } else if (strcmp(*at, "--reuse-port") == 0) {
            options->reuse_port = true;
        } else if (strcmp(*at, "--proxies") == 0 && at[1]) {
            options->proxies = *++at;
        } else if (strcmp(*at, "--port") == 0) {
            snprintf(address, size, "127.0.0.1:%u", number(*++at));
        } else if (read_number(*at, at[1], options)) {
            at++;
        } else {
            fprintf(stderr, "testd: unknown option %s\n", *at);
            exit(2);
        }
    }
}

int main(int argc, char **argv)
{
    static const char page[] = "<!doctype html><title>testd</title><p>A page of the test server, "
                               "long enough to be worth packing: packing packing packing packing "
                               "packing packing packing packing packing packing packing.</p>\n";
    char address[32] = "127.0.0.1:0";
    struct server_options options = {.listen = address, .operator_listen = "127.0.0.1:0"};
    struct server *server;
    struct err err;
    sigset_t signals;
    int signal_number;

    read_options(argv, &options, address, sizeof(address));
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL); /* before threads, that they inherit it */
    if (server_new(&options, &server, &err)) {
        fprintf(stderr, "testd: %s\n", err.text);
        return 1;
    }
    server_add_service(server, &service);
    server_add_rest(server, &seen_service);
    server_add_folder(server, &seen_folder);
    server_add_get(server, "/v1/echo/", "/torg.test.v1.EchoService/Echo", "text");
    server_add_descriptors(server, bytes_make(echo_descriptors, echo_descriptors_size));
    server_add_file(server, "/", "text/html; charset=utf-8", bytes_of(page));
    server_add_openapi(server);
    if (server_start(server, &err)) {
        fprintf(stderr, "testd: %s\n", err.text);
        server_free(server);
        return 1;
    }
    printf("{\"port\":%u,\"operator_port\":%u,\"pid\":%d}\n", server_port(server),
           server_operator_port(server), getpid());
    fflush(stdout);
    sigwait(&signals, &signal_number);
    server_drain(server, DRAIN_MS);
    server_free(server);
    return 0;
}
