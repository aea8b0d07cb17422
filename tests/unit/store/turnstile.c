/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of store/turnstile.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"
#include "patience.h"
#include "store/turnstile.h"

enum { THREAD_COUNT = 8 };

struct visitor {
    struct turnstile *turnstile;
    pthread_t thread;
    int place;            /* in the order of arrival */
    _Atomic int *arrived; /* how many have come */
    _Atomic int *served;  /* how many were let in */
    int turn;             /* which of them this one was */
};

static void *visit(void *arg)
{
    struct visitor *visitor = arg;

    atomic_fetch_add(visitor->arrived, 1);
    if (turnstile_enter(visitor->turnstile, PATIENCE_MS)) {
        visitor->turn = atomic_fetch_add(visitor->served, 1);
        turnstile_leave(visitor->turnstile);
    }
    return NULL;
}

/* Waits until so many stand in the queue. */
static void wait_for_queue(struct turnstile *turnstile, int wanted)
{
    const struct timespec pause = {.tv_nsec = 200000};
    int64_t deadline = clock_mono_us(clock_system()) + PATIENCE_S * (int64_t)SECOND_US;
    bool there = false;

    while (!there && clock_mono_us(clock_system()) < deadline) {
        struct turnstile_waiter **seen;

        pthread_mutex_lock(&turnstile->lock);
        seen = turnstile->last;
        pthread_mutex_unlock(&turnstile->lock);
        there = wanted == 0 ? seen == &turnstile->first : seen != &turnstile->first;
        nanosleep(&pause, NULL);
    }
    assert_true(there);
}

static void those_who_wait_are_let_in_in_order(void **state)
{
    struct turnstile turnstile;
    struct visitor visitors[THREAD_COUNT];
    struct turnstile_waiter **last;
    _Atomic int arrived = 0;
    _Atomic int served = 0;
    int i;

    turnstile_init(&turnstile, 1, clock_system());
    assert_true(turnstile_enter(&turnstile, 0));
    for (i = 0; i < THREAD_COUNT; i++) {
        const struct timespec pause = {.tv_nsec = 200000};
        bool queued = false;

        last = turnstile.last;
        visitors[i] = (struct visitor){.turnstile = &turnstile,
                                       .place = i,
                                       .arrived = &arrived,
                                       .served = &served,
                                       .turn = -1};
        assert_int_equal(pthread_create(&visitors[i].thread, NULL, visit, &visitors[i]), 0);
        while (!queued) { /* the next one comes when this one stands in the queue */
            pthread_mutex_lock(&turnstile.lock);
            queued = turnstile.last != last;
            pthread_mutex_unlock(&turnstile.lock);
            nanosleep(&pause, NULL);
        }
    }
    wait_for_queue(&turnstile, THREAD_COUNT);
    assert_int_equal(served, 0);
    turnstile_leave(&turnstile);
    for (i = 0; i < THREAD_COUNT; i++) {
        pthread_join(visitors[i].thread, NULL);
        assert_int_equal(visitors[i].turn, i);
    }
    turnstile_release(&turnstile);
}

static void waiting_ends_with_the_time(void **state)
{
    struct turnstile turnstile;
    int64_t start = clock_mono_us(clock_system());

    turnstile_init(&turnstile, 2, clock_system());
    assert_true(turnstile_enter(&turnstile, 0));
    assert_true(turnstile_enter(&turnstile, 0));
    assert_false(turnstile_enter(&turnstile, 30));
    assert_true(clock_mono_us(clock_system()) - start >= 30 * MS_US);
    wait_for_queue(&turnstile, 0); /* it does not stand there any longer */
    turnstile_leave(&turnstile);
    assert_true(turnstile_enter(&turnstile, 0));
    turnstile_leave(&turnstile);
    turnstile_leave(&turnstile);
    turnstile_release(&turnstile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_who_wait_are_let_in_in_order),
        cmocka_unit_test(waiting_ends_with_the_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
