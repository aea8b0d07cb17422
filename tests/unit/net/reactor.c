/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of net/reactor: timers in their order against a sorted array, tasks from many threads. */
#include "net/server/loop/reactor.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "patience.h"
#include <cmocka.h>

enum { TIMER_COUNT = 2000, THREAD_COUNT = 4, TASK_COUNT = 2000 };

static void settle(struct reactor *reactor)
{
}

struct alarm {
    struct timer timer;
    bool is_set;
};

static int64_t last_due;
static _Atomic unsigned fired;

static void fire(struct timer *timer)
{
    if (timer->due_us < last_due)
        abort(); /* out of order */
    last_due = timer->due_us;
    atomic_fetch_add(&fired, 1);
}

static void wait_for_at_least(_Atomic unsigned *value, unsigned wanted)
{
    struct timespec pause = {.tv_nsec = 1000 * 1000};

    for (int i = 0; i < PATIENCE_MS && atomic_load(value) < wanted; i++)
        nanosleep(&pause, NULL);
    assert_true(atomic_load(value) >= wanted);
}

static void wait_for(_Atomic unsigned *value, unsigned wanted)
{
    wait_for_at_least(value, wanted);
    assert_int_equal(atomic_load(value), wanted);
}

static void timers_fire_in_order_and_cleared_ones_never(void **state)
{
    static struct alarm alarms[TIMER_COUNT];
    struct reactor reactor;
    struct err err;
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    unsigned wanted = 0;

    print_message("# seed %ju\n", (uintmax_t)seed);
    assert_int_equal(reactor_init(&reactor, settle, clock_system(), &err), 0);
    for (int i = 0; i < 5 * TIMER_COUNT; i++) {
        struct alarm *alarm = &alarms[rng_below(&rng, TIMER_COUNT)];

        alarm->timer.fire = fire;
        alarm->is_set = rng_below(&rng, 3) != 0;
        if (alarm->is_set)
            timer_set(&reactor, &alarm->timer,
                      reactor.now_us + (int64_t)rng_below(&rng, 200 * MS_US));
        else
            timer_clear(&reactor, &alarm->timer);
    }
    for (int i = 0; i < TIMER_COUNT; i++)
        wanted += alarms[i].is_set;
    assert_int_equal(reactor.timer_count, wanted);
    for (size_t i = 2; i <= reactor.timer_count; i++)
        assert_true(reactor.timers[i / 2]->due_us <= reactor.timers[i]->due_us);
    assert_int_equal(reactor_start(&reactor, "test", &err), 0);
    wait_for(&fired, wanted);
    reactor_stop(&reactor);
    assert_int_equal(reactor.timer_count, 0);
    reactor_release(&reactor);
}

/* --- timers that are due again at once --- */

static struct reactor busy;
static _Atomic unsigned settled;

static void settle_busy(struct reactor *reactor)
{
    atomic_fetch_add(&settled, 1);
}

static void fire_again(struct timer *timer)
{
    timer_set(&busy, timer, timer->due_us - SECOND_US);
}

static void note_task(struct errand *task)
{
    atomic_fetch_add(&fired, 1);
}

static void a_timer_set_in_the_past_lets_the_turn_end(void **state)
{
    struct timer timer = {.fire = fire_again};
    struct errand task = {.run = note_task};
    struct err err;

    atomic_store(&fired, 0);
    assert_int_equal(reactor_init(&busy, settle_busy, clock_system(), &err), 0);
    timer_set(&busy, &timer, 0);
    assert_int_equal(reactor_start(&busy, "test", &err), 0);
    reactor_post(&busy, &task);
    wait_for(&fired, 1);
    wait_for_at_least(&settled, 100);
    reactor_stop(&busy);
    reactor_release(&busy);
}

struct note {
    struct errand task;
    unsigned thread;
    unsigned number;
};

static struct reactor shared;
static unsigned seen[THREAD_COUNT];
static _Atomic unsigned run_count;

static void run_note(struct errand *task)
{
    struct note *note = container_of(task, struct note, task);

    if (note->number != seen[note->thread]++)
        abort(); /* out of order */
    free(note);
    atomic_fetch_add(&run_count, 1);
}

static void *post_all(void *arg)
{
    for (unsigned i = 0; i < TASK_COUNT; i++) {
        struct note *note = mem_zero(sizeof(*note));

        note->task.run = run_note;
        note->thread = (unsigned)(uintptr_t)arg;
        note->number = i;
        reactor_post(&shared, &note->task);
    }
    return NULL;
}

static void tasks_of_a_thread_run_in_their_order_and_none_is_lost(void **state)
{
    pthread_t threads[THREAD_COUNT];
    struct err err;

    assert_int_equal(reactor_init(&shared, settle, clock_system(), &err), 0);
    assert_int_equal(reactor_start(&shared, "test", &err), 0);
    for (uintptr_t i = 0; i < THREAD_COUNT; i++)
        pthread_create(&threads[i], NULL, post_all, (void *)i);
    for (unsigned i = 0; i < THREAD_COUNT; i++)
        pthread_join(threads[i], NULL);
    reactor_stop(&shared); /* what was posted before still runs */
    assert_int_equal(atomic_load(&run_count), THREAD_COUNT * TASK_COUNT);
    reactor_release(&shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timers_fire_in_order_and_cleared_ones_never),
        cmocka_unit_test(a_timer_set_in_the_past_lets_the_turn_end),
        cmocka_unit_test(tasks_of_a_thread_run_in_their_order_and_none_is_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
