/* SPDX-License-Identifier: Apache-2.0 */
/* role_offers.c - the role offers: sellers' offers, drafts, cabinets and feeds. */
#include "base/memory.h"
#include "feeds/mapping/similar.h"
#include "feeds/service.h"
#include "offers/service.h"
#include "roles/processes/feed_settings.h"
#include "roles/processes/process.h"
#include "search/search.h"
#include "search/words/line.h"

/* One a process; the server borrows them for its life. */
static struct offers offers;
static struct contacts contacts;
static struct feed_rules feed_rules;
static struct feed_similar feed_similar;
static struct rpc_service services[8];

/* Buyers who type this are shown these: the offers' categories, by the role search of this process.
 */
static int find_similar(void *arg, const char *title, int64_t deadline_us, struct arena *arena,
                        struct feed_neighbour *list, size_t max, size_t *count, struct err *err)
{
    const struct process *process = arg;
    Torg__V1__SearchOffersRequest request = TORG__V1__SEARCH_OFFERS_REQUEST__INIT;
    Torg__V1__SearchOffersResponse response = TORG__V1__SEARCH_OFFERS_RESPONSE__INIT;
    struct search search;
    int rc;

    if (!process->search)
        return err_set(err, ERR_UNAVAILABLE, "the role search is not in this process");
    search = *process->search;
    search.experiment = NULL; /* no visitor sees this list */
    search.is_quiet = true;
    request.text = line_plain(title, arena);
    request._limit_case = TORG__V1__SEARCH_OFFERS_REQUEST___LIMIT_LIMIT;
    request.limit = (uint32_t)max;
    request.only_offers = request.keep_spelling = true;
    rc = search_offers(&search, &request, LANGUAGE_RU, deadline_us, arena, &response, err);
    for (size_t i = 0; !rc && i < response.n_offers && i < max; i++)
        list[(*count)++] =
            (struct feed_neighbour){response.offers[i]->category, response.offers[i]->title};
    return rc;
}

int role_offers_start(struct process *process, struct err *err)
{
    size_t count = ARRAY_COUNT(services) - 1;
    int rc = process_open_catalog(process, err);

    if (rc)
        return rc;
    feed_rules = feed_settings(process->config);
    feed_similar = (struct feed_similar){
        .ask = find_similar,
        .arg = process,
        .patience_us = config_number(process->config, SETTING_SEARCH_DEADLINE)};
    offers = (struct offers){.store = process->backends.store,
                             .clock = process->clock,
                             .catalog = catalog_in_use,
                             .catalog_arg = process->catalog,
                             .bell = &process->bell,
                             .feed_rules = &feed_rules,
                             .feed_similar = &feed_similar};
    services[0] = offer_service(&offers);
    services[1] = draft_service(&offers);
    services[2] = cabinet_service(&offers);
    services[3] = moderation_service(&offers);
    services[4] = stage_service(&offers);
    services[5] = counters_service(&offers);
    services[6] = feed_service(&offers);
    contacts.offers = &offers;
    contacts.topics = process->backends.topics;
    contact_limit_init(&contacts.limit,
                       config_number(process->config, SETTING_OFFERS_CONTACTS_PER_HOUR));
    if (contacts.topics) /* a command that works on the directory has none, and buyers neither */
        services[count++] = contact_service(&contacts);
    process_add_services(process, services, count);
    return 0;
}

void role_offers_stop(struct process *process)
{
    (void)process; /* it has no threads: its calls ended with the server's */
    contact_limit_release(&contacts.limit);
}
