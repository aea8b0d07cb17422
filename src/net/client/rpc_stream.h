/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rpc_stream.h - the calling side of a method with streams: many messages out, many back (gRPC).
 *
 * Memory is bounded both ways: a write waits while much is unsent, and nothing is taken from the
 * socket while a whole answer waits to be read. A peer that blocks until its answers are taken
 * would wait for us while we wait for it: so a write returns early when an answer has arrived, and
 * the writer takes the answers first. Every wait ends when nothing moves for the idle time.
 *
 * Only for our own servers: one behind a proxy that requires HTTP/2 to be negotiated by ALPN is not
 * reached.
 * Threads: one stream, one thread.
 */
#ifndef TORG_NET_CLIENT_RPC_STREAM_H
#define TORG_NET_CLIENT_RPC_STREAM_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"

struct rpc_stream;

struct rpc_stream_options {
    const char *url;           /* of the server: "http://127.0.0.1:8080" */
    const char *method;        /* "torg.v1.FeedService/SendFeed" */
    const char *authorization; /* NULL: none */
    const char *ca_file;       /* PEM file of the authorities; NULL = the system's */
    int64_t idle_timeout_ms;   /* 0 = RPC_STREAM_IDLE_MS */
    const struct clock *clock; /* NULL: the system's; borrowed */
};

/* Options are copied. The call goes out with the first write or read. */
int rpc_stream_open(const struct rpc_stream_options *options, struct rpc_stream **stream,
                    struct err *err);
void rpc_stream_close(struct rpc_stream *stream); /* leaves the call if it goes on; NULL is fine */

/* A whole answer has come, or the end of them: the next read does not wait. */
bool rpc_stream_ready(const struct rpc_stream *stream);

/* Not while one is ready. Fails with the server's reason when it has ended the call. */
int rpc_stream_write(struct rpc_stream *stream, const ProtobufCMessage *message, struct err *err);
void rpc_stream_finish(struct rpc_stream *stream); /* no more writes */

/* 1 and the next answer, in the arena; 0 when the call has ended well; < 0: its error. */
int rpc_stream_read(struct rpc_stream *stream, const ProtobufCMessageDescriptor *type,
                    struct arena *arena, ProtobufCMessage **message, struct err *err);

#endif
