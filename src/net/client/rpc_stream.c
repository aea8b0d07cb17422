/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rpc_stream.c - see rpc_stream.h; nghttp2 on a connection that libcurl makes.
 *
 * curl knows names, TLS and certificates, but abandons a transfer whose server answers before the
 * request ended, and with it the reason; so it only connects, and one HTTP/2 stream is handled
 * here. Received bytes are counted as consumed in the server's window when no whole answer waits,
 * so `in` holds one message and a window at most.
 */
#include "net/client/rpc_stream.h"

#include <assert.h>
#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/endian.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/text.h"
#include "codec/message.h"
#include "net/bounds.h"
#include "net/status.h"

enum {
    FRAME_HEAD_SIZE = 5, /* packed or not, size */
    UNSENT_SIZE_MAX = 128 << 10,
    BLOCK_SIZE = 32 << 10,
    STATUS_NONE = -1,
};

enum { RPC_STREAM_MAGIC = OBJECT_MAGIC('r', 'p', 'c', 's') };

struct rpc_stream {
    uint32_t magic;
    const struct clock *clock;
    char *url;           /* owned: of the server, for messages */
    char *method;        /* owned */
    char *authorization; /* owned, or NULL */
    CURL *connection;
    curl_socket_t socket;
    nghttp2_session *session;
    int32_t id;
    int64_t idle_ms;
    int64_t moved_us; /* when bytes last moved */

    struct buf out; /* messages */
    size_t out_sent;
    bool out_end;
    bool out_waits; /* nghttp2 was told that there is nothing */
    struct buf in;
    size_t in_taken;
    size_t unconsumed;
    struct bytes unwritten; /* of nghttp2's, what the socket did not take */

    bool ended;
    int status;   /* gRPC's; STATUS_NONE: not told */
    char *text;   /* owned: grpc-message */
    char http[4]; /* the HTTP status */
};

static int fault(const struct rpc_stream *stream, int code, const char *why, struct err *err)
{
    return err_set(err, code, "%s/%s: %s", stream->url, stream->method, why);
}

/* The whole frame at the front of what came; 0: not there yet. */
static size_t frame_size(const struct rpc_stream *stream)
{
    size_t there = stream->in.size - stream->in_taken;
    size_t size;

    if (there < FRAME_HEAD_SIZE)
        return 0;
    size = FRAME_HEAD_SIZE + (size_t)get_be32(stream->in.data + stream->in_taken + 1);
    return size <= there ? size : 0;
}

/* --- what nghttp2 calls --- */

