/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation.h - an operator's command: through the server that runs on the data directory, or on
 * the directory itself when none runs. Which of the two is decided by the directory's lock.
 */
#ifndef TORG_ROLES_OPERATION_H
#define TORG_ROLES_OPERATION_H

#include "roles/command.h"
#include "roles/data_dir.h"
#include "roles/remote.h"
#include "roles/service.h"

struct operation {
    struct remote *remote; /* exactly one of remote and store */
    struct store *store;
    struct data_dir dir;
    struct violations violations;
    struct asker asker; /* of the local way */
};

/* create: a missing data directory is made. */
int operation_open(const struct invocation *invocation, bool create, struct operation *operation,
                   struct err *err);
void operation_close(struct operation *operation);

/* Prints a message as JSON, one line. */
void print_json(const ProtobufCMessage *message);

/* "2026-11-15T08:41:26Z", or "-" for none; in the arena. */
const char *time_text(const Google__Protobuf__Timestamp *timestamp, struct arena *arena);

#endif
