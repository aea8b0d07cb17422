/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_sched.c - see sim_core.h: who runs next, and what time it is.
 *
 * All choices are drawn from one sequence, over arrays whose order is that of the run itself; no
 * address, no real time and no real thread has a say. A point takes a microsecond, so that who
 * looks at the clock in a loop gets on.
 */
#include <assert.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "sim_core.h"

enum {
    TASK_COUNT_MAX = 1024,
    POINT_US = 1,
    END_POINTS_MAX = 64,      /* a planned end comes within so many points after its time */
    RENAME_US_MAX = 1000,     /* one at a rename comes within so long after it */
    RENAME_WAIT_US = 5000000, /* and waits for one no longer than this */
    STACK_SHOWN = 16,
};

enum member_state { MEMBER_RUNS, MEMBER_FROZEN, MEMBER_KILLED };

struct member {
    char name[SIM_NAME_SIZE];
    enum member_state state;
    int64_t wall_ahead_us;
};

struct sim_task *sim_current;
bool sim_is_alive, sim_is_kept;

static struct sim_task *tasks[TASK_COUNT_MAX];
static size_t task_count;
/* What each task waits for, by its place in `tasks`: these are looked through at each switch. */
static int64_t deadlines_us[TASK_COUNT_MAX]; /* SIM_NEVER: it does not wait, or not for a time */
static const void *objects[TASK_COUNT_MAX];  /* NULL: likewise */
static struct sim_task *ready[TASK_COUNT_MAX];
static size_t ready_count;
static unsigned last_id;
static int64_t next_deadline_us = SIM_NEVER; /* no waiting task has an earlier one */
static struct member members[SIM_MEMBER_COUNT_MAX];
static unsigned member_count;
static struct sim_faults faults;
static enum sim_end planned_end;
static int64_t planned_us = SIM_NEVER;
static uint64_t planned_points;
static int64_t rename_us = SIM_NEVER; /* the planned end comes with the first rename from then on */
static struct count_down {
    unsigned rate;
    uint64_t left; /* points */
} preemptions, stalls;
static struct sim_task *ended; /* its stack is free once another runs */

struct sim_faults *sim_faults(void)
{
    return &faults;
}

bool sim_draw(struct rng *rng, unsigned per_million)
{
    return per_million && rng_below(rng, 1000000) < per_million;
}

/* --- who may run --- */

static bool is_held(const struct sim_task *task)
{
    return members[task->member].state != MEMBER_RUNS && !task->static_locks;
}

static void list(struct sim_task *task)
{
    if (task->is_listed || task->state != SIM_TASK_READY || is_held(task))
        return;
    task->is_listed = true;
    ready[ready_count++] = task;
}

static void unlist(struct sim_task *task)
{
    size_t i = 0;

    if (!task->is_listed)
        return;
    while (ready[i] != task)
        i++;
    ready[i] = ready[--ready_count];
    task->is_listed = false;
}

static void set_wait(struct sim_task *task, const void *object, int64_t deadline_us)
{
    assert(tasks[task->place] == task);
    objects[task->place] = object;
    deadlines_us[task->place] = deadline_us;
}

static void make_ready(struct sim_task *task, bool is_woken)
{
    assert(task->state == SIM_TASK_WAITS);
    task->state = SIM_TASK_READY;
    task->is_woken = is_woken;
    set_wait(task, NULL, SIM_NEVER);
    list(task);
}

static void ring_deadlines(void)
{
    if (next_deadline_us > sim->now_us)
        return;
    next_deadline_us = SIM_NEVER;
    for (size_t i = 0; i < task_count; i++) {
        if (deadlines_us[i] <= sim->now_us)
            make_ready(tasks[i], false);
        else if (deadlines_us[i] < next_deadline_us)
            next_deadline_us = deadlines_us[i];
    }
}

static _Noreturn void tell_deadlock(void)
{
    static char text[SIM_FAILURE_SIZE];

    sim_describe_tasks(text, sizeof(text));
    sim_fail("deadlock: nobody can run, and nobody waits for a time\n%s", text);
}

static struct sim_task *next_task(void)
{
    struct sim_task *task;

    ring_deadlines();
    while (!ready_count) {
        int64_t until_us = next_deadline_us < planned_us ? next_deadline_us : planned_us;

        if (until_us == SIM_NEVER)
            tell_deadlock();
        if (until_us > sim->now_us)
            sim->now_us = until_us;
        if (planned_us <= sim->now_us)
            sim_end_life(planned_end);
        ring_deadlines();
    }
    task = ready[ready_count > 1 ? rng_below(&sim->schedule, ready_count) : 0];
    sim_mix(task->id);
    return task;
}

static void free_ended(void)
{
    if (!ended)
        return;
    sim_fibre_free(ended->fibre);
    ended->fibre = NULL;
    if (ended->is_detached)
        sim_task_free(ended);
    ended = NULL;
}

