/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http2.c - HTTP/2 by nghttp2: streams become calls, replies become frames.
 *
 * The library keeps the protocol; here are flow control (the window reopens when bytes are taken,
 * not when they arrive), gRPC's trailers, and a rate limit (a token bucket) for frames that cost us
 * and bring nothing: each connection has NET_FLOOD_BUDGET points that come back slowly and with
 * honest work; a connection that spends them all is told to calm down (ENHANCE_YOUR_CALM) and cut
 * off.
 */
#include <assert.h>
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "net/bounds.h"
#include "net/server/calls/call.h"
#include "net/server/calls/connection.h"
#include "net/server/calls/server_parts.h"

enum { HTTP2_MAGIC = OBJECT_MAGIC('h', 't', 't', '2') };

struct http2 {
    uint32_t magic;
    nghttp2_session *session; /* owned */
    int budget;
    int64_t refilled_us;
    bool calmed; /* out of budget: going down */
    bool draining;
    bool has_answered;
};

enum {
    HELD_SIZE_MAX = 64 << 10, /* so much of an unwanted body is waited for */
    HEAD_HOPELESS_FACTOR = 4, /* a head so many times too large is not even read to its end */
    NV_COUNT = NET_REPLY_HEADER_COUNT_MAX + NET_OWN_HEADER_COUNT_MAX + 2,
};

/* --- the budget --- */

/* What a frame costs, or (negative) earns. */
static int frame_cost(const nghttp2_frame_hd *hd)
{
    switch (hd->type) {
    case NGHTTP2_HEADERS:
        return -2;
    case NGHTTP2_DATA:
        return hd->flags & NGHTTP2_FLAG_END_STREAM ? 0 : 2; /* earned back by what is in it */
    case NGHTTP2_RST_STREAM:
        return 4; /* more than its HEADERS earned: opening and resetting is not free */
    case NGHTTP2_SETTINGS:
    case NGHTTP2_PING:
        return hd->flags & NGHTTP2_FLAG_ACK ? 1 : 4; /* each makes us answer */
    case NGHTTP2_CONTINUATION:
        return 20;
    default:
        return 1; /* WINDOW_UPDATE, PRIORITY, unknown */
    }
}

static void earn(struct http2 *http2, int points)
{
    http2->budget += points;
    if (http2->budget > NET_FLOOD_BUDGET)
        http2->budget = NET_FLOOD_BUDGET;
}

static void refill(struct http2 *http2, int64_t now_us)
{
    int64_t seconds = (now_us - http2->refilled_us) / SECOND_US;

    if (seconds <= 0)
        return;
    http2->refilled_us += seconds * SECOND_US;
    earn(http2,
         seconds > NET_FLOOD_BUDGET ? NET_FLOOD_BUDGET : (int)seconds * NET_FLOOD_REFILL_PER_S);
}

static void calm(struct connection *connection)
{
    struct http2 *http2 = connection->state;

    if (http2->calmed)
        return;
    http2->calmed = true;
    counter_add(connection->loop->server->metrics.floods, 1);
    nghttp2_session_terminate_session(http2->session, NGHTTP2_ENHANCE_YOUR_CALM);
}

/* --- callbacks --- */

static int on_begin_frame(nghttp2_session *session, const nghttp2_frame_hd *hd, void *arg)
{
    struct connection *connection = arg;
    struct http2 *http2 = connection->state;

    object_check(connection, CONNECTION_MAGIC);
    earn(http2, -frame_cost(hd));
    if (http2->budget < 0)
        calm(connection);
    return 0;
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
    struct connection *connection = arg;
    struct call *call;

    object_check(connection, CONNECTION_MAGIC);
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0;
    call = call_new(connection);
    call->stream_id = frame->hd.stream_id;
    nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, call);
    return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_size, const uint8_t *value, size_t value_size, uint8_t flags,
                     void *arg)
{
    struct call *call = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);

    if (!call || call->head_done)
        return 0; /* trailers: nothing here needs one */
    call_take_header(call, bytes_make(name, name_size), bytes_make(value, value_size));
    if (call->head_size > (size_t)HEAD_HOPELESS_FACTOR * NET_HEAD_SIZE_MAX)
        calm(arg);
    return 0;
}

