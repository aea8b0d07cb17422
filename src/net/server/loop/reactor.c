/* SPDX-License-Identifier: Apache-2.0 */
/* reactor.c - see reactor.h. Epoll, level-triggered; timers in a binary heap. */
#include "net/server/loop/reactor.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"

enum {
    EVENT_COUNT = 256,
    WAIT_MS_MAX = 60 * 1000,
    FIRST_CAPACITY = 64,
    PAST_DELAY_US = MS_US, /* a timer that is always due takes a turn of this, not the thread */
};

static void wake_ready(struct watch *watch, uint32_t events)
{
    uint64_t count;
    ssize_t got = read(watch->fd, &count, sizeof(count));

    (void)got; /* the mailbox is looked into every turn; the count says nothing more */
    reactor_moved(container_of(watch, struct reactor, wake));
}

int reactor_init(struct reactor *reactor, void (*settle)(struct reactor *),
                 const struct clock *clock, struct err *err)
{
    int rc;

    *reactor = (struct reactor){
        .magic = REACTOR_MAGIC, .settle = settle, .clock = clock, .busy_with = "its start"};
    pthread_mutex_init(&reactor->lock, NULL);
    reactor->wake = (struct watch){.ready = wake_ready, .fd = -1};
    reactor->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (reactor->epoll_fd < 0)
        return err_errno(err, "cannot make an epoll descriptor");
    reactor->wake.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (reactor->wake.fd < 0)
        rc = err_errno(err, "cannot make an event descriptor");
    else
        rc = reactor_add(reactor, &reactor->wake, EPOLLIN, err);
    reactor->now_us = clock_mono_us(reactor->clock);
    return rc;
}

void reactor_release(struct reactor *reactor)
{
    object_end(reactor, REACTOR_MAGIC);
    assert(!task_is_started(&reactor->task));
    if (reactor->epoll_fd >= 0)
        close(reactor->epoll_fd);
    if (reactor->wake.fd >= 0)
        close(reactor->wake.fd);
    free(reactor->timers);
    pthread_mutex_destroy(&reactor->lock);
}

int reactor_add(struct reactor *reactor, struct watch *watch, uint32_t events, struct err *err)
{
    struct epoll_event event = {.events = events, .data.ptr = watch};

    object_check(reactor, REACTOR_MAGIC);
    assert(watch->ready && watch->fd >= 0);
    if (epoll_ctl(reactor->epoll_fd, EPOLL_CTL_ADD, watch->fd, &event))
        return err_errno(err, "cannot watch descriptor %d", watch->fd);
    return 0;
}

void reactor_change(struct reactor *reactor, struct watch *watch, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = watch};
    int rc = epoll_ctl(reactor->epoll_fd, EPOLL_CTL_MOD, watch->fd, &event);

    assert(rc == 0);
}

void reactor_remove(struct reactor *reactor, struct watch *watch)
{
    int rc = epoll_ctl(reactor->epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);

    assert(rc == 0);
}

static void wake(struct reactor *reactor)
{
    uint64_t one = 1;
    ssize_t written = write(reactor->wake.fd, &one, sizeof(one));

    assert(written == sizeof(one) || errno == EAGAIN);
}

void reactor_post(struct reactor *reactor, struct errand *errand)
{
    bool was_posted = atomic_exchange(&errand->is_posted, true);
    bool was_empty;

    object_check(reactor, REACTOR_MAGIC);
    assert(!was_posted && errand->run); /* it is handed over once */
    pthread_mutex_lock(&reactor->lock);
    was_empty = !reactor->first;
    errand->next = NULL;
    if (was_empty)
        reactor->first = errand;
    else
        reactor->last->next = errand;
    reactor->last = errand;
    pthread_mutex_unlock(&reactor->lock);
    if (was_empty)
        wake(reactor);
}

static bool run_errands(struct reactor *reactor)
{
    bool stopping = task_is_stopping(&reactor->task); /* before: what was posted first is run */
    struct errand *errand;

    pthread_mutex_lock(&reactor->lock);
    errand = reactor->first;
    reactor->first = NULL;
    pthread_mutex_unlock(&reactor->lock);
    while (errand) {
        struct errand *next = errand->next; /* running may free or post it */

        assert(atomic_load(&errand->is_posted));
        atomic_store(&errand->is_posted, false);
        reactor_moved(reactor);
        errand->run(errand);
        errand = next;
    }
    return !stopping;
}

/* --- timers: timers[1] is the soonest, timers[i]'s children are at 2i and 2i + 1 --- */

static void place(struct reactor *reactor, struct timer *timer, size_t at)
{
    reactor->timers[at] = timer;
    timer->place = at;
}

static void sift_up(struct reactor *reactor, struct timer *timer, size_t at)
{
    while (at > 1 && reactor->timers[at / 2]->due_us > timer->due_us) {
        place(reactor, reactor->timers[at / 2], at);
        at /= 2;
    }
    place(reactor, timer, at);
}

static void sift_down(struct reactor *reactor, struct timer *timer, size_t at)
{
    for (;;) {
        size_t child = at * 2;

        if (child > reactor->timer_count)
            break;
        if (child < reactor->timer_count &&
            reactor->timers[child + 1]->due_us < reactor->timers[child]->due_us)
            child++;
        if (reactor->timers[child]->due_us >= timer->due_us)
            break;
        place(reactor, reactor->timers[child], at);
        at = child;
    }
    place(reactor, timer, at);
}

