/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather.h - asks several shards the same thing at once, each of one replica: of this process if it
 * is ready, otherwise of another searcher; and of a second one when the first fails or is slow
 * (scatter and gather, with hedged requests). If the request accepts old states, searchers that
 * have one are asked when nobody else has the shard, all others have failed, or half of the time is
 * over; the first answer counts, and says which state it is from.
 *
 * Shards of this process are answered by the time this returns, as they check the deadline
 * themselves. A call to another searcher may outlive it: it owns what it needs.
 *
 * Threads: any; the calls run on a bounded pool.
 */
#ifndef TORG_SEARCHER_FRONT_GATHER_H
#define TORG_SEARCHER_FRONT_GATHER_H

#include "base/arena.h"
#include "base/workers.h"
#include "query/request/reading.h"
#include "searcher/front/peers.h"
#include "searcher/replica/follower.h"
#include "torg/v1/searcher.pb-c.h"

enum gather_kind { GATHER_WORDS, GATHER_SEARCH };

/* After this share of the time that is left a replica is slow, and another is asked. */
enum { GATHER_HEDGE_SHARE = 4 };

/* Of one shard. */
struct gather_ask {
    Torg__V1__ShardRequest *request; /* NULL: it is not asked */
    struct reading *reading;         /* of its query, for shards of this process: one for all */
    /* Answered: */
    const Torg__V1__ShardWords *words;   /* GATHER_WORDS */
    const Torg__V1__ShardAnswer *answer; /* GATHER_SEARCH */
    struct err err;                      /* code 0: there is an answer */
};

struct gatherer {
    struct workers *workers;   /* borrowed, as all here */
    struct peers *peers;       /* NULL: there are no others */
    const struct clock *clock; /* of deadlines; NULL: the system's */
};

/* What its pool has on a machine of so many cores. Shards of this process take the CPU, so few of
 * them are searched at once; calls to other searchers wait, on threads besides those. */
struct gather_threads {
    unsigned running_max; /* below thread_max */
    unsigned thread_max;
};
struct gather_threads gather_threads(unsigned core_count);
struct workers *gather_workers_new(unsigned core_count, const struct clock *clock);

/* Fills asks, one a shard of the epoch. Memory of the answers is the arena's. */
void gather(const struct gatherer *gatherer, enum gather_kind kind, const struct index_epoch *epoch,
            struct gather_ask *asks, uint32_t count, int64_t deadline_us, struct arena *arena);

/* How long one replica is waited for before another is asked as well: a share of the time, and not
 * longer than a process that stands still may cost its callers, unless the request waits for
 * writes.
 */
int64_t gather_patience_us(int64_t left_us, bool waits);

#endif
