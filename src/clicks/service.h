/* SPDX-License-Identifier: Apache-2.0 */
/* service.h - torg.v1.EventService. */
#ifndef TORG_CLICKS_SERVICE_H
#define TORG_CLICKS_SERVICE_H

#include "clicks/events.h"
#include "net/rpc.h"

/* The declaration for the server; the context lives as long. */
struct rpc_service event_service(struct events *events);

#endif
