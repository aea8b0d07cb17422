/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.h - in which protocol a request came: its content type, and how its bytes are packed.
 *
 *     content type                     protocol            body
 *     application/json, /proto         Connect, unary      one message; a stream: a line each
 *     application/connect+json|proto   Connect, streams    frames, and an ending frame
 *     application/grpc[+proto]         gRPC                frames; HTTP/2's trailers
 *     application/grpc-web[+proto]     gRPC-Web            frames, the trailers in the last one
 *     application/grpc-web-text[…]     gRPC-Web            the same in base64
 *
 * A frame is a byte of flags, four of size, and a message.
 */
#ifndef TORG_NET_SERVER_CALLS_FORMAT_H
#define TORG_NET_SERVER_CALLS_FORMAT_H

#include <stdbool.h>

#include "base/bytes.h"

struct call;

enum call_format {
    CALL_PLAIN,
    CALL_GRPC,
    CALL_JSON,
    CALL_PROTO,
    CALL_GRPC_WEB,
    CALL_GRPC_WEB_TEXT,
    CALL_CONNECT_JSON,
    CALL_CONNECT_PROTO,
};

enum { FRAME_HEAD_SIZE = 5, FRAME_PACKED = 1, FRAME_CONNECT_END = 2, FRAME_WEB_TRAILERS = 0x80 };

/* What refusals name, and Accept-Post lists. */
#define FORMAT_UNARY_TYPES                                                                         \
    "application/json, application/proto, application/grpc, application/grpc-web"
#define FORMAT_STREAM_TYPES                                                                        \
    "application/connect+json, application/connect+proto, application/grpc, application/grpc-web"

static inline bool format_is_json(enum call_format format)
{
    return format == CALL_JSON || format == CALL_CONNECT_JSON;
}

static inline bool format_is_web(enum call_format format)
{
    return format == CALL_GRPC_WEB || format == CALL_GRPC_WEB_TEXT;
}

static inline bool format_is_grpc(enum call_format format)
{
    return format == CALL_GRPC || format_is_web(format);
}

/* Connect's form of streams; its unary calls have no frames. */
static inline bool format_is_connect(enum call_format format)
{
    return format == CALL_CONNECT_JSON || format == CALL_CONNECT_PROTO;
}

static inline bool format_is_framed(enum call_format format)
{
    return format_is_grpc(format) || format_is_connect(format);
}

const char *format_content_type(enum call_format format); /* of an answer */
/* The request's, from its content type; false when it is none of them. */
bool format_find(struct call *call);
/* How the request is packed, and whether the answer may be; false: refused. */
bool format_read_encodings(struct call *call);
/* Whether an Accept-Encoding names the coding, and not to refuse it ("gzip;q=0"). */
bool format_accepts(struct bytes list, const char *coding);

#endif
