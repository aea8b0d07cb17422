/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resources.h - which handler of rest.h answers a verb and a path; its run.
 *
 * To dispatch and run.c a resource's method is a route like any other: it determines access,
 * deadline, thread and metrics. Only the request and the answer have another form.
 *
 * Filled before the server starts, read by all reactors afterwards. There are few, so the search is
 * linear.
 */
#ifndef TORG_NET_SERVER_CALLS_RESOURCES_H
#define TORG_NET_SERVER_CALLS_RESOURCES_H

#include <stdbool.h>

#include "net/rest.h"
#include "net/server/routes/router.h"

struct call;

struct resource {
    struct route route;
    struct rpc_service service; /* what the route points to: only its context and place are used */
    struct rpc_method method;
    const struct rest_method *rest; /* borrowed */
};

struct resources {
    struct resource *list[NET_REST_COUNT_MAX]; /* owned */
    size_t count;
};

void resources_add(struct resources *resources, const struct rest_service *service);
void resources_release(struct resources *resources);

/* Whether a path is one of the pattern ("/v1/notes/{id}"): its variables and tail into *request,
 * still encoded. */
bool resource_match(const char *pattern, struct bytes path, struct rest_request *request);

/* --- for dispatch.c and run.c --- */

enum resource_found { RESOURCE_NONE, RESOURCE_FOUND, RESOURCE_REFUSED };

/* Finds the call's resource: its route and request are set, or it is refused (a verb that the path
 * does not have, a broken address). */
enum resource_found resource_take(struct call *call);
/* Runs the handler and builds the answer; < 0 and the HTTP status (0: by the error) if it fails. */
int resource_run(struct call *call, int *http_status, struct err *err);

#endif
