/* SPDX-License-Identifier: Apache-2.0 */
/* testd_seen.c - see testd_seen.h. */
#include "testd_seen.h"

#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/workers.h"

static char context[] = "seen";

static void put_list(struct buf *json, const struct bytes *list, size_t count)
{
    buf_put_byte(json, '[');
    for (size_t i = 0; i < count; i++) {
        if (i)
            buf_put_byte(json, ',');
        text_put_json(json, list[i]);
    }
    buf_put_byte(json, ']');
}

static void put_parameters(struct buf *json, const struct rest_request *request)
{
    buf_put_byte(json, '[');
    for (size_t i = 0; i < request->parameter_count; i++) {
        struct bytes pair[] = {request->parameters[i].name, request->parameters[i].value};

        if (i)
            buf_put_byte(json, ',');
        put_list(json, pair, 2);
    }
    buf_put_byte(json, ']');
}

static int tell(struct call *call, const struct rest_request *request, struct rest_answer *answer,
                struct err *err)
{
    const struct rest_parameter *status = rest_parameter_find(request, "fail");

    if (call_context(call) != context)
        return err_set(err, ERR_INTERNAL, "another context");
    if (status)
        return call_invalid(call, err, "fail", "as asked: %.*s", BYTES_ARG(status->value));
    buf_put_text(answer->body, "{\"variables\":");
    put_list(answer->body, request->variables, request->variable_count);
    buf_put_text(answer->body, ",\"tail\":");
    put_list(answer->body, request->tail, request->tail_count);
    buf_put_text(answer->body, ",\"parameters\":");
    put_parameters(answer->body, request);
    buf_put_text(answer->body, ",\"contentType\":");
    text_put_json(answer->body, request->content_type);
    buf_put_text(answer->body, ",\"body\":");
    text_put_json(answer->body, request->body);
    buf_put_text(answer->body, "}");
    answer->content_type = "application/json";
    return 0;
}

static int make(struct call *call, const struct rest_request *request, struct rest_answer *answer,
                struct err *err)
{
    answer->http_status = 201;
    return call_add_header(call, "location", request->variables[0], err);
}

enum { LOOK_US = 5000, LOOK_PAUSE_US = 1000, FILE_SIZE = 64 << 10 };

/* Looks again and again for what never comes: each time it takes the CPU for LOOK_US. */
static int look(struct call *call, const struct rest_request *request, struct rest_answer *answer,
                struct err *err)
{
    int64_t begun_us = worker_cpu_us();

    while (worker_cpu_us() - begun_us < LOOK_US)
        ;
    log_info("looked");
    (void)call_come_back(call, LOOK_PAUSE_US);
    return err_set(err, ERR_UNAVAILABLE, "it is not there");
}

/* A file of some size, whatever its name. */
static int read_file(void *owner, struct bytes name, struct arena *arena, struct buf *content,
                     struct folder_file *file, struct err *err)
{
    for (int i = 0; i < FILE_SIZE; i++)
        buf_put_byte(content, (uint8_t)('a' + i % 26));
    *file = (struct folder_file){.content_type = "application/octet-stream",
                                 .cache_control = "no-cache",
                                 .security_policy = "default-src 'none'"};
    return 0;
}

static const struct rest_method methods[] = {
    {.verb = "GET", .path = "/v1/look", .run = look, .flags = RPC_PUBLIC},
    {.verb = "GET", .path = "/v1/seen/{id}", .run = tell, .flags = RPC_PUBLIC},
    {.verb = "PUT", .path = "/v1/seen/{id}", .run = tell, .scope = "echo"},
    {.verb = "POST", .path = "/v1/seen/{id}", .run = make, .flags = RPC_PUBLIC | RPC_BRIEF},
    {.verb = "DELETE",
     .path = "/v1/seen/{id}/parts/{part}",
     .run = tell,
     .flags = RPC_PUBLIC | RPC_INLINE},
    {.verb = "GET", .path = "/v1/any/{name...}", .run = tell, .flags = RPC_PUBLIC},
};

const struct folder seen_folder = {.prefix = "/files/", .read = read_file, .context = context};

const struct rest_service seen_service = {
    .methods = methods, .method_count = ARRAY_COUNT(methods), .context = context};
