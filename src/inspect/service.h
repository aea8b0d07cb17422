/* SPDX-License-Identifier: Apache-2.0 */
/* service.h - torg.v1.InspectService; the context lives as long as the server. */
#ifndef TORG_INSPECT_SERVICE_H
#define TORG_INSPECT_SERVICE_H

#include "inspect/inspect.h"
#include "net/rpc.h"

struct rpc_service inspect_service(struct inspect *inspect);

#endif
