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
    int known = atomic_load(&most);

    while (now > known && !atomic_compare_exchange_weak(&most, &known, now))
        continue;
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

enum { LIMIT = 2, OTHER = 7 };

/* Two run at once; one of a caller who has none running is the third; who waits makes room. */
static void a_limited_pool_runs_few(void **state)
{
    struct workers *workers = workers_new("test", 8, JOB_COUNT, NULL, clock_system());
    struct timespec pause = {.tv_nsec = 1000 * 1000};
    static struct job jobs[10];

    workers_limit_running(workers, LIMIT);
    atomic_store(&done, 0);
    atomic_store(&most, 0);
    pthread_mutex_lock(&gate);
    for (int i = 0; i < 9; i++) {
        jobs[i].run = pass_gate;
        assert_int_equal(workers_submit(workers, &jobs[i]), 0);
    }
    for (int i = 0; i < PATIENCE_MS && atomic_load(&running) < LIMIT; i++)
        nanosleep(&pause, NULL);
    jobs[9] = (struct job){.run = pass_gate, .caller = OTHER};
    assert_int_equal(workers_submit(workers, &jobs[9]), 0);
    for (int i = 0; i < PATIENCE_MS && atomic_load(&most) < LIMIT + 1; i++)
        nanosleep(&pause, NULL);
    assert_int_equal(atomic_load(&most), LIMIT + 1);
    pthread_mutex_unlock(&gate);
    workers_free(workers);
    assert_int_equal(atomic_load(&done), 10);
    assert_int_equal(atomic_load(&most), LIMIT + 1);
}

static void wait_at_gate(struct job *job)
{
    worker_waits();
    pass_gate(job);
    worker_goes_on();
}

static void who_waits_makes_room(void **state)
{
    struct workers *workers = workers_new("test", 8, JOB_COUNT, NULL, clock_system());
    struct timespec pause = {.tv_nsec = 1000 * 1000};
    static struct job jobs[6];

    workers_limit_running(workers, LIMIT);
    atomic_store(&done, 0);
    pthread_mutex_lock(&gate);
    for (int i = 0; i < 6; i++) {
        jobs[i].run = wait_at_gate;
        assert_int_equal(workers_submit(workers, &jobs[i]), 0);
    }
    for (int i = 0; i < PATIENCE_MS && atomic_load(&running) < 6; i++)
        nanosleep(&pause, NULL);
    assert_int_equal(atomic_load(&running), 6);
    pthread_mutex_unlock(&gate);
    workers_free(workers);
    assert_int_equal(atomic_load(&done), 6);
}

/* One caller does not hold all threads, however many it asks for: another finds one. */
static void nobody_has_all_threads(void **state)
{
    struct workers *workers = workers_new("test", 8, JOB_COUNT, NULL, clock_system());
    struct timespec pause = {.tv_nsec = 1000 * 1000};
    static struct job jobs[20];

    atomic_store(&done, 0);
    atomic_store(&most, 0);
    pthread_mutex_lock(&gate);
    for (int i = 0; i < 19; i++) {
        jobs[i] = (struct job){.run = pass_gate, .caller = 1};
        assert_int_equal(workers_submit(workers, &jobs[i]), 0);
    }
    for (int i = 0; i < PATIENCE_MS && atomic_load(&running) < 6; i++)
        nanosleep(&pause, NULL);
    assert_int_equal(atomic_load(&running), 6);
    jobs[19] = (struct job){.run = pass_gate, .caller = OTHER};
    assert_int_equal(workers_submit(workers, &jobs[19]), 0);
    for (int i = 0; i < PATIENCE_MS && atomic_load(&most) < 7; i++)
        nanosleep(&pause, NULL);
    assert_int_equal(atomic_load(&most), 7);
    pthread_mutex_unlock(&gate);
    workers_free(workers);
    assert_int_equal(atomic_load(&done), 20);
}

/* ... nor by waiting, where few run and many wait. */
static void nobody_has_all_threads_by_waiting(void **state)
{
    struct workers *workers = workers_new("test", 8, JOB_COUNT, NULL, clock_system());
    struct timespec pause = {.tv_nsec = 1000 * 1000};
    static struct job jobs[20];

    workers_limit_running(workers, LIMIT);
    atomic_store(&done, 0);
    atomic_store(&running, 0);
    atomic_store(&most, 0);
    pthread_mutex_lock(&gate);
    for (int i = 0; i < 19; i++) {
        jobs[i] = (struct job){.run = wait_at_gate, .caller = 1};
        assert_int_equal(workers_submit(workers, &jobs[i]), 0);
    }
    for (int i = 0; i < PATIENCE_MS && atomic_load(&running) < 6; i++)
        nanosleep(&pause, NULL);
    jobs[19] = (struct job){.run = pass_gate, .caller = OTHER};
    assert_int_equal(workers_submit(workers, &jobs[19]), 0);
    for (int i = 0; i < PATIENCE_MS && atomic_load(&most) < 7; i++)
        nanosleep(&pause, NULL);
    assert_int_equal(atomic_load(&most), 7); /* six of the one, and the other */
    pthread_mutex_unlock(&gate);
    workers_free(workers);
    assert_int_equal(atomic_load(&done), 20);
}

