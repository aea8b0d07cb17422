/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registry_operation.h - an operator's command on the registry: operation.h, with what the desks of
 * the registry stand on when no server runs.
 */
#ifndef TORG_ROLES_REGISTRY_OPERATION_H
#define TORG_ROLES_REGISTRY_OPERATION_H

#include "registry/clients.h"
#include "registry/rows.h"
#include "roles/operation.h"

struct registry_operation {
    struct operation operation;
    struct clients *clients;           /* owned; of the local way, else NULL */
    struct dictionaries *dictionaries; /* the same */
    const char *client;                /* that was named; "": none was */
};

/* On failure there is nothing to close. */
int registry_operation_open(const struct invocation *invocation,
                            struct registry_operation *operation, struct err *err);
void registry_operation_close(struct registry_operation *operation);

/* Whose documents are meant. */
const char *registry_operation_client(const struct registry_operation *operation);

#endif
