/* SPDX-License-Identifier: Apache-2.0 */
/* service_experiments.c - see service_experiments.h. */
#include "clicks/service_experiments.h"

static int list_experiments(struct call *call, const ProtobufCMessage *message,
                            ProtobufCMessage *response, struct err *err)
{
    const struct experiment_desk *desk = call_context(call);

    (void)message;
    return experiments_list(desk->store, desk->running, call_arena(call),
                            (Torg__V1__ListExperimentsResponse *)response, err);
}

static const struct rpc_method methods[] = {
    {.name = "ListExperiments", .unary = list_experiments, .scope = "pipeline.read"},
};

struct rpc_service experiment_service(struct experiment_desk *desk)
{
    struct rpc_service service = RPC_SERVICE(experiment, methods, desk);

    service.remote = !store_is_local(desk->store);
    return service;
}
