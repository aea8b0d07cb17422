/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of roles/processes/process.h: whichever task of a process cannot be started, those
 * that were started before it end, and nothing is left that uses what is closed.
 *
 * task_start is wrapped by the linker: it fails once in a life of the process, each time of another
 * task. So is rater_stop: a handler that was left behind by the drain returns right then.
 */
#include "roles/processes/process.h" /* before cmocka's fail(), as commands have one, too */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/task.h"
#include "clicks/rate_table.h"
#include "clicks/rater.h"
#include "config/config.h"
#include "test_dir.h"
#include "torg/v1/ctr.pb-c.h"

enum { TASK_COUNT_MAX = 200 };

/* Tasks that were not started, one in each life. The one thread starts all of these. */
static struct {
    char names[TASK_COUNT_MAX][TASK_NAME_SIZE];
    size_t count;
    bool is_armed;
} failed;

int __real_task_start(struct task *task, const struct task_options *options, struct err *err);
int __wrap_task_start(struct task *task, const struct task_options *options, struct err *err);

/* Who asks for no reason cannot go on without a task, and says so by an assert. */
int __wrap_task_start(struct task *task, const struct task_options *options, struct err *err)
{
    bool is_known = !failed.is_armed || !err;

    for (size_t i = 0; !is_known && i < failed.count; i++)
        is_known = strcmp(failed.names[i], options->name) == 0;
    if (is_known)
        return __real_task_start(task, options, err);
    failed.is_armed = false;
    assert_true(failed.count < TASK_COUNT_MAX);
    snprintf(failed.names[failed.count++], TASK_NAME_SIZE, "%s", options->name);
    return err_set(err, ERR_LIMIT, "there is no thread for %s", options->name);
}

static const struct process *left; /* has such a handler; NULL: none */
static size_t push_count;

void __real_rater_stop(struct rater *rater);
void __wrap_rater_stop(struct rater *rater);

/* What EndCtrPush does at last. */
void __wrap_rater_stop(struct rater *rater)
{
    __real_rater_stop(rater);
    for (size_t i = 0; left && i < left->service_count; i++) {
        const struct rate_desk *desk = left->services[i]->context;

        if (left->services[i]->descriptor != &torg__v1__ctr_service__descriptor)
            continue;
        desk->pushed(desk->pushed_arg);
        push_count++;
    }
}

/* All roles, as `torg up` has them but without a server. */
static int enter(const char *dir, const char *searchers, struct config *config,
                 struct process *process, struct arena *arena, struct err *err)
{
    const struct config_flag flags[] = {{"data.dir", dir},
                                        {"search.searchers", searchers},
                                        {"feeds.fetch", "false"},
                                        {"photos.fetch", "false"}};
    const struct config_sources sources = {
        .file = "/dev/null", .flags = flags, .flag_count = ARRAY_COUNT(flags)};
    struct violations problems = violations_in(arena);

    if (config_load(config, &sources, arena, &problems))
        fail_msg("%s: %s", problems.first->field, problems.first->reason);
    *process = (struct process){.config = config, .arena = arena};
    process_take_roles(process);
    return process_enter(process, err);
}

static void expect_no_task(const char *what)
{
    struct arena *arena = arena_new();
    struct task_state *states;

    if (tasks_list(clock_system(), arena, &states))
        fail_msg("%s: task %s is left, it %s", what, states[0].name, states[0].doing);
    arena_free(arena);
}

static void a_task_that_cannot_be_started_leaves_none_behind(void **state)
{
    char dir[TEST_DIR_SIZE];
    struct process process;
    struct config config;
    bool is_whole = false;
    struct err err;

    (void)state;
    assert_true(test_dir_make(dir));
    while (!is_whole) {
        struct arena *arena = arena_new();
        int rc;

        failed.is_armed = true;
        rc = enter(dir, "", &config, &process, arena, &err);
        is_whole = failed.is_armed;
        failed.is_armed = false;
        assert_int_equal(rc != 0, !is_whole);
        if (is_whole)
            process_leave(&process);
        else
            assert_non_null(strstr(err.text, failed.names[failed.count - 1]));
        expect_no_task(is_whole ? "all" : failed.names[failed.count - 1]);
        arena_free(arena);
    }
    assert_true(failed.count > 20); /* of a few roles each */
    assert_int_equal(dir_remove(dir, NULL), 0);
}

static void a_role_that_cannot_start_closes_what_it_has_opened(void **state)
{
    struct arena *arena = arena_new();
    char dir[TEST_DIR_SIZE];
    struct process process;
    struct config config;
    struct err err;

    (void)state;
    assert_true(test_dir_make(dir));
    assert_int_equal(file_write(arena_printf(arena, "%s/spell", dir), bytes_of("in the way"), &err),
                     0);
    assert_true(enter(dir, "http://127.0.0.1:1", &config, &process, arena, &err) < 0);
    assert_non_null(strstr(err.text, "spell"));
    expect_no_task("a file in the place of a directory");
    arena_free(arena);
    assert_int_equal(dir_remove(dir, NULL), 0);
}

static void a_handler_that_outlives_the_drain_wakes_nobody(void **state)
{
    struct arena *arena = arena_new();
    char dir[TEST_DIR_SIZE];
    struct process process;
    struct config config;
    struct err err;

    (void)state;
    assert_true(test_dir_make(dir));
    if (enter(dir, "", &config, &process, arena, &err))
        fail_msg("%s", err.text);
    left = &process;
    process_leave(&process);
    left = NULL;
    assert_int_equal(push_count, 1);
    arena_free(arena);
    assert_int_equal(dir_remove(dir, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_that_cannot_be_started_leaves_none_behind),
        cmocka_unit_test(a_role_that_cannot_start_closes_what_it_has_opened),
        cmocka_unit_test(a_handler_that_outlives_the_drain_wakes_nobody),
    };

    return cmocka_run_group_tests_name("starts", tests, NULL, NULL);
}
