/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follower.h - which indexes this process has: it reads the register index-map of coord and keeps a
 * replica of each shard that this process follows.
 *
 *   index-map ──> struct index_view (immutable, counted) ──> calls
 *             └─> replicas that are new are started, those of retired epochs stopped and removed
 *
 * Running shards stay, before anything new finds a place; a shard is ended only when a map that was
 * read whole no longer has it. A shard that finds no place is reported by the log, a metric and
 * /readyz.
 *
 * A call takes one view and reads the serving epoch from it once, so no answer mixes two.
 *
 * Threads: one that watches the register, one that writes checkpoints now and then; all functions
 * here from any thread.
 */
#ifndef TORG_SEARCHER_REPLICA_FOLLOWER_H
#define TORG_SEARCHER_REPLICA_FOLLOWER_H

#include "base/clock.h"
#include "coord/coord.h"
#include "searcher/replica/replica.h"
#include "topic/topic.h"
#include "torg/v1/index_message.pb-c.h"

/* As registry/clients/clients.h writes it. */
#define SEARCHER_MAP_KEY "index-map"

struct index_epoch {
    int64_t epoch;
    Torg__V1__IndexMap__Epoch__State state;
    uint32_t shard_count;
    uint32_t numbers[3];     /* T.S.V; T 0: not told */
    int64_t space;           /* of its numbers */
    struct replica **shards; /* by shard, counted; NULL: not of this process */
};

struct index_client {
    const char *name;
    int64_t id;
    uint32_t shard_count; /* of its queue: each feeds as many shards of an epoch */
    const struct index_epoch *epochs;
    uint32_t epoch_count;
};

struct index_view {
    const struct index_client *clients;
    uint32_t client_count;
    uint32_t replica_count; /* shards of all that are followed */
    uint32_t left_count;    /* shards of this process that found no room in it */
    uint32_t skipped_count; /* clients whose entry of the map cannot be used */
    const char *trouble;    /* the first of both, in words; NULL: all of the map is followed */
};

struct follower;

struct follower_options {
    struct topics *topics; /* borrowed, as all here */
    struct coord *coord;
    const struct clock *clock;
    const char *dir;        /* DIR/CLIENT/EPOCH/SHARD; NULL: in memory alone */
    const uint32_t *shards; /* those of this process; NULL: all */
    uint32_t shard_count;
    int64_t checkpoint_us;      /* how often shards that change little are written; 0: the usual */
    uint32_t replica_count_max; /* shards at once; 0: SEARCHER_REPLICA_COUNT_MAX */
    struct lender *lender;      /* of columns from outside; NULL: there are none */
};

int follower_start(const struct follower_options *options, struct follower **follower,
                   struct err *err);
/* With its replicas, each with a checkpoint of all that it has; no call under way; NULL is fine. */
void follower_stop(struct follower *follower);

/* Until view_release; whatever happens to the map meanwhile. */
const struct index_view *follower_view(struct follower *follower);
/* The same, once it has the client or the deadline (monotonic) has passed: the map is told to this
 * process some moments after the client's first write was acknowledged. ERR_LIMIT: too many wait,
 * and *view is as it is now. */
int follower_view_with(struct follower *follower, const char *client, int64_t deadline_us,
                       const struct index_view **view, struct err *err);
void view_release(const struct index_view *view);

/* NULL: there is none. */
const struct index_client *view_find(const struct index_view *view, const char *client);
const struct index_epoch *client_find_epoch(const struct index_client *client, int64_t epoch);
/* Whether a write of that shard of the queue comes to this shard of the epoch, or may. */
bool client_feeds(const struct index_client *client, const struct index_epoch *epoch,
                  uint32_t queue_shard, uint32_t shard);
const struct index_epoch *client_serving(const struct index_client *client);

/* Whether there is a map, and it was read at least once. */
bool follower_has_map(struct follower *follower);
/* Whether it was looked for: a client that is not known before that may be there. */
bool follower_has_looked(struct follower *follower);

#endif
