/* SPDX-License-Identifier: Apache-2.0 */
/* call.c - the life of a call (call.h), and what its handler may ask (rpc.h). */
#include "net/server/calls/call.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/endian.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/text.h"
#include "codec/gzip.h"
#include "codec/json.h"
#include "codec/message.h"
#include "net/local_call.h"
#include "net/server/calls/connection.h"
#include "net/server/calls/recheck.h"
#include "net/server/calls/server_parts.h"
#include "net/server/calls/share.h"
#include "net/server/calls/unsent.h"

enum {
    SPARE_MAX = 512,               /* calls kept for the next requests, a loop */
    SPARE_BUFFER_SIZE = 16 << 10,  /* a kept buffer larger than this is given back */
    MESSAGE_PIECE_SIZE = 64 << 10, /* a stream's message is counted, and has to come, in such */
};

static struct call *fresh_call(struct loop *loop)
{
    struct call *call = loop->spare_calls;

    if (call) {
        loop->spare_calls = call->next;
        assert(loop->spare_count > 0);
        loop->spare_count--;
        object_begin(call, CALL_MAGIC);
        return call;
    }
    call = mem_zero(sizeof(*call));
    object_begin(call, CALL_MAGIC);
    call->arena = arena_new();
    buf_init(&call->body, NET_MESSAGE_SIZE_MAX + FRAME_HEAD_SIZE);
    buf_init(&call->out, NET_REPLY_SIZE_MAX);
    buf_init(&call->message, NET_REPLY_SIZE_MAX);
    call->timer.fire = call_expire;
    call->recheck.fire = recheck_fire;
    call->task.run = call_settle;
    return call;
}

static void clear(struct call *call)
{
    call->stream_id = 0;
    call->format = CALL_PLAIN;
    call->origin = BYTES_EMPTY;
    call->text_rest_size = 0;
    call->head_done = call->body_done = call->running = call->replied = call->counted = false;
    call->is_head = call->is_get = call->accepts_gzip = call->packed = call->refused =
        call->too_large = call->waiting = false;
    call->timeout_is_ms = call->message_read = call->held = call->keyless = call->dropped = false;
    call->holds_stream = call->is_surplus = false;
    call->crowd_id = 0;
    call->put_off = NULL;
    call->rate.limit = 0;
    call->come_back_us = 0;
    call->left_brief = false;
    call->is_parked = false;
    call->is_paid = false;
    call->cpu_us = call->prepaid_us = 0;
    call->job = (struct job){0};
    call->sent = 0;
    call->progress_us = 0;
    call->progress_size = 0;
    call->deadline_us = INT64_MAX;
    atomic_store_explicit(&call->cancelled, 0, memory_order_relaxed);
    call->result = 0;
    call->header_count = 0;
    call->head_size = 0;
    call->verb = call->path = call->query = call->content_type = BYTES_EMPTY;
    call->timeout = BYTES_EMPTY;
    call->route = NULL;
    call->folder = NULL;
    call->rest = NULL;
    call->body.limit = NET_MESSAGE_SIZE_MAX + FRAME_HEAD_SIZE;
    call->body_size = call->paced_size = call->kept_size = call->unconsumed = 0;
    call->charged_size = call->message_size = 0;
    call->answer_size = call->unsent_size = 0;
    call->channel = NULL;
    call->violations = violations_in(call->arena);
    call->identity.principal[0] = call->identity.key[0] = call->identity.seller[0] = 0;
    call->identity.client[0] = call->identity.scopes[0] = 0;
    call->credential = (struct credential){BYTES_EMPTY, BYTES_EMPTY};
    call->two_credentials = false;
    call->head_refused = NULL;
    call->request_id[0] = 0;
    call->reply.http_status = 0;
    call->reply.status = 0;
    call->reply.body = BYTES_EMPTY;
    call->reply.streaming = call->reply.is_closed = false;
    call->reply.header_count = 0;
    call->reply.trailer_count = 0;
}

static void link_call(struct call *call, struct connection *connection)
{
    call->connection = connection;
    call->previous = NULL;
    call->next = connection->calls;
    if (call->next)
        call->next->previous = call;
    connection->calls = call;
    connection->call_count++;
}

