/* SPDX-License-Identifier: Apache-2.0 */
/* service_pipeline.c - torg.v1.PipelineService. */
#include "base/memory.h"
#include "base/object.h"
#include "inspect/pipeline/pipeline.h"
#include "inspect/service.h"

static int get_pipeline(struct call *call, const ProtobufCMessage *request,
                        ProtobufCMessage *response, struct err *err)
{
    Torg__V1__Pipeline *told;
    int rc = pipeline_get(call_context(call), call_arena(call), &told, err);

    (void)request;
    if (!rc)
        *(Torg__V1__Pipeline *)response = *told;
    return rc;
}

static const struct rpc_method methods[] = {
    {.name = "GetPipeline", .unary = get_pipeline, .scope = "pipeline.read"},
};

struct rpc_service pipeline_service(struct pipeline *pipeline)
{
    return RPC_SERVICE(pipeline, methods, pipeline);
}
