/* SPDX-License-Identifier: Apache-2.0 */
/* registry_operation.c - see registry_operation.h. */
#include "roles/registry_operation.h"

#include "base/clock.h"
#include "registry/service.h"

int registry_operation_open(const struct invocation *invocation,
                            struct registry_operation *operation, struct err *err)
{
    const char *client = invocation_option(invocation, "client");
    int rc;

    *operation = (struct registry_operation){.client = client ? client : ""};
    rc = operation_open(invocation, false, &operation->operation, err);
    if (rc || operation->operation.remote)
        return rc;
    operation->clients = clients_new(operation->operation.store, clock_system());
    operation->dictionaries = dictionaries_new(operation->operation.store);
    return 0;
}

void registry_operation_close(struct registry_operation *operation)
{
    clients_free(operation->clients);
    dictionaries_free(operation->dictionaries);
    operation_close(&operation->operation);
}

const char *registry_operation_client(const struct registry_operation *operation)
{
    return *operation->client ? operation->client : CLIENT_DEFAULT;
}
