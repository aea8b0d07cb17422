/* SPDX-License-Identifier: Apache-2.0 */
/* workers.c - see workers.h. */
#include "base/workers.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/condition.h"
#include "base/fair.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/task.h"

enum { NAME_SIZE = 16, STACK_SIZE = 512 << 10, LIST_COUNT_MAX = 16 };

enum { WORKERS_MAGIC = OBJECT_MAGIC('w', 'r', 'k', 's') };

struct workers {
    uint32_t magic;
    char name[NAME_SIZE];
    unsigned thread_max;
    unsigned running_max; /* threads at work at once, besides those that wait */
    unsigned queue_max;
    void (*run_list)(struct job *first);
    const struct clock *clock;
    pthread_mutex_t lock;
    struct condition work;
    struct task *tasks; /* owned */
    unsigned thread_count;
    unsigned idle_count;    /* threads without a job */
    unsigned running_count; /* at work */
    struct fair *queue;     /* owned: jobs nobody has taken */
    bool stopping;
};

static bool add_thread(struct workers *workers);

/* Of the job that this thread runs. */
static _Thread_local struct {
    struct workers *pool; /* NULL: none that limits what runs */
    unsigned wait_count;  /* waits within waits */
    uint64_t caller;
    uint64_t flow;
    int64_t billed_us; /* of all its jobs */
} own;

/* Whose jobs have so many threads waits: they may take long, and others come. */
static unsigned share_of(const struct workers *workers)
{
    unsigned share = workers->thread_max - workers->thread_max / 4;

    return !workers->run_list && workers->queue_max && share < workers->thread_max ? share : 0;
}

struct workers *workers_new(const char *name, unsigned thread_max, unsigned queue_max,
                            void (*run_list)(struct job *first), const struct clock *clock)
{
    struct workers *workers = mem_zero(sizeof(*workers));

    object_begin(workers, WORKERS_MAGIC);
    assert(thread_max > 0 && name && clock);
    snprintf(workers->name, sizeof(workers->name), "%s", name);
    workers->thread_max = workers->running_max = thread_max;
    workers->queue_max = queue_max;
    workers->run_list = run_list;
    workers->clock = clock;
    /* ... and those for whom a thread is on its way */
    workers->queue = fair_new(queue_max + thread_max, share_of(workers));
    workers->tasks = mem_array(thread_max, sizeof(*workers->tasks));
    pthread_mutex_init(&workers->lock, NULL);
    condition_init(&workers->work, clock);
    return workers;
}

unsigned workers_core_count(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);

    return count < 1 ? 1 : (unsigned)count;
}

void workers_limit_running(struct workers *workers, unsigned running_max)
{
    object_check(workers, WORKERS_MAGIC);
    assert(running_max > 0 && running_max <= workers->thread_max && !workers->thread_count);
    workers->running_max = running_max;
}

/* Its jobs take the CPU: what they cost is that, not the time they held a thread. */
static bool is_limited(const struct workers *workers)
{
    return workers->running_max < workers->thread_max;
}

/* Under the lock. Who has nothing running does not wait until others have done, up to twice as
 * many: theirs may take long. Those that take long leave one place to the others. */
static bool may_take(const struct workers *workers)
{
    unsigned running_max = workers->running_max;

    if (!fair_has_next(workers->queue))
        return false;
    if (!is_limited(workers))
        return workers->running_count < running_max;
    if (fair_next_is_new(workers->queue))
        return workers->running_count < 2 * running_max;
    if (running_max > 1 && fair_next_is_dear(workers->queue))
        running_max--;
    return workers->running_count < running_max;
}

static void wake_next(struct workers *workers)
{
    /* One that was started and has no job yet is on its way; those that wait do not count. */
    bool all_run = is_limited(workers) || workers->running_count == workers->thread_count;

    if (!may_take(workers))
        return;
    if (workers->idle_count || (all_run && add_thread(workers)))
        condition_signal(&workers->work);
}

/* The next job, or a list of the next; NULL when it is time to stop. Who leaves some behind
 * wakes another: while jobs wait, a thread is on its way to them. */
static struct job *next_job(struct workers *workers, struct task *task)
{
    unsigned count = 1;
    struct job *first;
    struct job *last;

    while (!may_take(workers) && !(workers->stopping && !fair_count(workers->queue))) {
        workers->idle_count++;
        task_wait_on(task, &workers->work, &workers->lock, CLOCK_NEVER);
        assert(workers->idle_count > 0 && workers->idle_count <= workers->thread_count);
        workers->idle_count--;
    }
    if (workers->run_list)
        count = (fair_count(workers->queue) + workers->thread_count - 1) / workers->thread_count;
    if (count > LIST_COUNT_MAX)
        count = LIST_COUNT_MAX;
    first = last = fair_pop(workers->queue);
    if (!first)
        return NULL;
    last->is_queued = false;
    for (unsigned i = 1; i < count; i++) {
        last->next = fair_pop(workers->queue);
        last = last->next;
        last->is_queued = false;
    }
    workers->running_count++;
    wake_next(workers);
    return first;
}