static void unlink_call(struct call *call)
{
    struct connection *connection = call->connection;

    if (call->next)
        call->next->previous = call->previous;
    if (call->previous)
        call->previous->next = call->next;
    else
        connection->calls = call->next;
    assert(connection->call_count > 0 && connection->body_size >= call->kept_size);
    connection->call_count--;
    connection->body_size -= call->kept_size;
    unsent_end(call);
    call_end_waiting(call);
    if (call->channel) {
        assert(connection->stream_count > 0);
        connection->stream_count--;
    }
    if (call->keyless) {
        assert(connection->anonymous_count > 0);
        connection->anonymous_count--;
    }
    assert(!connection->calls == !connection->call_count);
    connection->active_us = connection->loop->reactor.now_us;
    call->connection = NULL;
    call->next = call->previous = NULL;
}

struct call *call_new(struct connection *connection)
{
    struct call *call = fresh_call(connection->loop);

    object_check(connection, CONNECTION_MAGIC);
    clear(call);
    call->loop = connection->loop;
    call->begun_us = call->paced_us = connection->loop->reactor.now_us;
    link_call(call, connection);
    connection->waiting_us = 0;
    connection->active_us = call->begun_us;
    connection_hurry(connection);
    return call;
}

static void shrink(struct buf *buf)
{
    if (buf->capacity > SPARE_BUFFER_SIZE)
        buf_release(buf);
    else
        buf_reset(buf);
}

void call_free(struct call *call)
{
    struct loop *loop = call->loop;

    object_check(call, CALL_MAGIC);
    assert(!call->running && !call->connection); /* nobody has it any more */
    timer_clear(&loop->reactor, &call->timer);
    reply_end_put_off(call);
    recheck_end(call);
    share_give_back(call);
    unsent_free(call);
    channel_free(call->channel);
    call->channel = NULL;
    arena_free(call->message_arena);
    call->message_arena = NULL;
    if (loop->spare_count == SPARE_MAX || loop->draining) {
        arena_free(call->arena);
        buf_release(&call->body);
        buf_release(&call->out);
        buf_release(&call->message);
        object_end(call, CALL_MAGIC);
        free(call);
        return;
    }
    arena_reset(call->arena);
    shrink(&call->body);
    shrink(&call->out);
    shrink(&call->message);
    object_end(call, CALL_MAGIC); /* until it is taken for another request */
    call->next = loop->spare_calls;
    loop->spare_calls = call;
    loop->spare_count++;
}

void call_drop(struct call *call)
{
    object_check(call, CALL_MAGIC);
    unlink_call(call);
    timer_clear(&call->loop->reactor, &call->timer);
    recheck_end(call);
    if (call->running)
        call_cancel(call, ERR_CANCELLED); /* freed by call_settle when the handler returns */
    else
        call_free(call);
}

void call_cancel(struct call *call, int code)
{
    int none = 0;

    object_check(call, CALL_MAGIC);
    atomic_compare_exchange_strong(&call->cancelled, &none, code);
    if (call->channel)
        channel_cancel(call->channel, code);
}

struct call *call_replace(struct call *call)
{
    struct connection *connection = call->connection;
    struct call *stand_in = fresh_call(call->loop);

    object_check(call, CALL_MAGIC);
    clear(stand_in);
    stand_in->loop = call->loop;
    stand_in->begun_us = call->begun_us;
    stand_in->stream_id = call->stream_id;
    stand_in->format = call->format;
    stand_in->origin = call->origin;
    stand_in->head_done = true;
    stand_in->body_done = call->body_done;
    stand_in->route = call->route;
    stand_in->rate = call->rate;
    stand_in->is_paid = call->is_paid;
    stand_in->unconsumed = call->unconsumed;
    stand_in->job.caller = call->job.caller; /* who holds the answer */
    stand_in->refused = true;                /* what still comes of the body is nobody's */
    snprintf(stand_in->request_id, sizeof(stand_in->request_id), "%s", call->request_id);
    unlink_call(call);
    link_call(stand_in, connection);
    share_take_stand_in(stand_in, call);
    call->counted = true; /* the stand-in is */
    return stand_in;
}

void call_progress(struct call *call, size_t count)
{
    int64_t time_us = call->loop->server->limits.stall_timeout_us;

    object_check(call, CALL_MAGIC);
    unsent_taken(call, count);
    call->progress_size += count;
    if (call->progress_us && (int64_t)call->progress_size * SECOND_US < time_us * NET_READ_RATE_MIN)
        return;
    call->progress_size = 0;
    call->progress_us = call->loop->reactor.now_us;
    call->connection->taken_us = call->progress_us;
}

/* A body that is kept whole; a client stream's is taken by its handler as it comes. */
bool call_has_body_limit(const struct call *call)
{
    object_check(call, CALL_MAGIC);
    return !call->channel;
}

