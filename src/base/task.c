/* SPDX-License-Identifier: Apache-2.0 */
/* task.c - see task.h. The list's lock is taken last: nothing else is locked within it but the log
 * and the metrics. */
#include "base/task.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/metrics.h"

enum { SYSTEM_NAME_SIZE = 16 };

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct task *list_first;

static void list_add(struct task *task)
{
    pthread_mutex_lock(&list_lock);
    task->previous = NULL;
    task->next = list_first;
    if (list_first)
        list_first->previous = task;
    list_first = task;
    pthread_mutex_unlock(&list_lock);
}

static void list_remove(struct task *task)
{
    pthread_mutex_lock(&list_lock);
    assert(task->previous ? task->previous->next == task : list_first == task);
    if (task->previous)
        task->previous->next = task->next;
    else
        list_first = task->next;
    if (task->next)
        task->next->previous = task->previous;
    pthread_mutex_unlock(&list_lock);
}

/* --- life --- */

static void set_up(struct task *task, const struct task_options *options)
{
    int64_t silence_us = options->silence_us_max;

    assert(options->name && options->run && options->clock);
    assert(!task_is_started(task));
    memset(task, 0, sizeof(*task));
    object_begin(task, TASK_MAGIC);
    snprintf(task->name, sizeof(task->name), "%s", options->name);
    task->run = options->run;
    task->arg = options->arg;
    task->clock = options->clock;
    task->silence_us_max = silence_us ? silence_us : (int64_t)TASK_SILENCE_MS_MAX * MS_US;
    bell_init(&task->own_bell, task->clock);
    task->bell = options->bell ? options->bell : &task->own_bell;
    assert(task->bell->rung.clock == task->clock);
    task->rings = bell_rings(task->bell);
    atomic_init(&task->doing, "starting");
    atomic_init(&task->moved_us, clock_mono_us(task->clock));
}

static void tear_down(struct task *task)
{
    list_remove(task);
    bell_release(&task->own_bell);
    object_end(task, TASK_MAGIC);
}

static void *task_main(void *arg)
{
    struct task *task = arg;
    char name[SYSTEM_NAME_SIZE];

    object_check(task, TASK_MAGIC);
    snprintf(name, sizeof(name), "%s", task->name);
    pthread_setname_np(pthread_self(), name);
    task->run(task, task->arg);
    if (task->is_let_go) {
        tear_down(task);
        free(task);
        return NULL;
    }
    task_says(task, "ended");
    atomic_store(&task->is_resting, true);
    return NULL;
}

static int begin(struct task *task, const struct task_options *options, struct err *err)
{
    pthread_attr_t attributes;
    pthread_t thread;
    int rc;

    pthread_attr_init(&attributes);
    if (options->stack_size)
        pthread_attr_setstacksize(&attributes, options->stack_size);
    if (task->is_let_go)
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    list_add(task);
    /* One that is let go may be freed before this returns. */
    rc = pthread_create(task->is_let_go ? &thread : &task->thread, &attributes, task_main, task);
    pthread_attr_destroy(&attributes);
    if (!rc)
        return 0;
    tear_down(task);
    return err_set(err, ERR_UNAVAILABLE,
                   "no thread for \"%s\": %s; raise the limit of processes "
                   "(ulimit -u) or free memory",
                   options->name, strerror(rc));
}

int task_start(struct task *task, const struct task_options *options, struct err *err)
{
    set_up(task, options);
    return begin(task, options, err);
}

int task_spawn(const struct task_options *options, struct err *err)
{
    struct task *task = mem_zero(sizeof(*task));
    int rc;

    set_up(task, options);
    task->is_let_go = true;
    rc = begin(task, options, err);
    if (rc)
        free(task);
    return rc;
}

void task_ask_stop(struct task *task)
{
    if (!task_is_started(task))
        return;
    atomic_store(&task->is_stopping, true);
    bell_ring(task->bell);
}

void task_stop(struct task *task)
{
    if (!task_is_started(task))
        return;
    assert(!task->is_let_go); /* that one has no owner */
    assert(!pthread_equal(task->thread, pthread_self()));
    task_ask_stop(task);
    pthread_join(task->thread, NULL);
    tear_down(task);
}

void task_wake(struct task *task)
{
    object_check(task, TASK_MAGIC);
    bell_ring(task->bell);
}

