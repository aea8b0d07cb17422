/* SPDX-License-Identifier: Apache-2.0 */
/* listener.h - a listening socket; accepted connections go to the loop that has fewest. */
#ifndef TORG_NET_SERVER_LISTENER_H
#define TORG_NET_SERVER_LISTENER_H

#include <stdbool.h>

#include "base/err.h"

struct listener;
struct server;

/* Binds and listens at "host:port", "[v6]:port"; accepting begins with listener_watch. */
int listener_open(struct listener *listener, struct server *server, const char *address,
                  bool is_operator, struct err *err);
int listener_watch(struct listener *listener, struct err *err);
void listener_empty(struct listener *listener); /* takes all who wait, on its loop */
void listener_close(struct listener *listener); /* on its loop, or while that does not run */

#endif
