/* SPDX-License-Identifier: Apache-2.0 */
/* role_search.c - the role search: what buyers' pages call. */
#include "roles/peer_settings.h"
#include "roles/process.h"
#include "search/service.h"
#include "searcher/front.h"
#include "searcher/fronts.h"

/* One a process; the server borrows them for its life. */
static struct search search;
static struct rpc_service service;
static struct peers *searchers; /* in other processes; NULL: that of this one is asked */

static struct catalog *catalog_in_use(void *arg)
{
    return catalog_holder_ref(arg);
}

static int ask_here(void *arg, const Torg__V1__SearchRequest *request, int64_t deadline_us,
                    struct arena *arena, Torg__V1__SearchResponse *response, struct err *err)
{
    return front_search(arg, request->client, request, deadline_us, arena, response, err);
}

static int ask_others(void *arg, const Torg__V1__SearchRequest *request, int64_t deadline_us,
                      struct arena *arena, Torg__V1__SearchResponse *response, struct err *err)
{
    return fronts_search(arg, request, deadline_us, arena, response, err);
}

int role_search_start(struct process *process, struct err *err)
{
    int rc = process_open_catalog(process, err);

    rc = rc ? rc
            : peer_settings_open(process, SETTING_SEARCH_SEARCHERS, SETTING_SEARCH_SEARCHERS_KEY,
                                 &searchers, err);
    if (rc)
        return rc;
    if (!searchers && !process->front)
        return err_set(err, ERR_PRECONDITION,
                       "the role search has no searcher to ask: name those of other processes in "
                       "search.searchers, or the role searcher before it");
    search = (struct search){.clock = process->clock,
                             .catalog = catalog_in_use,
                             .catalog_arg = process->catalog,
                             .ask = searchers ? ask_others : ask_here,
                             .ask_arg = searchers ? (void *)searchers : (void *)process->front};
    service = search_service(&search);
    server_add_service(process->server, &service);
    return 0;
}

void role_search_stop(struct process *process)
{
    (void)process;
    peers_close(searchers); /* its calls ended with the server's */
    searchers = NULL;
}
