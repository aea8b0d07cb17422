/* SPDX-License-Identifier: Apache-2.0 */
/* role_composer.c - the role composer: changed offers, as documents for the index. */
#include <pthread.h>

#include "base/memory.h"
#include "clicks/event_inbox.h"
#include "clicks/rater.h"
#include "clicks/service_ctr.h"
#include "documents/composer.h"
#include "documents/recomposer.h"
#include "documents/service.h"
#include "offers/change/offers.h"
#include "offers/record/offer_scan.h"
#include "registry/receiving/document_inbox.h"
#include "roles/processes/process.h"
#include "roles/processes/ranking_settings.h"

/* One a process. */
static struct offers offers;
static struct composer_context context;
static struct rate_desk ctr;
static struct rpc_service services[2];
static struct composer *composer;
static struct recomposer *recomposer;
static struct rater *rater; /* under the lock: a drain that gives up leaves handlers */
static pthread_mutex_t rater_lock = PTHREAD_MUTEX_INITIALIZER;
static struct events events;
static struct experiment experiment;
static struct event_inbox *event_inbox;

/* Offers are in the same store, whether or not their role runs in this process. */
static int fetch(void *arg, const char *offer_id, struct arena *arena, Torg__V1__Offer **offer,
                 struct err *err)
{
    const struct reader reader = {.seller = "", .sees_all = true};
    offerid id;

    if (offer_id_parse(bytes_of(offer_id), &id, err))
        return err->code = ERR_NOT_FOUND; /* no offer ever has such an id: nothing to wait for */
    return offers_get(arg, &reader, id, arena, offer, err);
}

/* As a visitor sees it. */
static int fetch_shown(void *arg, const char *offer_id, struct arena *arena,
                       Torg__V1__Offer **offer, struct err *err)
{
    const struct reader visitor = {.seller = ""};
    offerid id;
    int rc = offer_id_parse(bytes_of(offer_id), &id, err);

    return rc ? rc : offers_get(arg, &visitor, id, arena, offer, err);
}

static int64_t catalog_sure_us(void *arg)
{
    return catalog_holder_sure_us(arg);
}

static int scan_page(void *arg, const char *category, int64_t after, size_t max,
                     struct arena *arena, struct recompose_page *page, struct err *err)
{
    struct offer_scan scan;
    int rc = offer_scan_page(arg, category, after, max, arena, &scan, err);

    *page = (struct recompose_page){.offers = scan.offers,
                                    .count = scan.count,
                                    .damaged_count = scan.damaged_count,
                                    .last = scan.last};
    return rc;
}

static int scan_count(void *arg, const char *category, int64_t *count, struct err *err)
{
    return offer_scan_count(arg, category, count, err);
}

static int start_recomposer(struct process *process, struct err *err)
{
    const struct recomposer_options options = {.topics = process->backends.topics,
                                               .store = process->backends.store,
                                               .clock = process->clock,
                                               .coord = process->backends.coord,
                                               .catalog = catalog_in_use,
                                               .catalog_arg = process->catalog,
                                               .page = scan_page,
                                               .count = scan_count,
                                               .offers_arg = process->backends.store,
                                               .taker_group = DOCUMENT_GROUP};

    return recomposer_start(&options, &recomposer, err);
}

/* Gives the one before, which nobody wakes any more. */
static struct rater *replace_rater(struct rater *next)
{
    struct rater *before;

    pthread_mutex_lock(&rater_lock);
    before = rater;
    rater = next;
    pthread_mutex_unlock(&rater_lock);
    return before;
}

static int start_rater(struct process *process, struct err *err)
{
    const struct rater_options options = {.store = process->backends.store,
                                          .topics = process->backends.topics,
                                          .clock = process->clock,
                                          .blob = process->backends.blob};

    struct rater *started = NULL;
    int rc = rater_start(&options, &started, err);

    (void)replace_rater(started);
    return rc;
}

static int start_events(struct process *process, struct err *err)
{
    events = (struct events){.store = process->backends.store,
                             .clock = process->clock,
                             .fetch = fetch_shown,
                             .fetch_arg = &offers,
                             .experiment = ranking_settings_experiment(process->config, &experiment)
                                               ? &experiment
                                               : NULL};
    return event_inbox_start(&events, process->backends.topics, &event_inbox, err);
}

/* Of a command that has no server none runs. */
static void wake_rater(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&rater_lock);
    if (rater)
        rater_wake(rater);
    pthread_mutex_unlock(&rater_lock);
}

int role_composer_serve(struct process *process, struct err *err)
{
    (void)err;
    context = (struct composer_context){.store = process->backends.store, .clock = process->clock};
    services[0] = composer_service(&context);
    ctr = (struct rate_desk){
        .store = process->backends.store, .clock = process->clock, .pushed = wake_rater};
    services[1] = ctr_service(&ctr);
    process_add_services(process, services, ARRAY_COUNT(services));
    return 0;
}

int role_composer_start(struct process *process, struct err *err)
{
    struct composer_options options;
    int rc = process_open_catalog(process, err);

    if (rc)
        return rc;
    offers = (struct offers){.store = process->backends.store,
                             .clock = process->clock,
                             .catalog = catalog_in_use,
                             .catalog_arg = process->catalog};
    options = (struct composer_options){
        .topics = process->backends.topics,
        .store = process->backends.store,
        .clock = process->clock,
        .catalog = catalog_in_use,
        .catalog_arg = process->catalog,
        .sure_us = catalog_sure_us,
        .fetch = fetch,
        .fetch_arg = &offers,
        .batch_count = (uint32_t)config_number(process->config, SETTING_COMPOSER_BATCH_COUNT),
        .batch_us = config_number(process->config, SETTING_COMPOSER_BATCH_TIME),
        .is_strict = config_number(process->config, SETTING_COMPOSER_STRICT) != 0};
    rc = role_composer_serve(process, err);
    if (!rc)
        rc = composer_start(&options, &composer, err);
    if (!rc)
        rc = start_recomposer(process, err);
    if (!rc)
        rc = start_rater(process, err);
    return rc ? rc : start_events(process, err);
}

void role_composer_stop(struct process *process)
{
    (void)process;
    event_inbox_stop(event_inbox);
    event_inbox = NULL;
    rater_stop(replace_rater(NULL));
    recomposer_stop(recomposer);
    recomposer = NULL;
    composer_stop(composer);
    composer = NULL;
}