void timer_clear(struct reactor *reactor, struct timer *timer)
{
    struct timer *moved;
    size_t at = timer->place;

    if (!at)
        return;
    assert(at <= reactor->timer_count && reactor->timers[at] == timer);
    timer->place = 0;
    moved = reactor->timers[reactor->timer_count--];
    if (moved == timer)
        return;
    if (at > 1 && reactor->timers[at / 2]->due_us > moved->due_us)
        sift_up(reactor, moved, at);
    else
        sift_down(reactor, moved, at);
}

void timer_set(struct reactor *reactor, struct timer *timer, int64_t due_us)
{
    object_check(reactor, REACTOR_MAGIC);
    assert(timer->fire);
    timer_clear(reactor, timer);
    timer->due_us = due_us > reactor->now_us ? due_us : reactor->now_us + PAST_DELAY_US;
    if (reactor->timer_count + 2 > reactor->timer_capacity) {
        reactor->timer_capacity =
            reactor->timer_capacity ? reactor->timer_capacity * 2 : FIRST_CAPACITY;
        reactor->timers =
            mem_resize(reactor->timers, reactor->timer_capacity * sizeof(*reactor->timers));
    }
    sift_up(reactor, timer, ++reactor->timer_count);
    assert(reactor->timers[timer->place] == timer &&
           reactor->timer_count < reactor->timer_capacity);
}

/* Ends: each that fires leaves the heap, and what is set meanwhile is due after now_us. */
static void run_timers(struct reactor *reactor)
{
    while (reactor->timer_count && reactor->timers[1]->due_us <= reactor->now_us) {
        struct timer *timer = reactor->timers[1];

        timer_clear(reactor, timer);
        assert(timer->place == 0);
        timer->fire(timer);
    }
}

static int wait_ms(const struct reactor *reactor)
{
    int64_t left_us;

    if (!reactor->timer_count)
        return WAIT_MS_MAX;
    left_us = reactor->timers[1]->due_us - clock_mono_us(reactor->clock);
    if (left_us <= 0)
        return 0;
    return left_us > (int64_t)WAIT_MS_MAX * MS_US ? WAIT_MS_MAX
                                                  : (int)((left_us + MS_US - 1) / MS_US);
}

/* OpenSSL writes by write(2): a client that has left must be an error, not the process's end. */
static void block_sigpipe(void)
{
    sigset_t signals;

    sigemptyset(&signals);
    sigaddset(&signals, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

static int wait_for_events(struct reactor *reactor, struct epoll_event *events)
{
    int ms = wait_ms(reactor);
    int count = epoll_wait(reactor->epoll_fd, events, EVENT_COUNT, ms);

    assert(count >= 0 || errno == EINTR);
    reactor->moved = ms && count == 0; /* it has rested */
    reactor->now_us = clock_mono_us(reactor->clock);
    return count;
}

/* One thread writes, so that adding needs no locked instruction. */
static void count_one(_Atomic uint64_t *counter)
{
    uint64_t count = atomic_load_explicit(counter, memory_order_relaxed);

    atomic_store_explicit(counter, count + 1, memory_order_relaxed);
}

static bool run_turn(struct reactor *reactor, const struct epoll_event *events, int count)
{
    bool going;

    reactor_busy(reactor, "its sockets");
    for (int i = 0; i < count; i++) {
        struct watch *watch = events[i].data.ptr;

        watch->ready(watch, events[i].events);
    }
    reactor_busy(reactor, "errands of other threads");
    going = run_errands(reactor);
    reactor_busy(reactor, "its timers");
    run_timers(reactor);
    reactor_busy(reactor, "writing");
    reactor->settle(reactor);
    return going;
}

static void run(struct task *task, void *arg)
{
    struct reactor *reactor = arg;
    struct epoll_event events[EVENT_COUNT];
    bool going = true;

    object_check(reactor, REACTOR_MAGIC);
    block_sigpipe();
    while (going) {
        int count;

        task_rest(task, true);
        count = wait_for_events(reactor, events);
        task_rest(task, false);
        count_one(&reactor->half_turns);
        going = run_turn(reactor, events, count);
        count_one(&reactor->half_turns);
        if (!reactor->moved)
            count_one(&reactor->vain_turns);
    }
}

int reactor_start(struct reactor *reactor, const char *name, struct err *err)
{
    /* Its silence is the watchdog's to judge, by a limit of its own. */
    const struct task_options options = {.name = name,
                                         .run = run,
                                         .arg = reactor,
                                         .clock = reactor->clock,
                                         .silence_us_max = CLOCK_NEVER};

    object_check(reactor, REACTOR_MAGIC);
    snprintf(reactor->name, sizeof(reactor->name), "%s", name);
    return task_start(&reactor->task, &options, err);
}

void reactor_stop(struct reactor *reactor)
{
    object_check(reactor, REACTOR_MAGIC);
    if (!task_is_started(&reactor->task))
        return;
    task_ask_stop(&reactor->task);
    wake(reactor);
    task_stop(&reactor->task);
}
