/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tasks.c - the scheduler tested by what threads do: counters under locks, queues with conditions
 * and semaphores, waits with deadlines, threads that come and go.
 *
 * Three faults that only an order of events shows can be planted (TORG_SIM_FAULT names one):
 * "deadlock" takes two locks in both orders, "lost-wakeup" looks at its flag without the lock,
 * "race" adds without one. finds.py sees that some seed finds each.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "sim.h"

enum { WORKER_COUNT = 6, ITEM_COUNT = 40, QUEUE_SIZE = 3, SECOND = 1000000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_key_t key;
static sem_t room;
static int queue[QUEUE_SIZE], queued, taken_sum, table, table_twin, destroyed;
static volatile unsigned unguarded; /* so that the compiler does not guard it */
static _Thread_local unsigned own;

static bool is_wanted(const char *fault)
{
    const char *wanted = getenv("TORG_SIM_FAULT");

    return wanted && strcmp(wanted, fault) == 0 && sim_has(fault);
}

static void *produce(void *arg)
{
    for (int i = 1; i <= ITEM_COUNT; i++) {
        SIM_CHECK(sem_wait(&room) == 0);
        pthread_mutex_lock(&lock);
        SIM_CHECK(queued < QUEUE_SIZE);
        queue[queued++] = i;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
        if (sim_chance(100000))
            usleep(1 + (unsigned)sim_below(2000));
    }
    return arg;
}

static void *consume(void *arg)
{
    for (int i = 0; i < ITEM_COUNT; i++) {
        pthread_mutex_lock(&lock);
        while (!queued)
            pthread_cond_wait(&changed, &lock);
        taken_sum += queue[--queued];
        pthread_mutex_unlock(&lock);
        sem_post(&room);
    }
    sim_trace("has taken its %d", ITEM_COUNT);
    return arg;
}

static void *write_table(void *arg)
{
    for (int i = 0; i < ITEM_COUNT; i++) {
        pthread_rwlock_wrlock(&table_lock);
        table++;
        sched_yield();
        table_twin++;
        pthread_rwlock_unlock(&table_lock);
        unguarded++;
        if (is_wanted("race")) {
            unsigned seen = unguarded;

            sched_yield();
            unguarded = seen;
        }
    }
    return arg;
}

static void destroy(void *value)
{
    destroyed += (int)(intptr_t)value;
}

static void *read_table(void *arg)
{
    own = (unsigned)(uintptr_t)arg;
    pthread_setspecific(key, (void *)(intptr_t)1);
    for (int i = 0; i < ITEM_COUNT; i++) {
        pthread_rwlock_rdlock(&table_lock);
        SIM_CHECK(table == table_twin);
        sched_yield();
        SIM_CHECK(table == table_twin);
        pthread_rwlock_unlock(&table_lock);
        errno = (int)own;
        sched_yield();
        SIM_CHECK(own == (unsigned)(uintptr_t)arg && errno == (int)own);
    }
    return arg;
}

/* With a clock of its own; nobody signals. */
static void wait_for_time(void)
{
    pthread_condattr_t attributes;
    pthread_cond_t never;
    struct timespec before, after, until;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&never, &attributes);
    clock_gettime(CLOCK_MONOTONIC, &before);
    until = before;
    until.tv_sec += 24 * 3600;
    pthread_mutex_lock(&other);
    while (pthread_cond_timedwait(&never, &other, &until) != ETIMEDOUT)
        ;
    pthread_mutex_unlock(&other);
    clock_gettime(CLOCK_MONOTONIC, &after);
    SIM_CHECK(after.tv_sec - before.tv_sec >= 24 * 3600 &&
              after.tv_sec - before.tv_sec < 25 * 3600);
}

static void *cross(void *arg)
{
    pthread_mutex_t *first = arg ? &lock : &other, *second = arg ? &other : &lock;

    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
    return NULL;
}

static bool is_set;

static void *set(void *arg)
{
    is_set = true;
    pthread_cond_signal(&changed);
    return arg;
}

/* Between the look at the flag and the wait, the signal finds nobody. */
static void miss(void)
{
    pthread_t setter;

    pthread_create(&setter, NULL, set, NULL);
    pthread_mutex_lock(&lock);
    if (!is_set) {
        sim_point("between the look and the wait");
        pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
    pthread_join(setter, NULL);
}

static void run_workers(void)
{
    static void *(*const runs[WORKER_COUNT])(void *) = {produce,     consume,    write_table,
                                                        write_table, read_table, read_table};
    pthread_t workers[WORKER_COUNT];
    void *result;

    for (uintptr_t i = 0; i < WORKER_COUNT; i++)
        SIM_CHECK(pthread_create(&workers[i], NULL, runs[i], (void *)(i + 1)) == 0);
    for (uintptr_t i = 0; i < WORKER_COUNT; i++) {
        SIM_CHECK(pthread_join(workers[i], &result) == 0);
        SIM_CHECK(result == (void *)(i + 1));
    }
    SIM_CHECK(taken_sum == ITEM_COUNT * (ITEM_COUNT + 1) / 2);
    SIM_CHECK(table == 2 * ITEM_COUNT && table_twin == table);
    if (unguarded != 2 * ITEM_COUNT)
        sim_fail("an addition is lost: %u of %d", unguarded, 2 * ITEM_COUNT);
    SIM_CHECK(destroyed == 2);
}

static void live(void *shared, unsigned life)
{
    unsigned *count = shared;
    uint64_t drawn;

    SIM_CHECK(*count == life);
    ++*count;
    SIM_CHECK(getrandom(&drawn, sizeof(drawn), 0) == sizeof(drawn));
    sim_trace("life %u draws %ju", life, (uintmax_t)drawn);
    pthread_key_create(&key, destroy);
    sem_init(&room, 0, QUEUE_SIZE);
    if (life == 0)
        sim_end_later(SIM_END_KILL, (int64_t)sim_below(20000));
    run_workers();
    if (is_wanted("deadlock")) {
        pthread_t crossing;

        pthread_create(&crossing, NULL, cross, &lock);
        cross(NULL);
        pthread_join(crossing, NULL);
    }
    if (is_wanted("lost-wakeup"))
        miss();
    sim_end_never();
    sim_faults_none();
    wait_for_time();
}

int main(int argc, char **argv)
{
    static const struct sim_program program = {.name = "tasks",
                                               .life = live,
                                               .shared_size = sizeof(unsigned),
                                               .life_count_max = 3,
                                               .life_us_max = INT64_C(48) * 3600 * SECOND};

    return sim_main(argc, argv, &program);
}
