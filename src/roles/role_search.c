/* SPDX-License-Identifier: Apache-2.0 */
/* role_search.c - the role search: what buyers' pages call. */
#include "base/file.h"
#include "offers/offers.h"
#include "roles/process.h"
#include "search/learner.h"
#include "search/service.h"
#include "searcher/front.h"
#include "spell/embedded.h"

/* One a process; the server borrows them for its life. */
static struct search search;
static struct offers offers;
static struct rpc_service service;
static struct learner *learner; /* NULL: texts are not corrected */

static struct catalog *catalog_in_use(void *arg)
{
    return catalog_holder_ref(arg);
}

static int ask(void *arg, const Torg__V1__SearchRequest *request, int64_t deadline_us,
               struct arena *arena, Torg__V1__SearchResponse *response, struct err *err)
{
    return front_search(arg, request->client, request, deadline_us, arena, response, err);
}

/* Offers are in the same store, whether or not their role runs in this process. */
static int fetch(void *arg, const char *offer_id, struct arena *arena, Torg__V1__Offer **offer,
                 struct err *err)
{
    const struct reader visitor = {.seller = ""};
    offerid id;
    int rc = offer_id_parse(bytes_of(offer_id), &id, err);

    return rc ? rc : offers_get(arg, &visitor, id, arena, offer, err);
}

static struct speller *speller_in_use(void *arg)
{
    (void)arg;
    return learner ? learner_speller(learner) : NULL;
}

static int start_learner(struct process *process, struct err *err)
{
    const char *dir = data_dir_path(process->dir.path, "spell", process->arena);
    const struct learner_options options = {
        .topics = process->backends.topics,
        .clock = process->clock,
        .catalog = catalog_in_use,
        .catalog_arg = process->catalog,
        .base = spell_base(),
        .path = data_dir_path(dir, "learnt", process->arena),
    };
    int rc = dir_create(dir, err);

    if (!rc)
        learner = learner_start(&options);
    return rc;
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
    offers = (struct offers){.store = process->backends.store,
                             .clock = process->clock,
                             .catalog = catalog_in_use,
                             .catalog_arg = process->catalog};
    search = (struct search){.clock = process->clock,
                             .catalog = catalog_in_use,
                             .catalog_arg = process->catalog,
                             .ask = ask,
                             .ask_arg = (void *)process->front,
                             .speller = speller_in_use,
                             .fetch = fetch,
                             .fetch_arg = &offers};
    service = search_service(&search);
    server_add_service(process->server, &service);
    return config_number(process->config, SETTING_SEARCH_SPELLING) ? start_learner(process, err)
                                                                   : 0;
}

void role_search_stop(struct process *process)
{
    (void)process;
    learner_stop(learner); /* its calls ended with the server's */
    learner = NULL;
}
