/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http1.c - HTTP/1.1 (and 1.0) by llhttp in its strict mode; one request at a time.
 *
 * A head is gathered until its blank line and only then parsed, so everything that request
 * smuggling relies on (a bare line feed, a folded line, a blank before the colon) is caught in one
 * place. Bytes behind a request wait until its answer is out. A stream's answer is chunked.
 */
#include <llhttp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/object.h"
#include "net/bounds.h"
#include "net/server/calls/admit.h"
#include "net/server/calls/call.h"
#include "net/server/calls/connection.h"
#include "net/server/calls/server_parts.h"
#include "net/server/calls/share.h"
#include "net/status.h"

enum phase { PHASE_HEAD, PHASE_BODY, PHASE_ANSWER };

enum { CHUNK_SIZE = 16 << 10, CHUNK_HEAD_SIZE = 6, NAME_SIZE_MAX = 256 };

enum { HTTP1_MAGIC = OBJECT_MAGIC('h', 't', 't', '1') };

struct http1 {
    uint32_t magic;
    llhttp_t parser;
    enum phase phase;
    struct call *call; /* of the request in work */
    struct bytes name; /* of the header being parsed: in the head */
    unsigned host_count;
    bool keep_alive;
    bool say_continue; /* the client waits for "100 Continue" */
    bool head_sent;
    bool leaving;
    bool draining;
    bool served; /* a request has come before: the peer does speak HTTP */
    size_t trailer_size;
    size_t scanned;    /* of a head that is kept: it has no end and no fault up to there */
    bool is_known;     /* its first line has been looked at */
    const char *fault; /* that a callback found; llhttp would tell of the callback alone */
};

static const char bad_framing[] = "the request is malformed";

/* --- parser callbacks: spans are whole, since the head is given in one piece --- */

static struct http1 *state_of(llhttp_t *parser)
{
    return container_of(parser, struct http1, parser);
}

static int on_url(llhttp_t *parser, const char *at, size_t size)
{
    struct call *call = state_of(parser)->call;

    struct bytes url = bytes_make(at, size);
    const uint8_t *path;

    /* A proxy's form, http://host/path: the Host header says the same. */
    if (size > 7 && strncasecmp(at, "http://", 7) == 0) {
        path = memchr(at + 7, '/', size - 7);
        url = path ? bytes_skip(url, (size_t)(path - url.data)) : bytes_of("/");
    }
    call_take_header(call, bytes_of(":path"), url);
    return 0;
}

static int on_header_field(llhttp_t *parser, const char *at, size_t size)
{
    state_of(parser)->name = bytes_make(at, size);
    return 0;
}

