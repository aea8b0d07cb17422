/* SPDX-License-Identifier: Apache-2.0 */
/* resources.c - see resources.h. */
#include "net/server/calls/resources.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/object.h"
#include "codec/gzip.h"
#include "net/server/calls/call.h"
#include "net/server/calls/server_parts.h"
#include "net/server/routes/address.h"

enum { VERBS_SIZE = 64 }; /* of the header `allow` */

/* --- the list --- */

static void add_one(struct resources *resources, const struct rest_service *service,
                    const struct rest_method *rest)
{
    struct resource *resource = mem_zero(sizeof(*resource));
    char *name;
    int size = asprintf(&name, "%s %s", rest->verb, rest->path);

    if (size < 0)
        abort();
    assert(resources->count < NET_REST_COUNT_MAX);
    assert(rest->path[0] == '/' && rest->run);
    assert(!(rest->flags & (RPC_CLIENT_STREAM | RPC_SERVER_STREAM)));
    resource->rest = rest;
    resource->service =
        (struct rpc_service){.context = service->context, .remote = service->remote};
    resource->method =
        (struct rpc_method){.name = rest->path, .flags = rest->flags, .scope = rest->scope};
    route_init(&resource->route, bytes_make(name, (size_t)size), &resource->service,
               &resource->method);
    resources->list[resources->count++] = resource;
}

void resources_add(struct resources *resources, const struct rest_service *service)
{
    for (size_t i = 0; i < service->method_count; i++)
        add_one(resources, service, &service->methods[i]);
}

void resources_release(struct resources *resources)
{
    for (size_t i = 0; i < resources->count; i++) {
        route_release(&resources->list[i]->route);
        free(resources->list[i]);
    }
    resources->count = 0;
}

/* --- a path --- */

static bool take_tail(struct bytes path, struct rest_request *request)
{
    do {
        struct bytes part = address_cut(&path, '/');

        if (!part.size || request->tail_count == NET_REST_PART_COUNT_MAX)
            return false;
        request->tail[request->tail_count++] = part;
    } while (path.size);
    return true;
}

bool resource_match(const char *pattern, struct bytes path, struct rest_request *request)
{
    struct bytes wanted = bytes_of(pattern);

    request->variable_count = request->tail_count = 0;
    if (!path.size || path.data[0] != '/' || path.data[path.size - 1] == '/')
        return false;
    path = bytes_skip(path, 1);
    wanted = bytes_skip(wanted, 1);
    while (wanted.size) {
        struct bytes name = address_cut(&wanted, '/');
        struct bytes part;

        if (!path.size)
            return false;
        if (name.size > 5 && memcmp(name.data + name.size - 4, "...}", 4) == 0)
            return take_tail(path, request);
        part = address_cut(&path, '/');
        if (name.data[0] != '{') {
            if (!bytes_equal(name, part))
                return false;
            continue;
        }
        assert(request->variable_count < NET_REST_VARIABLE_COUNT_MAX);
        if (!part.size)
            return false;
        request->variables[request->variable_count++] = part;
    }
    return !path.size;
}

static int decode_into(struct arena *arena, struct bytes *part, bool is_query, struct err *err)
{
    struct buf plain = BUF_INIT(NET_HEAD_SIZE_MAX);
    int rc = address_decode(*part, is_query, &plain, err);

    if (!rc)
        *part = arena_copy(arena, buf_bytes(&plain));
    buf_release(&plain);
    return rc;
}

static int read_query(struct bytes query, struct arena *arena, struct rest_request *request,
                      struct err *err)
{
    int rc = 0;

    while (query.size && !rc) {
        struct bytes parameter = address_cut(&query, '&');
        struct rest_parameter *one = &request->parameters[request->parameter_count];

        if (!parameter.size)
            continue;
        if (request->parameter_count == NET_REST_PARAMETER_COUNT_MAX)
            return err_set(err, ERR_INVALID, "the address has more than %d parameters",
                           NET_REST_PARAMETER_COUNT_MAX);
        one->name = address_cut(&parameter, '=');
        one->value = parameter;
        rc = decode_into(arena, &one->name, true, err);
        if (!rc)
            rc = decode_into(arena, &one->value, true, err);
        request->parameter_count++;
    }
    return rc;
}

