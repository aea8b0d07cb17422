/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_call.h - a method of a service called within the process: its handler, with no server in
 * front of it. For commands that work on the data directory themselves.
 *
 * Nothing is encoded: the handler reads the caller's request, and its answer is the caller's.
 * Threads: the handler runs on the caller's.
 */
#ifndef TORG_NET_LOCAL_CALL_H
#define TORG_NET_LOCAL_CALL_H

#include "net/rpc.h"

/* Whoever may open the directory may do everything: scopes are not asked. */
struct local_caller {
    const char *principal; /* for the audit log */
    const char *language;  /* of reasons: what a client says in accept-language */
    const char *seller;    /* whose key it would be; NULL: bound to none */
    const char *client;    /* likewise */
    const char *once_key;  /* of the header idempotency-key; NULL: none */
};

/* A unary method; the response is in the arena, as is all that the handler asks of its call's.
 * ERR_UNSUPPORTED: the service has no handler of that name. */
int local_call(const struct rpc_service *service, const char *method,
               const struct local_caller *caller, const ProtobufCMessage *request,
               struct arena *arena, ProtobufCMessage **response, struct err *err);

/* A method that answers with a stream: take is called with each message, whose memory is gone
 * afterwards. Negative fails the handler's write, so that it ends. */
int local_stream(const struct rpc_service *service, const char *method,
                 const struct local_caller *caller, const ProtobufCMessage *request,
                 int (*take)(void *arg, const ProtobufCMessage *message, struct err *err),
                 void *arg, struct err *err);

/* --- for call.c --- */

/* What a call within the process has in place of a channel. */
struct local_channel {
    const ProtobufCMessage *request; /* borrowed; NULL: read already */
    int (*take)(void *arg, const ProtobufCMessage *message, struct err *err);
    void *arg;
};

#endif
