/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stages.h - the stages of one process of the product, wired as src/roles does it, on backends that
 * are reached by one URL.
 *
 *   back:     offers, their worker, opinions, composers, receiver and its inbox, indexer, refusals
 *   searcher: a replica of every shard, the front, the auditor
 *
 * Threads: those of the stages; what is asked of them comes from any.
 */
#ifndef TORG_TESTS_SIM_STAGES_H
#define TORG_TESTS_SIM_STAGES_H

#include "base/bell.h"
#include "base/workers.h"
#include "catalog/holder.h"
#include "coord/coord.h"
#include "documents/composer.h"
#include "documents/recomposer.h"
#include "inspect/audit/auditor.h"
#include "inspect/inspect.h"
#include "offers/change/offers.h"
#include "offers/inbox/inbox.h"
#include "offers/outbox/worker.h"
#include "registry/indexing/indexer_worker.h"
#include "registry/indexing/refusal_inbox.h"
#include "registry/receiving/document_inbox.h"
#include "registry/receiving/keeper.h"
#include "registry/receiving/receiver.h"
#include "searcher/service.h"
#include "store/store.h"
#include "topic/topic.h"

struct stages_options {
    bool is_searcher;     /* else it is a back */
    bool has_auditor;     /* a searcher's */
    uint32_t shard_count; /* of clients that it makes */
};

struct stages {
    struct stages_options options;
    const struct clock *clock; /* borrowed */
    struct store *store;
    struct topics *topics;
    struct coord *coord;
    struct clients *clients;
    struct dictionaries *dictionaries;
    /* of a back */
    struct bell bell;
    struct queue_bell queue_bell;
    bool has_bells;
    struct offers offers;
    struct offers_worker *offers_worker;
    struct inbox *opinions;
    struct catalog_holder *catalog;
    struct composer *composer;
    struct recomposer *recomposer;
    struct receiver receiver;
    struct document_inbox *inbox;
    struct keeper *keeper;
    struct indexer_base indexer_base;
    struct indexer_worker *indexer_worker;
    struct refusal_inbox *refusals;
    /* of a searcher */
    struct workers *workers;
    struct follower *follower;
    struct searcher searcher;
    struct inspect inspect;
    struct auditor *auditor;
};

/* On failure all that was started is stopped. dir: of a searcher's shards. */
int stages_start(struct stages *stages, const struct stages_options *options, const char *url,
                 const char *name, const struct clock *clock, const char *dir, struct err *err);
void stages_stop(struct stages *stages);

#endif
