/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watchdog.h - sees reactors that stand still or run in circles, and tells.
 *
 * A reactor that is in the same turn for longer than the limit is stuck: a handler or a callback
 * blocks it, and all of its connections wait. One that for as long takes turn after turn of which
 * nothing comes spins: on a socket that is ready for ever. Either is logged with what the
 * reactor is busy with, reported, and reported again when it is over.
 *
 * Time is counted in looks of this thread, not by the clock: a process that was stopped for an hour
 * has no stuck reactor when it goes on.
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
