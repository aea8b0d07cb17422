/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reply.c - answers: a message, an error, a file, the beginning and end of a stream.
 *
 * A reply is headers, a body, and for gRPC trailers; the protocols only write it down. What it
 * points to is static, or lives in the call. Runs on the thread that has the call.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/endian.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/text.h"
#include "codec/gzip.h"
#include "codec/json.h"
#include "codec/message.h"
#include "net/rest.h"
#include "net/server/calls/admit.h"
#include "net/server/calls/call.h"
#include "net/server/calls/connect.h"
#include "net/server/calls/connection.h"
#include "net/server/calls/cors.h"
#include "net/server/calls/grpc_web.h"
#include "net/server/calls/server_parts.h"
#include "net/server/calls/unsent.h"

enum {
    KEPT_SIZE = 64 << 10, /* so much that is no part of an answer may stay while it is sent */
};

#define HEADER(header_name, header_value)                                                          \
    ((struct header){BYTES_LITERAL(header_name), BYTES_LITERAL(header_value)})

static void add(struct call *call, struct header header)
{
    struct reply *reply = &call->reply;

    assert(reply->header_count < sizeof(reply->headers) / sizeof(reply->headers[0]));
    reply->headers[reply->header_count++] = header;
}

void reply_header(struct call *call, const char *name, struct bytes value)
{
    object_check(call, CALL_MAGIC);
    add(call, (struct header){bytes_of(name), value});
}

static void put_message(const struct call *call, const ProtobufCMessage *message, struct buf *out)
{
    if (format_is_json(call->format))
        json_encode_answer(message, out);
    else
        message_encode(message, out);
}

static void put_frame(struct call *call, const ProtobufCMessage *message, struct buf *out)
{
    size_t start = out->size;
    uint8_t head[FRAME_HEAD_SIZE] = {0};
    size_t size;

    buf_put_raw(out, head, sizeof(head));
    put_message(call, message, out);
    size = buf_failed(out) ? 0 : out->size - start - FRAME_HEAD_SIZE;
    if (call->accepts_gzip && size >= NET_GZIP_SIZE_MIN) {
        buf_reset(&call->message);
        buf_put_raw(&call->message, out->data + start + FRAME_HEAD_SIZE, size);
        buf_truncate(out, start + FRAME_HEAD_SIZE);
        gzip_pack(buf_bytes(&call->message), out);
        out->data[start] = FRAME_PACKED;
    }
    if (!buf_failed(out))
        put_be32(out->data + start + 1, (uint32_t)(out->size - start - FRAME_HEAD_SIZE));
    grpc_web_encode(call, out, start);
}

/* Appends a frame, or a line of JSON. */
int reply_frame(struct call *call, const ProtobufCMessage *message, struct buf *out,
                struct err *err)
{
    object_check(call, CALL_MAGIC);
    if (format_is_framed(call->format)) {
        put_frame(call, message, out);
    } else {
        put_message(call, message, out);
        buf_put_byte(out, '\n');
    }
    if (buf_failed(out))
        return err_set(err, ERR_LIMIT, "the answer is larger than %d bytes", NET_REPLY_SIZE_MAX);
    return 0;
}

static void pack_body(struct call *call)
{
    if (!call->accepts_gzip || call->out.size < NET_GZIP_SIZE_MIN)
        return;
    buf_reset(&call->message);
    gzip_pack(buf_bytes(&call->out), &call->message);
    call->reply.body = buf_bytes(&call->message);
    add(call, HEADER("content-encoding", "gzip"));
    add(call, HEADER("vary", "accept-encoding"));
}

static void put_content_type(struct call *call)
{
    add(call, (struct header){BYTES_LITERAL("content-type"),
                              bytes_of(format_content_type(call->format))});
}

static void framed_headers(struct call *call)
{
    put_content_type(call);
    if (!call->accepts_gzip)
        return;
    if (format_is_grpc(call->format))
        add(call, HEADER("grpc-encoding", "gzip"));
    else
        add(call, HEADER("connect-content-encoding", "gzip"));
}

static void reply_grpc(struct call *call, const ProtobufCMessage *message)
{
    static const struct header ok = {BYTES_LITERAL("grpc-status"), BYTES_LITERAL("0")};
    struct reply *reply = &call->reply;
    struct err err;

    if (reply_frame(call, message, &call->out, &err)) {
        reply_error(call, 0, err.code, err.text);
        return;
    }
    framed_headers(call);
    if (format_is_web(call->format))
        grpc_web_put_trailers(call, &ok, 1, &call->out);
    else
        reply->trailers[reply->trailer_count++] = ok;
    reply->body = buf_bytes(&call->out);
}

