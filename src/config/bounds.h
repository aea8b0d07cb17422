/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h - the bounds of config/, each with its reason; docs/limits.md has those of all. */
#ifndef TORG_CONFIG_BOUNDS_H
#define TORG_CONFIG_BOUNDS_H

enum {
    CONFIG_FILE_SIZE_MAX = 1 << 20, /* written by hand; more is not a configuration */
    CONFIG_LINE_SIZE_MAX = 4096,    /* a value, quoted, with its name and a comment */
    CONFIG_VALUE_SIZE_MAX = 1024,   /* paths and URLs */
    CONFIG_THREAD_COUNT_MAX = 1024, /* more threads than this only wait for each other */

    CONFIG_RATE_MAX = 1000 * 1000, /* calls a second: more than a machine answers */

    /* ---- clients ---- */
    CLIENT_SHARD_COUNT_MAX = 64, /* a partition and an owner each */

    /* ---- documents ---- */
    COMPOSER_BATCH_COUNT_MAX = 1000, /* as the receiver takes at once */

    /* ---- the indexer ---- */
    INDEXER_THREAD_COUNT_MAX = 64,

    /* ---- the auditor ---- */
    AUDITOR_RATE_MAX = 1000 * 1000, /* keys a second: more than a core compares */
};

#endif
