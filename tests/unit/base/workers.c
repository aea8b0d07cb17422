/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of net/workers: bounds of threads and queue, nothing lost. */
#include "base/workers.h"
#include "base/clock.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "base/memory.h"
#include "patience.h"
#include <cmocka.h>

enum { THREAD_MAX = 3, QUEUE_MAX = 5, JOB_COUNT = 1000 };

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int running;
static _Atomic int most;
static _Atomic int done;

static void pass_gate(struct job *job)
{
    int now = atomic_fetch_add(&running, 1) + 1;

    if (now > atomic_load(&most))
        atomic_store(&most, now);
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    atomic_fetch_sub(&running, 1);
    atomic_fetch_add(&done, 1);
}

static void a_full_pool_refuses(void **state)
{
    struct workers *workers = workers_new("test", THREAD_MAX, QUEUE_MAX, NULL, clock_system());
    static struct job jobs[THREAD_MAX + QUEUE_MAX + 1];
    struct timespec pause = {.tv_nsec = 1000 * 1000};
    int taken = 0;

    atomic_store(&done, 0);
    pthread_mutex_lock(&gate);
    for (int i = 0; i < THREAD_MAX; i++) {
        jobs[i].run = pass_gate;
        assert_int_equal(workers_submit(workers, &jobs[i]), 0);
    }
    for (int i = 0; i < PATIENCE_MS && atomic_load(&running) < THREAD_MAX; i++)
        nanosleep(&pause, NULL);
    assert_int_equal(atomic_load(&running), THREAD_MAX);
    for (int i = THREAD_MAX; i < THREAD_MAX + QUEUE_MAX + 1; i++) {
        jobs[i].run = pass_gate;
        taken += workers_submit(workers, &jobs[i]) == 0;
    }
    assert_int_equal(taken, QUEUE_MAX);
    pthread_mutex_unlock(&gate);
    workers_free(workers); /* waits for those taken */
    assert_int_equal(atomic_load(&done), THREAD_MAX + QUEUE_MAX);
    assert_int_equal(atomic_load(&most), THREAD_MAX);
}

static void every_job_taken_is_run(void **state)
{
    struct workers *workers = workers_new("test", THREAD_MAX, JOB_COUNT, NULL, clock_system());
    static struct job jobs[JOB_COUNT];

    atomic_store(&done, 0);
    for (int i = 0; i < JOB_COUNT; i++) {
        jobs[i].run = pass_gate;
        assert_int_equal(workers_submit(workers, &jobs[i]), 0);
    }
    workers_free(workers);
    assert_int_equal(atomic_load(&done), JOB_COUNT);
}

static _Atomic int lists;

static void run_all(struct job *first)
{
    struct job *next;

    atomic_fetch_add(&lists, 1);
    for (struct job *job = first; job; job = next) {
        next = job->next;
        job->run(job);
    }
}

/* While the threads are held, the rest gathers; then each takes its share at once. */
static void those_that_wait_are_taken_together(void **state)
{
    struct workers *workers = workers_new("test", THREAD_MAX, JOB_COUNT, run_all, clock_system());
    static struct job jobs[JOB_COUNT];

    atomic_store(&done, 0);
    atomic_store(&lists, 0);
    pthread_mutex_lock(&gate);
    for (int i = 0; i < JOB_COUNT; i++) {
        jobs[i].run = pass_gate;
        assert_int_equal(workers_submit(workers, &jobs[i]), 0);
    }
    pthread_mutex_unlock(&gate);
    workers_free(workers);
    assert_int_equal(atomic_load(&done), JOB_COUNT);
    assert_true(atomic_load(&lists) < JOB_COUNT / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_pool_refuses),
        cmocka_unit_test(every_job_taken_is_run),
        cmocka_unit_test(those_that_wait_are_taken_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
