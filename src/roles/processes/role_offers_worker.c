/* SPDX-License-Identifier: Apache-2.0 */
/* role_offers_worker.c - the role offers-worker: export of changes, moderators' opinions, results
 * of photos, feeds of the topic and by address, expiry. */
#include "feeds/apply/events.h"
#include "feeds/schedule/fetcher.h"
#include "feeds/tasks/rows.h"
#include "offers/inbox/inbox.h"
#include "offers/outbox/worker.h"
#include "roles/processes/feed_settings.h"
#include "roles/processes/process.h"

/* One a process. */
static struct offers offers;
static struct feed_rules feed_rules;
static struct offers_worker *worker;
static struct inbox *opinions;
static struct inbox *photo_results;
static struct inbox *messages;
static struct feed_events *feed_events;
static struct feed_fetcher *feed_fetcher;

static int start_fetcher(struct process *process, struct err *err)
{
    const struct feed_fetcher_options options = {
        .offers = &offers,
        .coord = process->backends.coord,
        .dir = process->dir.path,
        .takes_private_addresses = config_number(process->config, SETTING_FEEDS_PRIVATE_ADDRESSES)};

    if (!config_number(process->config, SETTING_FEEDS_FETCH))
        return 0;
    return feed_fetcher_start(&options, &feed_fetcher, err);
}

int role_offers_worker_start(struct process *process, struct err *err)
{
    int rc = process_open_catalog(process, err);

    if (rc)
        return rc;
    feed_rules = feed_settings(process->config);
    offers = (struct offers){
        .store = process->backends.store,
        .clock = process->clock,
        .catalog = catalog_in_use,
        .catalog_arg = process->catalog,
        .bell = &process->bell,
        .feed_rules = &feed_rules,
        .note_photo_failure = feed_rows_note_photo,
        .visitor_draft_life_us = config_number(process->config, SETTING_OFFERS_VISITOR_DRAFT_LIFE),
        .seller_draft_life_us = config_number(process->config, SETTING_OFFERS_SELLER_DRAFT_LIFE)};
    rc = inbox_start_opinions(&offers, process->backends.topics, &opinions, err);
    if (!rc)
        rc = inbox_start_photos(&offers, process->backends.topics, &photo_results, err);
    if (!rc)
        rc = inbox_start_messages(&offers, process->backends.topics, &messages, err);
    if (!rc)
        rc = feed_events_start(&offers, process->backends.topics, &feed_events, err);
    if (!rc)
        rc = offers_worker_start(&offers, process->backends.topics, process->backends.coord,
                                 &worker, err);
    return rc ? rc : start_fetcher(process, err);
}

void role_offers_worker_stop(struct process *process)
{
    (void)process;
    feed_fetcher_stop(feed_fetcher);
    offers_worker_stop(worker);
    feed_events_stop(feed_events);
    inbox_stop(messages);
    inbox_stop(photo_results);
    inbox_stop(opinions);
    feed_fetcher = NULL;
    worker = NULL;
    photo_results = NULL;
    messages = NULL;
    feed_events = NULL;
    opinions = NULL;
}
