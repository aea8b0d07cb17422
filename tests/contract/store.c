/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract of store/store.h: one list of cases, run on every backend, plain, through the
 * fault wrapper and as a simulated cluster's; the cases stand in store_*.c beside this file.
 */
#include "contract/store_fixture.h"

#include "base/memory.h"

static const struct backend backends[] = {
    {.name = "sqlite"},
    {.name = "fault:sqlite", .fault = true},
    {.name = "postgres", .postgres = true},
    {.name = "fault:postgres", .postgres = true, .fault = true},
    {.name = "sim", .sim = true},
};

static const struct test_case *const lists[] = {
    store_transaction_cases, store_statement_cases, store_rows_cases,  store_sequence_cases,
    store_migration_cases,   store_snapshot_cases,  store_fault_cases,
};

static bool applies(const struct test_case *test, const struct backend *backend)
{
    return test->where & (backend->postgres ? ON_POSTGRES : ON_SQLITE) &&
           test->where & (backend->fault ? ON_FAULT : ON_PLAIN) &&
           (!backend->sim || test->where & ON_SIM);
}

int main(int argc, char **argv)
{
    static struct case_list list = {.name = "store", .set_up = set_up, .tear_down = tear_down};

    for (size_t i = 0; i < ARRAY_COUNT(backends); i++) {
        for (size_t j = 0; j < ARRAY_COUNT(lists); j++) {
            for (const struct test_case *test = lists[j]; test->name; test++) {
                if (applies(test, &backends[i]))
                    cases_add(&list, test, 1, backends[i].name, &backends[i]);
            }
        }
    }
    return cases_run(&list, argc, argv);
}
