/* SPDX-License-Identifier: Apache-2.0 */
/* stages.c - see stages.h. */
#include "sim/stages.h"

#include <string.h>

#include "inspect/doors/searcher_door.h"
#include "inspect/verify/rebuild.h"
#include "offers/record/offer_id.h"
#include "offers/record/offer_scan.h"
#include "stage/make_topics.h"
#include "store/migrate.h"

/* A day of a shop: nothing that was deleted is forgotten within a run. */
#define LIFE_US (INT64_C(86400) * SECOND_US)
/* Documents are poured again all the time, and searchers that were down find their topics
 * trimmed. */
#define TRIM_DELAY_US (2 * SECOND_US)
enum { SLACK_COUNT = 20 };
enum { RECOMPOSED_COUNT = 3 }; /* offers of a page: several pages a catalogue */
enum { AUDITOR_RATE = 1000, AUDITOR_PAUSE_S = 8 };
enum { TRY_COUNT = 5, INDEXER_COUNT = 2, CHECKPOINT_S = 5, ASK_COUNT = 4, ASK_QUEUE_MAX = 64 };

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

static int fetch(void *arg, const char *offer_id, struct arena *arena, Torg__V1__Offer **offer,
                 struct err *err)
{
    const struct reader reader = {.seller = "", .sees_all = true};
    offerid id;

    if (offer_id_parse(bytes_of(offer_id), &id, err))
        return err->code = ERR_NOT_FOUND;
    return offers_get(arg, &reader, id, arena, offer, err);
}

static int open_backends(struct stages *stages, const char *url, const char *name, struct err *err)
{
    const struct store_options store = {.clock = stages->clock};
    const struct topics_options topics = {.clock = stages->clock};
    const struct coord_options coord = {.clock = stages->clock};
    int rc = store_open_with(url, &store, &stages->store, err);

    if (!rc)
        rc = store_migrate(stages->store, NULL, err);
    if (!rc)
        rc = topics_open(url, &topics, &stages->topics, err);
    if (!rc)
        rc = coord_open(url, name, &coord, &stages->coord, err);
    if (!rc)
        rc = stage_make_topics(stages->topics, err);
    if (rc)
        return rc;
    stages->clients = clients_new(stages->store, stages->clock);
    stages->dictionaries = dictionaries_new(stages->store);
    return clients_announce(stages->clients, stages->coord, err);
}

static int start_composers(struct stages *stages, struct err *err)
{
    const struct composer_options composer = {.topics = stages->topics,
                                              .store = stages->store,
                                              .clock = stages->clock,
                                              .catalog = catalog_in_use,
                                              .catalog_arg = stages->catalog,
                                              .sure_us = catalog_sure_us,
                                              .fetch = fetch,
                                              .fetch_arg = &stages->offers};
    const struct recomposer_options recomposer = {.topics = stages->topics,
                                                  .store = stages->store,
                                                  .clock = stages->clock,
                                                  .coord = stages->coord,
                                                  .catalog = catalog_in_use,
                                                  .catalog_arg = stages->catalog,
                                                  .page = scan_page,
                                                  .count = scan_count,
                                                  .offers_arg = stages->store,
                                                  .taker_group = DOCUMENT_GROUP,
                                                  .page_count = RECOMPOSED_COUNT};
    int rc = composer_start(&composer, &stages->composer, err);

    return rc ? rc : recomposer_start(&recomposer, &stages->recomposer, err);
}

static int start_offers(struct stages *stages, struct err *err)
{
    int rc = catalog_holder_open(stages->store, true, &stages->catalog, err);

    if (rc)
        return rc;
    stages->offers = (struct offers){.store = stages->store,
                                     .clock = stages->clock,
                                     .catalog = catalog_in_use,
                                     .catalog_arg = stages->catalog,
                                     .bell = &stages->bell};
    rc = inbox_start_opinions(&stages->offers, stages->topics, &stages->opinions, err);
    if (!rc)
        rc = offers_worker_start(&stages->offers, stages->topics, stages->coord,
                                 &stages->offers_worker, err);
    return rc ? rc : start_composers(stages, err);
}

