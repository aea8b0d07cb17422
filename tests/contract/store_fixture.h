/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_fixture.h - what the cases of the store's contract share: a store for each, and helpers.
 *
 * Each case gets a store of its own: a directory, or a schema of the server that
 * TORG_TEST_POSTGRES names. Functions of transactions may run on other threads, so they check
 * nothing themselves: they leave results for the case to check.
 */
#ifndef TORG_TESTS_CONTRACT_STORE_FIXTURE_H
#define TORG_TESTS_CONTRACT_STORE_FIXTURE_H

#include "contract/cases.h"
#include "contract/place.h"
#include "store/store.h"
#include "test_dir.h"

struct backend {
    const char *name;
    bool postgres;
    bool fault;
    bool sim; /* SQLite behind the wires of a simulated cluster: sim/sim_net.h */
};

struct fixture {
    const struct backend *backend;
    char place[TEST_DIR_SIZE]; /* directory or schema */
    char tag[64];              /* application_name of the store's connections */
    char url[STORE_URL_SIZE];
    struct store *store;
    struct sim_net *net; /* of sim alone */
    struct sim_node *member;
};

enum {
    ON_SQLITE = 1,
    ON_POSTGRES = 2,
    ON_PLAIN = 4,
    ON_FAULT = 8,
    ON_SIM = 16, /* as well as plain on SQLite */
    ON_ALL = 31
};

/* A file of cases each; a list ends with a case without a name. */
extern const struct test_case store_transaction_cases[];
extern const struct test_case store_statement_cases[];
extern const struct test_case store_rows_cases[];
extern const struct test_case store_sequence_cases[];
extern const struct test_case store_migration_cases[];
extern const struct test_case store_snapshot_cases[];
extern const struct test_case store_fault_cases[];

struct statement_args {
    const char *sql;
    const struct store_value *params;
    size_t param_count;
    int64_t changed;
    int64_t integer; /* of the first row's first column */
};

int exec_fn(struct store_tx *tx, void *arg, struct err *err);
int query_fn(struct store_tx *tx, void *arg, struct err *err);

int try_exec(struct store *store, const char *sql, const struct store_value *params, size_t count,
             struct err *err);

int64_t now_us(void);
/* Waits for a flag that another thread raises; false when patience is over. */
bool wait_flag(_Atomic int *flag, int wanted);

int set_up(void **state);
int tear_down(void **state);
void open_store(struct fixture *fixture);
/* The case's store; skips the case when its server is missing, fails when it is required. */
struct fixture *start(void **state);

#endif
