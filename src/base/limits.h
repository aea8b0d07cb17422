/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.h - every bound of the house, with its reason. A folder has its own section.
 *
 * What a limit refuses is refused with the limit's name and value. Those that an operator may
 * change are defaults here, and settings in config/.
 */
#ifndef TORG_BASE_LIMITS_H
#define TORG_BASE_LIMITS_H

enum {
    /* ---- base ---- */
    LOG_LINE_SIZE_MAX = 16 << 10,   /* one write(2); longer events lose their fields */
    LOG_REQUEST_ID_SIZE_MAX = 64,   /* ours are 16; a client's own id is cut to this */
    METRIC_SERIES_COUNT_MAX = 4096, /* a label from outside must not eat the memory */
    METRIC_LABELS_SIZE_MAX = 256,
    VIOLATION_COUNT_MAX = 100, /* reasons told at once about one message */

    /* ---- net: messages ---- */
    MESSAGE_DEPTH_MAX = 64,          /* messages in messages: bounds recursion, ours and clients' */
    MESSAGE_UNKNOWN_COUNT_MAX = 256, /* a newer client has a few; a flood of them is an attack */
    MESSAGE_MEMORY_MAX = 32 << 20,   /* decoded: three wire bytes can ask for 400 of memory */
    JSON_NUMBER_SIZE_MAX = 400,      /* a double written out in full has 310 digits */
    JSON_TYPE_COUNT_MAX = 4096,      /* message types linked in; each is prepared once */

    /* ---- net: services and client ---- */
    HEALTH_SERVICE_COUNT_MAX = 64,
    HEALTH_WATCH_POLL_MS = 250, /* how soon a watch sees that its client has left */
    HTTP_CLIENT_TIMEOUT_MS = 30 * 1000,
    HTTP_CLIENT_CONNECT_TIMEOUT_MS = 5 * 1000,
    HTTP_CLIENT_RESPONSE_SIZE_MAX = 16 << 20,
    HTTP_CLIENT_HEADER_COUNT_MAX = 128, /* of one answer; as many as common servers allow */
    HTTP_CLIENT_HEADERS_SIZE_MAX = 64 << 10,
    HTTP_CLIENT_REDIRECT_COUNT_MAX = 5,
    HTTP_CLIENT_IDLE_COUNT_MAX = 32, /* connections kept for the next request */
    /* ---- store ---- */
    STORE_PARAM_COUNT_MAX = 64, /* of a statement; arrays of them live on stacks */
    STORE_COLUMN_COUNT_MAX = 64,
    STORE_SQL_SIZE_MAX = 64 << 10,
    STORE_VALUE_SIZE_MAX = 16 << 20, /* an offer is 100 KB; bigger things belong into blob */
    STORE_STATEMENT_SET_COUNT = 32,  /* prepared statements a connection keeps: sets × ways */
    STORE_STATEMENT_WAY_COUNT = 8,
    STORE_ATTEMPT_COUNT_MAX = 60, /* runs of one transaction before ERR_CONFLICT */
    STORE_BACKOFF_MS_MAX = 50,    /* a pause between runs is random below this */
    STORE_CONNECTION_COUNT = 16,  /* default of store_options */
    STORE_CONNECTION_COUNT_MAX = 256,
    STORE_WAIT_MS_MAX = 10 * 1000, /* for a free connection */
    STORE_GROUP_COUNT_MAX = 256,   /* transactions committed together; past it latency only grows */
    STORE_GROUP_MS_MAX = 20,       /* a group is closed after this, so that slow ones delay few */
    STORE_LOCK_MS_MAX = 10 * 1000, /* another process holds SQLite's write lock */
    STORE_WAL_PAGE_COUNT = 16 << 10,      /* 64 MB: the checkpointer starts */
    STORE_WAL_PAGE_COUNT_HELD = 64 << 10, /* 256 MB: each group waits for the checkpointer… */
    STORE_WAL_HOLD_MS = 250,            /* …but no longer than this: a reader may hold the log */
    STORE_WAL_PAGE_COUNT_MAX = 1 << 20, /* 4 GB: writes are refused until the reader lets go */
    STORE_CONNECT_S_MAX = 5,            /* PostgreSQL's server must accept within */
    STORE_STATEMENT_MS_MAX = 30 * 1000, /* one statement there, waits for locks included */
    STORE_MIGRATION_MS_MAX = 3600 * 1000, /* one statement of a migration: an index on 50 M rows */
    STORE_MIGRATION_SIZE_MAX = 1 << 20,
};

#endif
