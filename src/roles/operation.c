/* SPDX-License-Identifier: Apache-2.0 */
/* operation.c - see operation.h. */
#include "roles/operation.h"

#include <assert.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/clock.h"
#include "net/json.h"
#include "roles/backends.h"

enum { OUTPUT_SIZE_MAX = 64 << 20, SECONDS_LENGTH = 19 }; /* of 2026-11-15T08:41:26 */

static int open_local(const struct invocation *invocation, struct operation *operation,
                      struct err *err)
{
    int rc = backends_open_store(&invocation->config, clock_system(), invocation->arena,
                                 &operation->store, NULL, err);

    operation->asker = (struct asker){
        .store = operation->store,
        .principal = "local",
        .now_us = clock_wall_us(clock_system()),
        .arena = invocation->arena,
        .violations = &operation->violations,
    };
    return rc;
}

int operation_open(const struct invocation *invocation, bool create, struct operation *operation,
                   struct err *err)
{
    const char *path = config_text(&invocation->config, SETTING_DATA_DIR);
    struct err remote_err;
    int rc;

    *operation = (struct operation){.violations = violations_in(invocation->arena)};
    rc = data_dir_open(path, create, &operation->dir, err);
    if (rc == ERR_UNAVAILABLE) {
        /* Locked by a server that is up, or by one just starting, or by another command. */
        if (!remote_open(&invocation->config, invocation->arena, &operation->remote, &remote_err))
            return 0;
        return rc;
    }
    if (!rc)
        rc = open_local(invocation, operation, err);
    if (rc)
        operation_close(operation);
    return rc;
}

void operation_close(struct operation *operation)
{
    remote_close(operation->remote);
    store_close(operation->store);
    data_dir_close(&operation->dir);
}

void print_json(const ProtobufCMessage *message)
{
    struct buf out = BUF_INIT(OUTPUT_SIZE_MAX);

    json_encode(message, &out);
    assert(!buf_failed(&out)); /* all keys there may be are a quarter of it */
    puts(buf_text(&out));
    buf_release(&out);
}

const char *time_text(const Google__Protobuf__Timestamp *timestamp, struct arena *arena)
{
    char text[CLOCK_TEXT_SIZE];

    if (!timestamp)
        return "-";
    clock_format(timestamp->seconds * SECOND_US, text);
    return arena_printf(arena, "%.*sZ", SECONDS_LENGTH, text);
}
