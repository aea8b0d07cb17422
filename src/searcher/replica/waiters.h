/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waiters.h - callers who wait until a write is searchable, in a thread that other searches want:
 * there are SEARCHER_WAITER_COUNT_MAX of them at once and no more. Calls of a server are not among
 * them: they look, and come back (searcher/service.h).
 *
 * Only who really has to wait is counted: a write that is in already costs nothing.
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
