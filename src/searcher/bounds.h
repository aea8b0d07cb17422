/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h - the bounds of searcher/, each with its reason; docs/limits.md has those of all. */
#ifndef TORG_SEARCHER_BOUNDS_H
#define TORG_SEARCHER_BOUNDS_H

enum {
    /* ---- arrivals ---- */
    SEARCHER_ARRIVAL_COUNT = 1 << 15, /* documents whose times are kept, of a shard: half a MB */
    SEARCHER_SHOWING_COUNT = 1 << 13, /* moments of showing: a minute or so under load */

    SEARCHER_BATCH_COUNT = 64,            /* messages shown together, when they trickle ... */
    SEARCHER_BATCH_MS = 2,                /* ... or what came within this time */
    SEARCHER_REPLAY_COUNT = 2000,         /* shown together while far behind */
    SEARCHER_REPLICA_COUNT_MAX = 256,     /* shards in one process: a thread each, and one more */
    SEARCHER_OLD_COUNT_MAX = 4,           /* shards in one process with two states: as many more */
    SEARCHER_SHARD_COUNT_MAX = 1024,      /* of a client */
    SEARCHER_CLIENT_SIZE_MAX = 40,        /* of a client's name */
    SEARCHER_MAP_SIZE_MAX = 1 << 20,      /* of the index map */
    SEARCHER_CHECKPOINT_MS = 600 * 1000,  /* of shards that change little */
    SEARCHER_TAIL_SIZE_MAX = 64 << 20,    /* of what came while a checkpoint was written */
    SEARCHER_POURED_MS = 5 * 1000,        /* after a pour: well below registry.index_trim_delay */
    SEARCHER_DEADLINE_MS = 1000,          /* the default of searcher.deadline */
    SEARCHER_DEADLINE_MS_MAX = 60 * 1000, /* of a search that does */
    SEARCHER_PAUSE_MS_MIN = 3,            /* before a write is looked for again, no thread ... */
    SEARCHER_PAUSE_MS_MAX = 50,           /* ... waiting for it meanwhile; growing up to this */
    SEARCHER_WAITER_COUNT_MAX = 16,       /* callers whose threads wait: those without a server */
    SEARCHER_LIST_COUNT = 1000,           /* documents listed, unless the call says */
    SEARCHER_LIST_COUNT_MAX = 10000,      /* when it does */
    SEARCHER_RANGE_SIZE_MIN = 64,         /* numbers that one sum is of: 10 000 sums of fewer ... */
    SEARCHER_RANGE_SIZE_MAX = 65536,      /* ... or of more tell too little for a call */
    SEARCHER_PEER_COUNT_MAX = 32,         /* other searchers that a front knows */
    ANNOUNCE_MS = 60 * 1000,              /* how often a searcher says that it is there ... */
    ANNOUNCE_RETRY_MS = 1000,             /* ... when it could not */
    ANNOUNCE_LIFE_MS = 600 * 1000,        /* ... and how long others believe it: clocks differ */
    SEARCHER_PEER_POLL_MS = 1000,         /* how often they are asked for their freshness */
    SEARCHER_SILENCE_MS_MAX = 800,        /* of a searcher, while there is another to be asked */
    SEARCHER_HEDGE_MS_MIN = 20,           /* a second replica is asked no sooner than this */
    SEARCHER_ANSWER_SIZE_MAX = 64 << 20,  /* of a shard in another process */
    SEARCHER_LENDER_MS = 1000,            /* how often columns from outside are looked for */
    QUERY_LOG_COUNT = 256,                /* last queries, to compare epochs with */
    QUERY_LOG_SIZE_MAX = 16 << 10,        /* of one of them: 4 MB in all */
    QUERY_LOG_PAUSE_MS = 20,              /* between two that are kept: 5 s at the least */
    COMPARE_DIFFERENCE_COUNT_MAX = 50,    /* told of a comparison */
    COMPARE_KEY_COUNT_MAX = 10,           /* documents told of a difference, gone and new */
    SEARCHER_ASK_COUNT_MAX = 64,          /* shards of other processes asked at once by one */
    SEARCHER_ASK_QUEUE_MAX = 4096,        /* and those that wait for that */
    SEARCHER_ASK_SPARE_COUNT = 1,         /* shards of this process searched at once besides one a
                                           * core: who waits for another process does not count */
};

#endif