void reply_message(struct call *call, const ProtobufCMessage *message)
{
    struct reply *reply = &call->reply;

    object_check(call, CALL_MAGIC);
    buf_reset(&call->out);
    reply->http_status = 200;
    reply->status = STATUS_OK;
    if (format_is_grpc(call->format)) {
        reply_grpc(call, message);
        return;
    }
    put_message(call, message, &call->out);
    if (buf_failed(&call->out)) {
        reply_error(call, 0, ERR_LIMIT, "the answer is too large: ask for less");
        return;
    }
    put_content_type(call);
    reply->body = buf_bytes(&call->out);
    pack_body(call);
}

static bool is_fault(int err_code)
{
    return err_code == ERR_INVALID || err_code == ERR_RANGE || err_code == ERR_LIMIT ||
           err_code == ERR_PRECONDITION;
}

/* "field: what is wrong with it", of a handler that named no field otherwise, names one. */
static void name_from_text(struct call *call, const ProtobufCMessageDescriptor *type, int err_code,
                           const char *text)
{
    size_t size = json_field_path_size(text, type);
    const char *reason = text + size;

    if (!size || !is_fault(err_code))
        return;
    while (*reason == ':' || *reason == ' ')
        reason++;
    violations_add(&call->violations, arena_text(call->arena, bytes_make(text, size)), "%s",
                   reason);
}

/* The same of a resource, whose fields are the parameters of its address. */
static void name_parameter(struct call *call, int err_code, const char *text)
{
    size_t size = strcspn(text, ":[, ");
    const struct rest_request *rest = call->rest;
    const char *reason = strchr(text, ':');

    if (!reason || !is_fault(err_code))
        return;
    for (size_t i = 0; i < rest->parameter_count; i++) {
        if (!bytes_equal(rest->parameters[i].name, bytes_make(text, size)))
            continue;
        violations_add(&call->violations, arena_text(call->arena, bytes_make(text, size)), "%s",
                       reason + 1 + strspn(reason + 1, " "));
        return;
    }
}

/* Fields at fault by the names that the caller's messages have, in the text too. */
static const char *name_fields(struct call *call, int err_code, const char *text)
{
    const ProtobufCMessageDescriptor *type = call->route ? call->route->input : NULL;
    const struct violation *first;
    struct violations named = violations_in(call->arena);
    struct buf path = BUF_INIT(NET_HEAD_SIZE_MAX);
    size_t size;

    if (type && !call->violations.first)
        name_from_text(call, type, err_code, text);
    if (call->rest && !call->violations.first)
        name_parameter(call, err_code, text);
    first = call->violations.first;
    if (!first || !type)
        return text;
    for (const struct violation *v = first; v; v = v->next) {
        buf_reset(&path);
        json_put_field_path(&path, v->field, type,
                            format_is_json(call->format) || call->format == CALL_PLAIN);
        violations_add(&named, arena_text(call->arena, buf_bytes(&path)), "%s", v->reason);
    }
    buf_release(&path);
    size = strlen(first->field);
    if (strncmp(text, first->field, size) == 0 && text[size] == ':')
        text = arena_printf(call->arena, "%s%s", named.first->field, text + size);
    call->violations = named;
    return text;
}

/* Appends the gRPC form of an error: to the headers when nothing was sent, else the trailers. */
static size_t grpc_error(struct call *call, const char *text, unsigned retry_after_s,
                         struct header *to)
{
    struct buf base64 = BUF_INIT(NET_HEAD_SIZE_MAX);
    int status = call->reply.status;
    struct bytes packed;
    size_t count = 0;

    to[count++] = (struct header){BYTES_LITERAL("grpc-status"),
                                  bytes_of(arena_printf(call->arena, "%d", status))};
    if (*text)
        to[count++] =
            (struct header){BYTES_LITERAL("grpc-message"), status_message(text, call->arena)};
    if (status && (call->violations.first || retry_after_s)) {
        packed = status_pack(status, text, &call->violations, retry_after_s, call->arena);
        text_put_base64(&base64, packed);
        if (!buf_failed(&base64)) /* too many reasons for a header: the message has to do */
            to[count++] = (struct header){BYTES_LITERAL("grpc-status-details-bin"),
                                          arena_copy(call->arena, buf_bytes(&base64))};
    }
    buf_release(&base64);
    return count;
}

