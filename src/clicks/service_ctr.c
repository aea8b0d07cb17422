/* SPDX-License-Identifier: Apache-2.0 */
/* service_ctr.c - see service_ctr.h. */
#include "clicks/service_ctr.h"

#include "base/memory.h"

static int begin_push(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                      struct err *err)
{
    return rate_table_begin(call_context(call), (const Torg__V1__BeginCtrPushRequest *)message,
                            call_actor(call), &((Torg__V1__BeginCtrPushResponse *)answer)->push,
                            err);
}

static int push(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                struct err *err)
{
    struct violations reasons = violations_in(call_arena(call));
    int rc = rate_table_add(call_context(call), (const Torg__V1__PushCtrRequest *)message, &reasons,
                            err);

    (void)answer;
    if (reasons.count)
        call_violations(call, &reasons);
    return rc;
}

static int end_push(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                    struct err *err)
{
    (void)answer;
    return rate_table_end(call_context(call), (const Torg__V1__EndCtrPushRequest *)message,
                          call_actor(call), err);
}

static int get(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
               struct err *err)
{
    (void)message;
    return rate_table_list(call_context(call), call_arena(call), (Torg__V1__GetCtrResponse *)answer,
                           err);
}

static const struct rpc_method methods[] = {
    {.name = "BeginCtrPush", .unary = begin_push, .scope = "pipeline.control"},
    {.name = "PushCtr", .unary = push, .scope = "pipeline.control"},
    {.name = "EndCtrPush", .unary = end_push, .scope = "pipeline.control"},
    {.name = "GetCtr", .unary = get, .scope = "pipeline.read"},
};

struct rpc_service ctr_service(struct rate_desk *desk)
{
    struct rpc_service service = RPC_SERVICE(ctr, methods, desk);

    service.remote = !store_is_local(desk->store);
    return service;
}
