/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dispatch.c - from a request's head to its handler: limits, route, access, deadline, threads.
 *
 * Everything here runs on the reactor but run_unary and run_stream, which run where the
 * method's flags say.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/endian.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "net/call.h"
#include "net/connection.h"
#include "net/gzip.h"
#include "net/json.h"
#include "net/message.h"
#include "net/operators.h"
#include "net/server_parts.h"

enum { FRAME_HEAD_SIZE = 5 };

/* --- the head --- */

static bool contains(struct bytes list, const char *word)
{
    return list.size && memmem(list.data, list.size, word, strlen(word)) != NULL;
}

static void keep_request_id(struct call *call, struct bytes value)
{
    if (!value.size || value.size > LOG_REQUEST_ID_SIZE_MAX)
        return;
    for (size_t i = 0; i < value.size; i++)
        if (value.data[i] <= ' ' || value.data[i] > '~')
            return;
    memcpy(call->request_id, value.data, value.size);
    call->request_id[value.size] = 0;
}

/* Headers that mean something to us; found by size first, most are none of them. */
static void notice(struct call *call, struct bytes name, struct bytes value)
{
    switch (name.size) {
    case 5:
        if (bytes_equal_text(name, ":path"))
            call->path = value;
        break;
    case 7:
        if (bytes_equal_text(name, ":method"))
            call->verb = value;
        break;
    case 12:
        if (bytes_equal_text(name, "content-type"))
            call->content_type = value;
        else if (bytes_equal_text(name, "grpc-timeout"))
            call->timeout = value;
        else if (bytes_equal_text(name, "x-request-id"))
            keep_request_id(call, value);
        break;
    case 13:
        if (bytes_equal_text(name, "authorization"))
            call->authorization = value;
        break;
    case 18:
        if (bytes_equal_text(name, "connect-timeout-ms")) {
            call->timeout = value;
            call->timeout_is_ms = true;
        }
        break;
    default:
        break;
    }
}

bool call_take_header(struct call *call, struct bytes name, struct bytes value)
{
    struct header *header;

    call->head_size += name.size + value.size + 32; /* as HTTP/2 counts */
    if (call->head_size > NET_HEAD_SIZE_MAX || call->header_count == NET_HEADER_COUNT_MAX) {
        call->too_large = true;
        return false;
    }
    header = &call->headers[call->header_count++];
    header->name = arena_copy(call->arena, name);
    header->value = arena_copy(call->arena, value);
    notice(call, header->name, header->value);
    return true;
}

static void make_request_id(struct call *call)
{
    struct lane *lane = call->lane;

    if (!call->request_id[0])
        snprintf(call->request_id, sizeof(call->request_id), "%016" PRIx64,
                 lane->request_seed + lane->request_count++ * 0x9e3779b97f4a7c15u);
}

/* The type without its parameters. */
static bool content_type_is(const struct call *call, const char *type)
{
    struct bytes value = call->content_type;
    size_t size = strlen(type);

    return value.size >= size && strncasecmp((const char *)value.data, type, size) == 0 &&
           (value.size == size || value.data[size] == ';' || value.data[size] == ' ');
}

static bool find_format(struct call *call)
{
    if (content_type_is(call, "application/grpc") ||
        content_type_is(call, "application/grpc+proto"))
        call->format = CALL_GRPC;
    else if (content_type_is(call, "application/json"))
        call->format = CALL_JSON;
    else if (content_type_is(call, "application/proto"))
        call->format = CALL_PROTO;
    else
        return false;
    return true;
}

