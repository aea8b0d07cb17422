/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is written together (snippets/rows/commit.h), on a clock that moves when it is told to: those
 * who are about are waited for, but no longer than a quarter of a commit.
 *
 * Locks and signals are wrapped by the linker: who leaves a write touches nothing behind the lock.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/condition.h"
#include "base/memory.h"
#include "base/task.h"
#include "snippets/bounds.h"
#include "snippets/rows/commit.h"
#include "store/migrate.h"

#define OK(call)                                                                                   \
    do {                                                                                           \
        if (call)                                                                                  \
            fail_msg("%s: %s", #call, err.text);                                                   \
    } while (0)

enum { CALLER_COUNT = 3, COMMIT_US = 4000, GATHER_US = COMMIT_US / 4, POLL_US = 200 };

struct caller {
    struct snippet_write write;
    struct snippet_row row;
    struct world *world;
};

struct world {
    struct clock_manual clock;
    struct store *store;
    struct snippet_committer *committer;
    struct caller callers[CALLER_COUNT];
    pthread_t holder;
    pthread_mutex_t lock;
    struct condition changed;
    unsigned answered_count;
    bool is_held, is_free; /* the store, by a transaction that does not end */
};

static _Thread_local struct {
    bool is_submitting;
    int lock_count;
} own;

int __real_pthread_mutex_lock(pthread_mutex_t *lock);
int __real_pthread_mutex_unlock(pthread_mutex_t *lock);
int __real_pthread_cond_signal(pthread_cond_t *condition);
int __wrap_pthread_mutex_lock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *lock);
int __wrap_pthread_cond_signal(pthread_cond_t *condition);

int __wrap_pthread_mutex_lock(pthread_mutex_t *lock)
{
    own.lock_count += own.is_submitting;
    return __real_pthread_mutex_lock(lock);
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *lock)
{
    own.lock_count -= own.is_submitting;
    return __real_pthread_mutex_unlock(lock);
}

int __wrap_pthread_cond_signal(pthread_cond_t *condition)
{
    if (own.is_submitting)
        assert_int_equal(own.lock_count, 1);
    return __real_pthread_cond_signal(condition);
}

static void done(struct snippet_write *write, int rc, struct err *err)
{
    struct caller *caller = container_of(write, struct caller, write);

    if (rc)
        fail_msg("%s", err->text);
    pthread_mutex_lock(&caller->world->lock);
    caller->world->answered_count++;
    condition_broadcast(&caller->world->changed);
    pthread_mutex_unlock(&caller->world->lock);
}

static void ask(struct world *world, size_t number)
{
    static const char *const keys[CALLER_COUNT] = {"a", "b", "c"};
    struct caller *caller = &world->callers[number];
    struct err err;

    *caller = (struct caller){
        .row = {.prefix = 7, .key = bytes_of(keys[number]), .body = bytes_of("1")}, .world = world};
    caller->write.part = (struct snippet_part){.rows = &caller->row, .count = 1};
    caller->write.done = done;
    own.lock_count = 0;
    own.is_submitting = true;
    OK(snippet_committer_submit(world->committer, &caller->write, &err));
    own.is_submitting = false;
}

static void wait_for_answers(struct world *world, unsigned count)
{
    pthread_mutex_lock(&world->lock);
    while (world->answered_count < count)
        condition_wait(&world->changed, &world->lock);
    assert_int_equal(world->answered_count, count);
    pthread_mutex_unlock(&world->lock);
}

/* --- a transaction that takes its time --- */

static int hang(struct store_tx *tx, void *arg, struct err *err)
{
    struct world *world = arg;

    (void)tx;
    (void)err;
    pthread_mutex_lock(&world->lock);
    world->is_held = true;
    condition_broadcast(&world->changed);
    while (!world->is_free)
        condition_wait(&world->changed, &world->lock);
    pthread_mutex_unlock(&world->lock);
    return 0;
}

static void *hold(void *arg)
{
    struct world *world = arg;

    (void)store_write(world->store, hang, world, NULL);
    return NULL;
}

static bool is_committing(const struct world *world)
{
    struct arena *arena = arena_new();
    struct task_state *states;
    size_t count = tasks_list(&world->clock.base, arena, &states);
    bool found = false;

    for (size_t i = 0; i < count; i++)
        found = found || (!strcmp(states[i].name, "snippet-commits") && states[i].doing &&
                          !strcmp(states[i].doing, "commits a group"));
    arena_free(arena);
    return found;
}

static void take_store(struct world *world)
{
    pthread_mutex_lock(&world->lock);
    world->is_held = world->is_free = false;
    pthread_mutex_unlock(&world->lock);
    assert_int_equal(pthread_create(&world->holder, NULL, hold, world), 0);
    pthread_mutex_lock(&world->lock);
    while (!world->is_held)
        condition_wait(&world->changed, &world->lock);
    pthread_mutex_unlock(&world->lock);
}

