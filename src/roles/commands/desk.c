/* SPDX-License-Identifier: Apache-2.0 */
/* desk.c - see desk.h. */
#include "roles/commands/desk.h"

#include "base/memory.h"
#include "base/object.h"
#include "net/local_call.h"
#include "roles/bounds.h"
#include "roles/processes/service.h"
#include "stage/service.h"
#include "torg/v1/catalog.pb-c.h"
#include "torg/v1/column.pb-c.h"
#include "torg/v1/composer.pb-c.h"
#include "torg/v1/counters.pb-c.h"
#include "torg/v1/ctr.pb-c.h"
#include "torg/v1/epoch.pb-c.h"
#include "torg/v1/experiment.pb-c.h"
#include "torg/v1/feed.pb-c.h"
#include "torg/v1/inspect.pb-c.h"
#include "torg/v1/queue.pb-c.h"
#include "torg/v1/snippet.pb-c.h"
#include "torg/v1/synonym.pb-c.h"

static const struct local_caller local_operator = {.principal = "local", .language = "en"};

int desk_open(const struct invocation *invocation, bool create, struct desk *desk, struct err *err)
{
    struct process *process = &desk->process;
    struct err remote_err;
    int rc;

    object_check(invocation, INVOCATION_MAGIC);
    *desk = (struct desk){.process = {.config = &invocation->config,
                                      .arena = invocation->arena,
                                      .clock = clock_system(),
                                      .dir = DATA_DIR_CLOSED}};
    rc = data_dir_open(config_text(process->config, SETTING_DATA_DIR), create, &process->dir, err);
    if (rc == ERR_UNAVAILABLE) {
        /* Locked by a server that is up, or by one just starting, or by another command. */
        if (!remote_open(process->config, process->arena, &desk->remote, &remote_err))
            return 0;
        return rc;
    }
    if (rc)
        return rc;
    bell_init(&process->bell, process->clock);
    rc = backends_open_store(process->config, process->clock, process->arena,
                             &process->backends.store, NULL, err);
    if (rc)
        desk_close(desk);
    return rc;
}

void desk_close(struct desk *desk)
{
    if (desk->remote) {
        remote_close(desk->remote);
        return;
    }
    if (desk->process.front)
        role_searcher_stop(&desk->process);
    process_close_parts(&desk->process);
    bell_release(&desk->process.bell);
    data_dir_close(&desk->process.dir);
}

/* --- the services of the local way, made when one is asked for --- */

static int add_system(struct process *process, struct err *err)
{
    static struct rpc_service services[2];

    (void)err;
    services[0] = key_service(process);
    services[1] = audit_service(process);
    process_add_services(process, services, ARRAY_COUNT(services));
    return 0;
}

static int add_parked(struct process *process, struct err *err)
{
    static struct parked_desk desk;
    static struct rpc_service service;

    (void)err;
    desk = (struct parked_desk){.store = process->backends.store, .clock = process->clock};
    service = parked_service(&desk);
    process_add_services(process, &service, 1);
    return 0;
}

/* Topics may be on other machines: only who reads them waits for those. */
static int add_topics(struct process *process, struct err *err)
{
    static struct rpc_service service;
    int rc = backends_open_topics(process->config, process->clock, process->arena,
                                  &process->backends.topics, err);

    if (rc)
        return rc;
    service = topic_service(process);
    process_add_services(process, &service, 1);
    return 0;
}

static int add_columns(struct process *process, struct err *err)
{
    int rc = backends_open_blob(process->config, process->arena, &process->backends.blob, err);

    return rc ? rc : role_indexer_serve(process, err);
}

