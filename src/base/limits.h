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

    /* ---- coord ---- */
    COORD_NAME_SIZE_MAX = 64,          /* members, sets and keys: parts of paths and of log lines */
    COORD_SHARD_COUNT_MAX = 1024,      /* of one set; each costs a node and a read at a rebalance */
    COORD_SET_COUNT_MAX = 32,          /* joined by one member: a few for each role */
    COORD_MEMBER_COUNT_MAX = 256,      /* of one set: a machine each, by far more than planned */
    COORD_REGISTER_COUNT_MAX = 1024,   /* of the embedded backend, which keeps them in memory */
    COORD_VALUE_SIZE_MAX = 64 << 10,   /* a register is a pointer or a small state, not a file */
    COORD_LEASE_MS_MIN = 100,          /* shorter than a bad pause of the machine: endless moves */
    COORD_LEASE_MS_MAX = 60 * 1000,    /* a dead owner's shards stand still for this long */
    COORD_LEASE_MS_DEFAULT = 5 * 1000, /* default, a setting */
    COORD_OPEN_MS_MAX = 15 * 1000,     /* waiting for the first answer of a server */

    /* ---- blob ---- */
    BLOB_NAME_SIZE_MAX = 512,   /* S3 allows 1024; a directory's path stays below PATH_MAX */
    BLOB_PART_SIZE_MAX = 200,   /* between two slashes: file systems allow 255 */
    BLOB_LIST_COUNT_MAX = 1000, /* names of one page, as in S3 */
    BLOB_SIZE_MAX = 1 << 30,    /* of one blob: numerator states and cold logs are cut below it */
    BLOB_WHOLE_SIZE_MAX = 256 << 20, /* put in one call, from memory; larger ones are streamed */
    BLOB_LEFTOVER_AGE_S = 3600,      /* a temporary file older than this has no writer any more */
};

#endif
