/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep.h - the background work on feeds' tasks.
 *
 * A task that deletes or is undone and has been silent for a while is gone on with: who drove it
 * has died. One whose rows no longer come is held, one that nobody confirmed is dropped; old
 * reports and names of offers deleted long ago go. Several may do it at once: who goes on with a
 * task claims it by its time, which each step renews.
 */
#ifndef TORG_FEEDS_APPLY_KEEP_H
#define TORG_FEEDS_APPLY_KEEP_H

#include <stdatomic.h>

#include "feeds/tasks/task.h"

struct feed_kept {
    uint64_t resumed;   /* tasks gone on with */
    uint64_t held;      /* for their silence */
    uint64_t dropped;   /* held and never confirmed */
    uint64_t forgotten; /* rows of reports, and names */
    uint64_t failed;    /* tasks that could not be kept, each told in the log */
};

/* One round; adds to *kept. */
int feed_keep(const struct offers *offers, const atomic_bool *stopping, struct feed_kept *kept,
              struct err *err);

#endif