static void submit(struct call *call);

static int on_frame_recv(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
    struct call *call;

    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)
        return 0;
    call = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (!call)
        return 0;
    if (frame->hd.type == NGHTTP2_HEADERS && !call->head_done) {
        call_begin(call);
        /* what answers at once may have been replaced; streams keep their call */
        call = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    }
    if (call && frame->hd.flags & NGHTTP2_FLAG_END_STREAM) {
        call_end(call);
        if (call->held)
            submit(call);
    }
    return 0;
}

static int on_data_chunk(nghttp2_session *session, uint8_t flags, int32_t stream_id,
                         const uint8_t *data, size_t size, void *arg)
{
    struct call *call = nghttp2_session_get_stream_user_data(session, stream_id);
    struct connection *connection = arg;

    object_check(connection, CONNECTION_MAGIC);
    earn(connection->state, 3); /* more than a frame costs that is not all padding */
    if (!call) {
        nghttp2_session_consume_connection(session, size);
        return 0;
    }
    if (call->channel && !call->refused)
        call->unconsumed += size; /* until the handler has taken it */
    else
        nghttp2_session_consume(session, stream_id, size);
    call_data(call, bytes_make(data, size));
    if (call->held && call->body_size > HELD_SIZE_MAX)
        submit(call);
    return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t stream_id, uint32_t code, void *arg)
{
    struct call *call = nghttp2_session_get_stream_user_data(session, stream_id);

    if (!call)
        return 0;
    nghttp2_session_set_stream_user_data(session, stream_id, NULL);
    if (call->unconsumed)
        nghttp2_session_consume_connection(session, call->unconsumed);
    call_drop(call);
    return 0;
}

static int on_frame_send(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
    struct connection *connection = arg;

    object_check(connection, CONNECTION_MAGIC);
    if (frame->hd.type == NGHTTP2_DATA)
        earn(connection->state, 4); /* the client may well open windows for it */
    if ((frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
        frame->hd.flags & NGHTTP2_FLAG_END_STREAM &&
        !nghttp2_session_get_stream_remote_close(session, frame->hd.stream_id))
        /* answered before the request was whole: the rest need not be sent */
        nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id,
                                  NGHTTP2_NO_ERROR);
    return 0;
}

/* --- session --- */

static nghttp2_session_callbacks *callbacks;
static nghttp2_option *option;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_callbacks(void)
{
    if (nghttp2_session_callbacks_new(&callbacks) || nghttp2_option_new(&option))
        abort();
    nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, on_begin_frame);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame_recv);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data_chunk);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_send);
    nghttp2_option_set_no_auto_window_update(option, 1);
}

static void http2_open(struct connection *connection)
{
    static const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, NET_STREAM_COUNT_MAX},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, NET_WINDOW_SIZE},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, NET_HEAD_SIZE_MAX},
    };
    struct http2 *http2 = mem_zero(sizeof(*http2));
    int rc;

    object_begin(http2, HTTP2_MAGIC);
    pthread_once(&once, make_callbacks);
    connection->state = http2;
    connection->waiting_us = 0;
    http2->budget = NET_FLOOD_BUDGET;
    http2->refilled_us = connection->loop->reactor.now_us;
    rc = nghttp2_session_server_new2(&http2->session, callbacks, connection, option);
    if (!rc)
        rc = nghttp2_submit_settings(http2->session, NGHTTP2_FLAG_NONE, settings,
                                     ARRAY_COUNT(settings));
    if (!rc)
        rc = nghttp2_session_set_local_window_size(http2->session, NGHTTP2_FLAG_NONE, 0,
                                                   NET_CONNECTION_WINDOW_SIZE);
    if (rc)
        abort(); /* out of memory */
    connection_mark(connection);
}

static void http2_close(struct connection *connection)
{
    struct http2 *http2 = connection->state;

    nghttp2_session_del(http2->session);
    object_end(http2, HTTP2_MAGIC);
    free(http2);
}