/* grpc-timeout: up to 8 digits and a unit; Connect's: milliseconds. */
static bool read_timeout(struct call *call, int64_t *timeout_us)
{
    static const char units[] = "HMSmun";
    static const int64_t unit_us[] = {3600 * (int64_t)SECOND_US, 60 * SECOND_US, SECOND_US, MS_US,
                                      1};
    struct bytes text = call->timeout;
    const char *unit;
    uint64_t count;

    if (call->timeout_is_ms) {
        if (text.size > 10 || !text_to_u64(text, &count))
            return false;
        *timeout_us = (int64_t)count * MS_US;
        return true;
    }
    if (text.size < 2 || text.size > 9)
        return false;
    unit = strchr(units, text.data[text.size - 1]);
    text.size--;
    if (!unit || !*unit || !text_to_u64(text, &count))
        return false;
    *timeout_us = *unit == 'n' ? (int64_t)count / 1000 : (int64_t)count * unit_us[unit - units];
    return true;
}

static bool set_deadline(struct call *call)
{
    int64_t timeout_us;

    if (!call->timeout.size)
        return true;
    if (!read_timeout(call, &timeout_us)) {
        call_refuse(call, 0, ERR_INVALID, "the timeout '%.*s' cannot be read",
                    BYTES_ARG(call->timeout));
        return false;
    }
    call->deadline_us = call->begun_us + timeout_us;
    timer_set(&call->lane->reactor, &call->timer, call->deadline_us);
    return true;
}

static bool read_encodings(struct call *call)
{
    const char *name = call->format == CALL_GRPC ? "grpc-encoding" : "content-encoding";
    const char *accept = call->format == CALL_GRPC ? "grpc-accept-encoding" : "accept-encoding";
    struct bytes encoding = call_header(call, name);

    call->accepts_gzip = contains(call_header(call, accept), "gzip");
    if (bytes_equal_text(encoding, "gzip")) {
        call->packed = true;
    } else if (encoding.size && !bytes_equal_text(encoding, "identity")) {
        reply_header(call, accept, bytes_of("gzip, identity"));
        call_refuse(call, 415, ERR_UNSUPPORTED, "%s '%.*s' is not known here: use gzip or identity",
                    name, BYTES_ARG(encoding));
        return false;
    }
    return true;
}

static bool admit(struct call *call)
{
    const struct rpc_method *method = call->route->method;
    struct authenticator *authenticator = call->lane->server->authenticator;
    const char *peer_name = call->connection->peer_name;
    struct err err;
    int rc;

    if (!authenticator)
        return true;
    if (call->authorization.size) {
        rc = authenticator->authenticate(authenticator, call->authorization, &call->identity, &err);
        if (rc) {
            call_refuse(call, 0, rc, "%s", err.text);
            return false;
        }
    } else if (peer_name[0]) {
        snprintf(call->identity.principal, sizeof(call->identity.principal), "%s", peer_name);
    }
    if (method->flags & RPC_PUBLIC)
        return true;
    if (!call->identity.principal[0]) {
        call_refuse(call, 0, ERR_UNAUTHENTICATED,
                    "this method needs a key: send 'Authorization: Bearer KEY'");
        return false;
    }
    if (method->scope && !identity_has_scope(&call->identity, method->scope)) {
        call_refuse(call, 0, ERR_DENIED, "'%s' lacks the scope '%s'", call->identity.principal,
                    method->scope);
        return false;
    }
    return true;
}

static void serve_file(struct call *call, const struct site_file *file)
{
    bool is_get = bytes_equal_text(call->verb, "GET");
    bool packed = file->packed.size && contains(call_header(call, "accept-encoding"), "gzip");

    call->is_head = bytes_equal_text(call->verb, "HEAD");
    if (!is_get && !call->is_head) {
        reply_header(call, "allow", bytes_of("GET, HEAD"));
        call_refuse(call, 405, ERR_UNSUPPORTED, "a file is read by GET or HEAD");
        return;
    }
    reply_header(call, "etag", bytes_of(file->tag));
    reply_header(call, "cache-control", bytes_of("no-cache"));
    reply_header(call, "vary", bytes_of("accept-encoding"));
    if (contains(call_header(call, "if-none-match"), file->tag)) {
        reply_plain(call, 304, NULL, BYTES_EMPTY);
    } else {
        if (packed)
            reply_header(call, "content-encoding", bytes_of("gzip"));
        reply_plain(call, 200, file->content_type,
                    packed ? buf_bytes(&file->packed) : file->content);
    }
    call->refused = true; /* a body with a GET is read and forgotten */
    call_send(call);
}

