/* SPDX-License-Identifier: Apache-2.0 */
/* service_pipeline.c - torg.v1.PipelineService. */
#include "base/memory.h"
#include "base/object.h"
#include "inspect/pipeline.h"
#include "inspect/service.h"

static int get_pipeline(struct call *call, const ProtobufCMessage *request,
                        ProtobufCMessage *response, struct err *err)
{
    const struct identity *identity = call_identity(call);
    Torg__V1__Pipeline *told;
    int rc;

    (void)request;
    if (*identity->client || *identity->seller)
        return err_set(err, ERR_DENIED, "the key is bound to %s: this call is for operators",
                       *identity->client ? identity->client : identity->seller);
    rc = pipeline_get(call_context(call), call_arena(call), &told, err);
    if (!rc)
        *(Torg__V1__Pipeline *)response = *told;
    return rc;
}

static const struct rpc_method methods[] = {
    {.name = "GetPipeline", .unary = get_pipeline, .scope = "stages"},
};

struct rpc_service pipeline_service(struct pipeline *pipeline)
{
    return (struct rpc_service){
        .descriptor = &torg__v1__pipeline_service__descriptor,
        .methods = methods,
        .method_count = ARRAY_COUNT(methods),
        .context = pipeline,
    };
}
