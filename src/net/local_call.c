/* SPDX-License-Identifier: Apache-2.0 */
/* local_call.c - see local_call.h. */
#include "net/local_call.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/object.h"
#include "codec/message.h"
#include "net/server/calls/call.h"
#include "net/server/routes/router.h"

static int find_route(const struct rpc_service *service, const char *name,
                      const ProtobufCMessage *request, struct route *route, struct err *err)
{
    const ProtobufCMethodDescriptor *method =
        protobuf_c_service_descriptor_get_method_by_name(service->descriptor, name);

    assert(method && method->input == request->descriptor); /* as the .proto has it */
    *route = (struct route){.service = service,
                            .method = service_method(service, name),
                            .input = method->input,
                            .output = method->output};
    if (route->method)
        return 0;
    return err_set(err, ERR_UNSUPPORTED, "%s/%s is not answered here", service->descriptor->name,
                   name);
}

static struct call *make_call(struct route *route, const struct local_caller *caller,
                              struct arena *arena)
{
    struct call *call = mem_zero(sizeof(*call));

    object_begin(call, CALL_MAGIC);
    call->route = route;
    call->arena = arena;
    call->deadline_us = INT64_MAX;
    call->violations = violations_in(arena);
    snprintf(call->identity.principal, sizeof(call->identity.principal), "%s", caller->principal);
    snprintf(call->identity.scopes, sizeof(call->identity.scopes), "*");
    if (caller->seller)
        snprintf(call->identity.seller, sizeof(call->identity.seller), "%s", caller->seller);
    if (caller->client)
        snprintf(call->identity.client, sizeof(call->identity.client), "%s", caller->client);
    call->headers[call->header_count++] =
        (struct header){bytes_of("accept-language"), bytes_of(caller->language)};
    if (caller->once_key)
        call->headers[call->header_count++] =
            (struct header){bytes_of("idempotency-key"), bytes_of(caller->once_key)};
    return call;
}

int local_call(const struct rpc_service *service, const char *method,
               const struct local_caller *caller, const ProtobufCMessage *request,
               struct arena *arena, ProtobufCMessage **response, struct err *err)
{
    struct route route;
    struct call *call;
    int rc = find_route(service, method, request, &route, err);

    if (rc)
        return rc;
    assert(route.method->unary);
    call = make_call(&route, caller, arena);
    *response = message_new(route.output, arena);
    rc = route.method->unary(call, request, *response, err);
    object_end(call, CALL_MAGIC);
    free(call);
    return rc;
}

int local_stream(const struct rpc_service *service, const char *method,
                 const struct local_caller *caller, const ProtobufCMessage *request,
                 int (*take)(void *arg, const ProtobufCMessage *message, struct err *err),
                 void *arg, struct err *err)
{
    struct local_channel channel = {.request = request, .take = take, .arg = arg};
    struct arena *arena;
    struct route route;
    struct call *call;
    int rc = find_route(service, method, request, &route, err);

    if (rc)
        return rc;
    assert((route.method->flags & (RPC_CLIENT_STREAM | RPC_SERVER_STREAM)) == RPC_SERVER_STREAM);
    arena = arena_new();
    call = make_call(&route, caller, arena);
    call->local = &channel;
    rc = route.method->stream(call, err);
    object_end(call, CALL_MAGIC);
    free(call);
    arena_free(arena);
    return rc;
}
