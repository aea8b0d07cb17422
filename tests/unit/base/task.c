/* SPDX-License-Identifier: Apache-2.0 */
/* task.c - a task is woken, stopped and timed by its clock, and told of when it does not get on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/task.h"

enum { DAY_S = 86400 };

struct worker {
    struct task task;
    atomic_int looks; /* for work */
    int64_t period_us;
};

static void look_for_work(struct task *task, void *arg)
{
    struct worker *worker = arg;

    do
        atomic_fetch_add(&worker->looks, 1);
    while (task_pause(task, worker->period_us));
}

static void start(struct worker *worker, const struct clock *clock, struct bell *bell)
{
    const struct task_options options = {.name = "looks for work",
                                         .run = look_for_work,
                                         .arg = worker,
                                         .clock = clock,
                                         .bell = bell};
    struct err err;

    assert_int_equal(task_start(&worker->task, &options, &err), 0);
}

static void await_looks(struct worker *worker, int count)
{
    while (atomic_load(&worker->looks) < count)
        sched_yield();
}

/* Until it waits: what it looked for before is done. */
static void await_rest(const struct task *task)
{
    while (!atomic_load(&task->is_resting))
        sched_yield();
}

static void its_clock_wakes_it(void **state)
{
    struct worker worker = {.period_us = (int64_t)DAY_S * SECOND_US};
    struct clock_manual clock;

    clock_manual_init_strict(&clock, 0);
    start(&worker, &clock.base, NULL);
    for (int day = 1; day < 100; day++) {
        await_looks(&worker, day);
        while (clock_manual_next_us(&clock) != day * worker.period_us)
            sched_yield();
        assert_int_equal(atomic_load(&worker.looks), day);
        clock_manual_advance(&clock, worker.period_us);
    }
    task_stop(&worker.task);
    assert_false(task_is_started(&worker.task));
}

static void a_wake_up_is_not_lost(void **state)
{
    struct worker worker = {.period_us = CLOCK_NEVER};

    start(&worker, clock_system(), NULL);
    for (int i = 1; i < 1000; i++) {
        await_looks(&worker, i);
        task_wake(&worker.task); /* wherever it is by now */
    }
    await_looks(&worker, 1000);
    task_stop(&worker.task);
}

static void one_that_waits_for_ever_is_stopped(void **state)
{
    for (int i = 0; i < 200; i++) {
        struct worker worker = {.period_us = CLOCK_NEVER};

        start(&worker, clock_system(), NULL);
        if (i % 2)
            await_rest(&worker.task);
        task_stop(&worker.task);
        assert_in_range(atomic_load(&worker.looks), 1, 2);
        task_stop(&worker.task); /* once more is fine */
    }
}

static void a_bell_outlives_the_task_that_hears_it(void **state)
{
    struct worker worker = {.period_us = CLOCK_NEVER};
    struct bell bell;

    bell_init(&bell, clock_system());
    bell_ring(&bell); /* nobody is there yet */
    for (int i = 0; i < 2; i++) {
        int before = atomic_load(&worker.looks);

        start(&worker, clock_system(), &bell);
        await_looks(&worker, before + 1);
        bell_ring(&bell);
        await_looks(&worker, before + 2);
        task_stop(&worker.task);
        bell_ring(&bell);
    }
    bell_release(&bell);
}

struct sharer {
    struct task task;
    pthread_mutex_t lock;
    struct condition changed;
    int given, taken; /* with the lock */
};

static void take_all(struct task *task, void *arg)
{
    struct sharer *sharer = arg;

    pthread_mutex_lock(&sharer->lock);
    while (!task_is_stopping(task)) {
        sharer->taken = sharer->given;
        condition_broadcast(&sharer->changed);
        task_wait_on(task, &sharer->changed, &sharer->lock, CLOCK_NEVER);
    }
    pthread_mutex_unlock(&sharer->lock);
}

static void it_waits_with_the_lock_of_others(void **state)
{
    struct sharer sharer = {.lock = PTHREAD_MUTEX_INITIALIZER};
    const struct task_options options = {
        .name = "takes all", .run = take_all, .arg = &sharer, .clock = clock_system()};
    struct err err;

    condition_init(&sharer.changed, clock_system());
    assert_int_equal(task_start(&sharer.task, &options, &err), 0);
    pthread_mutex_lock(&sharer.lock);
    for (int i = 1; i <= 100; i++) {
        sharer.given = i;
        condition_broadcast(&sharer.changed);
        while (sharer.taken < i)
            condition_wait(&sharer.changed, &sharer.lock);
    }
    task_ask_stop(&sharer.task);
    condition_broadcast(&sharer.changed);
    pthread_mutex_unlock(&sharer.lock);
    task_stop(&sharer.task);
    condition_release(&sharer.changed);
}

struct talker {
    struct task task;
    atomic_int step; /* 0: works, 1: says something, 2: waits */
};

static void talk(struct task *task, void *arg)
{
    struct talker *talker = arg;

    task_says(task, "reading");
    while (atomic_load(&talker->step) == 0)
        sched_yield();
    task_says(task, "writing");
    while (atomic_load(&talker->step) == 1)
        sched_yield();
    task_wait(task, CLOCK_NEVER);
}

static struct task_state state_of(const struct clock *clock, struct arena *arena)
{
    struct task_state *states;

