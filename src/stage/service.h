/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service.h - torg.v1.ParkedService, and its functions for a command without a server.
 */
#ifndef TORG_STAGE_SERVICE_H
#define TORG_STAGE_SERVICE_H

#include "base/arena.h"
#include "base/clock.h"
#include "net/rpc.h"
#include "store/store.h"
#include "torg/v1/parked.pb-c.h"

struct parked_desk { /* all borrowed for the server's life */
    struct store *store;
    const struct clock *clock;
};

int parked_desk_list(const struct parked_desk *desk, const Torg__V1__ListParkedRequest *request,
                     struct arena *arena, Torg__V1__ListParkedResponse *response, struct err *err);
int parked_desk_get(const struct parked_desk *desk, const Torg__V1__GetParkedRequest *request,
                    struct arena *arena, Torg__V1__GetParkedResponse *response, struct err *err);
/* principal: who is told in the audit log. */
int parked_desk_replay(const struct parked_desk *desk, const char *principal,
                       const Torg__V1__ReplayParkedRequest *request,
                       Torg__V1__ReplayParkedResponse *response, struct err *err);
int parked_desk_drop(const struct parked_desk *desk, const char *principal,
                     const Torg__V1__DropParkedRequest *request,
                     Torg__V1__DropParkedResponse *response, struct err *err);

struct rpc_service parked_service(struct parked_desk *desk);

#endif
