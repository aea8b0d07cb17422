/* SPDX-License-Identifier: Apache-2.0 */
/* service_schema.c - torg.v1.SchemaService. */
#include <assert.h>

#include "base/memory.h"
#include "registry/service.h"

static int get_schema(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                      struct err *err)
{
    const Torg__V1__GetSchemaRequest *request = (const Torg__V1__GetSchemaRequest *)message;
    const char *client;
    int rc = caller_client(call, request->client, &client, err);

    return rc ? rc
              : receiver_schema(call_context(call), client, request->epoch, call_arena(call),
                                (Torg__V1__Schema *)answer, err);
}

static int declare_schema(struct call *call, const ProtobufCMessage *message,
                          ProtobufCMessage *answer, struct err *err)
{
    const Torg__V1__DeclareSchemaRequest *request = (const Torg__V1__DeclareSchemaRequest *)message;
    struct violations reasons = violations_in(call_arena(call));
    const char *client;
    int rc = caller_writes(call, request->client, &client, err);

    if (!rc)
        rc = receiver_declare(call_context(call), call_actor(call), request, client, &reasons,
                              (Torg__V1__Schema *)answer, err);
    if (rc)
        call_violations(call, &reasons);
    return rc;
}

static const struct rpc_method methods[] = {
    {.name = "GetSchema", .unary = get_schema, .scope = "documents", .flags = RPC_OF_CLIENT},
    {.name = "DeclareSchema",
     .unary = declare_schema,
     .scope = "documents",
     .flags = RPC_OF_CLIENT},
};

struct rpc_service schema_service(struct receiver *receiver)
{
    assert(receiver->store && receiver->clock && receiver->clients);
    return RPC_SERVICE(schema, methods, receiver);
}