static int on_header_value(llhttp_t *parser, const char *at, size_t size)
{
    struct http1 *http1 = state_of(parser);
    char name[NAME_SIZE_MAX];

    if (http1->phase != PHASE_HEAD) { /* a trailer: nothing here needs one */
        http1->trailer_size += http1->name.size + size;
        if (http1->trailer_size <= NET_HEAD_SIZE_MAX)
            return 0;
        http1->fault = "the trailers are too large";
        return -1;
    }
    if (http1->name.size > sizeof(name)) {
        http1->call->too_large = true;
        return 0;
    }
    for (size_t i = 0; i < http1->name.size; i++) {
        char c = (char)http1->name.data[i];

        name[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    if (http1->name.size == 4 && memcmp(name, "host", 4) == 0)
        http1->host_count++;
    while (size && (at[size - 1] == ' ' || at[size - 1] == '\t'))
        size--;
    call_take_header(http1->call, bytes_make(name, http1->name.size), bytes_make(at, size));
    return 0;
}

/* What two readers could understand differently; NULL when there is nothing of it. */
static const char *find_head_fault(struct http1 *http1)
{
    const llhttp_t *parser = &http1->parser;
    struct bytes encoding = call_header(http1->call, "transfer-encoding");

    if (parser->http_major != 1)
        return "this server speaks HTTP/1.0 and HTTP/1.1";
    if (parser->http_minor > 0 && http1->host_count != 1)
        return "a request has exactly one Host header";
    if (parser->method == HTTP_CONNECT)
        return "CONNECT is for proxies";
    if (encoding.size && parser->http_minor == 0)
        return "HTTP/1.0 has no Transfer-Encoding";
    if (encoding.size &&
        (encoding.size != 7 || strncasecmp((const char *)encoding.data, "chunked", 7) != 0))
        return "the only Transfer-Encoding is chunked";
    return NULL;
}

static int on_headers_complete(llhttp_t *parser)
{
    struct http1 *http1 = state_of(parser);
    struct call *call = http1->call;
    const char *fault;

    parser->upgrade = 0; /* we never upgrade: the request is answered as it is */
    http1->keep_alive = llhttp_should_keep_alive(parser);
    call_take_header(call, bytes_of(":method"),
                     bytes_of(llhttp_method_name((llhttp_method_t)parser->method)));
    fault = find_head_fault(http1);
    if (fault) {
        http1->fault = fault;
        return -1;
    }
    http1->phase = PHASE_BODY;
    call_begin(call);
    http1->say_continue = !http1->call->replied && parser->http_minor > 0 &&
                          bytes_equal_text(call_header(call, "expect"), "100-continue");
    return 0;
}

static int on_body(llhttp_t *parser, const char *at, size_t size)
{
    call_data(state_of(parser)->call, bytes_make(at, size));
    return 0;
}

static int on_message_complete(llhttp_t *parser)
{
    struct http1 *http1 = state_of(parser);

    http1->phase = PHASE_ANSWER;
    http1->say_continue = false;
    call_end(http1->call);
    return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
    .on_url = on_url,
    .on_header_field = on_header_field,
    .on_header_value = on_header_value,
    .on_headers_complete = on_headers_complete,
    .on_body = on_body,
    .on_message_complete = on_message_complete,
};

/* --- input --- */

static void http1_open(struct connection *connection)
{
    struct http1 *http1 = mem_zero(sizeof(*http1));

    object_begin(http1, HTTP1_MAGIC);
    llhttp_init(&http1->parser, HTTP_REQUEST, &settings);
    connection->state = http1;
}

static void http1_close(struct connection *connection)
{
    free(connection->state);
}

static bool fail(struct connection *connection, int http_status, const char *text)
{
    struct http1 *http1 = connection->state;

    if (!http1->call) {
        http1->call = call_new(connection);
        http1->call->head_done = true;
    }
    http1->keep_alive = false;
    http1->phase = PHASE_ANSWER;
    connection->paused = true;
    if (http1->call->replied)
        return true;
    if (!http1->call->job.caller) /* the fault is in its head */
        admit_name(http1->call);
    call_refuse(http1->call, http_status,
                http_status == 431 || http_status == 429 ? ERR_LIMIT : ERR_INVALID, "%s", text);
    return true;
}

/* What is wrong with the lines of a head; NULL when nothing is. */
static const char *find_fault(struct bytes head)
{
    for (size_t i = 0; i < head.size; i++) {
        uint8_t c = head.data[i];

        if (c == '\n' && (i == 0 || head.data[i - 1] != '\r'))
            return "a line of the head ends without a carriage return";
        if (c == '\n' && i + 1 < head.size && (head.data[i + 1] == ' ' || head.data[i + 1] == '\t'))
            return "a header is folded over two lines";
        if (c == '\n' && i + 1 < head.size && head.data[i + 1] == ':')
            return "a header has no name";
        if (c == '\r' && i + 1 < head.size && head.data[i + 1] != '\n')
            return "a carriage return stands within a line";
        if (c == 0)
            return "the head has a zero byte";
    }
    return NULL;
}

/* Gives bytes to the parser; how many it took, or a negative number when it found a fault. */
static ssize_t parse(struct connection *connection, struct bytes bytes)
{
    struct http1 *http1 = connection->state;
    llhttp_errno_t rc = llhttp_execute(&http1->parser, (const char *)bytes.data, bytes.size);
    const char *reason;

    if (rc == HPE_OK)
        return (ssize_t)bytes.size;
    if (rc == HPE_PAUSED)
        return llhttp_get_error_pos(&http1->parser) - (const char *)bytes.data;
    reason = http1->fault ? http1->fault : llhttp_get_error_reason(&http1->parser);
    fail(connection, 400, reason && *reason ? reason : bad_framing);
    return -1;
}

/* Whatever has no "HTTP/" in its first line is another protocol: it would not read our answer. */
static bool is_http(struct bytes head)
{
    const uint8_t *end = memchr(head.data, '\n', head.size);

    return !end || memmem(head.data, (size_t)(end - head.data), " HTTP/", 6);
}

/* How much of bytes a head took; 0 when it is not whole (kept) or failed. */
static size_t take_head(struct connection *connection, struct bytes bytes)
{
    struct http1 *http1 = connection->state;
    const uint8_t *end = memmem(bytes.data, bytes.size, "\r\n\r\n", 4);
    struct bytes head = bytes_make(bytes.data, end ? (size_t)(end - bytes.data) + 4 : bytes.size);
    const char *fault = find_fault(head);
    ssize_t taken;

    if (!http1->served && !is_http(head)) {
        connection->finished = connection->paused = true;
        return 0;
    }
    if (fault) {
        fail(connection, 400, fault);
        return 0;
    }
    if (head.size > NET_HEAD_SIZE_MAX) {
        fail(connection, 431, "the head is too large: 32 KB and 100 headers are the limit");
        return 0;
    }
    if (!end) {
        buf_put(&connection->in, bytes);
        http1->scanned = bytes.size;
        return 0;
    }
    http1->scanned = 0;
    http1->is_known = false;
    http1->call = call_new(connection);
    http1->head_sent = false;
    http1->served = true;
    http1->host_count = 0;
    http1->trailer_size = 0;
    http1->fault = NULL;
    taken = parse(connection, head);
    return taken < 0 ? 0 : (size_t)taken;
}

static void read_input(struct connection *connection, struct bytes bytes)
{
    struct http1 *http1 = connection->state;
    ssize_t taken;

    if (http1->phase == PHASE_HEAD) {
        while (bytes.size >= 2 && memcmp(bytes.data, "\r\n", 2) == 0)
            bytes = bytes_skip(bytes, 2); /* clients may end a request with an empty line */
        if (!bytes.size) {
            connection->waiting_us = 0;
            return;
        }
        bytes = bytes_skip(bytes, take_head(connection, bytes));
        if (http1->phase == PHASE_HEAD)
            return;
    }
    if (http1->phase == PHASE_BODY && bytes.size) {
        taken = parse(connection, bytes);
        if (taken < 0)
            return;
        bytes = bytes_skip(bytes, (size_t)taken);
    }
    if (http1->phase == PHASE_ANSWER) {
        connection->paused = true;
        buf_put(&connection->in, bytes);
    }
}

/* What has come of a head is only more of it: looks at that alone, however small the pieces are. */
static bool head_grows(struct connection *connection)
{
    struct http1 *http1 = connection->state;
    struct bytes head = buf_bytes(&connection->in);
    size_t from = http1->scanned > 3 ? http1->scanned - 3 : 0;
    struct bytes tail;

    if (http1->phase != PHASE_HEAD || head.size <= 4 || head.size > NET_HEAD_SIZE_MAX)
        return false;
    if (from && head.data[from] == '\n')
        from--; /* what stands before it is looked at, too */
    tail = bytes_skip(head, from);
    if (memmem(tail.data, tail.size, "\r\n\r\n", 4) || find_fault(tail))
        return false;
    if (!http1->is_known && memchr(tail.data, '\n', tail.size)) {
        http1->is_known = true;
        return false;
    }
    http1->scanned = head.size;
    return true;
}

/* It keeps more than there is room for: of a head it is told so, other requests come again. */
static void give_up_input(struct connection *connection, const char *why)
{
    struct http1 *http1 = connection->state;

    buf_release(&connection->in);
    (void)share_keep_input(connection, 0);
    if (http1->phase == PHASE_HEAD)
        fail(connection, 429, why);
    http1->keep_alive = false;
}

static bool http1_input(struct connection *connection, struct bytes bytes)
{
    struct buf whole;
    const char *why;

    if (!connection->in.size) {
        read_input(connection, bytes);
    } else {
        buf_put(&connection->in, bytes);
        if (!head_grows(connection)) {
            whole = connection->in; /* read_input keeps its rest in a new one */
            connection->in = BUF_INIT(whole.limit);
            read_input(connection, buf_bytes(&whole));
            buf_release(&whole);
        }
    }
    why = share_keep_input(connection, connection->in.size);
    if (why)
        give_up_input(connection, why);
    return true;
}

/* --- output --- */

static void put_head(struct http1 *http1, struct buf *out)
{
    const struct reply *reply = &http1->call->reply;
    bool has_length = !reply->streaming && reply->http_status != 304 && reply->http_status != 204;

    buf_printf(out, "HTTP/1.1 %d %s\r\n", reply->http_status,
               status_http_reason(reply->http_status));
    for (size_t i = 0; i < reply->header_count; i++) {
        buf_put(out, reply->headers[i].name);
        buf_put_text(out, ": ");
        buf_put(out, reply->headers[i].value);
        buf_put_text(out, "\r\n");
    }
    if (has_length)
        buf_printf(out, "content-length: %zu\r\n", reply->body.size);
    else if (reply->streaming && http1->parser.http_minor > 0)
        buf_put_text(out, "transfer-encoding: chunked\r\n");
    if (!http1->keep_alive)
        buf_put_text(out, "connection: close\r\n");
    else if (http1->parser.http_minor == 0)
        buf_put_text(out, "connection: keep-alive\r\n");
    buf_put_text(out, "\r\n");
}

static void put_chunk(const struct http1 *http1, struct buf *out, struct bytes bytes)
{
    if (!bytes.size)
        return;
    if (http1->parser.http_minor > 0)
        buf_printf(out, "%zx\r\n", bytes.size);
    buf_put(out, bytes);
    if (http1->parser.http_minor > 0)
        buf_put_text(out, "\r\n");
}

/* True when the answer is whole. */
static bool put_stream(struct http1 *http1, struct buf *out)
{
    struct call *call = http1->call;
    uint8_t bytes[CHUNK_SIZE];
    bool end = false;

    while (out->size < NET_WRITE_SIZE && !end) {
        size_t count = channel_pull(call->channel, bytes, sizeof(bytes), &end);

        put_chunk(http1, out, bytes_make(bytes, count));
        if (count)
            call_progress(call, count);
        else if (!end) {
            call->progress_us = 0;
            break;
        }
    }
    if (!end || call->running)
        return false;
    put_chunk(http1, out, call->reply.body);
    if (http1->parser.http_minor > 0)
        buf_put_text(out, "0\r\n\r\n");
    return true;
}

static bool put_body(struct call *call, struct buf *out)
{
    struct bytes left = bytes_skip(call->reply.body, call->sent);
    size_t count = left.size < NET_WRITE_SIZE ? left.size : NET_WRITE_SIZE;

    if (call->is_head)
        return true;
    buf_put(out, bytes_make(left.data, count));
    call->sent += count;
    call_progress(call, count);
    return call->sent == call->reply.body.size;
}

static bool http1_fill(struct connection *connection, struct buf *out)
{
    struct http1 *http1 = connection->state;
    struct call *call = http1->call;

    if (http1->say_continue && call && !call->replied) {
        buf_put_text(out, "HTTP/1.1 100 Continue\r\n\r\n");
        http1->say_continue = false;
    }
    if (!call || !call->replied)
        return !(http1->draining && !call);
    if (!http1->head_sent) {
        if (!call->body_done || http1->draining || http1->leaving ||
            (call->reply.streaming && http1->parser.http_minor == 0))
            http1->keep_alive = false; /* the rest of a refused body is not waited for */
        put_head(http1, out);
        http1->head_sent = true;
    }
    if (call->reply.streaming ? !put_stream(http1, out) : !put_body(call, out))
        return true;
    http1->call = NULL;
    call_drop(call);
    if (!http1->keep_alive)
        return false;
    llhttp_reset(&http1->parser);
    http1->phase = PHASE_HEAD;
    connection_resume(connection);
    return true;
}

static void http1_respond(struct call *call)
{
    struct http1 *http1 = call->connection->state;

    http1->call = call; /* it may stand in for another */
    connection_mark(call->connection);
}

static void http1_resume(struct call *call, size_t taken)
{
    connection_mark(call->connection);
}

static void http1_reset(struct call *call)
{
    connection_close(call->connection);
}

static void http1_leave(struct connection *connection)
{
    struct http1 *http1 = connection->state;

    http1->leaving = true;
}

static void http1_drain(struct connection *connection)
{
    struct http1 *http1 = connection->state;

    http1->draining = true;
    connection_mark(connection);
}

static void http1_timeout(struct connection *connection, const char *why)
{
    struct http1 *http1 = connection->state;

    if (why && !http1->call)
        fail(connection, 408, why);
    else if (!http1->call)
        connection_close(connection);
}

const struct protocol_ops http1_ops = {
    .name = "HTTP/1.1",
    .open = http1_open,
    .close = http1_close,
    .input = http1_input,
    .fill = http1_fill,
    .leave = http1_leave,
    .drain = http1_drain,
    .timeout = http1_timeout,
    .respond = http1_respond,
    .resume = http1_resume,
    .reset = http1_reset,
};
