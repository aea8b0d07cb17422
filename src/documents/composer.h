/* SPDX-License-Identifier: Apache-2.0 */
/*
 * composer.h - changes of offers, made into documents and sent to the registry.
 *
 *   offer-updates ── each partition in order ──> RawDocument ──> QualifiedBatch ──> documents
 *
 * A batch is sent when enough documents are ready, or when enough time has passed since the
 * partition's last batch and there is one: a lone change goes at once. An offset is committed after
 * its documents were acknowledged, so they may be sent twice; the registry's order makes that
 * harmless. If several revisions of an offer are ready together, only the newest is sent. Takedowns
 * go first, to the lane `emergency`.
 *
 * If a record cannot be made into a document, the newest offer is read and tried; when that fails
 * too, the offer is parked (stage/parked.h) with the reason, and others pass it. Parked ones are
 * retried with back-off, each as the offer is then. A newer record of a parked offer that can be
 * used is sent and ends its parking: only the newest is worth indexing. In strict mode nothing is
 * parked: the partition waits, and tries again.
 *
 * Threads: its reader's one (stage/reader.h). Several composers, in one process or many, share the
 * partitions.
 */
#ifndef TORG_DOCUMENTS_COMPOSER_H
#define TORG_DOCUMENTS_COMPOSER_H

#include "base/clock.h"
#include "catalog/catalog.h"
#include "store/store.h"
#include "topic/topic.h"
#include "torg/v1/offer.pb-c.h"

#define COMPOSER_GROUP "composer"

struct composer_options { /* all borrowed until it has stopped */
    struct topics *topics;
    struct store *store;
    const struct clock *clock;
    struct catalog *(*catalog)(void *arg); /* a reference to the one in use */
    void *catalog_arg;
    /* When that was surely the newest, monotonic; asked before a reference is taken. A catalogue
     * that nobody has vouched for within COMPOSER_SURE_MS is not used: records wait. NULL: any is.
     */
    int64_t (*sure_us)(void *catalog_arg);
    /* The newest state of an offer, whole; ERR_NOT_FOUND: there is none. */
    int (*fetch)(void *arg, const char *offer_id, struct arena *arena, Torg__V1__Offer **offer,
                 struct err *err);
    void *fetch_arg;
    uint32_t batch_count; /* 0: COMPOSER_BATCH_COUNT */
    int64_t batch_us;     /* 0: COMPOSER_BATCH_MS */
    bool is_strict;
};

struct composer;

/* Makes the topic `documents` if it is not there. On failure *composer is NULL. */
int composer_start(const struct composer_options *options, struct composer **composer,
                   struct err *err);
void composer_stop(struct composer *composer); /* NULL is fine */

#endif
