/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - the time, given to a module rather than taken by it, so that tests can move it.
 *
 * Wall time is microseconds since 1970 (UTC) and may step; it is for people and for stored times.
 * Monotonic time is for durations, leases and deadlines. Every wait for a time is on a clock, so a
 * process runs entirely on the one it was given. Safe for all threads.
 */
#ifndef TORG_BASE_CLOCK_H
#define TORG_BASE_CLOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { MS_US = 1000, SECOND_US = 1000 * 1000 };
#define CLOCK_NEVER INT64_MAX /* a time that does not come */

struct clock {
    int64_t (*wall_us)(const struct clock *clock);
    int64_t (*mono_us)(const struct clock *clock);
    /* Waits, letting go of the lock meanwhile, until `changed` is signalled (true; now and then for
     * no reason) or the monotonic time has come (false). */
    bool (*wait)(const struct clock *clock, pthread_cond_t *changed, pthread_mutex_t *lock,
                 int64_t until_us);
};

const struct clock *clock_system(void);

/* For options whose clock may be left out. */
static inline const struct clock *clock_or_system(const struct clock *clock)
{
    return clock ? clock : clock_system();
}

static inline int64_t clock_wall_us(const struct clock *clock)
{
    return clock->wall_us(clock);
}

static inline int64_t clock_mono_us(const struct clock *clock)
{
    return clock->mono_us(clock);
}

/* The monotonic time after this long; CLOCK_NEVER stays what it is. */
static inline int64_t clock_after_us(const struct clock *clock, int64_t duration_us)
{
    int64_t now_us = clock_mono_us(clock);

    return duration_us > CLOCK_NEVER - now_us ? CLOCK_NEVER : now_us + duration_us;
}

void clock_sleep(const struct clock *clock, int64_t duration_us);

/* CPU that this thread has taken: the system's alone can tell. */
int64_t clock_thread_us(void);

/* A clock that stands still until it is told to move, which ends the waits whose time has come. */
struct clock_manual {
    struct clock base;
    _Atomic int64_t now_us;
    bool is_strict;
    pthread_mutex_t lock;
    struct clock_waiter *waiters; /* with the lock */
};

/* A wait ends as well when it has really taken its time: threads that look for work now and then do
 * so although their clock stands. */
void clock_manual_init(struct clock_manual *clock, int64_t now_us);
/* A wait ends when the clock is moved, and not otherwise: time belongs to the caller alone. */
void clock_manual_init_strict(struct clock_manual *clock, int64_t now_us);
/* The caller holds no lock that somebody waits with. */
void clock_manual_advance(struct clock_manual *clock, int64_t delta_us);
/* The first time that somebody waits for; CLOCK_NEVER: nobody does. */
int64_t clock_manual_next_us(struct clock_manual *clock);

/* "2026-11-15T08:41:26.123456Z"; text holds at least CLOCK_TEXT_SIZE bytes. */
enum { CLOCK_TEXT_SIZE = 32 };
void clock_format(int64_t wall_us, char text[CLOCK_TEXT_SIZE]);

#endif
