/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h - the bounds of inspect/, each with its reason; docs/limits.md has those of all. */
#ifndef TORG_INSPECT_BOUNDS_H
#define TORG_INSPECT_BOUNDS_H

enum {
    VERIFY_ROW_COUNT = 200,            /* rows of one step of a check: 20 MB at the most */
    VERIFY_REBUILD_COUNT = 500,        /* the same of a rebuild, each of which is let go at once */
    VERIFY_OFFER_COUNT = 500,          /* offers of one step, without their bodies */
    VERIFY_EXPORT_COUNT = 2000,        /* waiting changes of a shard that are looked through; where
                                          more wait, all offers of the shard are on their way */
    VERIFY_FINDING_COUNT_MAX = 100,    /* of one step; all are counted */
    VERIFY_SETTLE_MS = 10 * 1000,      /* changes on their way have got there by then */
    VERIFY_SETTLE_MS_MAX = 20 * 1000,  /* a caller waits 30 s for an answer */
    VERIFY_LATE_LOOK_COUNT_MAX = 10,   /* then, at what was just written: .5 s each */
    VERIFY_REQUEST_SIZE_MAX = 4 << 10, /* to another searcher: names and numbers */
    FRESHNESS_PEER_MS = 1000,          /* for that of one that is asked for a document */
    VERIFY_PEER_MS = 25 * 1000,        /* for its answer; less than a caller waits */
    FRESHNESS_WAIT_S_MAX = 30,         /* for a change, at most; a caller waits so long */
    FRESHNESS_WAITER_COUNT_MAX = 16,   /* of them at once: they hold threads that others want */
    FRESHNESS_PAUSE_MS_MIN = 4,        /* between two looks, growing: most changes take 20 ms ... */
    FRESHNESS_PAUSE_MS_MAX = 50,       /* ... and the others cost twenty looks a second */
    FRESHNESS_LOOK_COUNT = 10000,      /* elements of a lane that a public call looks through */
    TRACE_RECORD_COUNT = 500,          /* newest of a topic in which a trace looks for an offer */
    REBUILD_IDLE_MS = 60 * 1000,       /* a rebuild whose caller has gone holds a shard's memory */

    /* ---- the auditor ---- */
    AUDITOR_REST_RATIO = 20,     /* it rests so many times the CPU that a page took: below 5 % of a
                                    core, whatever a page costs */
    AUDITOR_WAIT_REST_RATIO = 4, /* ... and so many times as long as it waited for others: a fifth
                                    of their time, when they are as busy as can be */
    AUDITOR_PAUSE_MS_MAX = 1000, /* ... but no longer after one that waited for changes */
    AUDITOR_LOGGED_COUNT = 10,   /* differences of a page that are logged; all are counted */
    AUDITOR_CURSOR_SIZE = 512,   /* two numbers and a key of 200 bytes */
    AUDITOR_KEPT_COUNT = 100,    /* differences that are kept: to be read by a person */
    AUDITOR_CONTENT_ROUNDS = 32, /* in which contents of everything are compared once: of a million
                                    offers 2 s of CPU a round, and all within five hours */
    DIGEST_RANGE_SIZE = 256,     /* numbers of one sum: as many are looked at when one differs */
    DIGEST_RANGE_COUNT_MAX = 1 << 20, /* sums of a shard: 8 MB; a shard with more is looked at key
                                         by key */
    DIGEST_RANGE_ASK_COUNT = 1000,    /* sums that a searcher is asked for at once: some 15 ms */
    DIGEST_ROW_RANGE_BITS = 14,       /* sums of the registry's rows: 128 KB */

    /* ---- the pipeline ---- */
    PIPELINE_FRESH_MS = 500,         /* what was read is told again: many consoles cost as one */
    PIPELINE_STALE_MS = 5 * 1000,    /* the same to those who come while it is read anew */
    PIPELINE_STILL_MS = 10 * 1000,   /* work that waits and does not move for so long is stuck */
    PIPELINE_NUMBERS_MS = 10 * 1000, /* counting numbers is the dearest part: done so often */
    PIPELINE_SHARD_COUNT_MAX = 256,  /* of all clients: some 2000 short questions a reading */
    PIPELINE_FEED_COUNT = 50,        /* busy feeds told */
    PIPELINE_AGE_COUNT = 4,          /* partitions whose first waiting record is read */
    PIPELINE_SIZE_MAX = 4 << 20,     /* of an answer: 256 shards and 50 feeds are some 100 KB */
};

#endif
