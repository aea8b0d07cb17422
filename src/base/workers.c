/* SPDX-License-Identifier: Apache-2.0 */
/* workers.c - see workers.h. */
#include "base/workers.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/condition.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/task.h"

enum { NAME_SIZE = 16, STACK_SIZE = 512 << 10, LIST_COUNT_MAX = 16 };

enum { WORKERS_MAGIC = OBJECT_MAGIC('w', 'r', 'k', 's') };

struct workers {
    uint32_t magic;
    char name[NAME_SIZE];
    unsigned thread_max;
    unsigned queue_max;
    void (*run_list)(struct job *first);
    pthread_mutex_t lock;
    struct condition work;
    struct task *tasks; /* owned */
    unsigned thread_count;
    unsigned idle_count;  /* waiting for work */
    unsigned queue_count; /* jobs nobody has taken */
    struct job *first;
    struct job *last;
    bool stopping;
};

struct workers *workers_new(const char *name, unsigned thread_max, unsigned queue_max,
                            void (*run_list)(struct job *first), const struct clock *clock)
{
    struct workers *workers = mem_zero(sizeof(*workers));

    object_begin(workers, WORKERS_MAGIC);
    assert(thread_max > 0 && name && clock);
    snprintf(workers->name, sizeof(workers->name), "%s", name);
    workers->thread_max = thread_max;
    workers->queue_max = queue_max;
    workers->run_list = run_list;
    workers->tasks = mem_array(thread_max, sizeof(*workers->tasks));
    pthread_mutex_init(&workers->lock, NULL);
    condition_init(&workers->work, clock);
    return workers;
}

/* The oldest job, or a list of the oldest; NULL when it is time to stop. Who leaves some behind
 * wakes the next: while jobs wait, a thread is on its way to them. */
static struct job *next_job(struct workers *workers, struct task *task)
{
    unsigned count = 1;
    struct job *first;
    struct job *last;

    while (!workers->first && !workers->stopping) {
        workers->idle_count++;
        task_wait_on(task, &workers->work, &workers->lock, CLOCK_NEVER);
        assert(workers->idle_count > 0 && workers->idle_count <= workers->thread_count);
        workers->idle_count--;
    }
    first = workers->first;
    if (!first)
        return NULL;
    if (workers->run_list)
        count = (workers->queue_count + workers->thread_count - 1) / workers->thread_count;
    if (count > LIST_COUNT_MAX)
        count = LIST_COUNT_MAX;
    last = first;
    last->is_queued = false;
    for (unsigned i = 1; i < count; i++) {
        last = last->next;
        last->is_queued = false;
    }
    assert(count > 0 && count <= workers->queue_count);
    workers->first = last->next;
    workers->queue_count -= count;
    last->next = NULL;
    assert(!workers->first == !workers->queue_count);
    if (workers->first && workers->idle_count)
        condition_signal(&workers->work);
    return first;
}

static void run(struct task *task, void *arg)
{
    struct workers *workers = arg;

    object_check(workers, WORKERS_MAGIC);
    pthread_mutex_lock(&workers->lock);
    for (;;) {
        struct job *job = next_job(workers, task);

        if (!job)
            break;
        pthread_mutex_unlock(&workers->lock);
        task_says(task, "running a job");
        if (workers->run_list)
            workers->run_list(job);
        else
            job->run(job);
        pthread_mutex_lock(&workers->lock);
    }
    pthread_mutex_unlock(&workers->lock);
}

/* Under the lock. */
static bool add_thread(struct workers *workers)
{
    /* How long a job may take is told by its call's deadline; a stream's has none. */
    const struct task_options options = {.name = workers->name,
                                         .run = run,
                                         .arg = workers,
                                         .clock = workers->work.clock,
                                         .silence_us_max = CLOCK_NEVER,
                                         .stack_size = STACK_SIZE};

    if (workers->thread_count == workers->thread_max ||
        task_start(&workers->tasks[workers->thread_count], &options, NULL))
        return false;
    workers->thread_count++;
    return true;
}

bool workers_submit(struct workers *workers, struct job *job)
{
    bool taken;

    object_check(workers, WORKERS_MAGIC);
    assert(workers->run_list || job->run);
    pthread_mutex_lock(&workers->lock);
    assert(workers->idle_count <= workers->thread_count);
    assert(workers->thread_count <= workers->thread_max);
    taken = !workers->stopping &&
            (workers->idle_count > workers->queue_count || add_thread(workers) ||
             (workers->thread_count && workers->queue_count < workers->queue_max));
    assert(!job->is_queued); /* it is handed over once */
    if (taken) {
        job->is_queued = true;
        job->next = NULL;
        if (workers->first)
            workers->last->next = job;
        else
            workers->first = job;
        workers->last = job;
        workers->queue_count++;
        assert(workers->thread_count > 0); /* somebody will take it */
        if (workers->queue_count == 1)
            condition_signal(&workers->work);
    }
    pthread_mutex_unlock(&workers->lock);
    return taken;
}

void workers_free(struct workers *workers)
{
    if (!workers)
        return;
    object_check(workers, WORKERS_MAGIC);
    pthread_mutex_lock(&workers->lock);
    workers->stopping = true;
    condition_broadcast(&workers->work);
    pthread_mutex_unlock(&workers->lock);
    for (unsigned i = 0; i < workers->thread_count; i++)
        task_stop(&workers->tasks[i]);
    assert(!workers->first && workers->queue_count == 0 && workers->idle_count == 0);
    condition_release(&workers->work);
    pthread_mutex_destroy(&workers->lock);
    free(workers->tasks);
    object_end(workers, WORKERS_MAGIC);
    free(workers);
}
