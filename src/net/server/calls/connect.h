/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connect.h - what the Connect protocol has besides a message as the body: calls by GET of methods
 * without side effects, and the frame that ends a stream.
 *
 *     GET /torg.v1.SearchService/Suggest?connect=v1&encoding=json&message=%7B%22text%22…
 *
 * Its errors are status.h's.
 */
#ifndef TORG_NET_SERVER_CALLS_CONNECT_H
#define TORG_NET_SERVER_CALLS_CONNECT_H

#include <stdbool.h>

#include "base/buf.h"

struct call;

/* The version the client names, if it does, is ours; false: refused. */
bool connect_check_version(struct call *call);
/* Takes the request out of the address; false: refused. */
bool connect_take_get(struct call *call);
/* The last frame of a stream, from the reply's status and the text. */
void connect_put_end(const struct call *call, const char *text, unsigned retry_after_s,
                     struct buf *out);

#endif
