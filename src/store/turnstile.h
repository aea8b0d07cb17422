/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turnstile.h - lets a fixed number in at a time; the others wait in the order they came. A fair
 * semaphore.
 *
 * For pools: a thread that is let in finds a free connection, or may open one. Without the order a
 * busy thread that has just left would be let in again before those who wait.
 */
#ifndef TORG_STORE_TURNSTILE_H
#define TORG_STORE_TURNSTILE_H

#include <pthread.h>
#include <stdbool.h>

#include "base/clock.h"
#include "base/object.h"

struct turnstile_waiter;

enum { TURNSTILE_MAGIC = OBJECT_MAGIC('t', 'u', 'r', 'n') };

struct turnstile {
    uint32_t magic;
    const struct clock *clock; /* borrowed */
    pthread_mutex_t lock;
    unsigned count; /* who are let in at most */
    unsigned free_count;
    struct turnstile_waiter *first; /* free_count is 0 while somebody waits */
    struct turnstile_waiter **last;
};

void turnstile_init(struct turnstile *turnstile, unsigned count, const struct clock *clock);
void turnstile_release(struct turnstile *turnstile); /* nobody is in or waits */

/* False when it was not let in within the time. */
bool turnstile_enter(struct turnstile *turnstile, int timeout_ms);
void turnstile_leave(struct turnstile *turnstile);

#endif