static bool http2_input(struct connection *connection, struct bytes bytes)
{
    struct http2 *http2 = connection->state;
    ssize_t taken;

    connection->waiting_us = 0; /* a head's time is its call's here */
    refill(http2, connection->loop->reactor.now_us);
    taken = nghttp2_session_mem_recv(http2->session, bytes.data, bytes.size);
    if (taken == NGHTTP2_ERR_BAD_CLIENT_MAGIC)
        return false;
    if (taken < 0)
        calm(connection);
    return !http2->calmed;
}

static bool http2_fill(struct connection *connection, struct buf *out)
{
    struct http2 *http2 = connection->state;
    nghttp2_session *session = http2->session;

    while (out->size < NET_WRITE_SIZE) {
        const uint8_t *frame;
        ssize_t size = nghttp2_session_mem_send(session, &frame);

        if (size < 0)
            return false;
        if (size == 0)
            break;
        buf_put_raw(out, frame, (size_t)size);
    }
    if (http2->draining && !connection->calls && !nghttp2_session_want_write(session))
        return false;
    return nghttp2_session_want_read(session) || nghttp2_session_want_write(session);
}

/* --- replies --- */

static size_t make_nv(const struct header *headers, size_t count, nghttp2_nv *nv)
{
    for (size_t i = 0; i < count; i++)
        nv[i] = (nghttp2_nv){
            .name = (uint8_t *)headers[i].name.data,
            .namelen = headers[i].name.size,
            .value = (uint8_t *)headers[i].value.data,
            .valuelen = headers[i].value.size,
            .flags = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE,
        };
    return count;
}

static void end_body(nghttp2_session *session, struct call *call, uint32_t *flags)
{
    nghttp2_nv nv[ARRAY_COUNT(call->reply.trailers)];
    size_t count;

    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (!call->reply.trailer_count)
        return;
    count = make_nv(call->reply.trailers, call->reply.trailer_count, nv);
    *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
    nghttp2_submit_trailer(session, call->stream_id, nv, count);
}

static ssize_t read_body(nghttp2_session *session, int32_t stream_id, uint8_t *to, size_t size,
                         uint32_t *flags, nghttp2_data_source *source, void *arg)
{
    struct call *call = source->ptr;
    size_t left = call->reply.body.size - call->sent;
    size_t count = size < left ? size : left;

    if (count)
        memcpy(to, call->reply.body.data + call->sent, count);
    call->sent += count;
    call_progress(call, count);
    if (call->sent == call->reply.body.size)
        end_body(session, call, flags);
    return (ssize_t)count;
}

static ssize_t read_stream(nghttp2_session *session, int32_t stream_id, uint8_t *to, size_t size,
                           uint32_t *flags, nghttp2_data_source *source, void *arg)
{
    struct call *call = source->ptr;
    bool end;
    size_t count = channel_pull(call->channel, to, size, &end);

    if (count)
        call_progress(call, count);
    if (end && !call->running) { /* finished, and call_settle has made the trailers */
        if (!count && call->reply.body.size > call->sent)
            return read_body(session, stream_id, to, size, flags, source, arg);
        if (call->reply.body.size == call->sent)
            end_body(session, call, flags);
    } else if (!count) {
        call->progress_us = 0;
        return NGHTTP2_ERR_DEFERRED;
    }
    return (ssize_t)count;
}

/* gRPC says nothing of a length; what a browser or curl reads has one. */
static size_t add_length(struct call *call, nghttp2_nv *nv)
{
    struct reply *reply = &call->reply;
    struct header length = {.name = BYTES_LITERAL("content-length")};

    if (call->format == CALL_GRPC || reply->streaming || reply->http_status == 304 ||
        reply->http_status == 204)
        return 0;
    snprintf(reply->length_text, sizeof(reply->length_text), "%zu", reply->body.size);
    length.value = bytes_of(reply->length_text);
    return make_nv(&length, 1, nv);
}

