/* SPDX-License-Identifier: Apache-2.0 */
/* service_column.c - torg.v1.ColumnService. */
#include <assert.h>

#include "base/memory.h"
#include "registry/clients/column_desk.h"
#include "registry/service.h"

static int load_column(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                       struct err *err)
{
    const Torg__V1__LoadColumnRequest *request = (const Torg__V1__LoadColumnRequest *)message;
    const char *client;
    int rc = caller_client(call, request->client, &client, err);

    return rc ? rc
              : column_desk_load(call_context(call), client, call_actor(call), request,
                                 call_arena(call), (Torg__V1__OutsideColumn *)answer, err);
}

static int list_columns(struct call *call, const ProtobufCMessage *message,
                        ProtobufCMessage *answer, struct err *err)
{
    const Torg__V1__ListColumnsRequest *request = (const Torg__V1__ListColumnsRequest *)message;
    const char *client;
    int rc = caller_client(call, request->client, &client, err);

    return rc ? rc
              : column_desk_list(call_context(call), client, call_arena(call),
                                 (Torg__V1__ListColumnsResponse *)answer, err);
}

static int drop_column(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                       struct err *err)
{
    const Torg__V1__DropColumnRequest *request = (const Torg__V1__DropColumnRequest *)message;
    const char *client;
    int rc = caller_client(call, request->client, &client, err);

    (void)answer;
    return rc ? rc
              : column_desk_drop(call_context(call), client, call_actor(call), request->name,
                                 call_arena(call), err);
}

static const struct rpc_method methods[] = {
    {.name = "LoadColumn", .unary = load_column, .scope = "epochs", .flags = RPC_OF_CLIENT},
    {.name = "ListColumns",
     .unary = list_columns,
     .scope = "pipeline.read",
     .flags = RPC_OF_CLIENT},
    {.name = "DropColumn", .unary = drop_column, .scope = "epochs", .flags = RPC_OF_CLIENT},
};

struct rpc_service column_service(struct column_desk *desk)
{
    assert(desk->store && desk->blob && desk->clients && desk->clock);
    return RPC_SERVICE(column, methods, desk);
}
