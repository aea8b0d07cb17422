/* SPDX-License-Identifier: Apache-2.0 */
/*
 * indexer.h - sends what waits in the queue of one client's shard to the index, in rounds.
 *
 *   queue (lanes) ─┐
 *   registry ──────┤ read ─► join, skip the superseded ─► convert ─┐
 *   numbers ───────┘                                               ▼
 *   queue offsets, failed, numbers ◄── commit ◄── topic index.CLIENT.EPOCH (partition = shard)
 *
 * The order of a round: read elements past what was sent; number new keys, in a transaction that
 * checks the fence, before any message uses their numbers; send schemas that are new, documents,
 * and how far each lane is; when all are acknowledged, move the offsets by compare and set, under
 * the fence, with the failures of the round. The moves of a round wait for the next transaction, or
 * for a round that finds nothing. Whatever ends in between is sent again, as the registry has it
 * then: never something older.
 *
 * A document that cannot be converted goes to the lane failed, and stops nobody. A store or a topic
 * that does not answer fails the whole round; it begins again at the offsets, and nothing is
 * parked.
 *
 * Threads: an indexer belongs to one at a time; the base is shared by all.
 */
#ifndef TORG_REGISTRY_INDEXING_INDEXER_H
#define TORG_REGISTRY_INDEXING_INDEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "coord/coord.h"
#include "numerator/numerator.h"
#include "registry/clients/clients.h"
#include "registry/receiving/rows.h"
#include "store/store.h"
#include "topic/topic.h"

struct indexer_rules {
    int64_t try_count;       /* of a document, then it is parked */
    int64_t main_weight;     /* shares of a full batch; */
    int64_t backfill_weight; /* 0: only when main has little */
    int64_t retention_us;    /* of the topics that are made; 0: for ever */
    int64_t slack_count;     /* records that a topic may have beyond POUR_SHARE for each document;
                              * 0: they are never counted */
    int64_t trim_delay_us;   /* what a whole pour has made needless goes so much later */
    uint64_t rank_count_max; /* documents of a shard whose numbers follow a field; 0: as many as
                              * NUMBER_RANK_COUNT_MAX */
    struct number_rules numbers;
};

/* What the indexers of a process share; all borrowed. */
struct indexer_base {
    struct store *store;
    struct topics *topics;
    struct clients *clients;
    struct dictionaries *dictionaries;
    const struct clock *clock;
    struct indexer_rules rules;
};

struct indexer;

/* Nothing is read or written yet. shards (may be NULL): asked before each sending. */
struct indexer *indexer_new(const struct indexer_base *base, const char *client, uint32_t shard,
                            uint64_t ticket, struct coord_shards *shards);
void indexer_free(struct indexer *indexer); /* what was not committed is sent again by the next */

struct indexer_round {
    size_t element_count; /* dealt with */
    size_t sent_count;    /* documents and removals among them */
    bool more;            /* a lane had more than was taken */
    bool is_settled;      /* nothing waits to be committed */
};

/* ERR_STALE: the shard has a new owner, this one can do nothing any more. Other failures: try
 * again later. */
int indexer_round(struct indexer *indexer, struct indexer_round *round, struct err *err);
/* Commits what was sent, before the shard is given up. */
int indexer_settle(struct indexer *indexer, struct err *err);
/* Takes numbers off keys that are past their time to live; now and then, between rounds. */
int indexer_sweep(struct indexer *indexer, struct err *err);
/* Puts some more of the stored documents into the backfill of an epoch that is built or poured
 * again; between rounds. *is_poured: some were looked at, and there may be more. */
int indexer_pour(struct indexer *indexer, bool *is_poured, struct err *err);
/* Looks at the topics when it is time: documents are poured again where the beginning is gone or
 * where there are many more records than documents, and what nobody needs then is let go. Between
 * rounds. */
int indexer_tend(struct indexer *indexer, struct err *err);
/* Reads how far the lanes are, and tells it as metrics. */
int indexer_tell_lag(struct indexer *indexer, struct err *err);

#endif
