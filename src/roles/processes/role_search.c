/* SPDX-License-Identifier: Apache-2.0 */
/* role_search.c - the role search: what buyers' pages call. */
#include "base/clock.h"
#include "base/file.h"
#include "clicks/service.h"
#include "clicks/service_experiments.h"
#include "inspect/doors/searcher_door.h"
#include "inspect/service.h"
#include "inspect/trace/change.h"
#include "model/offer_fields.h"
#include "offers/change/offers.h"
#include "roles/bounds.h"
#include "roles/processes/peer_settings.h"
#include "roles/processes/process.h"
#include "roles/processes/ranking_settings.h"
#include "search/choices/votes.h"
#include "search/learning/learner.h"
#include "search/service.h"
#include "search/service_synonyms.h"
#include "search/words/clicked.h"
#include "searcher/front/front.h"
#include "searcher/front/fronts.h"
#include "snippets/requests/page.h"
#include "spell/embedded.h"

/* One a process; the server borrows them for its life. */
static struct search search;
static struct offers offers;
static struct rpc_service service;
static struct events events;
static struct rpc_service event_calls;
static struct rest_service plain;
static struct rest_service pages;
static struct ranking ranking, tried;
static struct experiment experiment;
static struct experiment_desk experiments;
static struct rpc_service experiment_calls;
static struct learner *learner; /* NULL: texts are not corrected */
static struct peers *searchers; /* in other processes; NULL: that of this one is asked */
static struct snippet_pages *glued;
static struct votes *votes;
static struct clicked *clicked;
static struct synonym_service synonym_context;
static struct rpc_service synonym_calls;
static struct inspect inspect; /* of a process without the role searcher, as the next */
static struct rpc_service freshness;
static int64_t answered_us; /* when a searcher of another process last did; 0: never */

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

/* Offers are in the same store, whether or not their role runs in this process. */
static int fetch(void *arg, const char *offer_id, struct arena *arena, Torg__V1__Offer **offer,
                 struct err *err)
{
    const struct reader visitor = {.seller = ""};
    offerid id;
    int rc = offer_id_parse(bytes_of(offer_id), &id, err);

    return rc ? rc : offers_get(arg, &visitor, id, arena, offer, err);
}

static int read_snippets(void *arg, char *const *names, size_t name_count, char *const *keys,
                         size_t key_count, const char *language, struct arena *arena,
                         Torg__V1__Snippet ***list, size_t *count, struct err *err)
{
    return snippet_pages_read(arg, names, name_count, keys, key_count, language, arena, list, count,
                              err);
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
        .search = &search,
        .base = spell_base(),
        .path = data_dir_path(dir, "learnt", process->arena),
    };
    int rc = dir_create(dir, err);

    if (!rc)
        learner = learner_start(&options);
    return rc;
}

static int wait_for_change(void *arg, const char *token, int64_t deadline_us, struct arena *arena,
                           char **found, struct err *err)
{
    return change_settle(arg, token, deadline_us, arena, found, err);
}

/* Of a process without the role searcher, which would have it: sellers' pages reach this one. */
static int open_inspect(struct process *process, struct err *err)
{
    int rc = process->inspect ? 0 : process_open_registry(process, err);

    if (rc || process->inspect)
        return rc;
    inspect = (struct inspect){.store = process->backends.store,
                               .clients = process->clients,
                               .dictionaries = process->dictionaries,
                               .clock = process->clock,
                               .door = peers_door(searchers),
                               .topics = process->backends.topics,
                               .tombstone_life_us =
                                   config_number(process->config, SETTING_REGISTRY_TOMBSTONE_LIFE)};
    process->inspect = &inspect;
    freshness = freshness_service(&inspect);
    process_add_services(process, &freshness, 1);
    if (process->server)
        server_add_get(process->server, FRESHNESS_ADDRESS, FRESHNESS_METHOD, FRESHNESS_FIELD);
    return 0;
}

int role_search_serve(struct process *process, struct err *err)
{
    int rc = synonym_holder_open(process->backends.store, process->role_count > 0,
                                 config_number(process->config, SETTING_SEARCH_SYNONYMS) != 0,
                                 &process->synonyms, err);

    if (rc)
        return rc;
    synonym_context = (struct synonym_service){
        .store = process->backends.store, .holder = process->synonyms, .clock = process->clock};
    synonym_calls = synonym_rpc_service(&synonym_context);
    process_add_services(process, &synonym_calls, 1);
    experiments = (struct experiment_desk){
        .store = process->backends.store,
        .running = ranking_settings_experiment(process->config, &experiment) ? &experiment : NULL};
    experiment_calls = experiment_service(&experiments);
    process_add_services(process, &experiment_calls, 1);
    return 0;
}

/* What is asked by an address: plain JSON, and pages without scripts. */
static void serve_addresses(struct process *process)
{
    plain = search_plain_service(&search);
    pages = search_pages_service(&search);
    plain.remote = pages.remote = searchers != NULL;
    if (process->server) {
        server_add_rest(process->server, &plain);
        server_add_rest(process->server, &pages);
    }
}

