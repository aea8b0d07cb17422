/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task.h - a thread with a name that can be woken and stopped, and that reports what it is doing.
 *
 * It lives in the struct of its owner, zeroed until it is started. Its function looks for work and
 * calls task_wait, which ends early when somebody wakes it or asks it to stop; a wake-up between
 * two waits is not lost. A task that shares a lock with others waits on their condition instead
 * (task_wait_on), and its owner signals that one after task_ask_stop.
 *
 * All tasks are in one list; tasks with the same clock belong to the same process (in tests several
 * run in one address space). A task that neither waits nor reports anything for longer than its own
 * limit is stalled: tasks_judge warns and counts.
 * Threads: start and stop are the owner's; wait, says and rest are the task's own; wake anybody's.
 */
#ifndef TORG_BASE_TASK_H
#define TORG_BASE_TASK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bell.h"
#include "base/clock.h"
#include "base/condition.h"
#include "base/err.h"
#include "base/object.h"

struct task;

typedef void task_run(struct task *task, void *arg);

enum { TASK_NAME_SIZE = 32 };

struct task_options {
    const char *name; /* copied; the system shows its first 15 bytes */
    task_run *run;
    void *arg;
    const struct clock *clock; /* borrowed */
    struct bell *bell;         /* that wakes it, on the same clock; NULL: its own; borrowed */
    int64_t silence_us_max;    /* without a word or a wait; 0: TASK_SILENCE_MS_MAX */
    size_t stack_size;         /* 0: the system's */
};

enum { TASK_MAGIC = OBJECT_MAGIC('t', 'a', 's', 'k') };

struct task {
    uint32_t magic; /* 0: was not started; ended: is stopped */
    char name[TASK_NAME_SIZE];
    task_run *run;
    void *arg;
    const struct clock *clock;
    struct bell own_bell;
    struct bell *bell;
    uint64_t rings; /* of the bell, before it looked for work; its thread's */
    int64_t silence_us_max;
    pthread_t thread;
    bool is_let_go; /* nobody stops it: it frees itself */
    atomic_bool is_stopping;
    atomic_bool is_resting;
    _Atomic(const char *) doing;
    _Atomic int64_t moved_us; /* when it last got on */
    bool is_stalled;          /* with the list's lock, as the two */
    struct task *previous, *next;
};

/* Fails only if the system has no room for a thread. */
int task_start(struct task *task, const struct task_options *options, struct err *err);
/* Asks it to stop and waits until it has; one that was not started is fine. */
void task_stop(struct task *task);
/* Only asks, so that several end at the same time. */
void task_ask_stop(struct task *task);
void task_wake(struct task *task);
/* A task without an owner: it ends by itself, or with the process. */
int task_spawn(const struct task_options *options, struct err *err);

static inline bool task_is_started(const struct task *task)
{
    return object_is(task, TASK_MAGIC);
}

static inline bool task_is_stopping(const struct task *task)
{
    return atomic_load(&task->is_stopping);
}

/* --- for its own thread --- */

/* Rests until somebody wakes it or this time of its clock. False: it has to stop. */
bool task_wait(struct task *task, int64_t until_us);
/* The same, for so long. */
bool task_pause(struct task *task, int64_t duration_us);
/* Rests on a condition of somebody else; as condition_wait_until. */
bool task_wait_on(struct task *task, struct condition *condition, pthread_mutex_t *lock,
                  int64_t until_us);
/* What it does now; it has got on. The text is static. */
void task_says(struct task *task, const char *doing);
/* Around a wait that is none of those above, and may take any time: it is not stalled. */
void task_rest(struct task *task, bool is_resting);

/* --- for those who look at them --- */

struct task_state {
    const char *name;
    const char *doing;
    int64_t silent_us; /* since it last got on */
    int64_t silence_us_max;
    bool is_resting;
    bool is_stalled;
};

const char *task_state_name(const struct task_state *state); /* "waits", "works", "stalled" */
/* The tasks of a clock, by name; the strings are the arena's. */
size_t tasks_list(const struct clock *clock, struct arena *arena, struct task_state **states);
/* Warns of those of a clock that have stalled since the last time, and tells when they go on. */
void tasks_judge(const struct clock *clock);

#endif
