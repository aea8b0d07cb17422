/* SPDX-License-Identifier: Apache-2.0 */
/*
 * router.h - which method answers a path: "/torg.v1.Service/Method".
 *
 * Filled before the server starts, read by all reactors afterwards.
 */
#ifndef TORG_NET_SERVER_ROUTES_ROUTER_H
#define TORG_NET_SERVER_ROUTES_ROUTER_H

#include <protobuf-c/protobuf-c.h>

#include "base/bytes.h"
#include "base/metrics.h"
#include "base/object.h"
#include "net/rpc.h"
#include "net/status.h"

enum { ROUTE_MAGIC = OBJECT_MAGIC('r', 'o', 'u', 't') };

struct route {
    uint32_t magic;
    struct bytes path; /* owned */
    const struct rpc_service *service;
    const struct rpc_method *method; /* NULL: in the .proto, but without a handler */
    const ProtobufCMessageDescriptor *input;
    const ProtobufCMessageDescriptor *output;
    bool is_safe; /* its .proto says NO_SIDE_EFFECTS: may be called by GET */
    _Atomic(struct counter *) requests[STATUS_COUNT]; /* made when first counted */
    struct histogram *duration;
    struct route *next; /* of the same slot */
};

enum { ROUTER_SLOT_COUNT = 1024 };

struct router {
    struct route *slots[ROUTER_SLOT_COUNT]; /* owned */
};

void router_release(struct router *router);
/* Aborts when the service names a method its .proto lacks, or is there already. */
void router_add(struct router *router, const struct rpc_service *service);
/* Marks methods whose .proto says that they have no side effects. */
int router_mark_safe(struct router *router, const struct bytes *descriptor_sets, size_t count,
                     struct err *err);
struct route *router_find(const struct router *router, struct bytes path);
/* The handler of a method; NULL: it has none. */
const struct rpc_method *service_method(const struct rpc_service *service, const char *name);
/* A route beside the router's, whose path (owned from here on) is only its name in metrics. */
void route_init(struct route *route, struct bytes path, const struct rpc_service *service,
                const struct rpc_method *method);
void route_release(struct route *route);
void route_count(struct route *route, int status, int64_t duration_us);

#endif