static struct workers *helpers;

struct part {
    struct job job;
    uint64_t caller, flow; /* whose it was when it ran */
    _Atomic bool is_done;
};

static void run_part(struct job *job)
{
    struct part *part = container_of(job, struct part, job);

    part->caller = job->caller;
    part->flow = job->flow;
    atomic_store(&part->is_done, true);
}

static struct part part;
static int64_t own_cpu_us;

static void hand_over(struct job *job)
{
    struct timespec pause = {.tv_nsec = 1000 * 1000};
    int64_t begun_us = worker_cpu_us();

    part = (struct part){.job.run = run_part};
    worker_pass_on(&part.job);
    assert_int_equal(workers_submit(helpers, &part.job), 0);
    worker_waits();
    worker_waits(); /* within it */
    for (int i = 0; i < PATIENCE_MS && !atomic_load(&part.is_done); i++)
        nanosleep(&pause, NULL);
    worker_goes_on();
    worker_goes_on();
    worker_bill(5000 * MS_US);
    own_cpu_us = worker_cpu_us() - begun_us;
}

/* What a job hands to another pool is its caller's there; what that computes is billed. */
static void work_is_handed_over_with_its_name(void **state)
{
    struct workers *workers = workers_new("test", 4, JOB_COUNT, NULL, clock_system());
    static struct job job;

    helpers = workers_new("help", 2, JOB_COUNT, NULL, clock_system());
    workers_limit_running(workers, LIMIT);
    job = (struct job){.run = hand_over, .caller = OTHER, .flow = 11};
    assert_int_equal(workers_submit(workers, &job), 0);
    workers_free(workers);
    workers_free(helpers);
    assert_true(atomic_load(&part.is_done));
    assert_int_equal(part.caller, OTHER);
    assert_int_equal(part.flow, 11);
    assert_true(own_cpu_us >= 5000 * MS_US);
}

static _Atomic int given_back;

static void give_back(struct job *job)
{
    atomic_fetch_add(&given_back, 1);
}

/* A full queue takes a job of a caller who has less in it, at the expense of the one who has most;
 * one that would be late is not taken. */
static void the_greediest_makes_room(void **state)
{
    struct workers *workers = workers_new("test", 1, QUEUE_MAX, NULL, clock_system());
    struct timespec pause = {.tv_nsec = 1000 * 1000};
    static struct job jobs[QUEUE_MAX + 4];

    atomic_store(&done, 0);
    atomic_store(&running, 0);
    atomic_store(&given_back, 0);
    pthread_mutex_lock(&gate);
    for (int i = 0; i < QUEUE_MAX + 4; i++)
        jobs[i] = (struct job){.run = pass_gate, .dropped = give_back, .caller = 1};
    assert_int_equal(workers_submit(workers, &jobs[0]), 0);
    for (int i = 0; i < PATIENCE_MS && !atomic_load(&running); i++)
        nanosleep(&pause, NULL);
    for (int i = 1; i <= QUEUE_MAX; i++)
        assert_int_equal(workers_submit(workers, &jobs[i]), 0);
    assert_int_equal(workers_submit(workers, &jobs[QUEUE_MAX + 1]), ERR_LIMIT);
    jobs[QUEUE_MAX + 2].caller = OTHER;
    assert_int_equal(workers_submit(workers, &jobs[QUEUE_MAX + 2]), 0);
    assert_int_equal(atomic_load(&given_back), 1);
    jobs[QUEUE_MAX + 3].due_us = clock_mono_us(clock_system());
    assert_int_equal(workers_submit(workers, &jobs[QUEUE_MAX + 3]), ERR_TIMEOUT);
    pthread_mutex_unlock(&gate);
    workers_free(workers);
    assert_int_equal(atomic_load(&done), QUEUE_MAX + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_pool_refuses),
        cmocka_unit_test(every_job_taken_is_run),
        cmocka_unit_test(those_that_wait_are_taken_together),
        cmocka_unit_test(a_limited_pool_runs_few),
        cmocka_unit_test(who_waits_makes_room),
        cmocka_unit_test(nobody_has_all_threads),
        cmocka_unit_test(nobody_has_all_threads_by_waiting),
        cmocka_unit_test(work_is_handed_over_with_its_name),
        cmocka_unit_test(the_greediest_makes_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