static void submit(struct call *call)
{
    struct http2 *http2 = call->connection->state;
    struct reply *reply = &call->reply;
    nghttp2_data_provider provider = {.source.ptr = call,
                                      .read_callback = reply->streaming ? read_stream : read_body};
    bool has_body =
        reply->streaming || (reply->body.size && !call->is_head) || reply->trailer_count;
    nghttp2_nv nv[NV_COUNT];
    struct header first = {BYTES_LITERAL(":status"), bytes_make(reply->status_text, 3)};
    size_t count = make_nv(&first, 1, nv);

    reply->status_text[0] = (char)('0' + reply->http_status / 100 % 10);
    reply->status_text[1] = (char)('0' + reply->http_status / 10 % 10);
    reply->status_text[2] = (char)('0' + reply->http_status % 10);
    assert(reply->header_count + 2 <= NV_COUNT);
    count += make_nv(reply->headers, reply->header_count, nv + 1);
    for (size_t i = reply->steady_count + 1; i < count && http2->has_answered; i++)
        nv[i].flags |= NGHTTP2_NV_FLAG_NO_INDEX; /* of the first answer the names are kept */
    http2->has_answered = true;
    count += add_length(call, nv + count);
    call->held = false;
    if (nghttp2_submit_response(http2->session, call->stream_id, nv, count,
                                has_body ? &provider : NULL))
        nghttp2_submit_rst_stream(http2->session, NGHTTP2_FLAG_NONE, call->stream_id,
                                  NGHTTP2_INTERNAL_ERROR);
    connection_mark(call->connection);
}

/*
 * A refusal is ready before the request is whole. gRPC clients take it at any time; others
 * often read nothing before they have sent all, so a small body is let come to its end, unless
 * there are too many calls: these would only be more.
 */
static void http2_respond(struct call *call)
{
    struct http2 *http2 = call->connection->state;

    nghttp2_session_set_stream_user_data(http2->session, call->stream_id, call);
    if (!format_is_framed(call->format) && !call->body_done && !call->body_size &&
        !call->is_surplus)
        call->held = true;
    else
        submit(call);
}

static void http2_resume(struct call *call, size_t taken)
{
    struct http2 *http2 = call->connection->state;

    if (taken > call->unconsumed)
        taken = call->unconsumed;
    call->unconsumed -= taken;
    if (taken)
        nghttp2_session_consume(http2->session, call->stream_id, taken);
    if (call->replied)
        nghttp2_session_resume_data(http2->session, call->stream_id);
    connection_mark(call->connection);
}

static void http2_reset(struct call *call)
{
    struct http2 *http2 = call->connection->state;

    nghttp2_submit_rst_stream(http2->session, NGHTTP2_FLAG_NONE, call->stream_id, NGHTTP2_CANCEL);
    connection_mark(call->connection);
}

static void http2_leave(struct connection *connection)
{
    struct http2 *http2 = connection->state;

    nghttp2_submit_shutdown_notice(http2->session);
    connection_mark(connection);
}

static void http2_drain(struct connection *connection)
{
    struct http2 *http2 = connection->state;

    http2->draining = true;
    nghttp2_submit_goaway(http2->session, NGHTTP2_FLAG_NONE,
                          nghttp2_session_get_last_proc_stream_id(http2->session), NGHTTP2_NO_ERROR,
                          NULL, 0);
    connection_mark(connection);
}

static void http2_timeout(struct connection *connection, const char *why)
{
    struct http2 *http2 = connection->state;

    nghttp2_session_terminate_session(http2->session,
                                      why ? NGHTTP2_ENHANCE_YOUR_CALM : NGHTTP2_NO_ERROR);
    connection_mark(connection);
}

const struct protocol_ops http2_ops = {
    .name = "HTTP/2",
    .open = http2_open,
    .close = http2_close,
    .input = http2_input,
    .fill = http2_fill,
    .leave = http2_leave,
    .drain = http2_drain,
    .timeout = http2_timeout,
    .respond = http2_respond,
    .resume = http2_resume,
    .reset = http2_reset,
};
