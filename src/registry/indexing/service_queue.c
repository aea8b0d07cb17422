/* SPDX-License-Identifier: Apache-2.0 */
/* service_queue.c - torg.v1.QueueService. */
#include <assert.h>

#include "base/memory.h"
#include "registry/indexing/queue_desk.h"
#include "registry/service.h"

static int list_lanes(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                      struct err *err)
{
    const Torg__V1__ListLanesRequest *request = (const Torg__V1__ListLanesRequest *)message;
    bool all = !*request->client && !*call_identity(call)->client;
    const char *client = NULL;
    int rc = all ? 0 : caller_client(call, request->client, &client, err);

    return rc ? rc
              : queue_desk_lanes(call_context(call), client, call_arena(call),
                                 (Torg__V1__ListLanesResponse *)answer, err);
}

static int list_failed(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                       struct err *err)
{
    const Torg__V1__ListFailedRequest *request = (const Torg__V1__ListFailedRequest *)message;
    const char *client;
    int rc = caller_client(call, request->client, &client, err);

    return rc ? rc
              : queue_desk_list(call_context(call), client, request, call_arena(call),
                                (Torg__V1__ListFailedResponse *)answer, err);
}

static int get_failed(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                      struct err *err)
{
    const Torg__V1__GetFailedRequest *request = (const Torg__V1__GetFailedRequest *)message;
    const char *client;
    int rc = caller_client(call, request->client, &client, err);

    return rc ? rc
              : queue_desk_get(call_context(call), client, request->pk, call_arena(call),
                               (Torg__V1__FailedDocument *)answer, err);
}

static int replay_failed(struct call *call, const ProtobufCMessage *message,
                         ProtobufCMessage *answer, struct err *err)
{
    const Torg__V1__ReplayFailedRequest *request = (const Torg__V1__ReplayFailedRequest *)message;
    const char *client;
    int rc = caller_client(call, request->client, &client, err);

    return rc ? rc
              : queue_desk_replay(call_context(call), client, call_actor(call), request,
                                  &((Torg__V1__ReplayFailedResponse *)answer)->count, err);
}

static int drop_failed(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                       struct err *err)
{
    const Torg__V1__DropFailedRequest *request = (const Torg__V1__DropFailedRequest *)message;
    const char *client;
    int rc = caller_client(call, request->client, &client, err);

    return rc ? rc
              : queue_desk_drop(call_context(call), client, call_actor(call), request->pk,
                                call_arena(call), (Torg__V1__FailedDocument *)answer, err);
}

static const struct rpc_method methods[] = {
    {.name = "ListLanes", .unary = list_lanes, .scope = "pipeline.read", .flags = RPC_OF_CLIENT},
    {.name = "ListFailed", .unary = list_failed, .scope = "pipeline.read", .flags = RPC_OF_CLIENT},
    {.name = "GetFailed", .unary = get_failed, .scope = "pipeline.read", .flags = RPC_OF_CLIENT},
    {.name = "ReplayFailed",
     .unary = replay_failed,
     .scope = "pipeline.control",
     .flags = RPC_OF_CLIENT},
    {.name = "DropFailed",
     .unary = drop_failed,
     .scope = "pipeline.control",
     .flags = RPC_OF_CLIENT},
};

struct rpc_service queue_service(struct queue_desk *desk)
{
    assert(desk->store && desk->clients && desk->clock);
    return RPC_SERVICE(queue, methods, desk);
}
