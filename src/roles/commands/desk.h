/* SPDX-License-Identifier: Apache-2.0 */
/*
 * desk.h - whom an operator's command asks: the server that runs on the data directory, or the
 * directory itself when none runs. Which of the two is decided by the directory's lock, once.
 *
 * A command is written once: it builds a request, calls the method, prints the answer. When no
 * server runs the desk calls the same handler in its own process, as the principal "local".
 */
#ifndef TORG_ROLES_COMMANDS_DESK_H
#define TORG_ROLES_COMMANDS_DESK_H

#include "roles/commands/command.h"
#include "roles/commands/remote.h"
#include "roles/processes/process.h"

struct desk {
    struct remote *remote;  /* NULL: no server runs, and the directory is ours */
    struct process process; /* then: what is open of it, for the handlers */
};

/* create: a missing data directory is made. On failure there is nothing to close. */
int desk_open(const struct invocation *invocation, bool create, struct desk *desk, struct err *err);
void desk_close(struct desk *desk);

/* A method by its name in the .proto; the response is in the invocation's arena. ERR_UNAVAILABLE:
 * no server runs, and it takes one to answer. */
int desk_call(struct desk *desk, const ProtobufCServiceDescriptor *service, const char *method,
              const ProtobufCMessage *request, ProtobufCMessage **response, struct err *err);

/* The same for a method that answers with a stream: take is called with each message, whose memory
 * is gone afterwards. Negative ends the call and is returned. */
int desk_stream(struct desk *desk, const ProtobufCServiceDescriptor *service, const char *method,
                const ProtobufCMessage *request,
                int (*take)(void *arg, const ProtobufCMessage *message, struct err *err), void *arg,
                struct err *err);

/* For a command of one call: opens, calls, closes. */
int desk_ask(const struct invocation *invocation, bool create,
             const ProtobufCServiceDescriptor *service, const char *method,
             const ProtobufCMessage *request, ProtobufCMessage **response, struct err *err);

#endif