static void find_file(struct call *call)
{
    const struct site_file *file = site_find(&call->lane->server->site, call->path);

    if (file)
        serve_file(call, file);
    else if (find_format(call) && call->format == CALL_GRPC)
        call_refuse(call, 0, ERR_UNSUPPORTED, "there is no method %.*s", BYTES_ARG(call->path));
    else
        call_refuse(call, 404, ERR_NOT_FOUND, "there is nothing at %.*s", BYTES_ARG(call->path));
}

static bool check_size(struct call *call)
{
    uint64_t size;

    if (text_to_u64(call_header(call, "content-length"), &size) &&
        size > NET_MESSAGE_SIZE_MAX + (call->format == CALL_GRPC ? FRAME_HEAD_SIZE : 0) &&
        !(call->route->method->flags & RPC_CLIENT_STREAM)) {
        call_refuse(call, 413, ERR_LIMIT, "a body of %" PRIu64 " bytes is larger than %d", size,
                    NET_MESSAGE_SIZE_MAX);
        return false;
    }
    return true;
}

static bool check_method(struct call *call)
{
    const struct rpc_method *method = call->route->method;

    if (!bytes_equal_text(call->verb, "POST")) {
        reply_header(call, "allow", bytes_of("POST"));
        call_refuse(call, 405, ERR_UNSUPPORTED, "a method is called by POST, not %.*s",
                    BYTES_ARG(call->verb));
        return false;
    }
    if (!find_format(call)) {
        call_refuse(call, 415, ERR_INVALID,
                    "content-type '%.*s' is not application/json, application/proto or "
                    "application/grpc",
                    BYTES_ARG(call->content_type));
        return false;
    }
    if (call->format == CALL_GRPC && call->connection->protocol != &http2_ops) {
        call_refuse(call, 415, ERR_INVALID, "gRPC needs HTTP/2; HTTP/1.1 takes application/json");
        return false;
    }
    if (!method) {
        call_refuse(call, 0, ERR_UNSUPPORTED, "%.*s has no handler here",
                    BYTES_ARG(call->route->path));
        return false;
    }
    if (call->format != CALL_GRPC && method->flags & RPC_CLIENT_STREAM) {
        call_refuse(call, 0, ERR_UNSUPPORTED, "%.*s takes a stream of messages: call it by gRPC",
                    BYTES_ARG(call->path));
        return false;
    }
    if (call->format == CALL_PROTO && method->flags & RPC_SERVER_STREAM) {
        call_refuse(call, 0, ERR_UNSUPPORTED,
                    "%.*s answers with a stream: call it by gRPC or application/json",
                    BYTES_ARG(call->path));
        return false;
    }
    return true;
}

static void run_stream(struct job *job);

static void notify_reactor(void *arg)
{
    struct call *call = arg;

    reactor_post(&call->lane->reactor, &call->task);
}

static void start_stream(struct call *call)
{
    struct connection *connection = call->connection;

    if (connection->stream_count == NET_STREAM_THREAD_CONNECTION_MAX) {
        reply_overload(call, "this connection has too many streams at once: end some");
        return;
    }
    call->channel = channel_new(notify_reactor, call);
    call->job.run = run_stream;
    call->running = true;
    atomic_fetch_add(&call->lane->running_count, 1);
    connection->stream_count++;
    if (workers_submit(call->lane->server->stream_workers, &call->job))
        return;
    call->running = false;
    atomic_fetch_sub(&call->lane->running_count, 1);
    reply_overload(call, "all threads for streams are taken: come back later");
}

