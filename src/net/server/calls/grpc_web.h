/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grpc_web.h - gRPC for browsers: what HTTP/2 sends as trailers is the body's last frame, and in
 * the text form all of the body is base64, in pieces that each end with their padding.
 */
#ifndef TORG_NET_SERVER_CALLS_GRPC_WEB_H
#define TORG_NET_SERVER_CALLS_GRPC_WEB_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/bytes.h"

struct call;
struct header;

/* Appends what the text stands for to the body; groups of four may come in parts. */
bool grpc_web_take(struct call *call, struct bytes text);
bool grpc_web_end(struct call *call); /* the text ends here; false: within a byte */

/* The frame of trailers, as names and values; in the text form, in base64. */
void grpc_web_put_trailers(const struct call *call, const struct header *trailers, size_t count,
                           struct buf *out);
/* Text form: what was written behind `start` becomes base64. */
void grpc_web_encode(struct call *call, struct buf *out, size_t start);

#endif
