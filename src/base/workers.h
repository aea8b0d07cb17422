/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workers.h - a bounded pool of threads for work that may block, with a bounded queue.
 *
 * Threads are started when first needed. Jobs are embedded in whatever they work on and never
 * copied. Waiting jobs are taken in a fair order (fair.h) among their callers. Any thread may
 * submit.
 */
#ifndef TORG_BASE_WORKERS_H
#define TORG_BASE_WORKERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"

struct workers;

struct job {
    void (*run)(struct job *job);
    /* It was taken, and is given back in favour of others; NULL: never. On any thread. */
    void (*dropped)(struct job *job);
    uint64_t caller; /* whose it is: its turns are counted by this ... */
    uint64_t flow;   /* ... and by this among the caller's */
    int64_t due_us;  /* of the pool's clock: of no use to anybody later; 0: it is */
    struct job *next;
    struct job *previous; /* while it waits */
    int64_t cost_us;      /* for fair.c */
    bool is_queued;       /* from its submission until a thread has taken it */
};

/* One caller's jobs have three quarters of the threads at the most (unless they are nobody's, or
 * there is no queue). run_list (may be NULL) runs several jobs at once,
 * linked by next, instead of each job's run; a thread then takes its share of those that wait. */
struct workers *workers_new(const char *name, unsigned thread_max, unsigned queue_max,
                            void (*run_list)(struct job *first), const struct clock *clock);
void workers_free(struct workers *workers); /* waits for the jobs taken; NULL is fine */

/* So many run at once, though there are more threads: for jobs that take the CPU. A job that has to
 * wait for something says so, on its thread, and another may run meanwhile. */
unsigned workers_core_count(void);
void workers_limit_running(struct workers *workers, unsigned running_max);
void worker_waits(void); /* a wait within a wait is the outer one's */
void worker_goes_on(void);

/* On the thread of a job that hands work to others: theirs is of the same caller, */
void worker_pass_on(struct job *job);
/* ... and what they computed for it, it is charged for. */
void worker_bill(int64_t cpu_us);
/* CPU of this thread, and what was billed to its jobs: only differences mean something. */
int64_t worker_cpu_us(void);

/* 0: it will be run, or given back. ERR_LIMIT: all threads are busy and the queue is full, and
 * nobody has more in it. ERR_TIMEOUT: by what its caller has before it, it would come too late. */
int workers_submit(struct workers *workers, struct job *job);

#endif
