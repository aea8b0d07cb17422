/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service.h - torg.v1.InspectService, FreshnessService and PipelineService; the context lives as
 * long as the server.
 */
#ifndef TORG_INSPECT_SERVICE_H
#define TORG_INSPECT_SERVICE_H

#include "inspect/inspect.h"
#include "net/rpc.h"

struct pipeline; /* pipeline.h */

struct rpc_service inspect_service(struct inspect *inspect);
struct rpc_service freshness_service(struct inspect *inspect);
struct rpc_service pipeline_service(struct pipeline *pipeline);

/* GET FRESHNESS_ADDRESS/TOKEN?wait=SECONDS calls the method. */
#define FRESHNESS_ADDRESS "/v1/freshness/"
#define FRESHNESS_METHOD "/torg.v1.FreshnessService/GetProgress"
#define FRESHNESS_FIELD "token"

#endif
