/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.h - changes of offers out of the queue and into the topics, at least once and in order.
 *
 * The queue is a transactional outbox: its rows were written with the changes that they announce
 * (offer_save.h); here they are relayed.
 *
 * One round takes the oldest rows of the shards it is given, at most one of each offer (a later one
 * waits for the next round), sends the offers as the rows have them to both topics, and what they
 * ask for to a third, and deletes the rows when every record was acknowledged. If it is killed
 * anywhere in between, the rows are still there and are sent again; if one topic fails, the others
 * do not get them twice for that. An offer's next record is sent
 * only after the one before was acknowledged, so revisions never go back and none is left out.
 *
 * A shard belongs to the holder of its ticket (coord). Each transaction that deletes checks it
 * (store/fence.h), and the first thing done with a new ticket is to record it: from then on an
 * owner that was replaced without knowing it deletes nothing. It may still send what it had read;
 * it checks its lease right before, and readers ignore older revisions.
 *
 * Threads: an exporter belongs to one.
 */
#ifndef TORG_OFFERS_OUTBOX_EXPORT_H
#define TORG_OFFERS_OUTBOX_EXPORT_H

#include <stdint.h>

#include "base/metrics.h"
#include "coord/coord.h"
#include "offers/bounds.h"
#include "offers/change/offers.h"
#include "topic/topic.h"

#define EXPORT_SET "offers-export" /* of coord; OFFER_SHARD_COUNT shards */

/* A row that some of its topics have acknowledged, and another has not. */
struct export_sent {
    int64_t seq; /* of the shard; 0: there is none */
    offerid offer;
    int64_t revision;
    uint32_t shard;
    uint32_t topics; /* bits, in the order in which they are sent to */
};

struct exporter {
    const struct offers *offers; /* borrowed, as all */
    struct topics *topics;
    struct coord_shards *shards;         /* asked right before sending; NULL: not asked */
    uint64_t tickets[OFFER_SHARD_COUNT]; /* recorded in the store; 0: none */
    uint32_t first;                   /* position in the list of shards the next round starts at */
    bool more;                        /* the last round left rows for the next: do not wait */
    uint64_t told[EXPORT_TOLD_COUNT]; /* hashes of damaged rows that are in the log, by hash */
    /* By hash; what is forgotten, here or by a restart, is sent again. */
    struct export_sent sent[EXPORT_SENT_COUNT];
    struct counter *exported;
    struct counter *skipped;
};

/* Makes the topics if they are not there. */
int exporter_init(struct exporter *exporter, const struct offers *offers, struct topics *topics,
                  struct coord_shards *shards, struct err *err);

/* One round over the shards that are owned; *count is how many changes were sent and deleted.
 * What could not be sent stays. ERR_STALE: the deletion was refused for a shard of these, whose
 * ticket is not the newest any more; the others' rows are deleted. */
int exporter_round(struct exporter *exporter, const struct coord_shard *owned, size_t owned_count,
                   size_t *count, struct err *err);

#endif