/* An error before the first message. Only plain gRPC has it among its headers. */
static void framed_error(struct call *call, const char *text, unsigned retry_after_s)
{
    struct header trailers[ARRAY_COUNT(call->reply.trailers)];
    struct reply *reply = &call->reply;

    reply->http_status = 200;
    put_content_type(call);
    if (call->format == CALL_GRPC) {
        reply->header_count +=
            grpc_error(call, text, retry_after_s, reply->headers + reply->header_count);
        return;
    }
    buf_reset(&call->out);
    if (format_is_connect(call->format))
        connect_put_end(call, text, retry_after_s, &call->out);
    else
        grpc_web_put_trailers(call, trailers, grpc_error(call, text, retry_after_s, trailers),
                              &call->out);
    reply->body = buf_bytes(&call->out);
}

static void build_error(struct call *call, int http_status, int err_code, const char *text,
                        unsigned retry_after_s)
{
    struct reply *reply = &call->reply;

    reply->status = status_of_err(err_code);
    reply->body = BYTES_EMPTY;
    reply->trailer_count = 0;
    if (retry_after_s)
        add(call, (struct header){BYTES_LITERAL("retry-after"),
                                  bytes_of(arena_printf(call->arena, "%u", retry_after_s))});
    text = name_fields(call, err_code, text);
    if (format_is_framed(call->format)) {
        framed_error(call, text, retry_after_s);
        return;
    }
    reply->http_status = http_status ? http_status : status_http(reply->status);
    if (reply->http_status == 401)
        add(call, HEADER("www-authenticate", "Bearer"));
    add(call, HEADER("content-type", "application/json"));
    buf_reset(&call->out);
    status_put_json(&call->out, reply->status, text, &call->violations, retry_after_s);
    reply->body = buf_bytes(&call->out);
}

void reply_error(struct call *call, int http_status, int err_code, const char *text)
{
    object_check(call, CALL_MAGIC);
    build_error(call, http_status, err_code, text, 0);
}

void reply_plain(struct call *call, int http_status, const char *content_type, struct bytes body)
{
    object_check(call, CALL_MAGIC);
    call->reply.http_status = http_status;
    call->reply.body = body;
    if (content_type)
        add(call, (struct header){BYTES_LITERAL("content-type"), bytes_of(content_type)});
}

void reply_content(struct call *call, int http_status, const char *content_type)
{
    object_check(call, CALL_MAGIC);
    reply_plain(call, http_status, content_type,
                content_type ? buf_bytes(&call->out) : BYTES_EMPTY);
    if (content_type)
        pack_body(call);
}

static void move(struct header *headers, size_t count, struct arena *arena)
{
    for (size_t i = 0; i < count; i++) {
        headers[i].name = arena_copy(arena, headers[i].name);
        headers[i].value = arena_copy(arena, headers[i].value);
    }
}

/* The request and the message the answer was made of may be as large as the answer. */
static void renew_arena(struct call *call)
{
    struct arena *arena = arena_new();

    move(call->reply.headers, call->reply.header_count, arena);
    move(call->reply.trailers, call->reply.trailer_count, arena);
    call->header_count = 0;
    call->verb = call->path = call->query = call->content_type = BYTES_EMPTY;
    call->credential = (struct credential){BYTES_EMPTY, BYTES_EMPTY};
    call->timeout = BYTES_EMPTY;
    call->violations = violations_in(arena);
    call->rest = NULL;
    arena_free(call->arena);
    call->arena = arena;
}

void reply_trim(struct call *call)
{
    const uint8_t *body = call->reply.body.data;

    object_check(call, CALL_MAGIC);
    if (body != call->out.data && call->out.capacity > KEPT_SIZE)
        buf_release(&call->out);
    if (body != call->message.data && call->message.capacity > KEPT_SIZE)
        buf_release(&call->message);
    if (arena_size(call->arena) > KEPT_SIZE)
        renew_arena(call);
}

void reply_give_up(struct call *call, const char *text)
{
    object_check(call, CALL_MAGIC);
    buf_release(&call->out);
    buf_release(&call->message);
    call->reply.header_count = 0;
    counter_add(call->loop->server->metrics.overloads, 1);
    build_error(call, 429, ERR_LIMIT, text, NET_RETRY_AFTER_S);
}

void reply_stream_begin(struct call *call)
{
    object_check(call, CALL_MAGIC);
    call->reply.http_status = 200;
    call->reply.status = STATUS_OK;
    call->reply.streaming = true;
    if (format_is_framed(call->format))
        framed_headers(call);
    else
        add(call, HEADER("content-type", "application/x-ndjson"));
}

