/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fair.h - jobs that wait, in an order in which nobody can keep others waiting: start-time fair
 * queueing by caller, and by flow within a caller.
 *
 * A caller pays for what its jobs cost, and the one that has paid least is next; a caller that
 * comes back is owed nothing for the time it was away. Flows of one caller (its connections) take
 * turns; a flow with only one job goes before flows with many (FAIR_DEEP to one), so a client that
 * asks one thing at a time waits for few others. When there is no room, the caller with the most
 * work in the queue loses its newest job.
 *
 * Threads: one at a time; workers.c has the lock.
 */
#ifndef TORG_BASE_FAIR_H
#define TORG_BASE_FAIR_H

#include <stdbool.h>
#include <stdint.h>

struct fair;
struct job;

/* running_max: jobs of one caller that run at once, while its next ones wait and others go before
 * them; 0: any number, as for those that are nobody's (caller 0). */
struct fair *fair_new(unsigned job_max, unsigned running_max);
void fair_free(struct fair *fair); /* empty; NULL is fine */

unsigned fair_count(const struct fair *fair);       /* jobs that wait */
bool fair_has_next(const struct fair *fair);        /* ... and one of them may be taken now */
void fair_push(struct fair *fair, struct job *job); /* fewer than job_max are there */
struct job *fair_pop(struct fair *fair);            /* NULL: fair_has_next is false */
/* The next job is of a caller of whom none runs; or of a new flow of one whose jobs take long. */
bool fair_next_is_new(const struct fair *fair);
/* ... of one whose jobs take longer than FAIR_DEAR_US. */
bool fair_next_is_dear(const struct fair *fair);
/* A job that was popped has ended: what it was taken for (job.cost_us) is put right by what it
 * cost, and waits are foreseen by what it spent of the clock. */
void fair_done(struct fair *fair, uint64_t caller, int64_t taken_for_us, int64_t cost_us,
               int64_t spent_us);

/* Takes out the newest job of the caller with the most work in the queue, if that is another than
 * this one and has a job that may be dropped; else NULL: the one who comes is the greediest. */
struct job *fair_drop(struct fair *fair, uint64_t caller);

/* How long the next job of a caller's flow would wait, where so many run at once: for those that
 * go before it, which are few if the flow has none in the queue. */
int64_t fair_wait_us(const struct fair *fair, uint64_t caller, uint64_t flow, unsigned running_max);

#endif
