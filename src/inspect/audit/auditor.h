/* SPDX-License-Identifier: Apache-2.0 */
/*
 * auditor.h - compares all stages with each other, continuously, and repairs what differs (anti-
 * entropy).
 *
 *   round: offers ↔ registry ↔ numbers ↔ index of every replica, of every epoch
 *     │ steps of verify.h, page by page: so many keys per second, a small part of a core
 *     └ a difference that is no change on its way ─► composed or queued again, lane backfill
 *                                                 └► counted by its reason, logged, kept
 *                                                    (auditor_book.h)
 *
 * It is the quiet form of `torg verify`: files are not looked at, keys only where sums of their
 * range differ (digests.h), and what documents say in some of the rounds.
 *
 * One auditor of all processes works at a time, by coord.
 * Threads: one of its own.
 */
#ifndef TORG_INSPECT_AUDIT_AUDITOR_H
#define TORG_INSPECT_AUDIT_AUDITOR_H

#include "coord/coord.h"
#include "inspect/inspect.h"

#define AUDITOR_SET "auditor" /* of coord; one shard */

struct auditor_options { /* all borrowed until it has stopped */
    const struct inspect *inspect;
    struct coord *coord; /* NULL: nobody else is there */
    int64_t rate;        /* keys a second, at most; 0: it does nothing */
    int64_t pause_us;    /* between two rounds */
};

struct auditor;

/* On failure *auditor is NULL. */
int auditor_start(const struct auditor_options *options, struct auditor **auditor, struct err *err);
void auditor_stop(struct auditor *auditor); /* NULL is fine */

#endif
