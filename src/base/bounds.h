/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bounds.h - the bounds of base/, and those that neighbours share, each with its reason.
 *
 * Every folder has such a file; docs/limits.md is written from all of them. What a limit refuses is
 * refused with its name and value. Those that an operator may change are defaults, and settings in
 * config/.
 */
#ifndef TORG_BASE_BOUNDS_H
#define TORG_BASE_BOUNDS_H

enum {
    LOG_LINE_SIZE_MAX = 16 << 10,   /* one write(2); longer events lose their fields */
    LOG_REQUEST_ID_SIZE_MAX = 64,   /* ours are 16; a client's own id is cut to this */
    METRIC_SERIES_COUNT_MAX = 4096, /* a label from outside must not eat the memory */
    METRIC_LABELS_SIZE_MAX = 256,
    VIOLATION_COUNT_MAX = 100, /* reasons told at once about one message */
    TASK_SILENCE_MS_MAX =
        60000,           /* a piece of work is told within it, unless a task has its own limit */
    TASK_LOOK_MS = 1000, /* tasks are looked at so often */
    FAIR_CALLER_COUNT_MAX = 4096, /* whose debts a queue remembers: 140 bytes each */
    FAIR_DEEP = 16,               /* jobs of a flow that has one, to one of a flow that has many */
    FAIR_DEAR_US = 5000,          /* a job that takes longer is not waited for by who asks little */

    /* ---- topic ---- */
    TOPIC_PREFIX_SIZE_MAX = 40, /* before each; the longest of ours has 70 */
};

#endif
