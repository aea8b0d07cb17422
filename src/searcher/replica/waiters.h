/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waiters.h - callers that wait until a write is searchable, in a thread that other searches need:
 * at most SEARCHER_WAITER_COUNT_MAX at once. Calls of a server are not among them: they check, and
 * come back (searcher/service.h).
 *
 * Only callers that really have to wait are counted: a write that has already arrived costs
 * nothing.
 * Threads: any.
 */
#ifndef TORG_SEARCHER_REPLICA_WAITERS_H
#define TORG_SEARCHER_REPLICA_WAITERS_H

#include <stdatomic.h>

#include "base/err.h"
#include "base/metrics.h"

struct waiters {
    atomic_uint count;
    struct gauge *now;
    struct counter *refused;
};

void waiters_init(struct waiters *waiters);
/* ERR_LIMIT: as many wait as may. Else waiters_leave when the waiting is over. */
int waiters_enter(struct waiters *waiters, struct err *err);
void waiters_leave(struct waiters *waiters);

#endif
