/* SPDX-License-Identifier: Apache-2.0 */
/* clock.c - see clock.h. */
#include "base/clock.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

#include "base/memory.h"

enum { NS_PER_US = 1000 };

static int64_t read_clock(clockid_t id)
{
    struct timespec now;

    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * SECOND_US + now.tv_nsec / 1000;
}

static struct timespec timespec_of(int64_t us)
{
    return (struct timespec){.tv_sec = us / SECOND_US, .tv_nsec = us % SECOND_US * NS_PER_US};
}

/* --- the system's --- */

static int64_t system_wall(const struct clock *clock)
{
    (void)clock;
    return read_clock(CLOCK_REALTIME);
}

static int64_t system_mono(const struct clock *clock)
{
    (void)clock;
    return read_clock(CLOCK_MONOTONIC);
}

static bool system_wait(const struct clock *clock, pthread_cond_t *changed, pthread_mutex_t *lock,
                        int64_t until_us)
{
    struct timespec until = timespec_of(until_us > 0 ? until_us : 0);
    int rc;

    (void)clock;
    if (until_us == CLOCK_NEVER)
        rc = pthread_cond_wait(changed, lock);
    else
        rc = pthread_cond_clockwait(changed, lock, CLOCK_MONOTONIC, &until);
    assert(rc == 0 || rc == ETIMEDOUT);
    return rc == 0;
}

const struct clock *clock_system(void)
{
    static const struct clock clock = {
        .wall_us = system_wall, .mono_us = system_mono, .wait = system_wait};

    return &clock;
}

void clock_sleep(const struct clock *clock, int64_t duration_us)
{
    int64_t until_us = clock_after_us(clock, duration_us);
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t never = PTHREAD_COND_INITIALIZER;

    pthread_mutex_lock(&lock);
    while (clock->wait(clock, &never, &lock, until_us))
        ;
    pthread_mutex_unlock(&lock);
    pthread_cond_destroy(&never);
    pthread_mutex_destroy(&lock);
}

/* --- one that is moved by hand --- */

struct clock_waiter {
    pthread_cond_t *changed;
    pthread_mutex_t *lock;
    int64_t until_us;
    struct clock_waiter *next;
};

static struct clock_manual *manual_of(const struct clock *clock)
{
    return container_of(clock, struct clock_manual, base);
}

static int64_t manual_now(const struct clock *clock)
{
    return atomic_load(&manual_of(clock)->now_us);
}

static void add_waiter(struct clock_manual *clock, struct clock_waiter *waiter)
{
    pthread_mutex_lock(&clock->lock);
    waiter->next = clock->waiters;
    clock->waiters = waiter;
    pthread_mutex_unlock(&clock->lock);
}

static void remove_waiter(struct clock_manual *clock, struct clock_waiter *waiter)
{
    struct clock_waiter **place = &clock->waiters;

    pthread_mutex_lock(&clock->lock);
    while (*place != waiter)
        place = &(*place)->next;
    *place = waiter->next;
    pthread_mutex_unlock(&clock->lock);
}

/* It is in the list before it looks at the time: either it sees that the time has come, or who
 * moves the clock sees it. */
static bool manual_wait(const struct clock *clock, pthread_cond_t *changed, pthread_mutex_t *lock,
                        int64_t until_us)
{
    struct clock_manual *manual = manual_of(clock);
    struct clock_waiter waiter = {.changed = changed, .lock = lock, .until_us = until_us};
    int64_t real_us = CLOCK_NEVER;
    bool is_woken = true;

    add_waiter(manual, &waiter);
    if (until_us != CLOCK_NEVER && !manual->is_strict)
        real_us = clock_after_us(clock_system(), until_us - manual_now(clock));
    if (manual_now(clock) < until_us)
        is_woken = system_wait(NULL, changed, lock, real_us);
    remove_waiter(manual, &waiter);
    return is_woken && manual_now(clock) < until_us;
}

static void manual_init(struct clock_manual *clock, int64_t now_us, bool is_strict)
{
    *clock = (struct clock_manual){
        .base = {.wall_us = manual_now, .mono_us = manual_now, .wait = manual_wait},
        .is_strict = is_strict,
        .lock = PTHREAD_MUTEX_INITIALIZER};
    atomic_init(&clock->now_us, now_us);
}

void clock_manual_init(struct clock_manual *clock, int64_t now_us)
{
    manual_init(clock, now_us, false);
}

void clock_manual_init_strict(struct clock_manual *clock, int64_t now_us)
{
    manual_init(clock, now_us, true);
}

/* False: one is between its look at the time and its wait, with its lock held. To wait for that
 * lock here would be the other way round than who waits takes the two. */
static bool wake_due(struct clock_manual *clock)
{
    bool is_complete = true;

    pthread_mutex_lock(&clock->lock);
    for (struct clock_waiter *each = clock->waiters; each; each = each->next) {
        if (each->until_us > atomic_load(&clock->now_us))
            continue;
        if (pthread_mutex_trylock(each->lock)) {
            is_complete = false;
            continue;
        }
        pthread_cond_broadcast(each->changed);
        pthread_mutex_unlock(each->lock);
    }
    pthread_mutex_unlock(&clock->lock);
    return is_complete;
}

void clock_manual_advance(struct clock_manual *clock, int64_t delta_us)
{
    atomic_fetch_add(&clock->now_us, delta_us);
    while (!wake_due(clock))
        sched_yield();
}

int64_t clock_manual_next_us(struct clock_manual *clock)
{
    int64_t next_us = CLOCK_NEVER;

    pthread_mutex_lock(&clock->lock);
    for (const struct clock_waiter *each = clock->waiters; each; each = each->next)
        next_us = each->until_us < next_us ? each->until_us : next_us;
    pthread_mutex_unlock(&clock->lock);
    return next_us;
}

void clock_format(int64_t wall_us, char text[CLOCK_TEXT_SIZE])
{
    int64_t fraction = wall_us % SECOND_US;
    time_t seconds = (time_t)(wall_us / SECOND_US);
    struct tm tm;
    char date[24];

    if (fraction < 0) {
        fraction += SECOND_US;
        seconds--;
    }
    gmtime_r(&seconds, &tm);
    strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(text, CLOCK_TEXT_SIZE, "%s.%06dZ", date, (int)fraction);
}

int64_t clock_thread_us(void)
{
    struct timespec spent;

    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent))
        return 0;
    return (int64_t)spent.tv_sec * SECOND_US + spent.tv_nsec / 1000;
}