/* The commit that is under way takes COMMIT_US. */
static void give_store_back(struct world *world)
{
    clock_manual_advance(&world->clock, COMMIT_US);
    pthread_mutex_lock(&world->lock);
    world->is_free = true;
    condition_broadcast(&world->changed);
    pthread_mutex_unlock(&world->lock);
    pthread_join(world->holder, NULL);
}

static void wait_until_it_commits(const struct world *world)
{
    while (!is_committing(world))
        usleep(POLL_US);
}

/* Until all that can happen before the clock moves has happened. */
static void wait_until_it_gathers(struct world *world)
{
    while (clock_manual_next_us(&world->clock) != clock_mono_us(&world->clock.base) + GATHER_US)
        usleep(POLL_US);
}

/* The first of them is written alone, in COMMIT_US; the others come meanwhile. */
static struct world *begin(size_t caller_count)
{
    struct world *world = mem_zero(sizeof(*world));
    const struct store_options options = {.clock = &world->clock.base};
    struct err err;

    clock_manual_init_strict(&world->clock, 1700000000000000);
    pthread_mutex_init(&world->lock, NULL);
    condition_init(&world->changed, clock_system());
    OK(store_open_with("sqlite::memory:", &options, &world->store, &err));
    OK(store_migrate(world->store, NULL, &err));
    OK(snippet_committer_start(world->store, NULL, &world->clock.base, &world->committer, &err));
    take_store(world);
    ask(world, 0);
    wait_until_it_commits(world);
    for (size_t i = 1; i < caller_count; i++)
        ask(world, i);
    give_store_back(world);
    wait_for_answers(world, 1);
    return world;
}

/* How many were written by each transaction, as changes.h numbers them. */
static void check_groups(struct world *world, const int64_t *sizes, size_t count)
{
    struct store_rows rows = store_read_rows(
        world->store, "SELECT last - first + 1 FROM snippet_change ORDER BY last", NULL, 0);
    struct err err;
    size_t i = 0;

    while (store_next(&rows)) {
        assert_true(i < count);
        assert_int_equal(rows.columns[0].integer, sizes[i++]);
    }
    OK(store_rows_end(&rows, &err));
    assert_int_equal(i, count);
}

static void end(struct world *world)
{
    snippet_committer_stop(world->committer);
    store_close(world->store);
    condition_release(&world->changed);
    pthread_mutex_destroy(&world->lock);
    free(world);
}

static void who_has_an_answer_is_waited_for(void **state)
{
    struct world *world = begin(CALLER_COUNT);

    (void)state;
    ask(world, 0);
    wait_for_answers(world, 4);
    check_groups(world, (int64_t[]){1, 3}, 2);
    end(world);
}

static void who_stays_away_is_waited_for_a_quarter_of_a_commit(void **state)
{
    struct world *world = begin(CALLER_COUNT);

    (void)state;
    while (clock_manual_next_us(&world->clock) != clock_mono_us(&world->clock.base) + GATHER_US)
        usleep(POLL_US);
    clock_manual_advance(&world->clock, GATHER_US - 1);
    wait_for_answers(world, 1);
    clock_manual_advance(&world->clock, 1);
    wait_for_answers(world, 3);
    ask(world, 0); /* that commit took no time, so nobody is waited for */
    wait_for_answers(world, 4);
    check_groups(world, (int64_t[]){1, 2, 1}, 3);
    end(world);
}

static void a_wait_that_brought_nobody_is_not_tried_again_at_once(void **state)
{
    struct world *world = begin(CALLER_COUNT);

    (void)state;
    wait_until_it_gathers(world);
    take_store(world);
    clock_manual_advance(&world->clock, GATHER_US);
    wait_until_it_commits(world); /* the two that have come */
    ask(world, 0);
    give_store_back(world);
    wait_for_answers(world, 4); /* although three are about */
    check_groups(world, (int64_t[]){1, 2, 1}, 3);
    end(world);
}

static void who_writes_alone_is_not_waited_for(void **state)
{
    struct world *world = begin(1);

    (void)state;
    ask(world, 0);
    wait_for_answers(world, 2);
    check_groups(world, (int64_t[]){1, 1}, 2);
    end(world);
}

static void a_stop_writes_what_waits(void **state)
{
    struct world *world = begin(CALLER_COUNT);

    (void)state;
    snippet_committer_stop(world->committer);
    wait_for_answers(world, 3);
    world->committer = NULL;
    end(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_has_an_answer_is_waited_for),
        cmocka_unit_test(who_stays_away_is_waited_for_a_quarter_of_a_commit),
        cmocka_unit_test(a_wait_that_brought_nobody_is_not_tried_again_at_once),
        cmocka_unit_test(who_writes_alone_is_not_waited_for),
        cmocka_unit_test(a_stop_writes_what_waits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
