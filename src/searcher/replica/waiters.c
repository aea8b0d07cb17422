/* SPDX-License-Identifier: Apache-2.0 */
/* waiters.c - see waiters.h. */
#include "searcher/replica/waiters.h"

#include "base/workers.h"
#include "searcher/bounds.h"

void waiters_init(struct waiters *waiters)
{
    atomic_init(&waiters->count, 0);
    waiters->now = metrics_gauge("torg_searcher_waiters", NULL,
                                 "Callers who wait until a write is searchable.");
    waiters->refused = metrics_counter("torg_searcher_waiters_refused_total", NULL,
                                       "Callers who could not wait because too many already did.");
}

int waiters_enter(struct waiters *waiters, struct err *err)
{
    if (atomic_fetch_add(&waiters->count, 1) < SEARCHER_WAITER_COUNT_MAX) {
        gauge_add(waiters->now, 1);
        worker_waits();
        return 0;
    }
    atomic_fetch_sub(&waiters->count, 1);
    counter_add(waiters->refused, 1);
    return err_set(err, ERR_LIMIT,
                   "%d callers are already waiting for writes to become searchable: ask again "
                   "later, or without waiting",
                   SEARCHER_WAITER_COUNT_MAX);
}

void waiters_leave(struct waiters *waiters)
{
    worker_goes_on();
    gauge_add(waiters->now, -1);
    atomic_fetch_sub(&waiters->count, 1);
}