/* What follows a stream's messages: trailers, a frame, or a line if it failed. */
void reply_stream_end(struct call *call)
{
    struct reply *reply = &call->reply;
    struct header trailers[ARRAY_COUNT(reply->trailers)];
    const char *text = call->result ? name_fields(call, call->result, call->err.text) : "";

    object_check(call, CALL_MAGIC);
    reply->status = status_of_err(call->result);
    buf_reset(&call->out);
    if (call->format == CALL_GRPC) {
        reply->trailer_count = grpc_error(call, text, 0, reply->trailers);
    } else if (format_is_web(call->format)) {
        grpc_web_put_trailers(call, trailers, grpc_error(call, text, 0, trailers), &call->out);
    } else if (format_is_connect(call->format)) {
        connect_put_end(call, text, 0, &call->out);
    } else if (call->result) {
        buf_put_text(&call->out, "{\"error\":");
        status_put_json(&call->out, reply->status, text, &call->violations, 0);
        buf_put_text(&call->out, "}\n");
    }
    reply->body = buf_bytes(&call->out); /* after the channel's */
    call_count_reply(call);
}

void call_send(struct call *call)
{
    object_check(call, CALL_MAGIC);
    if (!call->reply.streaming) /* a stream has its deadline to its end */
        timer_clear(&call->loop->reactor, &call->timer);
    call_make_id(call);
    cors_put(call);
    add(call, (struct header){BYTES_LITERAL("date"), loop_date(call->loop)});
    call->reply.steady_count = call->reply.header_count;
    add(call, (struct header){BYTES_LITERAL("x-request-id"), bytes_of(call->request_id)});
    admit_headers(call);
    call_end_waiting(call);
    call->replied = true;
    call->progress_us = call->loop->reactor.now_us;
    if (!call->reply.streaming)
        unsent_begin(call);
    if (!call->reply.streaming)
        call_count_reply(call);
    call->connection->protocol->respond(call);
}

static void refuse(struct call *call, int http_status, int err_code, const char *text,
                   unsigned retry_after_s)
{
    if (call->replied)
        return;
    if (call->running) {
        call_cancel(call, err_code == ERR_TIMEOUT ? ERR_TIMEOUT : ERR_CANCELLED);
        call = call_replace(call);
    }
    call->refused = true;
    build_error(call, http_status, err_code, text, retry_after_s);
    call_send(call);
}

void call_refuse(struct call *call, int http_status, int err_code, const char *format, ...)
{
    char text[ERR_TEXT_SIZE];
    va_list args;

    object_check(call, CALL_MAGIC);
    if (call->replied || call->put_off)
        return;
    if (!admit_take(call)) /* a refusal costs what a call does: who asks too much waits for it */
        return;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    refuse(call, http_status, err_code, text, 0);
}

void reply_overload(struct call *call, const char *text)
{
    object_check(call, CALL_MAGIC);
    counter_add(call->loop->server->metrics.overloads, 1);
    refuse(call, 429, ERR_LIMIT, text, NET_RETRY_AFTER_S);
}

void reply_end_put_off(struct call *call)
{
    object_check(call, CALL_MAGIC);
    if (call->put_off)
        atomic_fetch_sub(&call->loop->server->put_off_count, 1);
    call->put_off = NULL;
}

void reply_put_off(struct call *call, unsigned retry_after_s, const char *text)
{
    struct server *server = call->loop->server;
    int64_t due_us = call->loop->reactor.now_us + NET_PUT_OFF_MS * (int64_t)MS_US;

    object_check(call, CALL_MAGIC);
    assert(!call->running && !call->replied && !call->put_off);
    call->refused = true;
    call->retry_after_s = retry_after_s;
    if (atomic_fetch_add(&server->put_off_count, 1) >= NET_PUT_OFF_COUNT_MAX ||
        call->loop->draining) {
        atomic_fetch_sub(&server->put_off_count, 1);
        counter_add(server->metrics.overloads, 1);
        refuse(call, 429, ERR_LIMIT, text, retry_after_s);
        return;
    }
    call->put_off = text;
    timer_set(&call->loop->reactor, &call->timer,
              due_us < call->deadline_us ? due_us : call->deadline_us);
}

void reply_now(struct call *call)
{
    const char *text = call->put_off;

    object_check(call, CALL_MAGIC);
    assert(text);
    reply_end_put_off(call);
    counter_add(call->loop->server->metrics.overloads, 1);
    refuse(call, 429, ERR_LIMIT, text, call->retry_after_s);
}