    assert_int_equal(tasks_list(clock, arena, &states), 1);
    return states[0];
}

static void await_doing(const struct clock *clock, struct arena *arena, const char *doing)
{
    while (strcmp(state_of(clock, arena).doing, doing) != 0)
        sched_yield();
}

static void silence_is_told_once_and_rest_is_none(void **state)
{
    struct talker talker = {.step = 0};
    struct clock_manual clock;
    const struct task_options options = {.name = "talks",
                                         .run = talk,
                                         .arg = &talker,
                                         .clock = &clock.base,
                                         .silence_us_max = 10 * SECOND_US};
    struct arena *arena = arena_new();
    struct err err;

    clock_manual_init_strict(&clock, 0);
    assert_int_equal(task_start(&talker.task, &options, &err), 0);
    await_doing(&clock.base, arena, "reading");
    clock_manual_advance(&clock, 10 * SECOND_US);
    tasks_judge(&clock.base);
    assert_false(state_of(&clock.base, arena).is_stalled);
    clock_manual_advance(&clock, 1);
    tasks_judge(&clock.base);
    tasks_judge(&clock.base);
    tasks_judge(clock_system()); /* of another process */
    assert_true(state_of(&clock.base, arena).is_stalled);
    assert_true(state_of(&clock.base, arena).silent_us == 10 * SECOND_US + 1);
    assert_int_equal(metrics_sum("torg_task_stalls_total", "task=\"talks\""), 1);

    atomic_store(&talker.step, 1);
    await_doing(&clock.base, arena, "writing");
    assert_false(state_of(&clock.base, arena).is_stalled);
    atomic_store(&talker.step, 2);
    await_rest(&talker.task);
    clock_manual_advance(&clock, (int64_t)DAY_S * SECOND_US);
    tasks_judge(&clock.base);
    assert_true(state_of(&clock.base, arena).is_resting);
    assert_false(state_of(&clock.base, arena).is_stalled);
    assert_int_equal(metrics_sum("torg_task_stalls_total", "task=\"talks\""), 1);
    task_stop(&talker.task);
    arena_free(arena);
}

static void the_tasks_of_a_clock_are_listed_by_name(void **state)
{
    static const char *const names[] = {"cook", "baker", "adder"};
    struct clock_manual clock, other;
    struct worker workers[3] = {
        {.period_us = CLOCK_NEVER}, {.period_us = CLOCK_NEVER}, {.period_us = CLOCK_NEVER}};
    struct worker stranger = {.period_us = CLOCK_NEVER};
    struct arena *arena = arena_new();
    struct task_state *states;
    struct err err;

    clock_manual_init_strict(&clock, 0);
    clock_manual_init_strict(&other, 0);
    start(&stranger, &other.base, NULL);
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        const struct task_options options = {
            .name = names[i], .run = look_for_work, .arg = &workers[i], .clock = &clock.base};

        assert_int_equal(task_start(&workers[i].task, &options, &err), 0);
    }
    assert_int_equal(tasks_list(&clock.base, arena, &states), 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(states[i].name, names[2 - i]);
    task_stop(&workers[1].task);
    assert_int_equal(tasks_list(&clock.base, arena, &states), 2);
    assert_string_equal(states[0].name, "adder");
    task_stop(&workers[0].task);
    task_stop(&workers[2].task);
    task_stop(&stranger.task);
    assert_int_equal(tasks_list(&clock.base, arena, &states), 0);
    arena_free(arena);
}

static void leave_word(struct task *task, void *arg)
{
    atomic_store((atomic_int *)arg, 1);
}

static void one_without_an_owner_leaves_nothing(void **state)
{
    struct arena *arena = arena_new();
    struct clock_manual clock;
    struct task_state *states;
    atomic_int word = 0;
    const struct task_options options = {
        .name = "leaves word", .run = leave_word, .arg = &word, .clock = &clock.base};
    struct err err;

    clock_manual_init_strict(&clock, 0);
    assert_int_equal(task_spawn(&options, &err), 0);
    while (!atomic_load(&word) || tasks_list(&clock.base, arena, &states))
        sched_yield();
    arena_free(arena);
}

static void a_stack_that_no_system_has_is_refused(void **state)
{
    struct worker worker = {.period_us = CLOCK_NEVER};
    const struct task_options options = {.name = "huge",
                                         .run = look_for_work,
                                         .arg = &worker,
                                         .clock = clock_system(),
                                         .stack_size = SIZE_MAX / 4 & ~(size_t)0xfffff};
    struct err err;

    assert_int_equal(task_start(&worker.task, &options, &err), ERR_UNAVAILABLE);
    assert_non_null(strstr(err.text, "\"huge\""));
    assert_false(task_is_started(&worker.task));
    task_stop(&worker.task);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_clock_wakes_it),
        cmocka_unit_test(a_wake_up_is_not_lost),
        cmocka_unit_test(one_that_waits_for_ever_is_stopped),
        cmocka_unit_test(a_bell_outlives_the_task_that_hears_it),
        cmocka_unit_test(it_waits_with_the_lock_of_others),
        cmocka_unit_test(silence_is_told_once_and_rest_is_none),
        cmocka_unit_test(the_tasks_of_a_clock_are_listed_by_name),
        cmocka_unit_test(one_without_an_owner_leaves_nothing),
        cmocka_unit_test(a_stack_that_no_system_has_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
