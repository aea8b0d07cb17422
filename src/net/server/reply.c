/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reply.c - answers: a message, an error, a file, the beginning and end of a stream.
 *
 * A reply is headers, a body, and for gRPC trailers; the protocols only write it down. What it
 * points to is static, or lives in the call. Runs on the thread that has the call.
 */
#include <assert.h>
#include <stdio.h>

#include "base/endian.h"
#include "base/object.h"
#include "base/text.h"
#include "codec/gzip.h"
#include "codec/json.h"
#include "codec/message.h"
#include "net/server/call.h"
#include "net/server/connection.h"
#include "net/server/server_parts.h"
#include "net/server/unsent.h"

enum {
    FRAME_HEAD_SIZE = 5,
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

static void put_body(struct call *call, const ProtobufCMessage *message, struct buf *out)
{
    if (call->format == CALL_JSON)
        json_encode(message, out);
    else
        message_encode(message, out);
}

/* Appends a gRPC frame, or a line of JSON. */
int reply_frame(struct call *call, const ProtobufCMessage *message, struct buf *out,
                struct err *err)
{
    size_t start = out->size;
    uint8_t head[FRAME_HEAD_SIZE] = {0};
    size_t size;

    object_check(call, CALL_MAGIC);
    if (call->format == CALL_JSON) {
        json_encode(message, out);
        buf_put_byte(out, '\n');
    } else {
        buf_put_raw(out, head, sizeof(head));
        message_encode(message, out);
        size = buf_failed(out) ? 0 : out->size - start - FRAME_HEAD_SIZE;
        if (call->accepts_gzip && size >= NET_GZIP_SIZE_MIN) {
            buf_reset(&call->message);
            buf_put_raw(&call->message, out->data + start + FRAME_HEAD_SIZE, size);
            buf_truncate(out, start + FRAME_HEAD_SIZE);
            gzip_pack(buf_bytes(&call->message), out);
            out->data[start] = 1;
        }
        if (!buf_failed(out))
            put_be32(out->data + start + 1, (uint32_t)(out->size - start - FRAME_HEAD_SIZE));
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

static void grpc_headers(struct call *call)
{
    add(call, HEADER("content-type", "application/grpc"));
    if (call->accepts_gzip)
        add(call, HEADER("grpc-encoding", "gzip"));
}

void reply_message(struct call *call, const ProtobufCMessage *message)
{
    struct reply *reply = &call->reply;
    struct err err;

    object_check(call, CALL_MAGIC);
    buf_reset(&call->out);
    reply->http_status = 200;
    reply->status = STATUS_OK;
    if (call->format == CALL_GRPC) {
        if (reply_frame(call, message, &call->out, &err)) {
            reply_error(call, 0, err.code, err.text);
            return;
        }
        grpc_headers(call);
        reply->trailers[reply->trailer_count++] = HEADER("grpc-status", "0");
        reply->body = buf_bytes(&call->out);
        return;
    }
    put_body(call, message, &call->out);
    if (buf_failed(&call->out)) {
        reply_error(call, 0, ERR_LIMIT, "the answer is too large: ask for less");
        return;
    }
    if (call->format == CALL_JSON)
        add(call, HEADER("content-type", "application/json"));
    else
        add(call, HEADER("content-type", "application/proto"));
    reply->body = buf_bytes(&call->out);
    pack_body(call);
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
    if (call->format == CALL_GRPC) {
        reply->http_status = 200;
        add(call, HEADER("content-type", "application/grpc"));
        reply->header_count +=
            grpc_error(call, text, retry_after_s, reply->headers + reply->header_count);
        return;
    }
    reply->http_status = http_status ? http_status : status_http(reply->status);
    if (reply->http_status == 401)
        add(call, HEADER("www-authenticate", "Bearer"));
    add(call, HEADER("content-type", "application/json"));
    buf_reset(&call->out);
    status_put_json(&call->out, reply->status, text, &call->violations);
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
    if (call->format == CALL_GRPC)
        grpc_headers(call);
    else
        add(call, HEADER("content-type", "application/x-ndjson"));
}

void reply_stream_end(struct call *call)
{
    struct reply *reply = &call->reply;

    object_check(call, CALL_MAGIC);
    reply->status = status_of_err(call->result);
    if (call->format == CALL_GRPC) {
        reply->trailer_count =
            grpc_error(call, call->result ? call->err.text : "", 0, reply->trailers);
    } else if (call->result) {
        buf_reset(&call->out);
        buf_put_text(&call->out, "{\"error\":");
        status_put_json(&call->out, reply->status, call->err.text, &call->violations);
        buf_put_text(&call->out, "}\n");
        reply->body = buf_bytes(&call->out); /* the last line, after the channel's */
    }
    call_count_reply(call);
}

void call_send(struct call *call)
{
    object_check(call, CALL_MAGIC);
    if (!call->reply.streaming) /* a stream has its deadline to its end */
        timer_clear(&call->loop->reactor, &call->timer);
    add(call, (struct header){BYTES_LITERAL("x-request-id"), bytes_of(call->request_id)});
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