void call_begin(struct call *call)
{
    const uint8_t *query;

    call->head_done = true;
    make_request_id(call);
    query = call->path.size ? memchr(call->path.data, '?', call->path.size) : NULL;
    if (query)
        call->path.size = (size_t)(query - call->path.data);
    if (call->too_large) {
        find_format(call);
        call_refuse(call, 431, ERR_LIMIT, "the head has more than %d bytes or %d headers",
                    NET_HEAD_SIZE_MAX, NET_HEADER_COUNT_MAX);
        return;
    }
    if (call->connection->is_operator) {
        operators_answer(call);
        return;
    }
    call->route = router_find(&call->lane->server->router, call->path);
    if (!call->route) {
        find_file(call);
        return;
    }
    if (!check_method(call) || !read_encodings(call) || !check_size(call) || !admit(call) ||
        !set_deadline(call))
        return;
    if (call->route->method->stream && call->format == CALL_GRPC)
        start_stream(call);
}

/* --- the body --- */

static bool frame_is_too_large(const struct call *call)
{
    return call->format == CALL_GRPC && call->body.size >= FRAME_HEAD_SIZE &&
           get_be32(call->body.data + 1) > NET_MESSAGE_SIZE_MAX;
}

void call_data(struct call *call, struct bytes bytes)
{
    struct connection *connection = call->connection;

    call->body_size += bytes.size;
    if (call->refused)
        return;
    if (call->channel) {
        channel_push(call->channel, bytes);
        return;
    }
    if (connection->body_size + bytes.size > NET_BODY_CONNECTION_SIZE_MAX) {
        reply_overload(call, "this connection has too much unfinished at once: send less");
        return;
    }
    buf_put(&call->body, bytes);
    if (buf_failed(&call->body) || frame_is_too_large(call)) {
        buf_release(&call->body);
        call_refuse(call, 413, ERR_LIMIT, "the message is larger than %d bytes",
                    NET_MESSAGE_SIZE_MAX);
        return;
    }
    connection->body_size += bytes.size;
    call->kept_size += bytes.size;
}

void call_end(struct call *call)
{
    call->body_done = true;
    if (call->refused)
        return;
    if (call->channel)
        channel_push_end(call->channel);
    else if (call->route && call->route->method->stream)
        start_stream(call);
    else
        call_run(call);
}

/* --- the handler --- */

static int unframe(struct call *call, struct bytes *message, struct err *err)
{
    struct bytes body = buf_bytes(&call->body);
    bool packed = call->packed;
    int rc;

    if (call->format == CALL_GRPC) {
        if (body.size < FRAME_HEAD_SIZE || get_be32(body.data + 1) != body.size - FRAME_HEAD_SIZE ||
            body.data[0] > 1)
            return err_set(err, ERR_INVALID, "the body is not exactly one gRPC message");
        if (body.data[0] == 1 && !call->packed)
            return err_set(err, ERR_INVALID, "a packed message without grpc-encoding: gzip");
        packed = body.data[0] == 1;
        body = bytes_skip(body, FRAME_HEAD_SIZE);
    }
    if (packed) {
        rc = gzip_unpack(body, NET_MESSAGE_SIZE_MAX, &call->message, err);
        if (rc)
            return rc;
        body = buf_bytes(&call->message);
    }
    *message = body;
    return 0;
}

static int decode(struct call *call, ProtobufCMessage **request, struct err *err)
{
    struct bytes bytes;
    int rc = unframe(call, &bytes, err);

    if (rc)
        return rc;
    if (call->format == CALL_JSON)
        return json_decode(bytes, call->route->input, call->arena, request, &call->violations, err);
    return message_decode(bytes, call->route->input, call->arena, request, err);
}

static void tell_failure(const struct call *call, int rc, const struct err *err)
{
    if (rc == ERR_INTERNAL || rc == ERR_CORRUPT)
        log_error("call failed", LOG_BYTES("method", call->route->path),
                  LOG_TEXT("error", err->text));
}

/* A handler that stopped because the time was up says so, whatever words it chose. */
static int name_deadline(const struct call *call, int rc, struct err *err)
{
    if (rc != ERR_CANCELLED || call->deadline_us == INT64_MAX ||
        clock_mono_us(clock_system()) < call->deadline_us)
        return rc;
    return err_set(err, ERR_TIMEOUT, "the deadline of the call has passed");
}

