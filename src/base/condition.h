/* SPDX-License-Identifier: Apache-2.0 */
/*
 * condition.h - a condition variable whose waits end at times of a given clock.
 *
 * Used with a mutex like pthread's: the state is read and changed with the lock held; a waiter
 * checks it again afterwards. Every wait for another thread in this program is one of these, so a
 * clock other than the system's can end it.
 */
#ifndef TORG_BASE_CONDITION_H
#define TORG_BASE_CONDITION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/object.h"

enum { CONDITION_MAGIC = OBJECT_MAGIC('c', 'o', 'n', 'd') };

struct condition {
    uint32_t magic;
    pthread_cond_t changed;
    const struct clock *clock; /* borrowed */
};

static inline void condition_init(struct condition *condition, const struct clock *clock)
{
    object_begin(condition, CONDITION_MAGIC);
    condition->clock = clock;
    pthread_cond_init(&condition->changed, NULL);
}

static inline void condition_release(struct condition *condition)
{
    object_end(condition, CONDITION_MAGIC);
    pthread_cond_destroy(&condition->changed);
}

/* Wakes one who waits. */
static inline void condition_signal(struct condition *condition)
{
    object_check(condition, CONDITION_MAGIC);
    pthread_cond_signal(&condition->changed);
}

/* Wakes all. */
static inline void condition_broadcast(struct condition *condition)
{
    object_check(condition, CONDITION_MAGIC);
    pthread_cond_broadcast(&condition->changed);
}

/* False: the monotonic time of its clock has come. */
static inline bool condition_wait_until(struct condition *condition, pthread_mutex_t *lock,
                                        int64_t until_us)
{
    object_check(condition, CONDITION_MAGIC);
    return condition->clock->wait(condition->clock, &condition->changed, lock, until_us);
}

static inline void condition_wait(struct condition *condition, pthread_mutex_t *lock)
{
    (void)condition_wait_until(condition, lock, CLOCK_NEVER);
}

#endif
