/* SPDX-License-Identifier: Apache-2.0 */
/* role_catalog.c - the role catalog: the tree of categories, for reading and changing. */
#include "base/log.h"
#include "base/memory.h"
#include "catalog/service.h"
#include "catalog/versions.h"
#include "demo_catalog.h"
#include "documents/offer_schema.h"
#include "model/offer_fields.h"
#include "offers/record/offer_impact.h"
#include "registry/clients/epoch_fit.h"
#include "roles/processes/process.h"

/* One a process; the server borrows them for its life. */
static struct catalog_service context;
static struct offer_impact offers;
static struct index_fit {
    struct catalog_index base;
    struct clients *clients; /* owned */
} fit;
static struct rpc_service service;

/* An empty store gets the demo catalogue, so that the first start has something to show. */
static int seed(struct process *process, struct err *err)
{
    struct store *store = process->backends.store;
    struct catalog *demo;
    int64_t version;
    size_t count;
    int rc = versions_current(store, &version, err);

    if (rc || version)
        return rc;
    rc = catalog_from_json(bytes_make(demo_catalog, demo_catalog_size), NULL, &demo, err);
    if (rc)
        return err_wrap(err, "the demo catalogue");
    catalog_categories(demo, &count);
    rc = versions_add(store, demo, 0, "local", clock_wall_us(process->clock), &version, err);
    catalog_unref(demo);
    if (rc == ERR_CONFLICT) /* another process was faster */
        return 0;
    if (!rc)
        log_info("there was no catalogue: the demo's is in use now", LOG_INT("version", version),
                 LOG_INT("categories", (int64_t)count));
    return rc;
}

int process_open_catalog(struct process *process, struct err *err)
{
    int rc = 0;

    if (process->catalog)
        return 0;
    if (process->demo)
        rc = seed(process, err);
    if (!rc)
        rc = catalog_holder_open(process->backends.store, process->role_count > 0,
                                 &process->catalog, err); /* a command, which has no roles, is over
                                                           * before it changes */
    return rc;
}

static int find_unfit(struct catalog_index *self, const struct catalog *next, struct arena *arena,
                      struct catalog_unfit **unfit, size_t *count, struct err *err)
{
    struct index_fit *index = container_of(self, struct index_fit, base);
    size_t field_count;
    Torg__V1__SchemaField **fields = offer_schema(next, arena, &field_count);
    struct epoch_misfit *misfits;
    int rc = epoch_find_misfits(index->clients, OFFER_CLIENT, fields, field_count, arena, &misfits,
                                count, err);

    if (rc)
        return rc;
    *unfit = arena_array(arena, *count + 1, sizeof(**unfit));
    for (size_t i = 0; i < *count; i++) {
        const char *attribute = offer_schema_attribute(misfits[i].field);

        (*unfit)[i] = (struct catalog_unfit){attribute ? attribute : misfits[i].field->name,
                                             misfits[i].reason};
    }
    return 0;
}

int role_catalog_start(struct process *process, struct err *err)
{
    int rc = process_open_catalog(process, err);

    if (rc)
        return rc;
    /* Offers are in the same store, whether or not their role runs in this process. */
    offer_impact_init(&offers, process->backends.store);
    fit = (struct index_fit){.base = {.find_unfit = find_unfit},
                             .clients = clients_new(process->backends.store, process->clock)};
    context = (struct catalog_service){.holder = process->catalog,
                                       .store = process->backends.store,
                                       .clock = process->clock,
                                       .impact = &offers.base,
                                       .index = &fit.base};
    service = catalog_rpc_service(&context);
    process_add_services(process, &service, 1);
    return 0;
}

void role_catalog_stop(struct process *process)
{
    (void)process; /* the catalogue is shared by the roles: process.c closes it after all */
    clients_free(fit.clients);
    fit.clients = NULL;
}