static int read_address(const struct call *call, struct rest_request *request, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < request->variable_count && !rc; i++)
        rc = decode_into(call->arena, &request->variables[i], false, err);
    for (size_t i = 0; i < request->tail_count && !rc; i++)
        rc = decode_into(call->arena, &request->tail[i], false, err);
    return rc ? rc : read_query(call->query, call->arena, request, err);
}

/* The resource of the path and the verb; *verbs gets those that the path has. */
static struct resource *find(const struct call *call, struct rest_request *request, char *verbs)
{
    const struct resources *resources = &call->loop->server->resources;
    const char *verb = call->is_head ? "GET" : NULL;
    size_t used = 0;

    for (size_t i = 0; i < resources->count; i++) {
        struct resource *resource = resources->list[i];

        if (!resource_match(resource->rest->path, call->path, request))
            continue;
        if (verb ? strcmp(verb, resource->rest->verb) == 0
                 : bytes_equal_text(call->verb, resource->rest->verb))
            return resource;
        if (used < VERBS_SIZE)
            used += (size_t)snprintf(verbs + used, VERBS_SIZE - used, "%s%s", used ? ", " : "",
                                     resource->rest->verb);
    }
    return NULL;
}

enum resource_found resource_take(struct call *call)
{
    struct rest_request *request;
    struct resource *resource;
    char verbs[VERBS_SIZE] = "";
    struct err err;

    object_check(call, CALL_MAGIC);
    if (!call->loop->server->resources.count)
        return RESOURCE_NONE;
    request = arena_zero(call->arena, sizeof(*request));
    call->is_head = bytes_equal_text(call->verb, "HEAD");
    resource = find(call, request, verbs);
    if (!resource && !verbs[0])
        return RESOURCE_NONE;
    if (!resource) {
        reply_header(call, "allow", bytes_of(arena_strdup(call->arena, verbs)));
        call_refuse(call, 405, ERR_UNSUPPORTED, "%.*s takes %s, not %.*s", BYTES_ARG(call->path),
                    verbs, BYTES_ARG(call->verb));
        return RESOURCE_REFUSED;
    }
    call->route = &resource->route;
    call->rest = request;
    call->body.limit =
        resource->rest->body_size_max ? resource->rest->body_size_max : NET_MESSAGE_SIZE_MAX;
    if (read_address(call, request, &err)) {
        call_refuse(call, 0, err.code, "%s", err.text);
        return RESOURCE_REFUSED;
    }
    return RESOURCE_FOUND;
}

/* --- the handler --- */

const struct rest_parameter *rest_parameter_find(const struct rest_request *request,
                                                 const char *name)
{
    for (size_t i = 0; i < request->parameter_count; i++)
        if (bytes_equal_text(request->parameters[i].name, name))
            return &request->parameters[i];
    return NULL;
}

static int unpack(struct call *call, int *http_status, struct err *err)
{
    int rc;

    call->rest->content_type = call->content_type;
    call->rest->body = buf_bytes(&call->body);
    if (!call->packed)
        return 0;
    rc = gzip_unpack(call->rest->body, call->body.limit, &call->message, err);
    if (rc == ERR_LIMIT)
        *http_status = 413;
    call->rest->body = rc ? BYTES_EMPTY : arena_copy(call->arena, buf_bytes(&call->message));
    return rc;
}

int resource_run(struct call *call, int *http_status, struct err *err)
{
    const struct resource *resource = container_of(call->route, struct resource, route);
    struct rest_answer answer = {.http_status = 200, .body = &call->out};
    int rc = unpack(call, http_status, err);

    buf_reset(&call->out);
    if (!rc)
        rc = resource->rest->run(call, call->rest, &answer, err);
    if (!rc && buf_failed(&call->out))
        rc = err_set(err, ERR_LIMIT, "the answer is larger than %d bytes: ask for less",
                     NET_REPLY_SIZE_MAX);
    if (!rc)
        reply_content(call, answer.http_status, answer.content_type);
    return rc;
}
