/* SPDX-License-Identifier: Apache-2.0 */
/* role_table.c - every role, in the order in which a process starts them. */
#include <assert.h>

#include "base/memory.h"
#include "roles/processes/process.h"

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
    {.name = "auditor",
     .summary = "finds differences between stages, and repairs them",
     .needs = NEEDS_STORE | NEEDS_TOPICS | NEEDS_COORD,
     .start = role_auditor_start,
     .stop = role_auditor_stop},
    {.name = "snippets",
     .summary = "content kept beside the index and attached to hits",
     .needs = NEEDS_STORE | NEEDS_TOPICS,
     .has_callers = true,
     .start = role_snippets_start,
     .stop = role_snippets_stop},
    {.name = "search",
     .summary = "what buyers' pages call: offers found, with filters",
     .has_callers = true,
     .start = role_search_start,
     .stop = role_search_stop,
     .check = role_search_check},
    {.name = "photos",
     .summary = "photos of offers: fetched, uploaded, scaled, shown",
     .has_callers = true,
     .needs = NEEDS_STORE | NEEDS_TOPICS,
     .start = role_photos_start,
     .stop = role_photos_stop},
};
const size_t role_count = ARRAY_COUNT(role_table);

void process_take_roles(struct process *process)
{
    assert(role_count <= ROLE_COUNT_MAX);
    for (size_t i = 0; i < role_count; i++)
        process->roles[process->role_count++] = &role_table[i];
}
