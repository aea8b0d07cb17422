/* SPDX-License-Identifier: Apache-2.0 */
/* role_indexer.c - the role indexer: changes of documents on their way to the index, and what
 * operators do with the queue. */
#include <string.h>

#include "base/memory.h"
#include "inspect/doors/searcher_door.h"
#include "registry/clients/column_desk.h"
#include "registry/clients/epoch_desk.h"
#include "registry/indexing/indexer_worker.h"
#include "registry/indexing/queue_desk.h"
#include "registry/indexing/refusal_inbox.h"
#include "registry/service.h"
#include "roles/processes/peer_settings.h"
#include "roles/processes/process.h"

/* One a process; the server borrows them for its life. */
static struct indexer_base base;
static struct indexer_worker *worker;
static struct refusal_inbox *refusals;
static struct queue_desk desk;
static struct epoch_desk epochs;
static struct column_desk columns;
static struct rpc_service services[2], column_calls;
static struct peers *searchers; /* in other processes; NULL: that of this one is asked */

static struct indexer_rules rules_of(const struct config *config)
{
    return (struct indexer_rules){
        .try_count = config_number(config, SETTING_REGISTRY_TRY_COUNT),
        .main_weight = config_number(config, SETTING_REGISTRY_MAIN_WEIGHT),
        .backfill_weight = config_number(config, SETTING_REGISTRY_BACKFILL_WEIGHT),
        .retention_us = config_number(config, SETTING_REGISTRY_INDEX_RETENTION),
        .slack_count = config_number(config, SETTING_REGISTRY_INDEX_SLACK),
        .trim_delay_us = config_number(config, SETTING_REGISTRY_INDEX_TRIM_DELAY),
        .numbers = {.ttl_us = config_number(config, SETTING_REGISTRY_NUMBER_LIFE),
                    .hold_us = config_number(config, SETTING_REGISTRY_NUMBER_HOLD)}};
}

/* The door of this process is there when the role searcher has started. */
static int ask_searchers(void *arg, const char *client, struct arena *arena,
                         Torg__V1__Freshness **freshness, struct err *err)
{
    const struct process *process = arg;
    const struct index_door door = searchers ? peers_door(searchers) : process->door;

    if (door.freshness)
        return door.freshness(door.arg, client, arena, freshness, err);
    return err_set(err, ERR_UNAVAILABLE,
                   "this process does not know which searchers there are: name them in "
                   "search.searchers");
}

static bool has_searcher(const struct process *process)
{
    for (size_t i = 0; i < process->role_count; i++)
        if (strcmp(process->roles[i]->name, "searcher") == 0)
            return true;
    return false;
}

int role_indexer_serve(struct process *process, struct err *err)
{
    int rc = process_open_registry(process, err);

    if (rc)
        return rc;
    desk = (struct queue_desk){.store = process->backends.store,
                               .clients = process->clients,
                               .dictionaries = process->dictionaries,
                               .clock = process->clock};
    epochs = (struct epoch_desk){.store = process->backends.store,
                                 .clients = process->clients,
                                 .dictionaries = process->dictionaries,
                                 .topics = process->backends.topics,
                                 .coord = process->backends.coord,
                                 .clock = process->clock};
    services[0] = queue_service(&desk);
    services[1] = epoch_service(&epochs);
    process_add_services(process, services, ARRAY_COUNT(services));
    if (!process->backends.blob) /* a command that does not ask for columns */
        return 0;
    columns = (struct column_desk){.store = process->backends.store,
                                   .blob = process->backends.blob,
                                   .clients = process->clients,
                                   .clock = process->clock};
    column_calls = column_service(&columns);
    process_add_services(process, &column_calls, 1);
    return 0;
}

/* Once the registry is open: before, an indexer that runs alone has no clients. */
static int take_refusals(struct process *process, struct err *err)
{
    const struct refusal_inbox_options options = {.topics = process->backends.topics,
                                                  .store = process->backends.store,
                                                  .clients = process->clients,
                                                  .clock = process->clock};

    return refusal_inbox_start(&options, &refusals, err);
}

int role_indexer_start(struct process *process, struct err *err)
{
    int rc = role_indexer_serve(process, err);

    if (!rc && !has_searcher(process))
        rc = peer_settings_open(process, SETTING_SEARCH_SEARCHERS, SETTING_SEARCH_SEARCHERS_KEY,
                                &searchers, err);
    if (!rc)
        rc = take_refusals(process, err);
    if (rc)
        return rc;
    epochs.freshness = columns.freshness = ask_searchers;
    epochs.freshness_arg = columns.freshness_arg = process;
    base = (struct indexer_base){.store = process->backends.store,
                                 .topics = process->backends.topics,
                                 .clients = process->clients,
                                 .dictionaries = process->dictionaries,
                                 .clock = process->clock,
                                 .rules = rules_of(process->config)};
    worker =
        indexer_worker_start(&base, process->backends.coord, &process->registry_bell,
                             (unsigned)config_number(process->config, SETTING_REGISTRY_INDEXERS));
    return 0;
}

void role_indexer_stop(struct process *process)
{
    (void)process;
    indexer_worker_stop(worker);
    refusal_inbox_stop(refusals);
    peers_close(searchers);
    worker = NULL;
    refusals = NULL;
    searchers = NULL;
}
