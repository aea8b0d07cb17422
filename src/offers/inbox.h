/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inbox.h - a topic whose records others write for offers, applied in the order of each key.
 *
 * A thread reads as a member of a group, and gives each batch to lanes by the records' keys: a
 * group of commits has as many as there are callers, so one that applies alone waits for the disk
 * at each. An offset is committed after everything up to it was
 * applied, so a record may come again: whoever applies it must recognise that. A record that will
 * never be applied is told in the log and passed; while the store fails, it is tried again.
 */
#ifndef TORG_OFFERS_INBOX_H
#define TORG_OFFERS_INBOX_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/metrics.h"
#include "topic/topic.h"

struct inbox_options { /* texts are borrowed until it stops, as arg is */
    const char *topic;
    const char *group;
    const char *what; /* "an opinion" */
    /* Applies one; *changed: it was news. ERR_UNAVAILABLE, ERR_CONFLICT and ERR_TIMEOUT: it is
     * tried again; any other failure: it is passed. */
    int (*apply)(void *arg, struct bytes value, struct arena *arena, bool *changed,
                 struct err *err);
    void *arg;
    const struct clock *clock;
    size_t lane_count;       /* 1 to INBOX_LANE_COUNT_MAX */
    struct counter *applied; /* borrowed, as all */
    struct counter *stale;
    struct counter *refused;
    struct counter *errors; /* tried again */
};

struct inbox;

/* Makes the topic if it is not there, and starts the thread. On failure *inbox is NULL. */
int inbox_start(const struct inbox_options *options, struct topics *topics, struct inbox **inbox,
                struct err *err);
void inbox_stop(struct inbox *inbox); /* NULL is fine */

#endif
