/* SPDX-License-Identifier: Apache-2.0 */
/* bell.c - a ring ends the wait, also one that came before it; silence ends with the time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>

#include "base/bell.h"
#include "base/clock.h"
#include "patience.h"

enum { RING_COUNT = 20000, RINGER_COUNT = 2 };

static int64_t now_ms(void)
{
    return clock_mono_us(clock_system()) / 1000;
}

static int64_t in_ms(int64_t ms)
{
    return clock_after_us(clock_system(), ms * MS_US);
}

static void silence_ends_with_the_time(void **state)
{
    int64_t began = now_ms();
    struct bell bell;

    bell_init(&bell, clock_system());
    bell_wait(&bell, bell_rings(&bell), in_ms(30));
    assert_true(now_ms() - began >= 29);
    bell_release(&bell);
    bell_ring(NULL);
}

static void a_ring_before_the_wait_counts(void **state)
{
    int64_t began = now_ms();
    struct bell bell;
    uint64_t rings;

    bell_init(&bell, clock_system());
    rings = bell_rings(&bell);
    bell_ring(&bell);
    bell_wait(&bell, rings, in_ms(PATIENCE_MS));
    assert_true(now_ms() - began < PATIENCE_MS);
    bell_release(&bell);
}

struct ringing {
    struct bell bell;
    atomic_int made; /* pieces of work */
    atomic_int done;
};

/* One piece at a time: each needs a wake-up of its own. */
static void *ring(void *arg)
{
    struct ringing *ringing = arg;

    for (int i = 0; i < RING_COUNT; i++) {
        int made = atomic_fetch_add(&ringing->made, 1) + 1;

        bell_ring(&ringing->bell);
        while (i % 64 == 0 && atomic_load(&ringing->done) < made)
            sched_yield();
    }
    return NULL;
}

static void no_ring_is_missed(void **state)
{
    const int total = RING_COUNT * RINGER_COUNT;
    pthread_t threads[RINGER_COUNT];
    struct ringing ringing = {.made = 0};
    int64_t longest = 0;

    bell_init(&ringing.bell, clock_system());
    for (int i = 0; i < RINGER_COUNT; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ring, &ringing), 0);
    while (atomic_load(&ringing.done) < total) {
        uint64_t rings = bell_rings(&ringing.bell);
        int made = atomic_load(&ringing.made);
        int64_t began = now_ms();

        if (made == atomic_load(&ringing.done))
            bell_wait(&ringing.bell, rings, in_ms(PATIENCE_MS));
        longest = now_ms() - began > longest ? now_ms() - began : longest;
        atomic_store(&ringing.done, made);
    }
    for (int i = 0; i < RINGER_COUNT; i++)
        pthread_join(threads[i], NULL);
    assert_true(longest < PATIENCE_MS); /* no wait had to end by its time */
    bell_release(&ringing.bell);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(silence_ends_with_the_time),
        cmocka_unit_test(a_ring_before_the_wait_counts),
        cmocka_unit_test(no_ring_is_missed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
