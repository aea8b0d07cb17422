/* SPDX-License-Identifier: Apache-2.0 */
/* clock.c - see clock.h. */
#include "base/clock.h"

#include <stdio.h>
#include <time.h>

#include "base/memory.h"

static int64_t read_clock(clockid_t id)
{
    struct timespec now;

    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * SECOND_US + now.tv_nsec / 1000;
}

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

const struct clock *clock_system(void)
{
    static const struct clock clock = {.wall_us = system_wall, .mono_us = system_mono};

    return &clock;
}

static int64_t manual_now(const struct clock *clock)
{
    const struct clock_manual *manual = container_of(clock, const struct clock_manual, base);

    return atomic_load(&manual->now_us);
}

void clock_manual_init(struct clock_manual *clock, int64_t now_us)
{
    clock->base = (struct clock){.wall_us = manual_now, .mono_us = manual_now};
    atomic_init(&clock->now_us, now_us);
}

void clock_manual_advance(struct clock_manual *clock, int64_t delta_us)
{
    atomic_fetch_add(&clock->now_us, delta_us);
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
