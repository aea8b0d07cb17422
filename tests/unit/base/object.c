/* SPDX-License-Identifier: Apache-2.0 */
/* object.c - what is not the object that it should be ends the process, and says what it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/object.h"

enum {
    LAMP_MAGIC = OBJECT_MAGIC('l', 'a', 'm', 'p'),
    DOOR_MAGIC = OBJECT_MAGIC('d', 'o', 'o', 'r')
};
enum { SAID_SIZE = 256 };

struct lamp {
    uint32_t magic;
    int watts;
};

struct door {
    uint32_t magic;
    int height;
};

static void check_lamp(void *object)
{
    struct lamp *lamp = object;

    object_check(lamp, LAMP_MAGIC);
}

static void end_lamp(void *object)
{
    struct lamp *lamp = object;

    object_end(lamp, LAMP_MAGIC);
}

/* Runs it in a process of its own, which must abort; `said` is what it told. */
static void assert_aborts(void (*run)(void *object), void *object, char said[SAID_SIZE])
{
    const struct rlimit no_core = {0, 0};
    size_t size = 0;
    ssize_t got;
    int ends[2];
    int status;
    pid_t pid;

    assert_int_equal(pipe(ends), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        setrlimit(RLIMIT_CORE, &no_core);
        sigaction(SIGABRT, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
        dup2(ends[1], STDERR_FILENO);
        run(object);
        _exit(0);
    }
    close(ends[1]);
    while (size + 1 < SAID_SIZE) {
        got = read(ends[0], said + size, SAID_SIZE - 1 - size);
        if (got <= 0)
            break;
        size += (size_t)got;
    }
    said[size] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

static void an_object_is_what_it_was_begun_as(void **state)
{
    struct lamp lamp = {.watts = 40};

    object_begin(&lamp, LAMP_MAGIC);
    check_lamp(&lamp);
    assert_true(object_is(&lamp, LAMP_MAGIC));
    assert_false(object_is(&lamp, DOOR_MAGIC));
    assert_int_equal(lamp.watts, 40);
    object_end(&lamp, LAMP_MAGIC);
    assert_false(object_is(&lamp, LAMP_MAGIC));
    object_begin(&lamp, LAMP_MAGIC); /* the memory may become another */
    check_lamp(&lamp);
}

static void null_aborts(void **state)
{
    char said[SAID_SIZE];

    assert_aborts(check_lamp, NULL, said);
    assert_non_null(strstr(said, "object.c:"));
    assert_non_null(strstr(said, ": check_lamp: expected LAMP_MAGIC, found NULL\n"));
}

static void an_ended_object_aborts(void **state)
{
    struct lamp lamp = {0};
    char said[SAID_SIZE];

    object_begin(&lamp, LAMP_MAGIC);
    object_end(&lamp, LAMP_MAGIC);
    assert_aborts(check_lamp, &lamp, said);
    assert_non_null(strstr(said, "expected LAMP_MAGIC, found an object that has ended\n"));
    assert_aborts(end_lamp, &lamp, said); /* it ends once */
    assert_non_null(strstr(said, "end_lamp: expected LAMP_MAGIC, found an object that has ended"));
}

static void an_object_that_was_not_begun_aborts(void **state)
{
    struct lamp lamp = {0};
    char said[SAID_SIZE];

    assert_aborts(check_lamp, &lamp, said);
    assert_non_null(strstr(said, "expected LAMP_MAGIC, found an object that was not begun\n"));
}

static void another_kind_aborts(void **state)
{
    struct door door = {.height = 2};
    char said[SAID_SIZE];

    object_begin(&door, DOOR_MAGIC);
    assert_aborts(check_lamp, &door, said);
    assert_non_null(strstr(said, "expected LAMP_MAGIC, found an object of kind 'door'\n"));
    door.magic = 7;
    assert_aborts(check_lamp, &door, said);
    assert_non_null(strstr(said, "expected LAMP_MAGIC, found no object (0x00000007)\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_object_is_what_it_was_begun_as),
        cmocka_unit_test(null_aborts),
        cmocka_unit_test(an_ended_object_aborts),
        cmocka_unit_test(an_object_that_was_not_begun_aborts),
        cmocka_unit_test(another_kind_aborts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
