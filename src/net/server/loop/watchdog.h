/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watchdog.h - detects reactors that are stuck or spin, and reports them.
 *
 * A reactor that is in the same turn for longer than the limit is stuck: a handler or a callback
 * blocks it, and all of its connections wait. One that takes turn after turn for as long without
 * any result spins: on a socket that is ready for ever. Either is logged with what the reactor is
 * busy with, reported, and reported again when it is over.
 *
 * Time is counted in checks of this thread, not by the clock: a process that was suspended for an
 * hour has no stuck reactor when it resumes.
 *
 * Threads: one of its own; it only reads atomics of the reactors.
 */
#ifndef TORG_NET_SERVER_LOOP_WATCHDOG_H
#define TORG_NET_SERVER_LOOP_WATCHDOG_H

#include <stddef.h>

#include "base/err.h"
#include "net/server/loop/reactor.h"

struct watchdog;

struct watchdog_options {
    struct reactor *const *reactors; /* the list is copied; started, stopped after watchdog_stop */
    size_t count;
    const struct clock *clock; /* NULL: the system's; borrowed */
    unsigned limit_ms;
    /* Called by the watchdog's thread when it changes: what is wrong, NULL = nothing. */
    void (*report)(void *arg, const char *trouble);
    void *arg;
};

int watchdog_start(const struct watchdog_options *options, struct watchdog **watchdog,
                   struct err *err);
void watchdog_stop(struct watchdog *watchdog); /* NULL is fine */

#endif