static void go_on(void)
{
    struct sim_task *from = sim_current, *to = next_task();

    if (to == from)
        return;
    sim->switches++;
    sim_current = to;
    sim_fibre_switch(from->fibre, to->fibre);
    free_ended();
}

/* --- points --- */

static _Noreturn void tell_too_long(void)
{
    static char text[SIM_FAILURE_SIZE];

    sim_describe_tasks(text, sizeof(text));
    sim->limit_us = SIM_NEVER;
    sim_fail("the life does not end in the simulated time that it has\n%s", text);
}

void sim_maybe_end(void)
{
    if (sim->now_us > sim->limit_us)
        tell_too_long();
    if (sim->now_us < planned_us)
        return;
    if (planned_points) {
        planned_points--;
        return;
    }
    sim_end_life(planned_end);
}

/* Whether this is the point that was drawn for something that happens so often; the next one is
 * then drawn. One draw an event, not a point: there are a hundred thousand points a minute. */
static bool comes(struct count_down *count_down, unsigned per_million)
{
    if (count_down->rate != per_million) {
        count_down->rate = per_million;
        count_down->left = per_million ? rng_below(&sim->schedule, 2000000 / per_million) : 0;
    }
    if (!per_million)
        return false;
    if (count_down->left) {
        count_down->left--;
        return false;
    }
    count_down->left = rng_below(&sim->schedule, 2000000 / per_million);
    return true;
}

static void point(void)
{
    sim->points++;
    sim->now_us += POINT_US;
    sim_maybe_end();
    if (comes(&stalls, faults.stall)) {
        int64_t pause_us = (int64_t)rng_below(&sim->schedule, (uint64_t)faults.stall_us + 1);

        sim_wait(NULL, sim->now_us + pause_us, "stalled");
    }
}

void sim_yield_now(const char *why)
{
    if (!sim_current)
        return;
    sim_current->why = why;
    point();
    go_on();
}

void sim_yield(const char *why)
{
    if (!sim_current)
        return;
    sim_current->why = why;
    point();
    if (comes(&preemptions, faults.preempt))
        go_on();
}

const char *sim_task_name(void)
{
    return sim_current ? sim_current->name : "none";
}

void sim_point(const char *what)
{
    sim_yield_now(what);
}

bool sim_wait(const void *object, int64_t deadline_us, const char *why)
{
    struct sim_task *self = sim_current;

    if (!self) {
        fprintf(stderr, "sim: %s outside a life: it would wait for ever\n", why);
        abort();
    }
    unlist(self);
    self->state = SIM_TASK_WAITS;
    self->why = why;
    set_wait(self, object, deadline_us);
    if (deadline_us < next_deadline_us)
        next_deadline_us = deadline_us;
    go_on();
    return self->is_woken;
}

void sim_pause_us(int64_t duration_us)
{
    if (duration_us > 0)
        (void)sim_wait(NULL, sim->now_us + duration_us, "pause");
    else
        sim_yield_now("pause");
}

void sim_wake_one(const void *object)
{
    struct sim_task *found[TASK_COUNT_MAX];
    size_t count = 0;

    for (size_t i = 0; i < task_count; i++)
        if (objects[i] == object)
            found[count++] = tasks[i];
    if (count)
        make_ready(found[count > 1 ? rng_below(&sim->schedule, count) : 0], true);
}

void sim_wake_all(const void *object)
{
    for (size_t i = 0; i < task_count; i++)
        if (objects[i] == object)
            make_ready(tasks[i], true);
}

/* --- tasks --- */

static void task_main(void *arg)
{
    struct sim_task *self = arg;

    free_ended();
    void *result = self->run(self->arg);

    sim_task_leaves();
    sim_task_end(result);
}

struct sim_task *sim_task_start(void *(*run)(void *), void *arg, size_t stack_size, bool detached)
{
    struct sim_task *task;

    if (task_count == TASK_COUNT_MAX)
        return NULL;
    task = mem_zero(sizeof(*task));
    task->id = ++last_id;
    snprintf(task->name, sizeof(task->name), "task-%u", task->id);
    task->member = sim_current ? sim_current->member : 0;
    task->why = "starts";
    task->run = run;
    task->arg = arg;
    task->is_detached = detached;
    task->fibre = sim_fibre_new(task_main, task, stack_size);
    task->place = task_count;
    tasks[task_count++] = task;
    set_wait(task, NULL, SIM_NEVER);
    list(task);
    return task;
}

void sim_task_free(struct sim_task *task)
{
    free(task);
}

