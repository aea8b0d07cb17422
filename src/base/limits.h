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

    /* ---- config ---- */
    CONFIG_FILE_SIZE_MAX = 1 << 20, /* written by hand; more is not a configuration */
    CONFIG_LINE_SIZE_MAX = 4096,    /* a value, quoted, with its name and a comment */
    CONFIG_VALUE_SIZE_MAX = 1024,   /* paths and URLs */
    CONFIG_THREAD_COUNT_MAX = 1024, /* more threads than this only wait for each other */

    /* ---- access ---- */
    KEY_COUNT_MAX = 50000,       /* all are held in memory, about 600 bytes each */
    KEY_PAGE_COUNT = 500,        /* rows read at a time */
    KEY_REFRESH_MS = 500,        /* a revocation elsewhere is known here within a second */
    KEY_STALE_MS_MAX = 60000,    /* a store silent for longer: stored keys are refused */
    KEY_TEMPORARY_COUNT_MAX = 4, /* the start key, the operators' key */
};

#endif
