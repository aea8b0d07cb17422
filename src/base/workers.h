/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workers.h - a bounded pool of threads for work that may block, with a bounded queue.
 *
 * Threads are started when first needed. Jobs are embedded in whatever they work on and never
 * copied. Any thread may submit.
 */
#ifndef TORG_BASE_WORKERS_H
#define TORG_BASE_WORKERS_H

#include <stdbool.h>

#include "base/clock.h"
#include "base/err.h"

struct workers;

struct job {
    void (*run)(struct job *job);
    struct job *next;
    bool is_queued; /* from its submission until a thread has taken it */
};

/* run_list (may be NULL) runs several jobs at once, linked by next, instead of each job's run; a
 * thread then takes its share of those that wait. */
struct workers *workers_new(const char *name, unsigned thread_max, unsigned queue_max,
                            void (*run_list)(struct job *first), const struct clock *clock);
void workers_free(struct workers *workers); /* waits for the jobs taken; NULL is fine */

/* False when all threads are busy and the queue is full: tell the client to come later. */
bool workers_submit(struct workers *workers, struct job *job);

#endif
