/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote.h - calls the server that runs on a data directory, with the key it left there.
 */
#ifndef TORG_ROLES_COMMANDS_REMOTE_H
#define TORG_ROLES_COMMANDS_REMOTE_H

#include <protobuf-c/protobuf-c.h>

#include "base/arena.h"
#include "base/err.h"
#include "config/config.h"
#include "net/client/rpc_stream.h"
#include "roles/commands/command.h"

struct remote;

/* ERR_NOT_FOUND when no server has left its address in the data directory. */
int remote_open(const struct config *config, struct arena *arena, struct remote **remote,
                struct err *err);
/* The same for a command that needs a running server: ERR_UNAVAILABLE says so, and what to do. */
int remote_require(const struct invocation *invocation, struct remote **remote, struct err *err);
void remote_close(struct remote *remote);
const char *remote_url(const struct remote *remote);

/* A method by its name in the .proto. The response is in the arena; an answer that is an error
 * comes back as one. */
int remote_call(struct remote *remote, const ProtobufCServiceDescriptor *service,
                const char *method, const ProtobufCMessage *request, ProtobufCMessage **response,
                struct err *err);

/* The same for a method that answers with a stream: take is called with each message, whose memory
 * is gone afterwards. Negative ends the call and is returned. */
int remote_stream(struct remote *remote, const ProtobufCServiceDescriptor *service,
                  const char *method, const ProtobufCMessage *request,
                  int (*take)(void *arg, const ProtobufCMessage *message, struct err *err),
                  void *arg, struct err *err);

/* A call with streams; method: "torg.v1.FeedService/Import". The server may be busy with what it
 * was sent for as long as an hour. */
int remote_open_stream(struct remote *remote, const char *method, struct rpc_stream **stream,
                       struct err *err);

#endif
