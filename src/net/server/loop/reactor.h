/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reactor.h - one thread that waits on its sockets, its timers and its mailbox, in turns.
 *
 * A turn: wait, read the clock, run ready sockets, errands other threads have posted, and timers
 * that are due, then `settle` once (where connections write what the turn has gathered). Every part
 * of a turn ends by itself: events and errands are those that were there when it began, and a timer
 * set in a turn fires in a later one, whatever its time. Everything but reactor_post, reactor_stop
 * and the atomics, which the watchdog reads, belongs to the reactor's own thread.
 */
#ifndef TORG_NET_SERVER_LOOP_REACTOR_H
#define TORG_NET_SERVER_LOOP_REACTOR_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/object.h"
#include "base/task.h"

struct reactor;

/* Embedded in whatever has a descriptor. */
struct watch {
    void (*ready)(struct watch *watch, uint32_t events);
    int fd;
};

/* Embedded in whatever waits for a time. */
struct timer {
    void (*fire)(struct timer *timer);
    int64_t due_us;
    size_t place; /* in the heap, from 1; 0 = not set */
};

/* Embedded in whatever travels from another thread to the reactor's. */
struct errand {
    void (*run)(struct errand *errand);
    struct errand *next;
    atomic_bool is_posted; /* until it begins to run */
};

enum { REACTOR_NAME_SIZE = 16 }; /* as threads' names have it */

enum { REACTOR_MAGIC = OBJECT_MAGIC('r', 'e', 'a', 'c') };

struct reactor {
    uint32_t magic;
    char name[REACTOR_NAME_SIZE];
    int epoll_fd;
    const struct clock *clock;
    int64_t now_us; /* of the clock, monotonic; read once a turn */
    void (*settle)(struct reactor *reactor);

    struct timer **timers; /* owned: a heap, soonest first, from index 1 */
    size_t timer_count;
    size_t timer_capacity;

    struct watch wake; /* an eventfd: the mailbox has something */
    pthread_mutex_t lock;
    struct errand *first;
    struct errand *last;
    struct task task;

    bool moved;                      /* something came of this turn */
    _Atomic uint64_t half_turns;     /* odd: a turn is run, even: it waits */
    _Atomic uint64_t vain_turns;     /* of those run: it had not rested, and nothing came of it */
    _Atomic(const char *) busy_with; /* within a turn; a text that is never freed */
};

/* Its timers are times of the clock (borrowed). */
int reactor_init(struct reactor *reactor, void (*settle)(struct reactor *),
                 const struct clock *clock, struct err *err);
void reactor_release(struct reactor *reactor); /* after reactor_stop; pending errands are dropped */

int reactor_start(struct reactor *reactor, const char *name, struct err *err);
void reactor_stop(struct reactor *reactor); /* any thread but its own; waits for the end */

int reactor_add(struct reactor *reactor, struct watch *watch, uint32_t events, struct err *err);
void reactor_change(struct reactor *reactor, struct watch *watch, uint32_t events);
void reactor_remove(struct reactor *reactor, struct watch *watch);

/* Any thread. A errand may be posted again once it has begun to run. */
void reactor_post(struct reactor *reactor, struct errand *errand);

/* A time that has passed already is taken as a moment from now: it fires in a later turn. */
void timer_set(struct reactor *reactor, struct timer *timer, int64_t due_us);
void timer_clear(struct reactor *reactor, struct timer *timer);

/* Bytes went in or out, something was opened, closed or begun: the turn is not in vain. */
static inline void reactor_moved(struct reactor *reactor)
{
    reactor->moved = true;
}

/* Names what is done from now on, for those who ask why a turn is long; gives what was done before,
 * to be named again afterwards. */
static inline const char *reactor_busy(struct reactor *reactor, const char *with)
{
    const char *before = atomic_load_explicit(&reactor->busy_with, memory_order_relaxed);

    atomic_store_explicit(&reactor->busy_with, with, memory_order_relaxed);
    return before;
}

#endif
