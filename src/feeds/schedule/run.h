/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - a feed that is due is fetched, and becomes a task if its file has changed.
 *
 * What goes wrong with the address or the file is an outcome, and recorded. What goes wrong with us
 * (the store, the disk, a stop, another who has taken over) is returned and leaves the feed due.
 */
#ifndef TORG_FEEDS_SCHEDULE_RUN_H
#define TORG_FEEDS_SCHEDULE_RUN_H

#include "feeds/apply/end.h"
#include "feeds/schedule/fetch.h"
#include "feeds/schedule/schedule.h"

typedef int feed_fetch_fn(void *arg, const char *address, const char *etag, const char *modified,
                          struct arena *arena, struct feed_fetched *fetched, struct err *err);

struct feed_runner {
    const struct offers *offers;
    feed_fetch_fn *fetch; /* feed_fetch; a test's own */
    void *fetch_arg;
    bool (*is_left)(const void *arg); /* it is not ours any more: asked at each row */
    const void *is_left_arg;
    const struct feed_patience *patience; /* of the deletions at a task's end */
};

/* *schedule is what it is then, with the run. ERR_CANCELLED: it was left; ERR_STALE: overtaken. */
int feed_run(const struct feed_runner *runner, struct feed_due *due, struct arena *arena,
             Torg__V1__FeedSchedule **schedule, struct err *err);

#endif
