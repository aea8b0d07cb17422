/* SPDX-License-Identifier: Apache-2.0 */
/* service.c - see service.h. */
#include "clicks/service.h"

#include <assert.h>

#include "base/memory.h"

static int record_events(struct call *call, const ProtobufCMessage *message,
                         ProtobufCMessage *answer, struct err *err)
{
    Torg__V1__RecordEventsResponse *response = (Torg__V1__RecordEventsResponse *)answer;
    struct violations reasons = violations_in(call_arena(call));
    const struct identity *identity = call_identity(call);
    bool is_front = *identity->principal && !*identity->seller; /* it calls for all its visitors */
    const struct event_sender sender = {identity->seller, is_front ? 0 : call_caller(call)};
    const Torg__V1__RecordEventsRequest *request = (const Torg__V1__RecordEventsRequest *)message;
    int rc;

    if (*request->seller)
        return call_invalid(call, err, "seller", "only events of the topic have it: leave it out");
    rc = events_record(call_context(call), &sender, request, &reasons, &response->counted, err);
    if (reasons.count)
        call_violations(call, &reasons);
    return rc;
}

static const struct rpc_method methods[] = {
    {.name = "RecordEvents", .unary = record_events, .flags = RPC_PUBLIC},
};

struct rpc_service event_service(struct events *events)
{
    assert(events->store && events->clock && events->fetch);
    return (struct rpc_service){
        .descriptor = &torg__v1__event_service__descriptor,
        .methods = methods,
        .method_count = ARRAY_COUNT(methods),
        .context = events,
        .remote = !store_is_local(events->store),
    };
}
