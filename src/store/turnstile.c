/* SPDX-License-Identifier: Apache-2.0 */
/* turnstile.c - see turnstile.h. Whoever leaves gives its place to the first who waits. */
#include "store/turnstile.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <time.h>

struct turnstile_waiter { /* on its thread's stack */
    pthread_cond_t let_in;
    bool in;
    struct turnstile_waiter *next;
};

void turnstile_init(struct turnstile *turnstile, unsigned count)
{
    pthread_mutex_init(&turnstile->lock, NULL);
    turnstile->free_count = count;
    turnstile->first = NULL;
    turnstile->last = &turnstile->first;
}

void turnstile_release(struct turnstile *turnstile)
{
    assert(!turnstile->first);
    pthread_mutex_destroy(&turnstile->lock);
}

static void remove_waiter(struct turnstile *turnstile, struct turnstile_waiter *waiter)
{
    struct turnstile_waiter **link = &turnstile->first;

    while (*link != waiter)
        link = &(*link)->next;
    *link = waiter->next;
    if (turnstile->last == &waiter->next)
        turnstile->last = link;
}

static bool wait_turn(struct turnstile *turnstile, int timeout_ms)
{
    struct turnstile_waiter waiter = {.in = false};
    struct timespec until;
    int rc = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += timeout_ms / 1000;
    until.tv_nsec += timeout_ms % 1000 * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }
    pthread_cond_init(&waiter.let_in, NULL);
    *turnstile->last = &waiter;
    turnstile->last = &waiter.next;
    while (!waiter.in && rc != ETIMEDOUT)
        rc = pthread_cond_clockwait(&waiter.let_in, &turnstile->lock, CLOCK_MONOTONIC, &until);
    if (!waiter.in)
        remove_waiter(turnstile, &waiter);
    pthread_cond_destroy(&waiter.let_in);
    return waiter.in;
}

bool turnstile_enter(struct turnstile *turnstile, int timeout_ms)
{
    bool in = true;

    pthread_mutex_lock(&turnstile->lock);
    if (turnstile->free_count > 0)
        turnstile->free_count--;
    else
        in = wait_turn(turnstile, timeout_ms);
    pthread_mutex_unlock(&turnstile->lock);
    return in;
}

void turnstile_leave(struct turnstile *turnstile)
{
    struct turnstile_waiter *waiter;

    pthread_mutex_lock(&turnstile->lock);
    waiter = turnstile->first;
    if (waiter) {
        turnstile->first = waiter->next;
        if (!turnstile->first)
            turnstile->last = &turnstile->first;
        waiter->in = true;
        pthread_cond_signal(&waiter->let_in);
    } else {
        turnstile->free_count++;
    }
    pthread_mutex_unlock(&turnstile->lock);
}
