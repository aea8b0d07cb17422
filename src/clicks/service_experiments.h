/* SPDX-License-Identifier: Apache-2.0 */
/* service_experiments.h - torg.v1.ExperimentService. */
#ifndef TORG_CLICKS_SERVICE_EXPERIMENTS_H
#define TORG_CLICKS_SERVICE_EXPERIMENTS_H

#include "clicks/experiments.h"
#include "net/rpc.h"

/* The context of the handlers; it lives as long as the server. */
struct experiment_desk {
    struct store *store;
    const struct experiment *running; /* NULL: none does */
};

struct rpc_service experiment_service(struct experiment_desk *desk);

#endif
