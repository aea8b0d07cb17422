/* SPDX-License-Identifier: Apache-2.0 */
/* service_epoch.c - torg.v1.EpochService. */
#include <assert.h>

#include "base/memory.h"
#include "registry/clients/epoch_desk.h"
#include "registry/service.h"

static int plan_epoch(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                      struct err *err)
{
    const Torg__V1__PlanEpochRequest *request = (const Torg__V1__PlanEpochRequest *)message;
    struct violations reasons = violations_in(call_arena(call));
    const char *client;
    int rc = caller_client(call, request->client, &client, err);

    if (!rc)
        rc = epoch_desk_plan(call_context(call), client, request, &reasons,
                             (Torg__V1__PlanEpochResponse *)answer, err);
    if (rc)
        call_violations(call, &reasons);
    return rc;
}

static int start_epoch(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                       struct err *err)
{
    const Torg__V1__StartEpochRequest *request = (const Torg__V1__StartEpochRequest *)message;
    struct violations reasons = violations_in(call_arena(call));
    const char *client;
    int rc = caller_client(call, request->client, &client, err);

    if (!rc)
        rc = epoch_desk_start(call_context(call), client, call_actor(call), request, &reasons,
                              (Torg__V1__EpochStatus *)answer, err);
    if (rc)
        call_violations(call, &reasons);
    return rc;
}

static int get_epochs(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                      struct err *err)
{
    const Torg__V1__GetEpochsRequest *request = (const Torg__V1__GetEpochsRequest *)message;
    const char *client;
    int rc = caller_client(call, request->client, &client, err);

    return rc ? rc
              : epoch_desk_status(call_context(call), client, call_arena(call),
                                  (Torg__V1__EpochStatus *)answer, err);
}

static int switch_epoch(struct call *call, const ProtobufCMessage *message,
                        ProtobufCMessage *answer, struct err *err)
{
    const Torg__V1__SwitchEpochRequest *request = (const Torg__V1__SwitchEpochRequest *)message;
    const char *client;
    int rc = caller_client(call, request->client, &client, err);

    return rc ? rc
              : epoch_desk_switch(call_context(call), client, call_actor(call), request,
                                  call_arena(call), (Torg__V1__EpochStatus *)answer, err);
}

static int rollback_epoch(struct call *call, const ProtobufCMessage *message,
                          ProtobufCMessage *answer, struct err *err)
{
    const Torg__V1__RollbackEpochRequest *request = (const Torg__V1__RollbackEpochRequest *)message;
    const char *client;
    int rc = caller_client(call, request->client, &client, err);

    return rc ? rc
              : epoch_desk_rollback(call_context(call), client, call_actor(call), request,
                                    call_arena(call), (Torg__V1__EpochStatus *)answer, err);
}

static int abandon_epoch(struct call *call, const ProtobufCMessage *message,
                         ProtobufCMessage *answer, struct err *err)
{
    const Torg__V1__AbandonEpochRequest *request = (const Torg__V1__AbandonEpochRequest *)message;
    const char *client;
    int rc = caller_client(call, request->client, &client, err);

    return rc ? rc
              : epoch_desk_abandon(call_context(call), client, call_actor(call), request,
                                   call_arena(call), (Torg__V1__EpochStatus *)answer, err);
}

static int drop_epoch(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                      struct err *err)
{
    const Torg__V1__DropEpochRequest *request = (const Torg__V1__DropEpochRequest *)message;
    const char *client;
    int rc = caller_client(call, request->client, &client, err);

    return rc ? rc
              : epoch_desk_drop(call_context(call), client, call_actor(call), request,
                                call_arena(call), (Torg__V1__EpochStatus *)answer, err);
}

/* Who keeps states of stages, or looks at queues, may look at epochs too, and change none. */
static const struct rpc_method methods[] = {
    {.name = "PlanEpoch", .unary = plan_epoch, .scope = "pipeline.read", .flags = RPC_OF_CLIENT},
    {.name = "StartEpoch", .unary = start_epoch, .scope = "epochs", .flags = RPC_OF_CLIENT},
    {.name = "GetEpochs", .unary = get_epochs, .scope = "pipeline.read", .flags = RPC_OF_CLIENT},
    {.name = "SwitchEpoch", .unary = switch_epoch, .scope = "epochs", .flags = RPC_OF_CLIENT},
    {.name = "RollbackEpoch", .unary = rollback_epoch, .scope = "epochs", .flags = RPC_OF_CLIENT},
    {.name = "AbandonEpoch", .unary = abandon_epoch, .scope = "epochs", .flags = RPC_OF_CLIENT},
    {.name = "DropEpoch", .unary = drop_epoch, .scope = "epochs", .flags = RPC_OF_CLIENT},
};

struct rpc_service epoch_service(struct epoch_desk *desk)
{
    assert(desk->store && desk->clients && desk->clock);
    return RPC_SERVICE(epoch, methods, desk);
}