/* The indexes are opened as a searcher opens them, and brought as far as their topics are. */
static int add_inspect(struct process *process, struct err *err)
{
    int64_t until_us = clock_after_us(process->clock, (int64_t)DESK_INDEX_MS * MS_US);
    bool is_serving;
    int rc = process->backends.topics
                 ? 0
                 : backends_open_topics(process->config, process->clock, process->arena,
                                        &process->backends.topics, err);

    if (!rc)
        rc = backends_open_coord(process->config, process->clock, process->arena,
                                 &process->backends.coord, err);
    if (!rc)
        rc = role_searcher_start(process, err);
    while (!rc && role_searcher_check(process, &is_serving, err)) {
        if (clock_mono_us(process->clock) >= until_us)
            return err_wrap(err, "the indexes of %s were not opened in %d s", process->dir.path,
                            DESK_INDEX_MS / 1000);
        clock_sleep(process->clock, DESK_LOOK_MS * MS_US);
    }
    return rc;
}

static const struct {
    const ProtobufCServiceDescriptor *service;
    int (*add)(struct process *process, struct err *err);
} parts[] = {
    {&torg__v1__key_service__descriptor, add_system},
    {&torg__v1__audit_service__descriptor, add_system},
    {&torg__v1__inspect_service__descriptor, add_inspect},
    {&torg__v1__parked_service__descriptor, add_parked},
    {&torg__v1__topic_service__descriptor, add_topics},
    {&torg__v1__catalog_service__descriptor, role_catalog_start},
    {&torg__v1__column_service__descriptor, add_columns},
    {&torg__v1__composer_service__descriptor, role_composer_serve},
    {&torg__v1__ctr_service__descriptor, role_composer_serve},
    {&torg__v1__counters_service__descriptor, role_offers_start},
    {&torg__v1__feed_service__descriptor, role_offers_start},
    {&torg__v1__snippet_service__descriptor, role_snippets_serve},
    {&torg__v1__synonym_service__descriptor, role_search_serve},
    {&torg__v1__experiment_service__descriptor, role_search_serve},
    {&torg__v1__queue_service__descriptor, role_indexer_serve},
    {&torg__v1__epoch_service__descriptor, role_indexer_serve},
};

static int find_local(struct desk *desk, const ProtobufCServiceDescriptor *service,
                      const struct rpc_service **found, struct err *err)
{
    struct process *process = &desk->process;
    int rc = 0;

    *found = process_service(process, service);
    for (size_t i = 0; i < ARRAY_COUNT(parts) && !*found && !rc; i++) {
        if (parts[i].service != service)
            continue;
        rc = parts[i].add(process, err);
        *found = process_service(process, service);
    }
    if (!rc && !*found)
        rc = err_set(err, ERR_UNAVAILABLE, "no server runs on %s that could answer %s",
                     process->dir.path, service->name);
    return rc;
}

/* --- asking --- */

int desk_call(struct desk *desk, const ProtobufCServiceDescriptor *service, const char *method,
              const ProtobufCMessage *request, ProtobufCMessage **response, struct err *err)
{
    const struct rpc_service *local;
    int rc;

    if (desk->remote)
        return remote_call(desk->remote, service, method, request, response, err);
    rc = find_local(desk, service, &local, err);
    return rc ? rc
              : local_call(local, method, &local_operator, request, desk->process.arena, response,
                           err);
}

int desk_stream(struct desk *desk, const ProtobufCServiceDescriptor *service, const char *method,
                const ProtobufCMessage *request,
                int (*take)(void *arg, const ProtobufCMessage *message, struct err *err), void *arg,
                struct err *err)
{
    const struct rpc_service *local;
    int rc;

    if (desk->remote)
        return remote_stream(desk->remote, service, method, request, take, arg, err);
    rc = find_local(desk, service, &local, err);
    return rc ? rc : local_stream(local, method, &local_operator, request, take, arg, err);
}

int desk_ask(const struct invocation *invocation, bool create,
             const ProtobufCServiceDescriptor *service, const char *method,
             const ProtobufCMessage *request, ProtobufCMessage **response, struct err *err)
{
    struct desk desk;
    int rc = desk_open(invocation, create, &desk, err);

    object_check(invocation, INVOCATION_MAGIC);
    if (rc)
        return rc;
    rc = desk_call(&desk, service, method, request, response, err);
    desk_close(&desk);
    return rc;
}