static void run_unary(struct call *call)
{
    ProtobufCMessage *request;
    ProtobufCMessage *response;
    struct err err = {.code = 0, .text = ""};
    int http_status = 0;
    int rc;

    log_set_request(call->request_id);
    rc = decode(call, &request, &err);
    if (rc == ERR_LIMIT) {
        http_status = 413; /* "too many requests" would be a wrong hint */
    } else if (!rc) {
        response = message_new(call->route->output, call->arena);
        rc = call->route->method->unary(call, request, response, &err);
        rc = name_deadline(call, rc, &err);
        tell_failure(call, rc, &err);
    }
    if (rc)
        reply_error(call, http_status, rc, err.text);
    else
        reply_message(call, response);
    log_set_request(NULL);
}

static void run_job(struct job *job)
{
    struct call *call = container_of(job, struct call, job);

    if (atomic_load(&call->cancelled))
        reply_error(call, 0, ERR_CANCELLED, "the client left before the call began");
    else
        run_unary(call);
    reactor_post(&call->lane->reactor, &call->task);
}

static void run_stream(struct job *job)
{
    struct call *call = container_of(job, struct call, job);
    struct channel *channel = call->channel;

    log_set_request(call->request_id);
    call->err.text[0] = 0;
    call->result = 0;
    if (call->format == CALL_JSON && call->packed) {
        call->result =
            gzip_unpack(buf_bytes(&call->body), NET_MESSAGE_SIZE_MAX, &call->message, &call->err);
        buf_reset(&call->body);
        buf_put(&call->body, buf_bytes(&call->message));
    }
    if (!call->result)
        call->result = call->route->method->stream(call, &call->err);
    call->result = name_deadline(call, call->result, &call->err);
    tell_failure(call, call->result, &call->err);
    log_set_request(NULL);
    channel_finish(channel);
}

void call_run(struct call *call)
{
    struct lane *lane = call->lane;

    if (call->route->method->flags & RPC_INLINE) {
        run_unary(call);
        call_send(call);
        return;
    }
    call->job.run = run_job;
    call->running = true;
    atomic_fetch_add(&lane->running_count, 1);
    if (workers_submit(lane->server->workers, &call->job))
        return;
    call->running = false;
    atomic_fetch_sub(&lane->running_count, 1);
    reply_overload(call, "all workers are busy and their queue is full: come back later");
}

/* --- back on the reactor --- */

static void settle_stream(struct call *call)
{
    struct channel_news news = channel_look(call->channel);

    if (news.finished) {
        call->running = false;
        atomic_fetch_sub(&call->lane->running_count, 1);
    }
    if (!call->connection) {
        if (news.finished)
            call_free(call);
        return;
    }
    if (news.output && !call->progress_us)
        call->progress_us = call->lane->reactor.now_us;
    if (!call->replied && (news.output || news.finished)) {
        if (news.finished && !news.output && call->result) {
            reply_error(call, 0, call->result, call->err.text);
            call_send(call);
            return;
        }
        reply_stream_begin(call);
        if (news.finished)
            reply_stream_end(call);
        call_send(call);
    } else if (news.finished) {
        reply_stream_end(call);
    }
    if (call->connection)
        call->connection->protocol->resume(call, news.taken);
}

void call_settle(struct task *task)
{
    struct call *call = container_of(task, struct call, task);

    if (call->channel) {
        settle_stream(call);
        return;
    }
    call->running = false;
    atomic_fetch_sub(&call->lane->running_count, 1);
    if (call->connection) {
        call_send(call);
        return;
    }
    call->reply.status = status_of_err(ERR_CANCELLED);
    call_count_reply(call);
    call_free(call);
}

void call_expire(struct timer *timer)
{
    struct call *call = container_of(timer, struct call, timer);

    call_cancel(call, ERR_TIMEOUT);
    if (call->replied)
        return; /* a stream's handler ends it; an answer on its way is as good as sent */
    call_refuse(call, 0, ERR_TIMEOUT, "the deadline of the call has passed");
}
