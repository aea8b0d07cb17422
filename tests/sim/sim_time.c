/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_time.c - clocks, sleeps, and what else a process asks its system for: all from the seed.
 *
 * Outside a life they are the system's own.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "sim_core.h"

enum { POLL_STEP_US = 1000, FIRST_PID = 1000 };

static struct timespec timespec_of(int64_t us)
{
    return (struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (!sim_is_alive)
        return (int)syscall(SYS_clock_gettime, clock, time);
    sim->now_us++; /* who asks in a loop gets on */
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
        *time = timespec_of(sim_wall_us());
    else
        *time = timespec_of(SIM_MONO_BASE_US + sim->now_us);
    return 0;
}

time_t time(time_t *to)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    if (to)
        *to = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *restrict to, void *restrict zone)
{
    struct timespec now;

    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    *to = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return 0;
}

/* --- sleeps --- */

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left)
{
    int64_t us = (int64_t)time->tv_sec * 1000000 + (time->tv_nsec + 999) / 1000;

    if (!sim_is_alive)
        return (int)syscall(SYS_clock_nanosleep, clock, flags, time, left);
    if (flags & TIMER_ABSTIME)
        us -= clock == CLOCK_REALTIME ? sim_wall_us() : SIM_MONO_BASE_US + sim->now_us;
    sim_pause_us(us);
    return 0;
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
    return clock_nanosleep(CLOCK_MONOTONIC, 0, time, left);
}

int usleep(useconds_t us)
{
    struct timespec time = timespec_of((int64_t)us);

    return nanosleep(&time, NULL);
}

unsigned sleep(unsigned seconds)
{
    struct timespec time = {.tv_sec = seconds};

    nanosleep(&time, NULL);
    return 0;
}

int sched_yield(void)
{
    if (!sim_is_alive)
        return (int)syscall(SYS_sched_yield);
    sim_yield_now("yield");
    return 0;
}

/* Descriptors of the outer world are looked at every simulated millisecond. */
int poll(struct pollfd *entries, nfds_t count, int ms)
{
    int64_t until_us;

    if (!sim_is_alive)
        return (int)syscall(SYS_poll, entries, count, ms);
    until_us = ms < 0 ? SIM_NEVER : sim->now_us + (int64_t)ms * 1000;
    for (;;) {
        int found = (int)syscall(SYS_poll, entries, count, 0);

        if (found || sim->now_us >= until_us)
            return found;
        sim_pause_us(POLL_STEP_US);
    }
}

int epoll_wait(int fd, struct epoll_event *events, int room, int ms)
{
    int64_t until_us;

    if (!sim_is_alive)
        return (int)syscall(SYS_epoll_pwait, fd, events, room, ms, NULL, 0);
    until_us = ms < 0 ? SIM_NEVER : sim->now_us + (int64_t)ms * 1000;
    for (;;) {
        int found = (int)syscall(SYS_epoll_pwait, fd, events, room, 0, NULL, 0);

        if (found || sim->now_us >= until_us)
            return found;
        sim_pause_us(POLL_STEP_US);
    }
}

/* --- chance --- */

static void fill(unsigned char *to, size_t size)
{
    for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
        uint64_t drawn = rng_next(&sim->system);

        memcpy(to + i, &drawn, size - i < sizeof(drawn) ? size - i : sizeof(drawn));
    }
}

ssize_t getrandom(void *to, size_t size, unsigned flags)
{
    if (!sim_is_alive)
        return syscall(SYS_getrandom, to, size, flags);
    fill(to, size);
    return (ssize_t)size;
}

int getentropy(void *to, size_t size)
{
    return getrandom(to, size, 0) < 0 ? -1 : 0;
}

/* In place of /dev/urandom, for those that read it. */
int sim_open_random(void)
{
    unsigned char bytes[4096];
    int fd = memfd_create("random", MFD_CLOEXEC);

    fill(bytes, sizeof(bytes));
    if (fd >= 0) {
        (void)!syscall(SYS_write, fd, bytes, sizeof(bytes));
        lseek(fd, 0, SEEK_SET);
    }
    return fd;
}

/* --- the machine --- */

pid_t getpid(void)
{
    return sim_is_alive ? (pid_t)(FIRST_PID + sim->life) : (pid_t)syscall(SYS_getpid);
}

int gethostname(char *name, size_t size)
{
    static const char own[] = "sim";

    if (size < sizeof(own)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(name, own, sizeof(own));
    return 0;
}

/* There is one thread in truth: what a task asks for itself would be everybody's. */
int setpriority(__priority_which_t which, id_t who, int priority)
{
    (void)which, (void)who, (void)priority;
    return 0;
}
