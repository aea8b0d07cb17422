/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h - how much snippets may be, and why so much. */
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
    SNIPPET_BATCH_KEY_COUNT_MAX = 200, /* of GetSnippets: pages of 100 offers, and of two kinds */
    SNIPPET_BATCH_NAME_COUNT_MAX = 20, /* of GetSnippets: 4 000 rows at most */
    SNIPPET_BATCH_SIZE_MAX = 16 << 20, /* bytes of one answer */
    SNIPPET_PAGE_THREAD_COUNT = 8,     /* that read for pages: a store that hangs holds so many */
    SNIPPET_PAGE_QUEUE_COUNT = 64,     /* pages that wait for one of them */
    SNIPPET_TOPIC_ROW_COUNT_MAX = 1000, /* of a record of a topic: snippets and their languages */
    SNIPPET_SWEEP_COUNT = 500,          /* rows ended in one transaction: others write meanwhile */
    SNIPPET_TOMBSTONE_S =
        7 * 24 * 3600, /* a deleted row is known: records may be retried so long */
};

#endif
