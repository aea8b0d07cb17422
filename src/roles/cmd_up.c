/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_up.c - torg up, torg serve; and the table of roles. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "config/nearest.h"
#include "roles/command.h"
#include "roles/process.h"

/* A stage of the pipeline becomes a row here. */
const struct role role_table[] = {
    {.name = "system",
     .summary = "the page, the state of the process, keys, the audit log",
     .start = role_system_start,
     .stop = role_system_stop},
    {.name = "catalog",
     .summary = "the tree of categories, their attributes and rules",
     .start = role_catalog_start,
     .stop = role_catalog_stop},
    {.name = "offers",
     .summary = "sellers' offers, drafts and cabinets",
     .needs = NEEDS_STORE,
     .has_callers = true,
     .start = role_offers_start,
     .stop = role_offers_stop},
    {.name = "offers-worker",
     .summary = "export of changed offers, opinions, photo results, expiry",
     .needs = NEEDS_STORE | NEEDS_TOPICS | NEEDS_COORD,
     .start = role_offers_worker_start,
     .stop = role_offers_worker_stop},
    {.name = "receiver",
     .summary = "documents of clients: checked, kept, queued for the index",
     .needs = NEEDS_STORE,
     .has_callers = true,
     .start = role_receiver_start,
     .stop = role_receiver_stop},
    {.name = "composer",
     .summary = "changed offers, made into documents for the index",
     .needs = NEEDS_STORE | NEEDS_TOPICS,
     .start = role_composer_start,
     .stop = role_composer_stop},
    {.name = "indexer",
     .summary = "changes of documents on their way to the index",
     .needs = NEEDS_STORE | NEEDS_TOPICS | NEEDS_COORD,
     .start = role_indexer_start,
     .stop = role_indexer_stop},
    {.name = "searcher",
     .summary = "indexes of documents, and searches over them",
     .needs = NEEDS_KEYS,
     .has_callers = true,
     .start = role_searcher_start,
     .stop = role_searcher_stop,
     .check = role_searcher_check},
    {.name = "search",
     .summary = "what buyers' pages call: offers found, with filters",
     .has_callers = true,
     .start = role_search_start,
     .stop = role_search_stop,
     .check = role_search_check},
    {.name = "photos",
     .summary = "photos of offers, for those who look at them",
     .has_callers = true,
     .start = role_photos_start,
     .stop = role_photos_stop},
};
const size_t role_count = ARRAY_COUNT(role_table);

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

void process_take_roles(struct process *process)
{
    assert(role_count <= ROLE_COUNT_MAX);
    for (size_t i = 0; i < role_count; i++)
        process->roles[process->role_count++] = &role_table[i];
}

enum exit_code cmd_up(const struct invocation *invocation)
{
    struct process process = {
        .config = &invocation->config, .arena = invocation->arena, .demo = true};

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
    struct process process = {.config = &invocation->config, .arena = invocation->arena};

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
