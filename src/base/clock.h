/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - the time, given to a module rather than taken by it, so tests can move it.
 *
 * Wall time is microseconds since 1970 (UTC) and may step; it is for people and for stored
 * times. Monotonic time is for durations, leases and deadlines. Safe for all threads.
 */
#ifndef TORG_BASE_CLOCK_H
#define TORG_BASE_CLOCK_H

#include <stdatomic.h>
#include <stdint.h>

enum { MS_US = 1000, SECOND_US = 1000 * 1000 };

struct clock {
    int64_t (*wall_us)(const struct clock *clock);
    int64_t (*mono_us)(const struct clock *clock);
};

const struct clock *clock_system(void);

static inline int64_t clock_wall_us(const struct clock *clock)
{
    return clock->wall_us(clock);
}

static inline int64_t clock_mono_us(const struct clock *clock)
{
    return clock->mono_us(clock);
}

/* A clock that stands still until it is told to move. */
struct clock_manual {
    struct clock base;
    _Atomic int64_t now_us;
};

void clock_manual_init(struct clock_manual *clock, int64_t now_us);
void clock_manual_advance(struct clock_manual *clock, int64_t delta_us);

/* "2026-11-15T08:41:26.123456Z"; text holds at least CLOCK_TEXT_SIZE bytes. */
enum { CLOCK_TEXT_SIZE = 32 };
void clock_format(int64_t wall_us, char text[CLOCK_TEXT_SIZE]);

#endif
