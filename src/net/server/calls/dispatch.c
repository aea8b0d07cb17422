/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dispatch.c - a request on its way to its handler: limits, route, access, deadline, body.
 *
 * All of it runs on the reactor; what is refused is refused here, before a thread is taken.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/endian.h"
#include "base/object.h"
#include "base/text.h"
#include "net/server/calls/admit.h"
#include "net/server/calls/call.h"
#include "net/server/calls/connect.h"
#include "net/server/calls/connection.h"
#include "net/server/calls/content.h"
#include "net/server/calls/cors.h"
#include "net/server/calls/folder.h"
#include "net/server/calls/format.h"
#include "net/server/calls/grpc_web.h"
#include "net/server/calls/operators.h"
#include "net/server/calls/resources.h"
#include "net/server/calls/server_parts.h"
#include "net/server/calls/share.h"
#include "net/server/calls/unsent.h"

/* --- the head --- */

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

/* Of two, one before us may have looked at the other. */
static void keep_credential(struct call *call, struct bytes *kept, struct bytes value)
{
    call->two_credentials = call->two_credentials || kept->data;
    *kept = value.data ? value : bytes_make("", 0);
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
    case 11:
        if (bytes_equal_text(name, "torg-seller"))
            keep_credential(call, &call->credential.seller, value);
        break;
    case 13:
        if (bytes_equal_text(name, "authorization"))
            keep_credential(call, &call->credential.authorization, value);
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

static struct bytes copy_text(char *to, struct bytes text)
{
    if (text.size)
        memcpy(to, text.data, text.size);
    to[text.size] = 0;
    return bytes_make(to, text.size);
}

bool call_take_header(struct call *call, struct bytes name, struct bytes value)
{
    struct header *header;
    char *copy;

    object_check(call, CALL_MAGIC);
    call->head_size += name.size + value.size + 32; /* as HTTP/2 counts */
    if (call->head_size > NET_HEAD_SIZE_MAX || call->header_count == NET_HEADER_COUNT_MAX) {
        call->too_large = true;
        return false;
    }
    header = &call->headers[call->header_count++];
    copy = arena_alloc(call->arena, name.size + value.size + 2);
    header->name = copy_text(copy, name);
    header->value = copy_text(copy + name.size + 1, value);
    notice(call, header->name, header->value);
    if (call->head_size > NET_BODY_UNCHARGED_SIZE && !call->connection->is_operator)
        share_take_head(call);
    return true;
}

/* By hand: printf would cost a twentieth of a small call. */
void loop_make_id(struct loop *loop, char id[LOOP_ID_SIZE])
{
    uint64_t number = loop->request_seed + loop->request_count++ * 0x9e3779b97f4a7c15u;

    for (int i = LOOP_ID_SIZE - 2; i >= 0; i--, number >>= 4)
        id[i] = "0123456789abcdef"[number & 15];
    id[LOOP_ID_SIZE - 1] = 0;
}

void call_make_id(struct call *call)
{
    if (!call->request_id[0])
        loop_make_id(call->loop, call->request_id);
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
    timer_set(&call->loop->reactor, &call->timer, call->deadline_us);
    return true;
}

/* A key that is bound to somebody reaches what keeps to him, whatever its scopes: a method has to
 * say that it does. */
static bool keeps_within(const struct identity *identity, unsigned flags)
{
    if (!*identity->seller && !*identity->client)
        return true;
    return (*identity->seller && flags & RPC_OF_SELLER) ||
           (*identity->client && flags & RPC_OF_CLIENT);
}

static bool admit(struct call *call)
{
    const struct rpc_method *method = call->route->method;
    struct authenticator *authenticator = call->loop->server->authenticator;
    const char *peer_name = call->connection->peer_name;
    struct err err;
    int rc;

    if (!authenticator)
        return true;
    if (call->credential.authorization.size) {
        if (authenticator->is_dear && authenticator->is_dear(authenticator, &call->credential) &&
            !admit_take_check(call))
            return false;
        rc = authenticator->authenticate(authenticator, &call->credential, &call->identity, &err);
        if (rc) {
            if (admit_fault(call))
                call_refuse(call, 0, rc, "%s", err.text);
            return false;
        }
    } else if (call->credential.seller.size) {
        call_refuse(call, 0, ERR_UNAUTHENTICATED,
                    "Torg-Seller needs a key: send 'Authorization: Bearer KEY' with it");
        return false;
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
    if (!keeps_within(&call->identity, method->flags)) {
        call_refuse(call, 0, ERR_DENIED, "the key is bound to %s: this call is for operators",
                    *call->identity.client ? call->identity.client : call->identity.seller);
        return false;
    }
    return true;
}

/*
 * A page runs only what we serve: no script or style of another place, none written into the
 * page, no frame around it. What a browser takes for a script is called one.
 */
static void put_page_rules(struct call *call)
{
    reply_header(call, "content-security-policy",
                 bytes_of("default-src 'none'; script-src 'self'; style-src 'self'; "
                          "img-src 'self' blob:; connect-src 'self'; base-uri 'none'; "
                          "form-action 'self'; frame-ancestors 'none'"));
    reply_header(call, "x-content-type-options", bytes_of("nosniff"));
    reply_header(call, "referrer-policy", bytes_of("no-referrer"));
    /* A page that opened ours, or was opened by it, has no hold of it: it may have a key. */
    reply_header(call, "cross-origin-opener-policy", bytes_of("same-origin"));
    if (call->connection->tls) /* a year: also those who type the address get TLS from now on */
        reply_header(call, "strict-transport-security", bytes_of("max-age=31536000"));
}

static void serve_file(struct call *call, const struct site_file *file)
{
    bool is_get = bytes_equal_text(call->verb, "GET");
    struct content content;

    call->is_head = bytes_equal_text(call->verb, "HEAD");
    if (!is_get && !call->is_head) {
        reply_header(call, "allow", bytes_of("GET, HEAD"));
        call_refuse(call, 405, ERR_UNSUPPORTED, "a file is read by GET or HEAD");
        return;
    }
    if (!admit_take_file(call))
        return;
    reply_header(call, "cache-control", bytes_of("no-cache"));
    reply_header(call, "vary", bytes_of("accept-encoding"));
    put_page_rules(call);
    content = site_choose(file, call_header(call, "accept-encoding"),
                          call_header(call, "range").size > 0);
    content_answer(call, &content);
    admit_charge_file(call, call->is_head ? 0 : call->reply.body.size);
    call->refused = true; /* a body with a GET is read and forgotten */
    call_send(call);
}

/* "/package.Service/Method": two parts, the first with a dot. */
static bool is_method_path(struct bytes path)
{
    const uint8_t *slash = path.size > 1 ? memchr(path.data + 1, '/', path.size - 1) : NULL;
    const uint8_t *dot = path.size > 1 ? memchr(path.data + 1, '.', path.size - 1) : NULL;
    const uint8_t *end = path.data + path.size;

    return slash && dot && dot < slash && slash + 1 < end &&
           !memchr(slash + 1, '/', (size_t)(end - slash - 1));
}

/* A person who looks for a page that is not there is shown one that says so. */
static bool show_missing(struct call *call)
{
    struct bytes accepted = call_header(call, "accept");
    const struct site_file *file = site_find(&call->loop->server->site, bytes_of("/404"));
    struct content content;

    if (!file || !bytes_equal_text(call->verb, "GET") || !accepted.size ||
        !memmem(accepted.data, accepted.size, "text/html", strlen("text/html")))
        return false;
    if (!admit_take(call))
        return true;
    put_page_rules(call);
    content = site_choose(file, BYTES_EMPTY, true);
    reply_plain(call, 404, content.type, content.body);
    call->refused = true;
    call_send(call);
    return true;
}

static void find_file(struct call *call)
{
    const struct site_file *file = site_find(&call->loop->server->site, call->path);

    if (file)
        serve_file(call, file);
    else if (folder_take(call) || show_missing(call))
        return;
    else if (format_find(call), is_method_path(call->path))
        call_refuse(call, 404, ERR_UNSUPPORTED,
                    "there is no method %.*s; /openapi.json lists all methods",
                    BYTES_ARG(call->path));
    else
        call_refuse(call, 404, ERR_NOT_FOUND,
                    "there is nothing at %.*s; /openapi.json lists all methods",
                    BYTES_ARG(call->path));
}

/* Of a message, or of a resource's body, as it is told to who sends more. */
static size_t content_size_max(const struct call *call)
{
    return call->rest ? call->body.limit : NET_MESSAGE_SIZE_MAX;
}

static size_t body_size_max(const struct call *call)
{
    size_t size = content_size_max(call) + (format_is_framed(call->format) ? FRAME_HEAD_SIZE : 0);

    return call->format == CALL_GRPC_WEB_TEXT ? (size + 2) / 3 * 4 : size;
}

/* The handler takes its messages one by one as they come, so that all may be of any size. */
static bool is_taken_as_it_comes(const struct call *call)
{
    return call->route->method->stream && format_is_framed(call->format) &&
           call->format != CALL_GRPC_WEB_TEXT && call->connection->protocol == &http2_ops;
}

static bool check_size(struct call *call)
{
    uint64_t size;

    if (text_to_u64(call_header(call, "content-length"), &size) && size > body_size_max(call) &&
        !is_taken_as_it_comes(call)) {
        call_refuse(call, 413, ERR_LIMIT, "a body of %" PRIu64 " bytes is larger than %zu", size,
                    content_size_max(call));
        return false;
    }
    return true;
}

/* True: the address is that of a method, and is its request. */
static bool find_get(struct call *call)
{
    struct server *server = call->loop->server;
    const struct get_address *address = gets_find(&server->gets, call->path);

    call->is_get = address != NULL;
    if (address) {
        call->route = router_find(&server->router, address->method);
        call->format = CALL_JSON;
    }
    return call->is_get;
}

static bool check_get(struct call *call)
{
    const struct get_address *address = gets_find(&call->loop->server->gets, call->path);
    struct err err;

    if (!bytes_equal_text(call->verb, "GET")) {
        reply_header(call, "allow", bytes_of("GET"));
        call_refuse(call, 405, ERR_UNSUPPORTED, "this address is read by GET, not %.*s",
                    BYTES_ARG(call->verb));
        return false;
    }
    reply_header(call, "cache-control", bytes_of("no-store"));
    if (gets_request(address, call->path, call->query, &call->body, &err)) {
        call_refuse(call, 0, err.code, "%s", err.text);
        return false;
    }
    return true;
}

static bool check_verb(struct call *call)
{
    bool is_get = bytes_equal_text(call->verb, "GET");

    if (bytes_equal_text(call->verb, "POST") || (is_get && call->route->is_safe))
        return true;
    reply_header(call, "allow", bytes_of(call->route->is_safe ? "GET, POST" : "POST"));
    call_refuse(call, 405, ERR_UNSUPPORTED,
                is_get ? "this method changes something: call it by "
                         "POST, not GET"
                       : "a method is called by POST, not %.*s",
                BYTES_ARG(call->verb));
    return false;
}

static void refuse_type(struct call *call, const char *types)
{
    call->format = CALL_PLAIN; /* told as HTTP does */
    reply_header(call, "accept-post", bytes_of(types));
    call_refuse(call, 415, ERR_UNSUPPORTED,
                "content-type '%.*s' is not one of %s: say which the body is, as "
                "'Content-Type: application/json'",
                BYTES_ARG(call->content_type), types);
}

static bool check_post(struct call *call)
{
    if (!check_verb(call))
        return false;
    if (bytes_equal_text(call->verb, "GET")) {
        reply_header(call, "cache-control", bytes_of("no-store"));
        return connect_take_get(call);
    }
    if (!format_find(call)) {
        refuse_type(call, FORMAT_UNARY_TYPES);
        return false;
    }
    if (call->format == CALL_GRPC && call->connection->protocol != &http2_ops) {
        call->format = CALL_PLAIN;
        call_refuse(call, 415, ERR_UNSUPPORTED,
                    "gRPC needs HTTP/2; HTTP/1.1 takes application/json or application/grpc-web");
        return false;
    }
    return format_is_grpc(call->format) || connect_check_version(call);
}

/* Whether a method of this kind, stream or not, can be called so. */
static bool check_shape(struct call *call)
{
    unsigned flags = call->route->method->flags;
    bool is_stream = call->route->method->stream;

    if (!is_stream && format_is_connect(call->format)) {
        refuse_type(call, FORMAT_UNARY_TYPES);
        return false;
    }
    if (is_stream &&
        (call->format == CALL_PROTO || (call->format == CALL_JSON && flags & RPC_CLIENT_STREAM))) {
        refuse_type(call, FORMAT_STREAM_TYPES);
        return false;
    }
    if (flags & RPC_CLIENT_STREAM && flags & RPC_SERVER_STREAM &&
        call->connection->protocol != &http2_ops) {
        call->format = CALL_PLAIN;
        call_refuse(call, 505, ERR_UNSUPPORTED,
                    "%.*s has streams both ways, which need HTTP/2 (gRPC or Connect)",
                    BYTES_ARG(call->path));
        return false;
    }
    return true;
}

static bool check_method(struct call *call)
{
    if (!(call->is_get ? check_get(call) : check_post(call)))
        return false;
    if (!call->route->method) {
        call_refuse(call, 0, ERR_UNSUPPORTED, "%.*s has no handler here",
                    BYTES_ARG(call->route->path));
        return false;
    }
    return check_shape(call);
}

void call_begin(struct call *call)
{
    const uint8_t *query;

    object_check(call, CALL_MAGIC);
    call->head_done = true;
    call_make_id(call);
    query = call->path.size ? memchr(call->path.data, '?', call->path.size) : NULL;
    if (query) {
        call->query = bytes_skip(call->path, (size_t)(query - call->path.data) + 1);
        call->path.size = (size_t)(query - call->path.data);
    }
    if (!call->connection->is_operator) {
        admit_name(call); /* also of a bad head: its answer is held for somebody */
        if (!share_take_call(call))
            return;
    }
    if (call->head_refused) {
        format_find(call);
        reply_overload(call, call->head_refused);
        return;
    }
    if (call->too_large) {
        format_find(call);
        call_refuse(call, 431, ERR_LIMIT, "the head has more than %d bytes or %d headers",
                    NET_HEAD_SIZE_MAX, NET_HEADER_COUNT_MAX);
        return;
    }
    if (call->two_credentials) {
        format_find(call);
        call_refuse(call, 400, ERR_INVALID,
                    "Authorization and Torg-Seller are sent once: the head has one of them twice");
        return;
    }
    if (call->connection->is_operator) {
        operators_answer(call);
        return;
    }
    if (cors_take(call))
        return;
    call->route = router_find(&call->loop->server->router, call->path);
    if (!call->route && !find_get(call)) {
        enum resource_found found = resource_take(call);

        if (found == RESOURCE_NONE)
            find_file(call);
        if (found != RESOURCE_FOUND)
            return;
    }
    if (!(call->rest || check_method(call)) || !format_read_encodings(call) || !check_size(call) ||
        !admit(call) || !set_deadline(call))
        return;
    if (call->identity.principal[0])
        admit_name(call); /* by the key that it has shown */
    if (!admit_take(call))
        return;
    if (is_taken_as_it_comes(call))
        call_run_stream(call);
}

/* --- the body --- */

static bool frame_is_too_large(const struct call *call)
{
    return format_is_framed(call->format) && call->body.size >= FRAME_HEAD_SIZE &&
           get_be32(call->body.data + 1) > NET_MESSAGE_SIZE_MAX;
}

static bool keep(struct call *call, struct bytes bytes)
{
    if (call->format != CALL_GRPC_WEB_TEXT) {
        buf_put(&call->body, bytes);
        return true;
    }
    if (grpc_web_take(call, bytes))
        return true;
    call_refuse(call, 0, ERR_INVALID, "the body is not base64, as its content type says");
    return false;
}

void call_data(struct call *call, struct bytes bytes)
{
    struct connection *connection = call->connection;

    object_check(call, CALL_MAGIC);
    call->body_size += bytes.size;
    if (call->refused || call->is_get)
        return;
    if (call->channel) {
        channel_push(call->channel, bytes);
        return;
    }
    if (connection->body_size + bytes.size > NET_BODY_CONNECTION_SIZE_MAX) {
        reply_overload(call, "this connection has too much unfinished at once: send less");
        return;
    }
    if (!keep(call, bytes))
        return;
    if (buf_failed(&call->body) || frame_is_too_large(call)) {
        buf_release(&call->body);
        call_refuse(call, 413, ERR_LIMIT, "the message is larger than %zu bytes",
                    content_size_max(call));
        return;
    }
    connection->body_size += bytes.size;
    call->kept_size += bytes.size;
    (void)share_take_body(call);
}

static void run(struct call *call)
{
    if (call->folder)
        folder_run(call);
    else if (call->route && call->route->method->stream)
        call_run_stream(call);
    else
        call_run(call);
}

void call_end(struct call *call)
{
    object_check(call, CALL_MAGIC);
    call->body_done = true;
    if (call->refused)
        return;
    if (call->format == CALL_GRPC_WEB_TEXT && !grpc_web_end(call)) {
        call_refuse(call, 0, ERR_INVALID, "the body's base64 ends within a byte");
        return;
    }
    if (call->channel) {
        channel_push_end(call->channel);
    } else if (admit_holds_too_much(call)) {
        reply_put_off(call, NET_RETRY_AFTER_S,
                      "too many answers to you are not taken yet, on all your connections: take "
                      "them, or ask for less at once");
    } else if (unsent_is_full(call->connection)) {
        call->waiting = true;
        call->connection->waiting_count++;
    } else {
        run(call);
    }
}

void call_end_waiting(struct call *call)
{
    object_check(call, CALL_MAGIC);
    if (call->waiting)
        call->connection->waiting_count--;
    call->waiting = false;
}

static struct call *oldest_waiting(const struct connection *connection)
{
    struct call *oldest = NULL;

    for (struct call *call = connection->calls; call; call = call->next)
        if (call->waiting)
            oldest = call; /* the newest stand first */
    return oldest;
}

void call_begin_waiting(struct connection *connection)
{
    object_check(connection, CONNECTION_MAGIC);
    while (connection->waiting_count && !unsent_is_full(connection)) {
        struct call *oldest = oldest_waiting(connection);

        assert(oldest); /* waiting_count counts those of the list */
        call_end_waiting(oldest);
        run(oldest);
    }
}
