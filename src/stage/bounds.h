/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h - the bounds of stage/, each with its reason; docs/limits.md has those of all. */
#ifndef TORG_STAGE_BOUNDS_H
#define TORG_STAGE_BOUNDS_H

enum {
    PARKED_COUNT_MAX = 100 * 1000,   /* of a stage: what is wrong with so many is one thing, a
                                        person's to mend; 8 bytes of each are held in memory */
    PARKED_SIZE_MAX = 256 << 20,     /* bytes of a stage: a store keeps them, and is copied */
    PARKED_KEY_SIZE_MAX = 600,       /* a longer one is cut, with its hash: PostgreSQL's index takes
                                        2 700 bytes; a pk of the registry and its client fit */
    PARKED_REASON_SIZE_MAX = 400,    /* a line of a terminal or three */
    PARKED_PAGE_COUNT = 50,          /* listed at once; at most ten times as many */
    PARKED_SHOWN_COUNT = 100,        /* of one key, with what they say */
    PARKED_BACKOFF_S_MAX = 600,      /* between two tries */
    OTHER_TOPIC_PARTITION_COUNT = 8, /* of a topic that a config names and nobody has made */
    OTHER_TOPIC_RETENTION_S = 7 * 24 * 3600,
    READER_POLL_MS = 200,      /* how soon a stop is seen */
    READER_RETRY_MS = 1000,    /* after a fault of the world; parked ones are looked at so often */
    READER_RETRY_COUNT = 100,  /* parked ones tried in one look, of each partition */
    READER_LOOK_MS_MAX = 5000, /* of such a look, but for the one at hand: new ones wait for it */
    READER_BLOCKED_PAUSE_MS = 20, /* between polls that only find partitions that wait */
    READER_LAST_TRY_COUNT = 3,    /* at a stop, at once: what is not committed comes again */
    READER_WORKER_COUNT_MAX = 32, /* threads that apply one poll's records */
    READER_ALONE_COUNT_MAX = 3,   /* a poll this small is not worth waking the workers */
};

#endif
