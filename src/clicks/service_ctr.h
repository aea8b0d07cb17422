/* SPDX-License-Identifier: Apache-2.0 */
/* service_ctr.h - torg.v1.CtrService. */
#ifndef TORG_CLICKS_SERVICE_CTR_H
#define TORG_CLICKS_SERVICE_CTR_H

#include "clicks/rate_table.h"
#include "net/rpc.h"

/* desk: borrowed for the server's life. */
struct rpc_service ctr_service(struct rate_desk *desk);

#endif
