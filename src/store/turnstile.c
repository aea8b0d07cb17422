/* SPDX-License-Identifier: Apache-2.0 */
/* turnstile.c - see turnstile.h. A thread that leaves gives its place to the first waiter. */
#include "store/turnstile.h"

#include <assert.h>
#include <stddef.h>

#include "base/condition.h"

struct turnstile_waiter {    /* on its thread's stack */
    struct condition let_in; /* one each: they are let in in their order */
    bool in;
    struct turnstile_waiter *next;
};

void turnstile_init(struct turnstile *turnstile, unsigned count, const struct clock *clock)
{
    assert(count > 0 && clock);
    object_begin(turnstile, TURNSTILE_MAGIC);
    turnstile->clock = clock;
    turnstile->count = count;
    pthread_mutex_init(&turnstile->lock, NULL);
    turnstile->free_count = count;
    turnstile->first = NULL;
    turnstile->last = &turnstile->first;
}

void turnstile_release(struct turnstile *turnstile)
{
    object_end(turnstile, TURNSTILE_MAGIC);
    assert(!turnstile->first);
    assert(turnstile->free_count == turnstile->count); /* nobody is in */
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
    int64_t until_us = clock_after_us(turnstile->clock, (int64_t)timeout_ms * MS_US);
    bool in_time = true;

    condition_init(&waiter.let_in, turnstile->clock);
    *turnstile->last = &waiter;
    turnstile->last = &waiter.next;
    while (!waiter.in && in_time)
        in_time = condition_wait_until(&waiter.let_in, &turnstile->lock, until_us);
    if (!waiter.in)
        remove_waiter(turnstile, &waiter);
    condition_release(&waiter.let_in);
    return waiter.in;
}

bool turnstile_enter(struct turnstile *turnstile, int timeout_ms)
{
    bool in = true;

    object_check(turnstile, TURNSTILE_MAGIC);
    pthread_mutex_lock(&turnstile->lock);
    assert(!turnstile->first || turnstile->free_count == 0);
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

    object_check(turnstile, TURNSTILE_MAGIC);
    pthread_mutex_lock(&turnstile->lock);
    waiter = turnstile->first;
    if (waiter) {
        turnstile->first = waiter->next;
        if (!turnstile->first)
            turnstile->last = &turnstile->first;
        assert(!waiter->in && turnstile->free_count == 0);
        waiter->in = true;
        condition_signal(&waiter->let_in);
    } else {
        turnstile->free_count++;
        assert(turnstile->free_count <= turnstile->count); /* it leaves once */
    }
    pthread_mutex_unlock(&turnstile->lock);
}