static ssize_t on_send(nghttp2_session *session, int32_t id, uint8_t *to, size_t room,
                       uint32_t *flags, nghttp2_data_source *source, void *context)
{
    struct rpc_stream *stream = context;
    size_t there = stream->out.size - stream->out_sent;
    size_t moved = there < room ? there : room;

    object_check(stream, RPC_STREAM_MAGIC);
    if (moved)
        memcpy(to, stream->out.data + stream->out_sent, moved);
    stream->out_sent += moved;
    if (stream->out_sent == stream->out.size) {
        buf_reset(&stream->out);
        stream->out_sent = 0;
        if (stream->out_end) {
            *flags |= NGHTTP2_DATA_FLAG_EOF;
        } else if (!moved) {
            stream->out_waits = true;
            return NGHTTP2_ERR_DEFERRED;
        }
    }
    return (ssize_t)moved;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data,
                   size_t size, void *context)
{
    struct rpc_stream *stream = context;

    object_check(stream, RPC_STREAM_MAGIC);
    buf_put_raw(&stream->in, data, size);
    stream->unconsumed += size;
    return buf_failed(&stream->in) ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

static int hex_digit(uint8_t digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    digit = (uint8_t)tolower(digit);
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* grpc-message: bytes that are not plain ASCII are %XX. */
static char *decode_text(struct bytes text)
{
    char *out = mem_alloc(text.size + 1);
    size_t size = 0;

    for (size_t i = 0; i < text.size; i++) {
        bool is_code = text.data[i] == '%' && i + 2 < text.size &&
                       hex_digit(text.data[i + 1]) >= 0 && hex_digit(text.data[i + 2]) >= 0;

        if (is_code) {
            out[size++] = (char)(hex_digit(text.data[i + 1]) * 16 + hex_digit(text.data[i + 2]));
            i += 2;
        } else {
            out[size++] = (char)text.data[i];
        }
    }
    out[size] = 0;
    return out;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_size, const uint8_t *value, size_t value_size, uint8_t flags,
                     void *context)
{
    struct rpc_stream *stream = context;
    struct bytes key = bytes_make(name, name_size);
    struct bytes said = bytes_make(value, value_size);
    uint64_t status;

    object_check(stream, RPC_STREAM_MAGIC);
    if (bytes_equal_text(key, "grpc-status")) {
        stream->status = STATUS_UNKNOWN;
        if (text_to_u64(said, &status) && status < STATUS_COUNT)
            stream->status = (int)status;
    } else if (bytes_equal_text(key, "grpc-message")) {
        free(stream->text);
        stream->text = decode_text(said);
    } else if (bytes_equal_text(key, ":status") && value_size < sizeof(stream->http)) {
        memcpy(stream->http, value, value_size);
    }
    return 0;
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t code, void *context)
{
    struct rpc_stream *stream = context;

    object_check(stream, RPC_STREAM_MAGIC);
    stream->ended = true;
    return 0;
}

/* --- its life --- */

int rpc_stream_open(const struct rpc_stream_options *options, struct rpc_stream **stream,
                    struct err *err)
{
    struct rpc_stream *made;

    *stream = NULL;
    if (options->authorization && strpbrk(options->authorization, "\r\n"))
        return err_set(err, ERR_INVALID, "the key has a line end");
    made = mem_zero(sizeof(*made));
    object_begin(made, RPC_STREAM_MAGIC);
    made->clock = clock_or_system(options->clock);
    made->url = mem_strdup(options->url);
    made->method = mem_strdup(options->method);
    made->authorization = options->authorization ? mem_strdup(options->authorization) : NULL;
    made->status = STATUS_NONE;
    made->idle_ms = options->idle_timeout_ms ? options->idle_timeout_ms : RPC_STREAM_IDLE_MS;
    buf_init(&made->out, NET_MESSAGE_SIZE_MAX + FRAME_HEAD_SIZE + UNSENT_SIZE_MAX);
    buf_init(&made->in, NET_MESSAGE_SIZE_MAX + FRAME_HEAD_SIZE + 2 * NET_WINDOW_SIZE);
    made->socket = CURL_SOCKET_BAD;
    made->connection = curl_easy_init();
    if (!made->connection)
        abort(); /* out of memory */
    if (options->ca_file)
        curl_easy_setopt(made->connection, CURLOPT_CAINFO, options->ca_file);
    *stream = made;
    return 0;
}

void rpc_stream_close(struct rpc_stream *stream)
{
    if (!stream)
        return;
    object_check(stream, RPC_STREAM_MAGIC);
    nghttp2_session_del(stream->session);
    curl_easy_cleanup(stream->connection); /* the server sees the call left */
    buf_release(&stream->out);
    buf_release(&stream->in);
    free(stream->text);
    free(stream->authorization);
    free(stream->method);
    free(stream->url);
    object_end(stream, RPC_STREAM_MAGIC);
    free(stream);
}

static int connect_to(struct rpc_stream *stream, struct err *err)
{
    char detail[CURL_ERROR_SIZE] = "";
    CURL *easy = stream->connection;
    CURLcode code;

    curl_easy_setopt(easy, CURLOPT_URL, stream->url);
    curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
    /* Once HTTP/2 is agreed on, curl speaks it itself. Our servers know it by its first bytes. */
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_SSL_ENABLE_ALPN, 0L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*"); /* our own servers are called by this */
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)HTTP_CLIENT_CONNECT_TIMEOUT_MS);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, detail);
    code = curl_easy_perform(easy);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, NULL);
    if (code == CURLE_OK)
        code = curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &stream->socket);
    if (code != CURLE_OK)
        return fault(stream, ERR_UNAVAILABLE, detail[0] ? detail : curl_easy_strerror(code), err);
    return 0;
}

static nghttp2_nv header(const char *name, const char *value)
{
    return (nghttp2_nv){.name = (uint8_t *)name,
                        .value = (uint8_t *)value,
                        .namelen = strlen(name),
                        .valuelen = strlen(value),
                        .flags = NGHTTP2_NV_FLAG_NONE};
}

static void submit(struct rpc_stream *stream)
{
    static const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, NET_WINDOW_SIZE},
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
    };
    const nghttp2_data_provider body = {.read_callback = on_send};
    bool tls = bytes_begin(bytes_of(stream->url), bytes_of("https:"));
    char *path = mem_alloc(strlen(stream->method) + 2);
    nghttp2_nv headers[8];
    size_t count = 0;

    path[0] = '/';
    memcpy(path + 1, stream->method, strlen(stream->method) + 1);
    headers[count++] = header(":method", "POST");
    headers[count++] = header(":scheme", tls ? "https" : "http");
    headers[count++] = header(":authority", strstr(stream->url, "//") + 2);
    headers[count++] = header(":path", path);
    headers[count++] = header("content-type", "application/grpc");
    headers[count++] = header("te", "trailers");
    headers[count++] = header("user-agent", "torg/" TORG_VERSION);
    if (stream->authorization)
        headers[count++] = header("authorization", stream->authorization);
    nghttp2_submit_settings(stream->session, NGHTTP2_FLAG_NONE, settings, ARRAY_COUNT(settings));
    stream->id = nghttp2_submit_request(stream->session, NULL, headers, count, &body, NULL);
    assert(stream->id > 0);
    free(path);
}

