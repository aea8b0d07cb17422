/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cases.h - what a program of contract tests is made of: a list of cases that runs on each backend,
 * and the servers that some backends need.
 *
 * A test is called "BACKEND: CASE"; the program's argument picks tests by name, as in "kafka: *".
 * Where an interface has one backend that is embedded and one on servers, the state a case begins
 * with tells which of them it is on.
 */
#ifndef TORG_TESTS_CONTRACT_CASES_H
#define TORG_TESTS_CONTRACT_CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>

enum { CASE_COUNT_MAX = 256, CASE_NAME_SIZE = 160 };

struct test_case {
    const char *name;
    CMUnitTestFunction run;
    unsigned where; /* the program's own bits, where not every backend has every case */
};

#define CASE(function)                                                                             \
    {                                                                                              \
        .name = #function, .run = (function)                                                       \
    }

#define CASE_ON(function, places)                                                                  \
    {                                                                                              \
        .name = #function, .run = (function), .where = (places)                                    \
    }

struct case_list {
    const char *name;
    CMFixtureFunction set_up; /* of each case; NULL: nothing */
    CMFixtureFunction tear_down;
    struct CMUnitTest tests[CASE_COUNT_MAX];
    char names[CASE_COUNT_MAX][CASE_NAME_SIZE];
    size_t count;
};

/* The cases begin with this state. */
void cases_add(struct case_list *list, const struct test_case *cases, size_t case_count,
               const char *backend, const void *state);
/* On SQLite and on PostgreSQL. */
void cases_on_stores(struct case_list *list, const struct test_case *cases, size_t case_count);
/* On what is inside the process; and on servers, Kafka among them: not under ThreadSanitizer. */
void cases_embedded(struct case_list *list, const struct test_case *cases, size_t case_count);
void cases_on_servers(struct case_list *list, const struct test_case *cases, size_t case_count);
/* Of a case that one of these has added; set_up may ask before it gives the case its own state. */
bool case_on_servers(void **state);

/* What main returns. */
int cases_run(struct case_list *list, int argc, char **argv);

/* Where "postgres", "kafka" or "zookeeper" is (TORG_TEST_POSTGRES and so on); NULL when it is not
 * there; where TORG_REQUIRE names it, that fails the test. */
const char *server_address(const char *name);

void pause_ms(int ms);

/* For calls that tell why they fail in a local err. */
#define OK(call)                                                                                   \
    do {                                                                                           \
        if ((call) != 0)                                                                           \
            fail_msg("%s: %s", #call, err.text);                                                   \
    } while (0)

/* librdkafka makes its threads by thrd_create, which ThreadSanitizer does not see and dies of. */
#ifdef __SANITIZE_THREAD__
enum { UNDER_TSAN = 1 };
#else
enum { UNDER_TSAN = 0 };
#endif

#endif
