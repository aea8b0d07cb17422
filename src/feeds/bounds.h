/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h - the bounds of feeds/, each with its reason; docs/limits.md has those of all. */
#ifndef TORG_FEEDS_BOUNDS_H
#define TORG_FEEDS_BOUNDS_H

enum {
    /* ---- feed files ---- */
    FEED_FILE_MB_MAX = 4096,               /* default of feed_options; a million offers of 4 KB */
    FEED_ROW_COUNT_MAX = 2000000,          /* default of feed_options; sellers have a million */
    FEED_BLOCK_SIZE = 64 << 10,            /* read at a time */
    FEED_ROW_SIZE_MAX = 1 << 20,           /* as written in the file; an offer has 100 KB */
    FEED_FIELD_SIZE_MAX = 200 << 10,       /* one value as written: a description with its HTML */
    FEED_TEXT_SIZE_MAX = 64 << 10,         /* a description as plain text */
    FEED_VALUE_SIZE_MAX = 4 << 10,         /* every other value, and a title */
    FEED_NAME_SIZE_MAX = 256,              /* of a tag, a column, an attribute, a category */
    FEED_ID_SIZE_MAX = 128,                /* as OFFER_EXTERNAL_ID_SIZE_MAX */
    FEED_URL_SIZE_MAX = 2048,              /* as OFFER_URL_SIZE_MAX */
    FEED_PHOTO_COUNT_MAX = 50,             /* of an offer; categories allow fewer */
    FEED_PHONE_COUNT_MAX = 5,              /* as OFFER_PHONE_COUNT_MAX */
    FEED_ATTRIBUTE_COUNT_MAX = 200,        /* of an offer */
    FEED_ENCODING_SIZE_MAX = 31,           /* an encoding's name; iconv lists none above 22 */
    FEED_COLUMN_COUNT_MAX = 512,           /* of a CSV file */
    FEED_CATEGORY_COUNT_MAX = 30000,       /* of a YML file: held in memory, 12 MB at worst */
    FEED_CATEGORY_DEPTH_MAX = 16,          /* ends a walk to the root that goes in a circle */
    FEED_XML_DEPTH_MAX = 16,               /* YML has seven levels */
    FEED_XML_ATTRIBUTE_COUNT_MAX = 32,     /* of one tag; honest ones have four */
    FEED_XML_ATTRIBUTE_SIZE_MAX = 4 << 10, /* a URL */
    FEED_XML_TOKEN_SIZE_MAX = 256 << 10,   /* one tag or comment: the parser holds it whole */
    FEED_XML_MEMORY_MAX = 8 << 20,         /* of the parser, which keeps every name it has seen */
    FEED_MEMO_COUNT_MAX = 8192,            /* names of categories, attributes and options */
    FEED_MAP_SIZE_MAX = 8 << 20,           /* of a file of --categories */
    FEED_RULE_ATTRIBUTE_COUNT_MAX = 8,     /* set by one line of such a file */
    FEED_PROPERTY_SIZE_MAX = 16 << 10,     /* extra properties of a row: an offer has 100 KB */
    FEED_UNKNOWN_COUNT_MAX = 200,          /* names told that no category has an attribute for */
    FEED_REASON_COUNT_MAX = 200,           /* groups of reasons told of one file */
    FEED_REPORT_LINE_SIZE_MAX = 1 << 20,   /* one row with all its reasons */

