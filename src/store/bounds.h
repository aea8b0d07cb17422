/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h - the bounds of store/, each with its reason; docs/limits.md has those of all. */
#ifndef TORG_STORE_BOUNDS_H
#define TORG_STORE_BOUNDS_H

enum {
    STORE_PARAM_COUNT_MAX = 512, /* of a statement over many rows; arrays of them live on stacks */
    STORE_COLUMN_COUNT_MAX = 64,
    STORE_SQL_SIZE_MAX = 64 << 10,
    STORE_VALUE_SIZE_MAX = 16 << 20, /* an offer is 100 KB; bigger things belong into blob */
    STORE_STATEMENT_SET_COUNT = 32,  /* prepared statements a connection keeps: sets × ways */
    STORE_STATEMENT_WAY_COUNT = 8,
    STORE_ATTEMPT_COUNT_MAX = 200, /* runs of one transaction before ERR_CONFLICT: of six that
                                      write one row all the time, each wins one run in six */
    STORE_BACKOFF_MS_MAX = 50,     /* a pause between runs is random below this */
    STORE_CONNECTION_COUNT = 16,   /* default of store_options */
    STORE_CONNECTION_COUNT_MAX = 256,
    STORE_WAIT_MS_MAX = 10 * 1000, /* for a free connection */
    STORE_GROUP_COUNT_MAX = 256,   /* transactions committed together; past it latency only grows */
    STORE_GROUP_MS_MAX = 20,       /* a group is closed after this, so that slow ones delay few */
    STORE_LOCK_MS_MAX = 10 * 1000, /* another process holds SQLite's write lock */
    STORE_WAL_PAGE_COUNT = 16 << 10, /* 64 MB, default of store_options: the checkpointer starts */
    STORE_WAL_HELD_FACTOR = 4,       /* so many times that: each group waits for it… */
    STORE_WAL_HOLD_MS = 250,         /* …but no longer than this: a reader may hold the log */
    STORE_WAL_PAGE_COUNT_MAX = 1 << 20,   /* 4 GB: writes are refused until the reader lets go */
    STORE_CONNECT_S_MAX = 20,             /* PostgreSQL's server must accept within */
    STORE_STATEMENT_MS_MAX = 30 * 1000,   /* one statement there, waits for locks included */
    STORE_MIGRATION_MS_MAX = 3600 * 1000, /* one statement of a migration: an index on 50 M rows */
    STORE_MIGRATION_SIZE_MAX = 1 << 20,
};

#endif