_Noreturn void sim_task_end(void *result)
{
    struct sim_task *self = sim_current;
    size_t last = --task_count;

    self->result = result;
    self->state = SIM_TASK_ENDED;
    unlist(self);
    tasks[self->place] = tasks[last];
    objects[self->place] = objects[last];
    deadlines_us[self->place] = deadlines_us[last];
    tasks[self->place]->place = self->place;
    sim_wake_all(self);
    ended = self;
    go_on();
    abort(); /* nobody goes on with a task that has ended */
}

void sim_sched_run(void *(*run)(void *), void *arg)
{
    struct sim_task *first;

    members[0] = (struct member){.name = "process"};
    member_count = 1;
    sim_is_alive = true;
    first = sim_task_start(run, arg, 0, true);
    snprintf(first->name, sizeof(first->name), "main");
    sim_current = first;
    sim_fibre_switch(NULL, first->fibre);
}

void sim_end_later(enum sim_end end, int64_t after_us)
{
    if ((end == SIM_END_POWER && !sim_has("power")) || (end == SIM_END_KILL && !sim_has("kill")))
        return;
    planned_end = end;
    planned_us = sim->now_us + after_us;
    planned_points = rng_below(&sim->schedule, END_POINTS_MAX);
}

/* What was written for a name comes before it: where that is not so, only a loss between the two
 * tells, and few ends that are drawn by time alone come there. */
void sim_end_at_rename(enum sim_end end, int64_t after_us)
{
    sim_end_later(end, after_us);
    if (planned_us == SIM_NEVER)
        return;
    rename_us = planned_us;
    planned_us += RENAME_WAIT_US;
    planned_points = 0;
}

void sim_has_renamed(void)
{
    if (sim->now_us < rename_us)
        return;
    rename_us = SIM_NEVER;
    planned_us = sim->now_us + (int64_t)rng_below(&sim->schedule, RENAME_US_MAX);
}

void sim_end_never(void)
{
    planned_us = rename_us = SIM_NEVER;
}

static size_t describe(const struct sim_task *task, char *text, size_t size)
{
    void *addresses[STACK_SHOWN];
    size_t count = sim_fibre_stack(task->fibre, addresses, STACK_SHOWN);
    size_t used =
        (size_t)snprintf(text, size, "  %s (%s) %s: %s", task->name, members[task->member].name,
                         task->state == SIM_TASK_WAITS ? "waits" : "can run", task->why);

    for (size_t i = 0; i < count && used < size; i++) {
        Dl_info info;

        if (!dladdr(addresses[i], &info))
            info = (Dl_info){0};
        used += (size_t)snprintf(text + used, size - used, "\n    %s+0x%zx",
                                 info.dli_sname ? info.dli_sname : "?",
                                 (size_t)((char *)addresses[i] - (char *)info.dli_fbase));
    }
    if (used < size)
        used += (size_t)snprintf(text + used, size - used, "\n");
    return used;
}

void sim_describe_tasks(char *text, size_t size)
{
    size_t used = 0;

    text[0] = 0;
    for (size_t i = 0; i < task_count && used < size; i++)
        used += describe(tasks[i], text + used, size - used);
}

/* --- members --- */

int64_t sim_wall_us(void)
{
    return SIM_WALL_BASE_US + sim->now_us +
           (sim_current ? members[sim_current->member].wall_ahead_us : 0);
}

unsigned sim_member_new(const char *name)
{
    assert(member_count < SIM_MEMBER_COUNT_MAX);
    members[member_count] = (struct member){.state = MEMBER_RUNS};
    snprintf(members[member_count].name, SIM_NAME_SIZE, "%s", name);
    return member_count++;
}

unsigned sim_member_current(void)
{
    return sim_current->member;
}

void sim_member_enter(unsigned member)
{
    assert(member < member_count);
    sim_current->member = member;
    if (is_held(sim_current)) {
        unlist(sim_current);
        go_on();
    }
}

static void set_state(unsigned member, enum member_state state)
{
    assert(member < member_count);
    if (members[member].state == MEMBER_KILLED)
        return;
    members[member].state = state;
    for (size_t i = 0; i < task_count; i++) {
        if (tasks[i]->member != member)
            continue;
        if (is_held(tasks[i]))
            unlist(tasks[i]);
        else
            list(tasks[i]);
    }
    if (is_held(sim_current))
        go_on();
}

void sim_member_freeze(unsigned member, bool is_frozen)
{
    set_state(member, is_frozen ? MEMBER_FROZEN : MEMBER_RUNS);
}

void sim_member_kill(unsigned member)
{
    set_state(member, MEMBER_KILLED);
}

void sim_member_set_wall(unsigned member, int64_t ahead_us)
{
    assert(member < member_count);
    members[member].wall_ahead_us = ahead_us;
}

void sim_static_lock(int change)
{
    if (!sim_current)
        return;
    sim_current->static_locks += (unsigned)change;
    if (is_held(sim_current)) {
        unlist(sim_current);
        go_on();
    }
}
