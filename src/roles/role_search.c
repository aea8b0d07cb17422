/* SPDX-License-Identifier: Apache-2.0 */
/* role_search.c - the role search: what buyers' pages call. */
#include "inspect/change.h"
#include "roles/process.h"
#include "search/service.h"
#include "searcher/front.h"

/* One a process; the server borrows them for its life. */
static struct search search;
static struct rpc_service service;

static struct catalog *catalog_in_use(void *arg)
{
    return catalog_holder_ref(arg);
}

static int ask(void *arg, const Torg__V1__SearchRequest *request, int64_t deadline_us,
               struct arena *arena, Torg__V1__SearchResponse *response, struct err *err)
{
    return front_search(arg, request->client, request, deadline_us, arena, response, err);
}

static int settle(void *arg, const char *token, int64_t deadline_us, struct arena *arena,
                  char **found, struct err *err)
{
    return change_settle(arg, token, deadline_us, arena, found, err);
}

int role_search_start(struct process *process, struct err *err)
{
    int rc = process_open_catalog(process, err);

    if (rc)
        return rc;
    if (!process->front)
        return err_set(err, ERR_PRECONDITION,
                       "the role search asks the searcher of its own process: name the role "
                       "searcher before it (searcher.replicas and searcher.shards say which "
                       "indexes it has itself)");
    search = (struct search){.clock = process->clock,
                             .catalog = catalog_in_use,
                             .catalog_arg = process->catalog,
                             .ask = ask,
                             .ask_arg = (void *)process->front,
                             .settle = settle,
                             .settle_arg = process->inspect};
    service = search_service(&search);
    server_add_service(process->server, &service);
    return 0;
}

void role_search_stop(struct process *process)
{
    (void)process; /* it has no threads: its calls ended with the server's */
}