    /* ---- feeds applied ---- */
    FEED_KEY_SIZE_MAX = 64,       /* a feed's name; part of keys */
    FEED_BATCH_COUNT = 64,        /* rows of one transaction: others wait 5 ms for it */
    FEED_BATCH_SIZE = 1 << 20,    /* and their bytes */
    FEED_EVENT_COUNT_MAX = 1000,  /* of one SendEvents */
    FEED_HELD_ITEM_COUNT = 20,    /* told of what a held task would delete */
    FEED_DELETE_COUNT = 1000,     /* offers a task's end finds at a time */
    FEED_PROBLEM_COUNT_MAX = 30,  /* told of one row, of each kind: 90 KB at the most */
    FEED_PROBLEM_SIZE_MAX = 500,  /* bytes of one */
    FEED_REPORT_COUNT_MAX = 20,   /* tasks of a feed whose reports are kept */
    FEED_TASK_KEPT_COUNT = 1000,  /* of a feed, without their reports: three days of the most that
                                     one by address may have, years of a daily one */
    FEED_REPORT_PAGE_COUNT = 500, /* rows read at a time */
    FEED_FORGET_COUNT = 1000,     /* rows of a report removed by one transaction */
    FEED_CALL_MS_MAX = 20000,     /* a call ends or undoes a task for so long; then the worker */
    FEED_RESUME_S = 10,           /* a task that ends or is undone and was silent so long */
    FEED_POLL_COUNT = 512,        /* events of one poll: applied within the session's time */
    FEED_KEEP_COUNT = 20,         /* tasks found by one look */
    FEED_TASK_AHEAD_S = 86400,    /* a task id is no more than the time in ns, so much ahead */

    FEED_TOLD_CATEGORY_COUNT_MAX = 1000, /* of a file, by the call that takes it */
    FEED_SIMILAR_CATEGORY_COUNT = 200,   /* of a file, whose goods others are compared with */
    FEED_SIMILAR_TITLE_COUNT = 3,        /* of a category: 600 searches of a millisecond or two */
    FEED_SIMILAR_COUNT = 10,             /* offers looked at by each */
    FEED_MAP_KEPT_SIZE_MAX = 2 << 20,    /* of one that is remembered: 30000 categories */

    /* ---- feeds by address ---- */
    FEED_SCHEDULE_COUNT_MAX = 50,   /* of one seller; a listing has all of them */
    FEED_PERIOD_S_MIN = 300,        /* shops make their file anew for who asks */
    FEED_PERIOD_S_MAX = 30 * 86400, /* offers live as long in most categories */
    FEED_RUN_COUNT_MAX = 20,        /* runs told of a feed */
    FEED_RUN_REASON_SIZE_MAX = 500, /* bytes of one's reason */
    FEED_FETCH_SHARD_COUNT = 16,    /* processes that may share the fetching */
    FEED_FETCH_THREAD_COUNT = 8,    /* they wait for other people's servers, ten minutes at worst */
    FEED_FETCH_DUE_COUNT = 5000,    /* of what is due, looked at for whose turn it is: 1 MB */
    FEED_FETCH_SELLER_COUNT = 4096, /* hashes of sellers whose last turn is remembered: 32 KB */
    FEED_FETCH_LOOK_MS = 1000,      /* how often one looks for what is due */
    FEED_FETCH_IDLE_MS = 60000,     /* those who fetch look by themselves, should a call be lost */
    FEED_FETCH_REST_MS = 10000,     /* after a failure of our own */
    FEED_FETCH_MS_MAX = 600 * 1000, /* for one file: half a gigabyte at a megabyte a second */
    FEED_FETCH_STALL_MS = 60 * 1000,   /* without a byte: shops make the file meanwhile */
    FEED_FETCH_SIZE_MAX = 512 << 20,   /* as sent: it lies on our disk while it is read */
    FEED_FETCH_PIECE_SIZE = 64 << 10,  /* written at a time */
    FEED_FETCH_FAILURE_COUNT_MAX = 20, /* in a row, in about three days; then it is stopped */
    FEED_FETCH_RETRY_S = 60,           /* after the first failure; doubled by each ... */
    FEED_FETCH_RETRY_S_MAX = 6 * 3600, /* ... up to this */
    FEED_FETCH_AGAIN_S = 86400,        /* an unchanged file is taken again: its offers expire */

    /* ---- ImportFile ---- */
    FEED_CALL_FILE_SIZE_MAX = 256 << 20, /* unpacked: it holds a thread that works for calls */
    FEED_CALL_ROW_COUNT_MAX = 200000,    /* likewise; a minute or two */
    FEED_CALL_FILE_COUNT_MAX = 8,        /* at a time; most threads stay for other calls ... */
    FEED_CALL_FILE_SELLER_MAX = 2,       /* ... and most of these for other sellers */
};

#endif
