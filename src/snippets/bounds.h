/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h - the bounds of snippets/, each with its reason; docs/limits.md has those of all. */
#ifndef TORG_SNIPPETS_BOUNDS_H
#define TORG_SNIPPETS_BOUNDS_H

enum {
    SNIPPET_NAME_SIZE_MAX = 200,     /* with its slashes: it stands in paths, rows and logs */
    SNIPPET_NAME_DEPTH_MAX = 16,     /* segments of a name */
    SNIPPET_KEY_SIZE_MAX = 300,      /* an offer's id has 19 bytes, a URL 200 */
    SNIPPET_LANGUAGE_SIZE_MAX = 16,  /* "sr-Latn-RS" and its kind */
    SNIPPET_LANGUAGE_COUNT_MAX = 50, /* a snippet converted to so many is so many rows */
    SNIPPET_BODY_SIZE_MAX = 1 << 20, /* of one, before and after conversion: a page has a hundred */
    SNIPPET_COUNT_MAX = 2000,        /* of a config */
    SNIPPET_GROUP_COUNT_MAX = 100,   /* that one request may act on: one transaction */
    SNIPPET_CONFIG_SIZE_MAX = 2 << 20,
    SNIPPET_SCHEMA_SIZE_MAX = 1 << 20,
    SNIPPET_TTL_MINUTES_MAX = 10 * 366 * 24 * 60, /* ten years */
    SNIPPET_RETRY_COUNT_MAX = 1000,    /* of a record of a topic, before it waits for a person */
    SNIPPET_PREFIX_FIRST = 1000,       /* the first number that is allotted: smaller ones by hand */
    SNIPPET_PREFIXES_LOCK_MS = 10000,  /* who allots numbers waits for another who does */
    SNIPPET_BATCH_KEY_COUNT_MAX = 200, /* of GetSnippets: pages of 100 offers, and of two kinds */
    SNIPPET_BATCH_NAME_COUNT_MAX = 20, /* of GetSnippets: 4 000 rows at most */
    SNIPPET_BATCH_SIZE_MAX = 16 << 20, /* bytes of one answer */
    SNIPPET_CACHE_SIZE_MAX =
        32 << 20, /* bytes kept in memory for pages: some 100 000 of 200 bytes */
    SNIPPET_CACHE_BODY_SIZE_MAX = 16 << 10, /* of one of them: large ones would push many out */
    SNIPPET_PAGE_THREAD_COUNT = 8,       /* that read for pages: a store that hangs holds so many */
    SNIPPET_PAGE_QUEUE_COUNT = 64,       /* pages that wait for one of them */
    SNIPPET_TOPIC_ROW_COUNT_MAX = 1000,  /* of a record of a topic: snippets and their languages */
    SNIPPET_BRIEF_SIZE_MAX = 16 << 10,   /* of a body that is checked where the call came in */
    SNIPPET_COMMIT_COUNT_MAX = 512,      /* requests of one transaction */
    SNIPPET_COMMIT_SIZE_MAX = 8 << 20,   /* bytes of them: the log of a commit stays small */
    SNIPPET_COMMIT_GATHER_US_MAX = 2000, /* a group waits for who is about: a slow disk's quarter */
    SNIPPET_COMMIT_QUEUE_COUNT = 4096, /* requests that wait for it: a tenth of a second of work */
    SNIPPET_COMMIT_ROW_COUNT_MAX = 8192, /* rows of them, unless one request has more */
    SNIPPET_CHANGES_SIZE_MAX = 8 << 20,  /* names and keys of one transaction */
    SNIPPET_CHANGE_PARTITION_COUNT = 8,  /* of the log of changes in a store of many processes */
    SNIPPET_CHANGE_KEPT_COUNT = 500000,  /* of a partition: minutes at full speed, some 20 MB */
    SNIPPET_CHANGE_READ_COUNT = 16,      /* transactions that a watch takes at once */
    SNIPPET_WATCH_COUNT_MAX = 64,        /* watches of a process: a thread each */
    SNIPPET_WATCH_CALLER_MAX = 8,        /* of one key */
    SNIPPET_WATCH_CHANGE_COUNT = 100,    /* changes of one message of a watch ... */
    SNIPPET_WATCH_SIZE = 1 << 20,     /* ... which is sent when its contents have so many bytes */
    SNIPPET_WATCH_SILENCE_MS = 15000, /* then a watch tells its position, if nothing else */
    SNIPPET_FAILURE_COUNT = 20,       /* the last writes that failed, told to who looks */
    SNIPPET_SWEEP_COUNT = 500,        /* rows ended in one transaction: others write meanwhile */
    SNIPPET_LOAD_COUNT_MAX = 1000,    /* rows of one AddSnippets, which has at most 4 MB */
    SNIPPET_LOAD_WRITE_COUNT = 500, /* rows of a load in one transaction: others write meanwhile */
    SNIPPET_LOAD_S_MAX =
        24 * 3600, /* a load that has not ended is given up: all writes are doubled */
    SNIPPET_LOAD_REMOVED_PERCENT =
        20, /* of what is shown may go by a load that says nothing else */
    SNIPPET_LOAD_LINE_SIZE_MAX = 4 << 20, /* of a file: a body of 1 MB with escapes */
    SNIPPET_WALK_COUNT = 2000,            /* rows looked at in one read */
    SNIPPET_TOMBSTONE_S =
        7 * 24 * 3600, /* a deleted row is known: records may be retried so long */
};

#endif
