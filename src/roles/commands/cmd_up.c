/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_up.c - torg up, torg serve. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/object.h"
#include "config/nearest.h"
#include "roles/commands/command.h"
#include "roles/processes/process.h"

enum exit_code process_serve(struct process *process)
{
    struct err err;
    int rc = process_run(process, &err);

    if (rc == ERR_PRECONDITION || rc == ERR_INVALID) {
        complain("%s", err.text);
        return EXIT_CONFIG;
    }
    return rc ? fail(&err) : EXIT_OK;
}

enum exit_code cmd_up(const struct invocation *invocation)
{
    struct process process = {.config = &invocation->config,
                              .arena = invocation->arena,
                              .demo = true,
                              .json = invocation->json};

    object_check(invocation, INVOCATION_MAGIC);
    process_take_roles(&process);
    return process_serve(&process);
}

static const struct role *role_find(const char *name)
{
    for (size_t i = 0; i < role_count; i++) {
        if (strcmp(role_table[i].name, name) == 0)
            return &role_table[i];
    }
    return NULL;
}

static enum exit_code refuse_role(const char *name)
{
    struct nearest nearest = nearest_to(name);
    struct buf known = BUF_INIT(1024);

    for (size_t i = 0; i < role_count; i++) {
        buf_printf(&known, "%s%s", i ? ", " : "", role_table[i].name);
        nearest_offer(&nearest, role_table[i].name);
    }
    if (nearest.word)
        complain("there is no role %s; did you mean %s?", name, nearest.word);
    else
        complain("there is no role %s; this version has: %s", name, buf_text(&known));
    buf_release(&known);
    return EXIT_USAGE;
}

enum exit_code cmd_serve(const struct invocation *invocation)
{
    struct process process = {
        .config = &invocation->config, .arena = invocation->arena, .json = invocation->json};

    object_check(invocation, INVOCATION_MAGIC);
    for (size_t i = 0; i < invocation->argument_count; i++) {
        const struct role *role = role_find(invocation->arguments[i]);

        if (!role)
            return refuse_role(invocation->arguments[i]);
        for (size_t j = 0; j < process.role_count; j++) {
            if (process.roles[j] == role) {
                complain("the role %s is named twice", role->name);
                return EXIT_USAGE;
            }
        }
        process.roles[process.role_count++] = role;
    }
    return process_serve(&process);
}
