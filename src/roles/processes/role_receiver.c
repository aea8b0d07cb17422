/* SPDX-License-Identifier: Apache-2.0 */
/* role_receiver.c - the role receiver: documents of clients; and what roles of the registry share.
 */
#include "base/memory.h"
#include "registry/receiving/document_inbox.h"
#include "registry/receiving/keeper.h"
#include "registry/service.h"
#include "roles/processes/process.h"

/* One a process; the server borrows them for its life. */
static struct receiver receiver;
static struct rpc_service services[2];
static struct rest_service plain;
static struct document_inbox *inbox, *takedowns;
static struct keeper *keeper;

int process_open_registry(struct process *process, struct err *err)
{
    int rc;

    if (process->clients)
        return 0;
    process->clients = clients_new(process->backends.store, process->clock);
    process->dictionaries = dictionaries_new(process->backends.store);
    if (!process->backends.coord)
        return 0; /* of a command: no searcher runs, and the next start of a role announces them */
    rc = clients_announce(process->clients, process->backends.coord, err);
    return rc ? err_wrap(err, "announcing the clients") : 0;
}

int role_receiver_start(struct process *process, struct err *err)
{
    int rc = process_open_registry(process, err);

    if (rc)
        return rc;
    receiver = (struct receiver){
        .store = process->backends.store,
        .clock = process->clock,
        .clients = process->clients,
        .dictionaries = process->dictionaries,
        .intake = intake_new(process->backends.store),
        .coord = process->backends.coord,
        .bell = &process->registry_bell,
        .shard_count = (uint32_t)config_number(process->config, SETTING_REGISTRY_SHARDS),
        .tombstone_life_us = config_number(process->config, SETTING_REGISTRY_TOMBSTONE_LIFE)};
    services[0] = document_service(&receiver);
    services[1] = schema_service(&receiver);
    process_add_services(process, services, ARRAY_COUNT(services));
    plain = plain_document_service(&receiver);
    if (process->server)
        server_add_rest(process->server, &plain);
    rc = document_inbox_start(&receiver, process->backends.topics, &inbox, err);
    if (!rc)
        rc = takedown_inbox_start(&receiver, process->backends.topics, &takedowns, err);
    return rc ? rc : keeper_start(&receiver, &keeper, err);
}

void role_receiver_stop(struct process *process)
{
    (void)process;
    keeper_stop(keeper);
    document_inbox_stop(takedowns);
    document_inbox_stop(inbox);
    intake_free(receiver.intake);
    receiver.intake = NULL;
    keeper = NULL;
    inbox = takedowns = NULL;
}