const struct clock *call_clock(const struct call *call)
{
    object_check(call, CALL_MAGIC);
    return call->loop->reactor.clock;
}

void call_count_reply(struct call *call)
{
    object_check(call, CALL_MAGIC);
    if (call->counted || !call->route)
        return;
    call->counted = true;
    route_count(call->route, call->reply.status, clock_mono_us(call_clock(call)) - call->begun_us);
}

/* --- rpc.h --- */

void *call_context(const struct call *call)
{
    object_check(call, CALL_MAGIC);
    return call->route->service->context;
}

struct arena *call_arena(struct call *call)
{
    object_check(call, CALL_MAGIC);
    return call->arena;
}

const struct identity *call_identity(const struct call *call)
{
    object_check(call, CALL_MAGIC);
    return &call->identity;
}

const char *call_actor(struct call *call)
{
    object_check(call, CALL_MAGIC);
    return *call->identity.key
               ? arena_printf(call->arena, "%s#%s", call->identity.principal, call->identity.key)
               : call->identity.principal;
}

uint64_t call_caller(const struct call *call)
{
    object_check(call, CALL_MAGIC);
    return call->job.caller;
}

struct bytes call_header(const struct call *call, const char *name)
{
    object_check(call, CALL_MAGIC);
    for (size_t i = 0; i < call->header_count; i++)
        if (bytes_equal_text(call->headers[i].name, name))
            return call->headers[i].value;
    return BYTES_EMPTY;
}

/* What would break out of a header: controls; and names outside of RFC 9110's tokens. */
static bool header_is_clean(const char *name, struct bytes value)
{
    if (!*name || strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != strlen(name))
        return false;
    for (size_t i = 0; i < value.size; i++)
        if (value.data[i] < ' ' || value.data[i] == 0x7f)
            return false;
    return true;
}

int call_add_header(struct call *call, const char *name, struct bytes value, struct err *err)
{
    object_check(call, CALL_MAGIC);
    if (!header_is_clean(name, value))
        return err_set(err, ERR_INVALID, "header '%s' has characters no header may have", name);
    if (call->reply.is_closed)
        return err_set(err, ERR_PRECONDITION, "headers go before the first message of a stream");
    if (call->reply.header_count >= NET_REPLY_HEADER_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "an answer has at most %d added headers",
                       NET_REPLY_HEADER_COUNT_MAX);
    call->reply.headers[call->reply.header_count++] =
        (struct header){bytes_of(arena_strdup(call->arena, name)), arena_copy(call->arena, value)};
    return 0;
}

int64_t call_deadline_us(const struct call *call)
{
    object_check(call, CALL_MAGIC);
    return call->deadline_us;
}

int64_t call_begun_us(const struct call *call)
{
    object_check(call, CALL_MAGIC);
    return call->begun_us;
}

bool call_come_back(struct call *call, int64_t after_us)
{
    object_check(call, CALL_MAGIC);
    if (!call->loop || !call->running || call->channel)
        return false;
    call->come_back_us = after_us > 1 ? after_us : 1;
    return true;
}

bool call_server_leaves(const struct call *call)
{
    object_check(call, CALL_MAGIC);
    return call->loop && atomic_load(&call->loop->server->draining);
}

bool call_leave_brief(struct call *call)
{
    object_check(call, CALL_MAGIC);
    if (!call->loop || !call->running || call->channel || call->left_brief ||
        call->route->service->remote || !(call->route->method->flags & RPC_BRIEF))
        return false;
    call->left_brief = true;
    call->come_back_us = 1;
    return true;
}

bool call_defer(struct call *call)
{
    object_check(call, CALL_MAGIC);
    if (!call->loop || !call->running || call->channel)
        return false;
    if (call->rate.limit)
        call->cpu_us = worker_cpu_us() - call->thread_us;
    return true;
}

bool call_cancelled(const struct call *call)
{
    object_check(call, CALL_MAGIC);
    return atomic_load_explicit(&call->cancelled, memory_order_relaxed) != 0 ||
           (call->deadline_us != INT64_MAX && clock_mono_us(call_clock(call)) >= call->deadline_us);
}

void call_violation(struct call *call, const char *field, const char *format, ...)
{
    va_list args;
    char *reason;

    object_check(call, CALL_MAGIC);
    va_start(args, format);
    reason = arena_vprintf(call->arena, format, args);
    va_end(args);
    violations_add(&call->violations, arena_strdup(call->arena, field), "%s", reason);
}

