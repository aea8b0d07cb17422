/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of net/watchdog: a reactor held in a turn, one that spins, one that works. */
#include "net/server/loop/watchdog.h"
#include "base/clock.h"
#include "patience.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { LIMIT_MS = 500, TEXT_SIZE = 512 };

static struct reactor reactor;
static struct watchdog *watchdog;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char told[TEXT_SIZE]; /* guarded by lock; "" = nothing is wrong */
static atomic_bool held;

static void take_report(void *arg, const char *trouble)
{
    assert_ptr_equal(arg, &reactor);
    pthread_mutex_lock(&lock);
    snprintf(told, sizeof(told), "%s", trouble ? trouble : "");
    pthread_mutex_unlock(&lock);
}

static void pause_a_little(void)
{
    struct timespec pause = {.tv_nsec = 1000 * 1000};

    nanosleep(&pause, NULL);
}

/* Waits until what is told holds the words; "" = until nothing is told. */
static void wait_for_words(const char *words)
{
    bool is_told = false;

    for (int i = 0; i < PATIENCE_MS && !is_told; i++) {
        pthread_mutex_lock(&lock);
        is_told = *words ? strstr(told, words) != NULL : !*told;
        pthread_mutex_unlock(&lock);
        pause_a_little();
    }
    if (!is_told)
        fail_msg("it tells \"%s\", not \"%s\"", told, words);
}

static void settle(struct reactor *self)
{
}

static int set_up(void **state)
{
    struct reactor *reactors[] = {&reactor};
    const struct watchdog_options options = {.reactors = reactors,
                                             .count = 1,
                                             .limit_ms = LIMIT_MS,
                                             .report = take_report,
                                             .arg = &reactor};
    struct err err;

    *told = 0;
    atomic_store(&held, true);
    return reactor_init(&reactor, settle, clock_system(), &err) ||
           reactor_start(&reactor, "reactor-7", &err) || watchdog_start(&options, &watchdog, &err);
}

static int tear_down(void **state)
{
    watchdog_stop(watchdog);
    reactor_stop(&reactor);
    reactor_release(&reactor);
    return 0;
}

static void hold(struct errand *task)
{
    const char *before = reactor_busy(&reactor, "a long task");

    while (atomic_load(&held))
        pause_a_little();
    reactor_busy(&reactor, before);
}

static void a_reactor_held_in_a_turn_is_stuck_until_it_goes_on(void **state)
{
    struct errand task = {.run = hold};

    reactor_post(&reactor, &task);
    wait_for_words("reactor-7 is stuck for more than 500 ms, busy with a long task");
    atomic_store(&held, false);
    wait_for_words("");
}

static void leave_it(struct watch *watch, uint32_t events)
{
}

static struct watch unread = {.ready = leave_it};

static void watch_unread(struct errand *task)
{
    reactor_add(&reactor, &unread, EPOLLIN, NULL);
}

static void a_socket_that_nobody_reads_is_a_spin(void **state)
{
    struct errand task = {.run = watch_unread};
    uint64_t count;

    unread.fd = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);
    reactor_post(&reactor, &task);
    wait_for_words("reactor-7 spins for more than 500 ms");
    assert_int_equal(read(unread.fd, &count, sizeof(count)), sizeof(count));
    wait_for_words("");
    reactor_stop(&reactor);
    close(unread.fd);
}

static _Atomic unsigned done;

static void do_something(struct errand *task)
{
    atomic_fetch_add(&done, 1);
}

/* As many turns as there can be, for many limits, each with something done: nothing is told. */
static void a_reactor_that_works_all_the_time_is_well(void **state)
{
    struct errand task = {.run = do_something};
    struct timespec begun, now;

    clock_gettime(CLOCK_MONOTONIC, &begun);
    do {
        unsigned before = atomic_load(&done);

        reactor_post(&reactor, &task);
        while (atomic_load(&done) == before)
            ;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - begun.tv_sec < 2);
    pthread_mutex_lock(&lock);
    assert_null(strstr(told, "spins"));
    pthread_mutex_unlock(&lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_reactor_held_in_a_turn_is_stuck_until_it_goes_on, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_socket_that_nobody_reads_is_a_spin, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_reactor_that_works_all_the_time_is_well, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
