/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract of store/store.h: one list of cases, run on every backend, plain and through the
 * fault wrapper; the cases stand in store_*.c beside this file.
 */
#include "contract/store_fixture.h"

#include <stdio.h>

#include "base/memory.h"

static const struct backend backends[] = {
    {"sqlite", false, false},
    {"fault:sqlite", false, true},
    {"postgres", true, false},
    {"fault:postgres", true, true},
};

static const struct test_case *const lists[] = {
    store_transaction_cases, store_statement_cases, store_sequence_cases,
    store_migration_cases,   store_snapshot_cases,  store_fault_cases,
};

enum { TEST_COUNT_MAX = 256, TEST_NAME_SIZE = 128 };

static bool applies(const struct test_case *test, const struct backend *backend)
{
    return test->where & (backend->postgres ? ON_POSTGRES : ON_SQLITE) &&
           test->where & (backend->fault ? ON_FAULT : ON_PLAIN);
}

int main(void)
{
    static struct CMUnitTest tests[TEST_COUNT_MAX];
    static char names[TEST_COUNT_MAX][TEST_NAME_SIZE];
    const struct test_case *test;
    size_t count = 0;
    size_t i;
    size_t j;

    for (i = 0; i < ARRAY_COUNT(backends); i++) {
        for (j = 0; j < ARRAY_COUNT(lists); j++) {
            for (test = lists[j]; test->name; test++) {
                if (!applies(test, &backends[i]))
                    continue;
                assert_true(count < TEST_COUNT_MAX);
                snprintf(names[count], TEST_NAME_SIZE, "%s: %s", backends[i].name, test->name);
                tests[count] = (struct CMUnitTest){names[count], test->run, set_up, tear_down,
                                                   (void *)&backends[i]};
                count++;
            }
        }
    }
    return _cmocka_run_group_tests("store", tests, count, NULL, NULL);
}
