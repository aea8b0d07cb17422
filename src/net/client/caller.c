/* SPDX-License-Identifier: Apache-2.0 */
/* caller.c - see caller.h. */
#include "net/client/caller.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/object.h"
#include "codec/json.h"
#include "net/client/http_client.h"
#include "net/status.h"
#include "torg/v1/error.pb-c.h"

enum { HTTP_OK = 200 };

enum { CALLER_MAGIC = OBJECT_MAGIC('c', 'a', 'l', 'r') };

struct caller {
    uint32_t magic;
    struct http_client *client;
    struct arena *arena; /* of the texts */
    const char *service;
    const char *authorization; /* NULL: none */
};

struct caller *caller_new(const struct caller_options *options)
{
    const struct http_client_options client = {.ca_file = options->ca_file};
    struct caller *caller = mem_zero(sizeof(*caller));

    object_begin(caller, CALLER_MAGIC);
    caller->client = http_client_new(&client);
    caller->arena = arena_new();
    caller->service = arena_strdup(caller->arena, options->service);
    if (options->key)
        caller->authorization = arena_printf(caller->arena, "Bearer %s", options->key);
    return caller;
}

void caller_free(void *given)
{
    struct caller *caller = given;

    if (!caller)
        return;
    object_check(caller, CALLER_MAGIC);
    http_client_free(caller->client);
    arena_free(caller->arena);
    object_end(caller, CALLER_MAGIC);
    free(caller);
}

int caller_error(const char *url, struct bytes body, int status, struct err *err)
{
    struct arena *arena = arena_new();
    ProtobufCMessage *message;
    int rc;

    if (json_decode(body, &torg__v1__error__descriptor, arena, &message, NULL, NULL)) {
        rc = err_set(err, ERR_UNAVAILABLE, "%s answered with HTTP status %d", url, status);
    } else {
        const Torg__V1__Error *error = (const Torg__V1__Error *)message;

        rc = err_set(err, err_of_status(status_of_json_name(error->code)), "%s", error->message);
    }
    arena_free(arena);
    return rc;
}

int caller_call(void *given, const char *url, const char *method, struct bytes request,
                int64_t timeout_ms, struct buf *answer, struct err *err)
{
    const struct caller *caller = given;
    struct arena *arena = arena_new();
    const struct http_client_header headers[] = {
        {"content-type", "application/proto"},
        {"authorization", caller->authorization},
    };
    const struct http_client_request sent = {
        .method = "POST",
        .url = arena_printf(arena, "%s/%s/%s", url, caller->service, method),
        .headers = headers,
        .header_count = caller->authorization ? 2 : 1,
        .body = request,
        .timeout_ms = timeout_ms > 1 ? timeout_ms : 1,
        .response_size_max = answer->limit,
    };
    struct http_client_response response;
    int rc;

    object_check(caller, CALLER_MAGIC);
    rc = http_client_send(caller->client, &sent, arena, &response, err);
    if (!rc && response.status != HTTP_OK)
        rc = caller_error(url, response.body, response.status, err);
    else if (!rc)
        buf_put(answer, response.body);
    arena_free(arena);
    return rc;
}