/* What a list has taken is shared by its jobs. */
struct bill {
    uint64_t caller;
    int64_t taken_for_us;
};

static unsigned write_bills(const struct job *first, struct bill bills[LIST_COUNT_MAX])
{
    unsigned count = 0;

    for (const struct job *job = first; job; job = job->next)
        bills[count++] = (struct bill){.caller = job->caller, .taken_for_us = job->cost_us};
    assert(count > 0 && count <= LIST_COUNT_MAX);
    return count;
}

static void run(struct task *task, void *arg)
{
    struct workers *workers = arg;

    object_check(workers, WORKERS_MAGIC);
    if (is_limited(workers))
        own.pool = workers;
    pthread_mutex_lock(&workers->lock);
    for (;;) {
        struct job *job = next_job(workers, task);
        struct bill bills[LIST_COUNT_MAX];
        int64_t begun_us;
        int64_t spent_us;
        int64_t cost_us;
        unsigned count;

        if (!job)
            break;
        count = write_bills(job, bills); /* afterwards the jobs are somebody else's */
        own.caller = workers->run_list ? 0 : job->caller;
        own.flow = workers->run_list ? 0 : job->flow;
        pthread_mutex_unlock(&workers->lock);
        task_says(task, "running a job");
        begun_us = clock_mono_us(workers->clock);
        cost_us = is_limited(workers) ? worker_cpu_us() : 0;
        if (workers->run_list)
            workers->run_list(job);
        else
            job->run(job);
        spent_us = clock_mono_us(workers->clock) - begun_us;
        cost_us = is_limited(workers) ? worker_cpu_us() - cost_us : spent_us;
        pthread_mutex_lock(&workers->lock);
        workers->running_count--;
        for (unsigned i = 0; i < count; i++)
            fair_done(workers->queue, bills[i].caller, bills[i].taken_for_us, cost_us / count,
                      spent_us / count);
    }
    condition_broadcast(&workers->work); /* the others end, too */
    pthread_mutex_unlock(&workers->lock);
}

void worker_waits(void)
{
    struct workers *workers = own.pool;

    if (!workers || own.wait_count++)
        return;
    pthread_mutex_lock(&workers->lock);
    assert(workers->running_count > 0);
    workers->running_count--;
    wake_next(workers);
    pthread_mutex_unlock(&workers->lock);
}

/* There may be one more than running_max for a while: who has waited does not wait again. */
void worker_goes_on(void)
{
    struct workers *workers = own.pool;

    if (!workers)
        return;
    assert(own.wait_count > 0);
    if (--own.wait_count)
        return;
    pthread_mutex_lock(&workers->lock);
    workers->running_count++;
    pthread_mutex_unlock(&workers->lock);
}

void worker_pass_on(struct job *job)
{
    job->caller = own.caller;
    job->flow = own.flow;
}

void worker_bill(int64_t cpu_us)
{
    assert(cpu_us >= 0);
    own.billed_us += cpu_us;
}

int64_t worker_cpu_us(void)
{
    return clock_thread_us() + own.billed_us;
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

/* Under the lock: room for one more job, made at the expense of another one at the worst. */
static int make_room(struct workers *workers, const struct job *job, struct job **dropped)
{
    unsigned waiting = fair_count(workers->queue);
    unsigned free_count = workers->running_max - workers->running_count;

    if (workers->stopping)
        return ERR_LIMIT;
    if (workers->running_count < workers->running_max && waiting < free_count &&
        (workers->idle_count > waiting || add_thread(workers)))
        return 0;
    if (!workers->thread_count)
        return ERR_LIMIT;
    if (job->due_us &&
        clock_mono_us(workers->clock) +
                fair_wait_us(workers->queue, job->caller, job->flow, workers->running_max) >
            job->due_us)
        return ERR_TIMEOUT;
    if (waiting < workers->queue_max)
        return 0;
    *dropped = workers->queue_max ? fair_drop(workers->queue, job->caller) : NULL;
    return *dropped ? 0 : ERR_LIMIT;
}

int workers_submit(struct workers *workers, struct job *job)
{
    struct job *dropped = NULL;
    int rc;

    object_check(workers, WORKERS_MAGIC);
    assert(workers->run_list || job->run);
    pthread_mutex_lock(&workers->lock);
    assert(workers->idle_count <= workers->thread_count);
    assert(workers->thread_count <= workers->thread_max);
    rc = make_room(workers, job, &dropped);
    assert(!job->is_queued); /* it is handed over once */
    if (!rc) {
        job->is_queued = true;
        fair_push(workers->queue, job);
        assert(workers->thread_count > 0); /* somebody will take it */
        wake_next(workers);                /* it may be one that goes before others */
    }
    pthread_mutex_unlock(&workers->lock);
    if (dropped) {
        dropped->is_queued = false;
        dropped->dropped(dropped);
    }
    return rc;
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
    assert(fair_count(workers->queue) == 0 && workers->idle_count == 0);
    fair_free(workers->queue);
    condition_release(&workers->work);
    pthread_mutex_destroy(&workers->lock);
    free(workers->tasks);
    object_end(workers, WORKERS_MAGIC);
    free(workers);
}