static int begin(struct rpc_stream *stream, struct err *err)
{
    nghttp2_session_callbacks *callbacks = NULL;
    nghttp2_option *option = NULL;
    int rc;

    if (!strstr(stream->url, "//"))
        return fault(stream, ERR_INVALID, "expected http:// or https://", err);
    rc = connect_to(stream, err);
    if (rc)
        return rc;
    if (nghttp2_session_callbacks_new(&callbacks) || nghttp2_option_new(&option))
        abort(); /* out of memory */
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_option_set_no_auto_window_update(option, 1);
    if (nghttp2_session_client_new2(&stream->session, callbacks, stream, option))
        abort(); /* out of memory */
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_option_del(option);
    submit(stream);
    stream->moved_us = clock_mono_us(stream->clock);
    return 0;
}

/* --- moving bytes --- */

/* How the call ended: 0, or why it failed. */
static int outcome(const struct rpc_stream *stream, struct err *err)
{
    const char *text = stream->text && *stream->text ? stream->text : NULL;

    if (stream->status > STATUS_OK)
        return err_set(err, err_of_status(stream->status), "%s",
                       text ? text : status_name(stream->status));
    if (stream->status == STATUS_NONE && stream->http[0])
        return err_set(err, ERR_UNAVAILABLE, "%s/%s: broken off, with HTTP status %s", stream->url,
                       stream->method, stream->http);
    if (stream->status == STATUS_NONE)
        return fault(stream, ERR_UNAVAILABLE, "the server broke off the call", err);
    return 0;
}

/* Gives the socket what nghttp2 has, as far as it takes it; *blocked: it takes no more now. */
static int send_some(struct rpc_stream *stream, bool *blocked, struct err *err)
{
    *blocked = false;
    for (;;) {
        const uint8_t *data;
        size_t count = 0;
        ssize_t size;
        CURLcode code;

        if (!stream->unwritten.size) {
            size = nghttp2_session_mem_send(stream->session, &data);
            if (size < 0)
                return fault(stream, ERR_UNAVAILABLE, nghttp2_strerror((int)size), err);
            if (size == 0)
                return 0;
            stream->unwritten = bytes_make(data, (size_t)size);
        }
        code = curl_easy_send(stream->connection, stream->unwritten.data, stream->unwritten.size,
                              &count);
        *blocked = code == CURLE_AGAIN;
        if (*blocked)
            return 0;
        if (code != CURLE_OK)
            return fault(stream, ERR_UNAVAILABLE, curl_easy_strerror(code), err);
        stream->unwritten = bytes_skip(stream->unwritten, count);
        stream->moved_us = clock_mono_us(stream->clock);
    }
}

/* Takes what the socket has, until a whole answer is there. */
static int take_some(struct rpc_stream *stream, bool *took, struct err *err)
{
    uint8_t block[BLOCK_SIZE];

    *took = false;
    while (!rpc_stream_ready(stream)) {
        size_t count = 0;
        CURLcode code = curl_easy_recv(stream->connection, block, sizeof(block), &count);
        ssize_t size;

        if (code == CURLE_AGAIN)
            return 0;
        if (code != CURLE_OK || count == 0)
            return fault(stream, ERR_UNAVAILABLE,
                         code ? curl_easy_strerror(code) : "the server closed the connection", err);
        size = nghttp2_session_mem_recv(stream->session, block, count);
        if (buf_failed(&stream->in))
            return fault(stream, ERR_LIMIT, "an answer is larger than the limit", err);
        if (size < 0)
            return fault(stream, ERR_UNAVAILABLE, nghttp2_strerror((int)size), err);
        stream->moved_us = clock_mono_us(stream->clock);
        *took = true;
    }
    return 0;
}

static int wait_for_socket(struct rpc_stream *stream, bool blocked, struct err *err)
{
    struct pollfd entry = {.fd = stream->socket, .events = POLLIN};
    int64_t left_ms = stream->idle_ms - (clock_mono_us(stream->clock) - stream->moved_us) / MS_US;
    int rc;

    if (blocked)
        entry.events |= POLLOUT;
    rc = left_ms > 0 ? poll(&entry, 1, (int)left_ms) : 0;
    if (rc < 0 && errno != EINTR)
        return err_errno(err, "poll");
    if (rc == 0)
        return err_set(err, ERR_TIMEOUT, "%s/%s: nothing moved for %lld ms", stream->url,
                       stream->method, (long long)stream->idle_ms);
    return 0;
}