void call_violations(struct call *call, const struct violations *violations)
{
    for (const struct violation *one = violations->first; one; one = one->next)
        call_violation(call, one->field, "%s", one->reason);
}

int call_invalid(struct call *call, struct err *err, const char *field, const char *format, ...)
{
    va_list args;
    char *reason;

    va_start(args, format);
    reason = arena_vprintf(call->arena, format, args);
    va_end(args);
    call_violation(call, field, "%s", reason);
    return err_set(err, ERR_INVALID, "%s: %s", field, reason);
}

/* What the message before has left is given back: the next may be long in coming. */
static void forget_message(struct call *call)
{
    shrink(&call->message);
    shrink(&call->body);
    share_give_back_message(call);
}

/* So many bytes of a message, counted like a body's as they come. */
static int read_pieces(struct call *call, size_t size, struct err *err)
{
    int rc = 1;

    while (rc == 1 && call->message.size < size) {
        size_t left = size - call->message.size;
        size_t count = left < MESSAGE_PIECE_SIZE ? left : MESSAGE_PIECE_SIZE;

        rc = size > NET_BODY_UNCHARGED_SIZE ? share_take_message(call, count, err) : 0;
        if (!rc)
            rc = channel_read(call->channel, &call->message, count, err);
        if (rc == 0)
            rc = err_set(err, ERR_INVALID, "the stream ends within a message");
    }
    return rc;
}

/* Reads one gRPC frame into call->message, unpacked: 1, 0 at the end, < 0. */
static int read_frame(struct call *call, struct err *err)
{
    struct buf head = BUF_INIT(FRAME_HEAD_SIZE);
    uint32_t size = 0;
    bool packed = false;
    int rc;

    forget_message(call);
    rc = channel_read(call->channel, &head, FRAME_HEAD_SIZE, err);
    if (rc == 1) {
        packed = head.data[0] == FRAME_PACKED;
        size = get_be32(head.data + 1);
        if (head.data[0] > FRAME_PACKED)
            rc = err_set(err, ERR_INVALID, "a message begins with flag %d, not 0 or 1",
                         head.data[0]);
        else if (size > NET_MESSAGE_SIZE_MAX)
            rc = err_set(err, ERR_LIMIT, "a message of %u bytes is larger than %d", size,
                         NET_MESSAGE_SIZE_MAX);
    }
    buf_release(&head);
    if (rc != 1)
        return rc;
    rc = read_pieces(call, size, err);
    if (rc < 0 || !packed)
        return rc;
    if (!call->packed)
        return err_set(err, ERR_INVALID, "a packed message, but the head names no gzip");
    buf_reset(&call->body);
    rc = gzip_unpack(buf_bytes(&call->message), NET_MESSAGE_SIZE_MAX, &call->body, err);
    if (rc)
        return rc;
    buf_reset(&call->message);
    buf_put(&call->message, buf_bytes(&call->body));
    return 1;
}

int call_read(struct call *call, ProtobufCMessage **message, struct err *err)
{
    int rc;

    object_check(call, CALL_MAGIC);
    if (call->local) {
        *message = (ProtobufCMessage *)call->local->request; /* handlers do not write to it */
        call->local->request = NULL;
        return *message != NULL;
    }
    assert(call->channel);
    call_pay(call);
    if (!call->message_arena)
        call->message_arena = arena_new();
    arena_reset(call->message_arena);
    if (call->format == CALL_JSON) {
        if (call->message_read)
            return 0;
        call->message_read = true;
        rc = json_decode(buf_bytes(&call->body), call->route->input, call->message_arena, message,
                         &call->violations, err);
        return rc ? rc : 1;
    }
    rc = read_frame(call, err);
    if (rc != 1)
        return rc;
    if (call->format == CALL_CONNECT_JSON)
        rc = json_decode(buf_bytes(&call->message), call->route->input, call->message_arena,
                         message, &call->violations, err);
    else
        rc = message_decode(buf_bytes(&call->message), call->route->input, call->message_arena,
                            message, err);
    return rc ? rc : 1;
}

int call_write(struct call *call, const ProtobufCMessage *message, struct err *err)
{
    int rc;

    object_check(call, CALL_MAGIC);
    if (call->local)
        return call->local->take(call->local->arg, message, err);
    assert(call->channel);
    call_pay(call);
    buf_reset(&call->out);
    rc = reply_frame(call, message, &call->out, err);
    if (rc)
        return rc;
    call->reply.is_closed = true; /* from here on the reply is the reactor's */
    return channel_write(call->channel, buf_bytes(&call->out), err);
}
