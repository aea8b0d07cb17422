/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health.h - grpc.health.v1: is this process, or one service of it, ready to serve?
 *
 * The empty name is the whole process. Check answers at once; Watch sends the state and then every
 * change, until its client leaves or the server drains.
 * Threads: any, at once.
 */
#ifndef TORG_NET_SERVER_ROUTES_HEALTH_H
#define TORG_NET_SERVER_ROUTES_HEALTH_H

#include <stdbool.h>

#include "base/clock.h"
#include "net/rpc.h"

struct health;

struct health *health_new(const struct clock *clock);
void health_free(struct health *health); /* after the last call has ended */

/* Names a service known with its state; "" starts as not serving. At most HEALTH_SERVICE_COUNT_MAX
 * names, set by the program, never by a client. */
void health_set(struct health *health, const char *service, bool serving);

/* Everything is NOT_SERVING from now on, whatever is set later; watches are told so and end. */
void health_drain(struct health *health);

const struct rpc_service *health_service(const struct health *health);

#endif