/* Moves bytes both ways; wait: for more, when neither can move now. */
static int move(struct rpc_stream *stream, bool wait, struct err *err)
{
    bool blocked;
    bool took = false;
    int rc = 0;

    if (!stream->session)
        rc = begin(stream, err);
    if (rc)
        return rc;
    if (stream->out_waits && (stream->out.size > stream->out_sent || stream->out_end)) {
        stream->out_waits = false;
        nghttp2_session_resume_data(stream->session, stream->id);
    }
    if (stream->unconsumed && !frame_size(stream)) {
        nghttp2_session_consume(stream->session, stream->id, stream->unconsumed);
        stream->unconsumed = 0;
    }
    rc = send_some(stream, &blocked, err);
    if (rc && stream->status == STATUS_NONE) {
        struct err ignored; /* why the server hung up may have come before */

        take_some(stream, &took, &ignored);
        return stream->ended ? 0 : rc;
    }
    if (!rc)
        rc = take_some(stream, &took, err);
    if (rc || took || rpc_stream_ready(stream) || !wait)
        return rc; /* what came may have opened a window: send first, then wait */
    return wait_for_socket(stream, blocked, err);
}

bool rpc_stream_ready(const struct rpc_stream *stream)
{
    object_check(stream, RPC_STREAM_MAGIC);
    return stream->ended || frame_size(stream) > 0;
}

static size_t unsent(const struct rpc_stream *stream)
{
    return stream->out.size - stream->out_sent;
}

static void put_frame(struct rpc_stream *stream, const ProtobufCMessage *message)
{
    static const uint8_t head[FRAME_HEAD_SIZE];
    size_t start;

    if (stream->out_sent) {
        buf_consume(&stream->out, stream->out_sent);
        stream->out_sent = 0;
    }
    start = stream->out.size;
    buf_put_raw(&stream->out, head, sizeof(head));
    message_encode(message, &stream->out);
    if (!buf_failed(&stream->out))
        put_be32(stream->out.data + start + 1, (uint32_t)(stream->out.size - start - sizeof(head)));
}

int rpc_stream_write(struct rpc_stream *stream, const ProtobufCMessage *message, struct err *err)
{
    int rc = 0;

    object_check(stream, RPC_STREAM_MAGIC);
    assert(!stream->out_end);
    assert(!frame_size(stream)); /* its sender may wait for us to take it */
    if (stream->ended) {
        rc = outcome(stream, err);
        return rc ? rc : fault(stream, ERR_UNAVAILABLE, "the call has ended", err);
    }
    if (protobuf_c_message_get_packed_size(message) > NET_MESSAGE_SIZE_MAX)
        return err_set(err, ERR_LIMIT, "the message is larger than %d bytes", NET_MESSAGE_SIZE_MAX);
    put_frame(stream, message);
    assert(!buf_failed(&stream->out));
    if (unsent(stream) <= UNSENT_SIZE_MAX / 2) /* few system calls for many small messages */
        return 0;
    stream->moved_us = clock_mono_us(stream->clock); /* the wait begins now */
    do {
        rc = move(stream, unsent(stream) > UNSENT_SIZE_MAX, err);
    } while (!rc && unsent(stream) > UNSENT_SIZE_MAX && !rpc_stream_ready(stream));
    return rc;
}

void rpc_stream_finish(struct rpc_stream *stream)
{
    object_check(stream, RPC_STREAM_MAGIC);
    stream->out_end = true;
}

int rpc_stream_read(struct rpc_stream *stream, const ProtobufCMessageDescriptor *type,
                    struct arena *arena, ProtobufCMessage **message, struct err *err)
{
    struct bytes wire;
    size_t size;
    int rc = 0;

    object_check(stream, RPC_STREAM_MAGIC);
    *message = NULL;
    if (!rpc_stream_ready(stream))
        stream->moved_us = clock_mono_us(stream->clock); /* the wait begins now */
    while (!rc && !rpc_stream_ready(stream))
        rc = move(stream, true, err);
    if (rc)
        return rc;
    size = frame_size(stream);
    if (!size)
        return outcome(stream, err);
    wire = bytes_make(stream->in.data + stream->in_taken, size);
    if (wire.data[0])
        return fault(stream, ERR_UNSUPPORTED, "an answer is packed", err);
    rc = message_decode(bytes_skip(wire, FRAME_HEAD_SIZE), type, arena, message, err);
    stream->in_taken += size;
    if (stream->in_taken == stream->in.size || stream->in_taken > NET_WINDOW_SIZE) {
        buf_consume(&stream->in, stream->in_taken);
        stream->in_taken = 0;
    }
    return rc ? rc : 1;
}
