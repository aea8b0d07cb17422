/* SPDX-License-Identifier: Apache-2.0 */
/* cors.c - see cors.h. Few origins: looked through one by one. */
#include "net/server/calls/cors.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/object.h"
#include "net/server/calls/admit.h"
#include "net/server/calls/call.h"
#include "net/server/calls/server_parts.h"

/* A page may send these and our clients do; others are taken from what the browser asks for. */
static const char methods[] = "GET, HEAD, POST, PUT, PATCH, DELETE";
static const char own_headers[] =
    "authorization, content-type, connect-protocol-version, connect-timeout-ms, grpc-timeout, "
    "x-grpc-web, x-user-agent, x-request-id, idempotency-key, accept-language";
/* What a page may read beside what it always may (content-type and its like). */
static const char exposed[] =
    "grpc-status, grpc-message, grpc-status-details-bin, grpc-encoding, connect-content-encoding, "
    "connect-accept-encoding, content-encoding, content-range, accept-ranges, etag, date, "
    "retry-after, x-request-id, ratelimit-limit, ratelimit-remaining, ratelimit-reset, "
    "www-authenticate";
static const char age_s[] = "7200"; /* Chromium keeps no preflight longer */

bool cors_is_origin(struct bytes text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-._:[]";
    struct bytes host;

    if (bytes_equal_text(text, "*"))
        return true;
    if (bytes_begin(text, bytes_of("https://")))
        host = bytes_skip(text, strlen("https://"));
    else if (bytes_begin(text, bytes_of("http://")))
        host = bytes_skip(text, strlen("http://"));
    else
        return false;
    for (size_t i = 0; i < host.size; i++)
        if (!strchr(letters, host.data[i]) || !host.data[i])
            return false;
    return host.size > 0;
}

int cors_init(struct cors *cors, const char *list, struct err *err)
{
    static const char between[] = ", \t";
    size_t size;

    *cors = (struct cors){.text = mem_strdup(list ? list : "")};
    cors->origins = mem_array(strlen(cors->text) / 2 + 1, sizeof(*cors->origins));
    for (const char *at = cors->text; *(at += strspn(at, between)); at += size) {
        struct bytes one = bytes_make(at, size = strcspn(at, between));

        if (!cors_is_origin(one))
            return err_set(err, ERR_INVALID,
                           "server.cors_origins: '%.*s' is not an origin: write it as "
                           "https://shop.example, in lower case, without a path, or * for all",
                           BYTES_ARG(one));
        if (bytes_equal_text(one, "*"))
            cors->any = true;
        else
            cors->origins[cors->count++] = one;
    }
    return 0;
}

void cors_release(struct cors *cors)
{
    free(cors->origins);
    free(cors->text);
    *cors = (struct cors){.text = NULL};
}

static struct bytes find(const struct cors *cors, struct bytes origin)
{
    for (size_t i = 0; i < cors->count; i++)
        if (bytes_equal(cors->origins[i], origin))
            return cors->origins[i];
    return cors->any ? bytes_of("*") : BYTES_EMPTY;
}

/* Names of headers between commas, and nothing that would be something else in ours. */
static bool is_list_of_names(struct bytes list)
{
    for (size_t i = 0; i < list.size; i++) {
        uint8_t c = list.data[i] | 0x20;

        if (!(c >= 'a' && c <= 'z') && !(list.data[i] >= '0' && list.data[i] <= '9') &&
            !strchr("-_., ", list.data[i]))
            return false;
    }
    return true;
}

/* What a browser asks for, but for the header by which a server's key acts for sellers. */
static bool may_send(struct bytes wanted)
{
    static const char seller[] = "torg-seller";

    for (size_t i = 0; i + strlen(seller) <= wanted.size; i++)
        if (strncasecmp((const char *)wanted.data + i, seller, strlen(seller)) == 0)
            return false;
    return wanted.size && is_list_of_names(wanted);
}

static void answer_preflight(struct call *call)
{
    struct bytes wanted = call_header(call, "access-control-request-headers");

    if (!admit_take_file(call))
        return;
    reply_header(call, "access-control-allow-methods", bytes_of(methods));
    reply_header(call, "access-control-allow-headers",
                 may_send(wanted) ? wanted : bytes_of(own_headers));
    reply_header(call, "access-control-max-age", bytes_of(age_s));
    reply_header(call, "vary",
                 bytes_of("access-control-request-method, access-control-request-headers"));
    reply_plain(call, 204, NULL, BYTES_EMPTY);
    call->refused = true; /* a body with it is read and forgotten */
    call_send(call);
}

bool cors_take(struct call *call)
{
    const struct cors *cors = &call->loop->server->cors;
    struct bytes origin;
    bool is_preflight;

    object_check(call, CALL_MAGIC);
    if (!cors->count && !cors->any)
        return false;
    origin = call_header(call, "origin");
    if (!origin.size)
        return false;
    call->origin = find(cors, origin);
    is_preflight = bytes_equal_text(call->verb, "OPTIONS") &&
                   call_header(call, "access-control-request-method").size;
    if (!is_preflight)
        return false;
    if (call->origin.size)
        answer_preflight(call);
    else
        call_refuse(call, 403, ERR_DENIED,
                    "pages of %.*s may not call this server: server.cors_origins does not have it",
                    BYTES_ARG(bytes_make(origin.data, origin.size < 200 ? origin.size : 200)));
    return true;
}

void cors_put(struct call *call)
{
    const struct cors *cors = &call->loop->server->cors;

    object_check(call, CALL_MAGIC);
    if (cors->count) /* the answer depends on who asks, also when it is nobody we know */
        reply_header(call, "vary", bytes_of("origin"));
    if (!call->origin.size)
        return;
    reply_header(call, "access-control-allow-origin", call->origin);
    if (!bytes_equal_text(call->origin, "*"))
        reply_header(call, "access-control-allow-credentials", bytes_of("true"));
    if (!bytes_equal_text(call->verb, "OPTIONS"))
        reply_header(call, "access-control-expose-headers", bytes_of(exposed));
}