/* --- its own thread --- */

static void moved(struct task *task)
{
    atomic_store(&task->moved_us, clock_mono_us(task->clock));
}

void task_says(struct task *task, const char *doing)
{
    object_check(task, TASK_MAGIC);
    assert(doing);
    moved(task);
    atomic_store(&task->doing, doing);
}

/* It has got on when it lies down and when it gets up. */
void task_rest(struct task *task, bool is_resting)
{
    object_check(task, TASK_MAGIC);
    moved(task);
    atomic_store(&task->is_resting, is_resting);
}

bool task_wait(struct task *task, int64_t until_us)
{
    object_check(task, TASK_MAGIC);
    assert(bell_rings(task->bell) >= task->rings);
    task_rest(task, true);
    if (!task_is_stopping(task))
        bell_wait(task->bell, task->rings, until_us);
    task->rings = bell_rings(task->bell);
    task_rest(task, false);
    return !task_is_stopping(task);
}

bool task_pause(struct task *task, int64_t duration_us)
{
    return task_wait(task, clock_after_us(task->clock, duration_us));
}

bool task_wait_on(struct task *task, struct condition *condition, pthread_mutex_t *lock,
                  int64_t until_us)
{
    bool in_time;

    assert(condition->clock == task->clock); /* time ends both or none */
    task_rest(task, true);
    in_time = condition_wait_until(condition, lock, until_us);
    task_rest(task, false);
    return in_time;
}

/* --- those who look --- */

/* Whether it rests is read first: who gets up has moved before it says so. */
static struct task_state look(const struct task *task)
{
    bool is_resting = atomic_load(&task->is_resting);
    int64_t silent_us = clock_mono_us(task->clock) - atomic_load(&task->moved_us);

    return (struct task_state){.name = task->name,
                               .doing = atomic_load(&task->doing),
                               .silent_us = silent_us > 0 ? silent_us : 0,
                               .silence_us_max = task->silence_us_max,
                               .is_resting = is_resting,
                               .is_stalled = !is_resting && silent_us > task->silence_us_max};
}

const char *task_state_name(const struct task_state *state)
{
    if (state->is_resting)
        return "waits";
    return state->is_stalled ? "stalled" : "works";
}

static int compare_states(const void *left, const void *right)
{
    const struct task_state *a = left, *b = right;

    return strcmp(a->name, b->name);
}

size_t tasks_list(const struct clock *clock, struct arena *arena, struct task_state **states)
{
    size_t count = 0, room = 0;

    pthread_mutex_lock(&list_lock);
    for (const struct task *task = list_first; task; task = task->next)
        room++;
    *states = arena_alloc(arena, (room + 1) * sizeof(**states));
    for (const struct task *task = list_first; task; task = task->next) {
        if (task->clock != clock)
            continue;
        assert(count < room);
        (*states)[count] = look(task);
        (*states)[count++].name = arena_strdup(arena, task->name);
    }
    pthread_mutex_unlock(&list_lock);
    qsort(*states, count, sizeof(**states), compare_states);
    return count;
}

static void judge(struct task *task)
{
    struct task_state state = look(task);
    char labels[TASK_NAME_SIZE + sizeof("task=\"\"")];

    if (task->is_stalled && !state.is_stalled)
        log_info("a task makes progress again", LOG_TEXT("task", state.name));
    if (!task->is_stalled && state.is_stalled) {
        snprintf(labels, sizeof(labels), "task=\"%s\"", state.name);
        counter_add(metrics_counter("torg_task_stalls_total", labels,
                                    "Times that a task made no progress within its limit."),
                    1);
        log_warn("a task makes no progress", LOG_TEXT("task", state.name),
                 LOG_TEXT("doing", state.doing), LOG_INT("silent_ms", state.silent_us / MS_US));
    }
    task->is_stalled = state.is_stalled;
}

void tasks_judge(const struct clock *clock)
{
    struct gauge *stalled = metrics_gauge("torg_tasks_stalled", NULL,
                                          "Tasks without progress for longer than their limit.");
    int64_t count = 0;

    pthread_mutex_lock(&list_lock);
    for (struct task *task = list_first; task; task = task->next) {
        if (task->clock != clock)
            continue;
        judge(task);
        count += task->is_stalled;
    }
    pthread_mutex_unlock(&list_lock);
    gauge_set(stalled, count);
}
