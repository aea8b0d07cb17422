/* SPDX-License-Identifier: Apache-2.0 */
/* queue_bell.c - who is going to wait misses no ring, whenever it comes. */
#include "registry/indexing/queue_bell.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/clock.h"
#include "patience.h"

static void rings_are_counted_by_shard(void **state)
{
    struct queue_bell bell;

    (void)state;
    queue_bell_init(&bell, clock_system());
    queue_bell_ring(&bell, 1, 0);
    queue_bell_ring(&bell, 1, 0);
    queue_bell_ring(&bell, 1, 1);
    assert_int_equal(queue_bell_rings(&bell, 1, 0), 2);
    assert_int_equal(queue_bell_rings(&bell, 1, 1), 1);
    assert_int_equal(queue_bell_rings(&bell, 2, 0), 0);
    queue_bell_ring(NULL, 1, 0);
    queue_bell_call(NULL);
    queue_bell_release(&bell);
}

static void a_ring_before_arming_is_told_by_it(void **state)
{
    struct queue_bell bell;
    uint64_t rings;

    (void)state;
    queue_bell_init(&bell, clock_system());
    rings = queue_bell_rings(&bell, 5, 3);
    assert_true(queue_bell_arm(&bell, 5, 3, rings));
    queue_bell_ring(&bell, 5, 3);
    assert_false(queue_bell_arm(&bell, 5, 3, rings));
    assert_true(queue_bell_arm(&bell, 5, 3, queue_bell_rings(&bell, 5, 3)));
    queue_bell_release(&bell);
}

/* A consumer that arms before it waits, beside a producer: what was put is seen without the limit
 * of a wait, which is minutes. */
struct handing {
    struct queue_bell bell;
    atomic_int put;
    atomic_int taken;
};

enum { PUT_COUNT = 2000 };

static void take_all(struct task *task, void *arg)
{
    struct handing *handing = arg;

    while (handing->taken < PUT_COUNT) {
        uint64_t rings = queue_bell_rings(&handing->bell, 7, 0);
        int put = atomic_load(&handing->put);

        if (put > handing->taken) {
            handing->taken = put;
            continue;
        }
        pthread_mutex_lock(&handing->bell.lock);
        if (queue_bell_arm(&handing->bell, 7, 0, rings))
            queue_bell_wait(&handing->bell, task,
                            clock_after_us(clock_system(), PATIENCE_S * (int64_t)SECOND_US));
        pthread_mutex_unlock(&handing->bell.lock);
    }
}

static void a_waiter_misses_no_ring(void **state)
{
    static struct handing handing;
    const struct task_options options = {
        .name = "taker", .run = take_all, .arg = &handing, .clock = clock_system()};
    struct task task = {0};
    int64_t before_us = clock_mono_us(clock_system());

    (void)state;
    queue_bell_init(&handing.bell, clock_system());
    assert_int_equal(task_start(&task, &options, NULL), 0);
    for (int i = 0; i < PUT_COUNT; i++) {
        atomic_fetch_add(&handing.put, 1);
        queue_bell_ring(&handing.bell, 7, 0);
        if (i % 50 == 0)
            clock_sleep(clock_system(), 100);
    }
    while (handing.taken < PUT_COUNT &&
           clock_mono_us(clock_system()) - before_us < PATIENCE_S * (int64_t)SECOND_US / 2)
        clock_sleep(clock_system(), MS_US);
    assert_int_equal(handing.taken, PUT_COUNT);
    task_stop(&task);
    queue_bell_release(&handing.bell);
}

static void wait_for_call(struct task *task, void *arg)
{
    struct queue_bell *bell = arg;

    pthread_mutex_lock(&bell->lock);
    queue_bell_wait_call(bell, task, CLOCK_NEVER);
    pthread_mutex_unlock(&bell->lock);
}

static void a_call_that_came_before_the_wait_ends_it(void **state)
{
    struct queue_bell bell;
    const struct task_options options = {
        .name = "waiter", .run = wait_for_call, .arg = &bell, .clock = clock_system()};
    struct task task = {0};

    (void)state;
    queue_bell_init(&bell, clock_system());
    queue_bell_call(&bell);
    assert_int_equal(task_start(&task, &options, NULL), 0);
    task_stop(&task);
    assert_false(bell.is_called);
    queue_bell_release(&bell);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings_are_counted_by_shard),
        cmocka_unit_test(a_ring_before_arming_is_told_by_it),
        cmocka_unit_test(a_waiter_misses_no_ring),
        cmocka_unit_test(a_call_that_came_before_the_wait_ends_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