static int start_registry(struct stages *stages, struct err *err)
{
    const struct refusal_inbox_options refused = {.topics = stages->topics,
                                                  .store = stages->store,
                                                  .clients = stages->clients,
                                                  .clock = stages->clock};
    int rc;

    stages->receiver = (struct receiver){.store = stages->store,
                                         .clock = stages->clock,
                                         .clients = stages->clients,
                                         .dictionaries = stages->dictionaries,
                                         .intake = intake_new(stages->store),
                                         .coord = stages->coord,
                                         .bell = &stages->queue_bell,
                                         .shard_count = stages->options.shard_count,
                                         .tombstone_life_us = LIFE_US};
    stages->indexer_base = (struct indexer_base){.store = stages->store,
                                                 .topics = stages->topics,
                                                 .clients = stages->clients,
                                                 .dictionaries = stages->dictionaries,
                                                 .clock = stages->clock,
                                                 .rules = {.try_count = TRY_COUNT,
                                                           .main_weight = 9,
                                                           .backfill_weight = 1,
                                                           .slack_count = SLACK_COUNT,
                                                           .trim_delay_us = TRIM_DELAY_US,
                                                           .numbers = {.ttl_us = LIFE_US}}};
    rc = document_inbox_start(&stages->receiver, stages->topics, &stages->inbox, err);
    if (!rc)
        rc = keeper_start(&stages->receiver, &stages->keeper, err);
    if (!rc)
        rc = refusal_inbox_start(&refused, &stages->refusals, err);
    if (!rc)
        stages->indexer_worker = indexer_worker_start(&stages->indexer_base, stages->coord,
                                                      &stages->queue_bell, INDEXER_COUNT);
    return rc;
}

static int start_searcher(struct stages *stages, const char *dir, struct err *err)
{
    const struct follower_options options = {.topics = stages->topics,
                                             .coord = stages->coord,
                                             .clock = stages->clock,
                                             .dir = dir,
                                             .checkpoint_us = CHECKPOINT_S * SECOND_US};
    const struct auditor_options auditor = {.inspect = &stages->inspect,
                                            .coord = stages->coord,
                                            .rate = AUDITOR_RATE,
                                            .pause_us = AUDITOR_PAUSE_S * SECOND_US};
    int rc;

    stages->workers = workers_new("shards", ASK_COUNT, ASK_QUEUE_MAX, NULL, stages->clock);
    rc = follower_start(&options, &stages->follower, err);
    if (rc)
        return rc;
    stages->searcher = (struct searcher){
        .front = {.follower = stages->follower,
                  .gatherer = {.workers = stages->workers, .clock = stages->clock},
                  .clock = stages->clock},
        .store = stages->store};
    stages->inspect = (struct inspect){.store = stages->store,
                                       .clients = stages->clients,
                                       .dictionaries = stages->dictionaries,
                                       .clock = stages->clock,
                                       .door = searcher_door(&stages->searcher),
                                       .rebuilds = rebuilds_new(),
                                       .topics = stages->topics,
                                       .tombstone_life_us = LIFE_US};
    return stages->options.has_auditor ? auditor_start(&auditor, &stages->auditor, err) : 0;
}

int stages_start(struct stages *stages, const struct stages_options *options, const char *url,
                 const char *name, const struct clock *clock, const char *dir, struct err *err)
{
    int rc;

    *stages = (struct stages){.options = *options, .clock = clock};
    rc = open_backends(stages, url, name, err);
    if (!rc && options->is_searcher) {
        rc = start_searcher(stages, dir, err);
    } else if (!rc) {
        bell_init(&stages->bell, clock);
        queue_bell_init(&stages->queue_bell, clock);
        stages->has_bells = true;
        rc = start_offers(stages, err);
        if (!rc)
            rc = start_registry(stages, err);
    }
    if (rc)
        stages_stop(stages);
    return rc;
}

void stages_stop(struct stages *stages)
{
    auditor_stop(stages->auditor);
    rebuilds_free(stages->inspect.rebuilds);
    workers_free(stages->workers);
    follower_stop(stages->follower);
    indexer_worker_stop(stages->indexer_worker);
    refusal_inbox_stop(stages->refusals);
    keeper_stop(stages->keeper);
    document_inbox_stop(stages->inbox);
    intake_free(stages->receiver.intake);
    recomposer_stop(stages->recomposer);
    composer_stop(stages->composer);
    offers_worker_stop(stages->offers_worker);
    inbox_stop(stages->opinions);
    catalog_holder_close(stages->catalog);
    if (stages->has_bells) {
        queue_bell_release(&stages->queue_bell);
        bell_release(&stages->bell);
    }
    dictionaries_free(stages->dictionaries);
    clients_free(stages->clients);
    coord_close(stages->coord);
    topics_close(stages->topics);
    store_close(stages->store);
    memset(stages, 0, sizeof(*stages));
}