int role_search_start(struct process *process, struct err *err)
{
    int rc = process_open_catalog(process, err);

    rc = rc ? rc
            : peer_settings_open(process, SETTING_SEARCH_SEARCHERS, SETTING_SEARCH_SEARCHERS_KEY,
                                 &searchers, err);
    if (!rc && !searchers && !process->front)
        rc = err_set(err, ERR_PRECONDITION,
                     "the role search has no searcher to ask: name those of other processes in "
                     "search.searchers, or the role searcher before it");
    rc = rc ? rc : ranking_settings_read(process, SETTING_RANKING_BEST, &ranking, err);
    rc = rc ? rc : ranking_settings_read(process, SETTING_SEARCH_EXPERIMENT, &tried, err);
    rc = rc ? rc : open_inspect(process, err);
    rc = rc ? rc : process_open_snippets(process, err);
    rc = rc ? rc : role_search_serve(process, err);
    rc = rc ? rc : clicked_open(process->backends.store, process->clock, true, &clicked, err);
    if (rc)
        return rc;
    votes = votes_new();
    glued = snippet_pages_new(process->snippets, process->clock,
                              config_number(process->config, SETTING_SNIPPETS_PAGE_WAIT));
    offers = (struct offers){.store = process->backends.store,
                             .clock = process->clock,
                             .catalog = catalog_in_use,
                             .catalog_arg = process->catalog};
    search = (struct search){
        .clock = process->clock,
        .catalog = catalog_in_use,
        .catalog_arg = process->catalog,
        .ask = searchers ? ask_others : ask_here,
        .ask_arg = searchers ? (void *)searchers : (void *)process->front,
        .clicked = clicked,
        .votes = votes,
        .speller = speller_in_use,
        .synonyms = synonyms_in_force,
        .synonyms_arg = process->synonyms,
        .fetch = fetch,
        .fetch_arg = &offers,
        .snippets = read_snippets,
        .snippets_arg = glued,
        .settle = wait_for_change,
        .settle_arg = process->inspect,
        .deadline_us = config_number(process->config, SETTING_SEARCH_DEADLINE),
        .ranking = &ranking,
        .experiment = experiments.running,
        .tried = &tried,
        .new_every = (uint32_t)config_number(process->config, SETTING_SEARCH_NEW_EVERY),
        .new_age_us = config_number(process->config, SETTING_SEARCH_NEW_AGE),
        .seller_cap = (uint32_t)config_number(process->config, SETTING_SEARCH_SELLER_CAP),
        .old_max_seconds =
            (uint32_t)(config_number(process->config, SETTING_SEARCH_OLD_MAX) / SECOND_US),
        .by_clicks = config_number(process->config, SETTING_SEARCH_CLICKS) != 0};
    process->search = &search;
    service = search_service(&search);
    service.remote = searchers != NULL;
    process_add_services(process, &service, 1);
    events = (struct events){.store = process->backends.store,
                             .clock = process->clock,
                             .fetch = fetch,
                             .fetch_arg = &offers,
                             .experiment = experiments.running};
    event_calls = event_service(&events);
    process_add_services(process, &event_calls, 1);
    serve_addresses(process);
    return config_number(process->config, SETTING_SEARCH_SPELLING) ? start_learner(process, err)
                                                                   : 0;
}

void role_search_stop(struct process *process)
{
    snippet_pages_free(glued);
    glued = NULL;
    votes_free(votes);
    votes = NULL;
    clicked_close(clicked);
    clicked = NULL;
    process->search = NULL;
    learner_stop(learner); /* its calls ended with the server's */
    peers_close(searchers);
    learner = NULL;
    searchers = NULL;
}

/* The cheapest search there is: the first offer, uncounted. */
static int ask_anything(struct arena *arena, struct err *err)
{
    Torg__V1__QueryStage stage = TORG__V1__QUERY_STAGE__INIT;
    Torg__V1__QueryStage *stages[] = {&stage};
    Torg__V1__Query query = TORG__V1__QUERY__INIT;
    Torg__V1__SearchRequest request = TORG__V1__SEARCH_REQUEST__INIT;
    Torg__V1__SearchResponse response = TORG__V1__SEARCH_RESPONSE__INIT;
    int rc;

    stage.no_total = stage.no_cursor = true;
    stage._limit_case = TORG__V1__QUERY_STAGE___LIMIT_LIMIT;
    stage.limit = 1;
    query.stages = stages;
    query.n_stages = 1;
    request.client = (char *)OFFER_CLIENT;
    request.query = &query;
    rc = fronts_search(searchers, &request,
                       clock_mono_us(clock_system()) + (int64_t)READY_ASK_MS * MS_US, arena,
                       &response, err);
    return rc == ERR_NOT_FOUND ? 0 : rc; /* there is no index before the first offer */
}

/* A searcher of this process is asked by its own role. Of others, one that answers is enough, and
 * one search that was slow is no reason to send buyers away. */
int role_search_check(struct process *process, bool *is_serving, struct err *err)
{
    struct arena *arena;
    int rc;

    (void)process;
    if (!searchers)
        return 0;
    arena = arena_new();
    rc = ask_anything(arena, err);
    arena_free(arena);
    if (!rc)
        answered_us = clock_mono_us(clock_system());
    *is_serving = answered_us &&
                  clock_mono_us(clock_system()) - answered_us < (int64_t)READY_SILENCE_MS * MS_US;
    return rc;
}
