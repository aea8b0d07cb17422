/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h - the bounds of access/, each with its reason; docs/limits.md has those of all. */
#ifndef TORG_ACCESS_BOUNDS_H
#define TORG_ACCESS_BOUNDS_H

enum {
    KEY_COUNT_MAX = 50000,    /* all are held in memory, about 600 bytes each */
    KEY_PAGE_COUNT = 500,     /* rows read at a time */
    KEY_REFRESH_MS = 500,     /* a revocation elsewhere is known here within a second */
    KEY_STALE_MS_MAX = 60000, /* a store silent for longer: stored keys are refused */
    KEY_STALE_SEARCH_MS_MAX = 3600 * 1000, /* those that can only search; buyers go on by them */
    KEY_TEMPORARY_COUNT_MAX = 4,           /* the start key, the operators' key */
};

#endif
