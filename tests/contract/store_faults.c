/* SPDX-License-Identifier: Apache-2.0 */
/* The store's contract: failing disks, servers, connections and files. */
#include "contract/store_fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "store/store_fault.h"

static struct fixture *start_faulty(void **state)
{
    struct fixture *fixture = start(state);

    exec(fixture->store, "CREATE TABLE t (id BIGINT PRIMARY KEY)");
    return fixture;
}

static int64_t count_rows(struct fixture *fixture)
{
    return read_integer(fixture->store, "SELECT count(*) FROM t");
}

static void what_fails_before_the_commit_is_not_there(void **state)
{
    struct fixture *fixture = start_faulty(state);
    const enum store_fault_point points[] = {STORE_FAULT_BEGIN, STORE_FAULT_EXEC,
                                             STORE_FAULT_COMMIT};
    struct err err;
    size_t i;

    for (i = 0; i < ARRAY_COUNT(points); i++) {
        store_fault_arm(fixture->store, points[i], 0, 1);
        assert_int_equal(try_exec(fixture->store, "INSERT INTO t (id) VALUES (1)", NULL, 0, &err),
                         ERR_UNAVAILABLE);
        assert_int_equal(count_rows(fixture), 0);
    }
    exec(fixture->store, "INSERT INTO t (id) VALUES (1)");
    assert_int_equal(count_rows(fixture), 1);
}

static void a_lost_answer_is_told_as_unknown_and_not_run_again(void **state)
{
    struct fixture *fixture = start_faulty(state);
    struct err err;

    store_fault_arm(fixture->store, STORE_FAULT_ACK, 0, 1);
    assert_int_equal(try_exec(fixture->store, "INSERT INTO t (id) VALUES (1)", NULL, 0, &err),
                     ERR_UNAVAILABLE);
    assert_non_null(strstr(err.text, "unknown"));
    assert_int_equal(count_rows(fixture), 1);
}

static int count_run(struct store_tx *tx, void *arg, struct err *err)
{
    (*(int *)arg)++;
    return store_exec(tx, "INSERT INTO t (id) VALUES (1)", NULL, 0, NULL, err);
}

static void a_conflict_runs_the_function_again_up_to_a_bound(void **state)
{
    struct fixture *fixture = start_faulty(state);
    struct err err;
    int run_count = 0;

    store_fault_arm(fixture->store, STORE_FAULT_CONFLICT, 0, 3);
    assert_int_equal(store_write(fixture->store, count_run, &run_count, &err), 0);
    assert_int_equal(run_count, 4);
    assert_int_equal(count_rows(fixture), 1);
    exec(fixture->store, "DELETE FROM t");
    store_fault_arm(fixture->store, STORE_FAULT_CONFLICT, 0, 1000000);
    assert_int_equal(store_write(fixture->store, count_run, &run_count, &err), ERR_CONFLICT);
    store_fault_arm(fixture->store, STORE_FAULT_CONFLICT, 0, 0);
    assert_int_equal(count_rows(fixture), 0);
}

struct disk_case {
    struct fixture *fixture;
    int64_t first;
    bool acked[20];
};

static int insert_one(struct store_tx *tx, void *arg, struct err *err)
{
    return store_exec(tx, "INSERT INTO t (id) VALUES ($1)", &STORE_V_INT(*(int64_t *)arg), 1, NULL,
                      err);
}

static void *insert_on_bad_disk(void *arg)
{
    struct disk_case *self = arg;
    int i;

    for (i = 0; i < 20; i++) {
        int64_t id = self->first + i;

        self->acked[i] = store_write(self->fixture->store, insert_one, &id, NULL) == 0;
    }
    return NULL;
}

/* Failing writes, torn writes, no room, failing syncs, in every place of a busy time: what was
 * acknowledged is there, also after opening the file anew, and the store goes on afterwards. */
static void a_failing_disk_never_acknowledges(void **state)
{
    struct fixture *fixture = start(state);
    unsigned skip_count;
    int fault;
    int i;
    int j;

    exec(fixture->store, "CREATE TABLE t (id BIGINT PRIMARY KEY)");
    for (fault = 0; fault < DISK_FAULT_COUNT; fault++) {
        for (skip_count = 0; skip_count < 12; skip_count += 2) {
            unsigned before = disk_fault_hits();
            struct disk_case cases[2];
            pthread_t threads[2];
            int failure_count = 0;

            exec(fixture->store, "DELETE FROM t");
            disk_fault_arm((enum disk_fault)fault, skip_count, 2);
            for (i = 0; i < 2; i++) {
                cases[i] = (struct disk_case){.fixture = fixture, .first = i * 100};
                assert_int_equal(pthread_create(&threads[i], NULL, insert_on_bad_disk, &cases[i]),
                                 0);
            }
            for (i = 0; i < 2; i++)
                pthread_join(threads[i], NULL);
            disk_fault_arm((enum disk_fault)fault, 0, 0);
            assert_int_equal(disk_fault_hits() - before, 2);
            store_close(fixture->store);
            open_store(fixture);
            for (i = 0; i < 2; i++) {
                for (j = 0; j < 20; j++) {
                    char sql[64];

                    snprintf(sql, sizeof(sql), "SELECT count(*) FROM t WHERE id = %d", i * 100 + j);
                    if (cases[i].acked[j])
                        assert_int_equal(read_integer(fixture->store, sql), 1);
                    failure_count += !cases[i].acked[j];
                }
            }
            assert_true(failure_count > 0);
            assert_true(failure_count < 40);
        }
    }
}

/* ---- only where there is a server ---- */

static void lost_connections_are_replaced(void **state)
{
    struct fixture *fixture = start(state);
    char sql[256];
    int i;

    exec(fixture->store, "CREATE TABLE t (id BIGINT PRIMARY KEY)");
    for (i = 0; i < 5; i++) {
        char insert[64];

        snprintf(sql, sizeof(sql),
                 "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                 "WHERE application_name = '%s'",
                 fixture->tag);
        admin(sql);
        snprintf(insert, sizeof(insert), "INSERT INTO t (id) VALUES (%d)", i);
        exec(fixture->store, insert);
        admin(sql);
        assert_int_equal(count_rows(fixture), i + 1);
    }
}

struct killed {
    struct fixture *fixture;
    int run_count;
    int kill_count;
};

/* Loses its own connection in the middle, kill_count times. */
static int killed_midway(struct store_tx *tx, void *arg, struct err *err)
{
    struct killed *self = arg;
    struct statement_args args = {0};
    int rc;

    rc = store_exec(tx, "INSERT INTO t (id) VALUES (1)", NULL, 0, NULL, err);
    if (rc == 0 && self->run_count++ < self->kill_count)
        rc = store_find_integer(
            tx, "SELECT CASE WHEN pg_terminate_backend(pg_backend_pid()) THEN 1 END", NULL, 0,
            &args.integer, err);
    if (rc == 0)
        rc = store_exec(tx, "INSERT INTO t (id) VALUES (2)", NULL, 0, NULL, err);
    return rc;
}

static void a_connection_lost_before_commit_runs_again(void **state)
{
    struct fixture *fixture = start(state);
    struct killed killed = {.fixture = fixture, .kill_count = 2};
    struct err err = {0};

    exec(fixture->store, "CREATE TABLE t (id BIGINT PRIMARY KEY)");
    if (store_write(fixture->store, killed_midway, &killed, &err))
        fail_msg("%s", err.text);
    assert_int_equal(killed.run_count, 3);
    assert_int_equal(count_rows(fixture), 2);
}

/* A deferred constraint trigger kills the session in the middle of its own COMMIT. */
static void a_commit_without_an_answer_is_unknown_and_not_run_again(void **state)
{
    struct fixture *fixture = start(state);
    struct err err = {0};
    int run_count = 0;

    exec(fixture->store, "CREATE TABLE t (id BIGINT PRIMARY KEY)");
    exec(fixture->store,
         "CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS "
         "'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(1); "
         "RETURN NULL; END'");
    exec(fixture->store, "CREATE CONSTRAINT TRIGGER die AFTER INSERT ON t DEFERRABLE INITIALLY "
                         "DEFERRED FOR EACH ROW EXECUTE FUNCTION die()");
    assert_int_equal(store_write(fixture->store, count_run, &run_count, &err), ERR_UNAVAILABLE);
    assert_non_null(strstr(err.text, "unknown"));
    assert_int_equal(run_count, 1);
    exec(fixture->store, "DROP TRIGGER die ON t");
    exec(fixture->store, "INSERT INTO t (id) VALUES (2)");
}

/* ---- only where there is a file ---- */

static void a_damaged_file_is_told_by_name(void **state)
{
    struct fixture *fixture = start(state);
    struct statement_args args = {.sql = "SELECT count(*) FROM t WHERE x = 'a'"};
    struct err err = {0};
    char path[128];
    char noise[4096];
    FILE *file;
    int i;
    int rc;

    exec(fixture->store, "CREATE TABLE t (id BIGINT PRIMARY KEY, x TEXT)");
    for (i = 0; i < 400; i++) {
        char sql[256];

        snprintf(sql, sizeof(sql), "INSERT INTO t (id, x) VALUES (%d, '%0200d')", i, i);
        exec(fixture->store, sql);
    }
    store_close(fixture->store);
    fixture->store = NULL;
    snprintf(path, sizeof(path), "%s/store.db", fixture->place);
    memset(noise, 0xa5, sizeof(noise));
    file = fopen(path, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, 4096, SEEK_SET), 0);
    for (i = 0; i < 20; i++)
        assert_int_equal(fwrite(noise, sizeof(noise), 1, file), 1);
    fclose(file);
    open_store(fixture);
    rc = store_read(fixture->store, query_fn, &args, &err);
    assert_int_equal(rc, ERR_CORRUPT);
    assert_non_null(strstr(err.text, path));

    store_close(fixture->store);
    fixture->store = NULL;
    file = fopen(path, "w");
    fwrite(noise, sizeof(noise), 1, file);
    fclose(file);
    assert_int_equal(store_open(fixture->url, &fixture->store, &err), ERR_CORRUPT);
    assert_null(fixture->store);
    assert_non_null(strstr(err.text, path));
}

const struct test_case store_fault_cases[] = {
    CASE_ON(what_fails_before_the_commit_is_not_there, ON_ALL & ~ON_PLAIN),
    CASE_ON(a_lost_answer_is_told_as_unknown_and_not_run_again, ON_ALL & ~ON_PLAIN),
    CASE_ON(a_conflict_runs_the_function_again_up_to_a_bound, ON_ALL & ~ON_PLAIN),
    CASE_ON(a_failing_disk_never_acknowledges, ON_SQLITE | ON_FAULT),
    CASE_ON(lost_connections_are_replaced, ON_ALL & ~ON_SQLITE),
    CASE_ON(a_connection_lost_before_commit_runs_again, ON_ALL & ~ON_SQLITE),
    CASE_ON(a_commit_without_an_answer_is_unknown_and_not_run_again, ON_ALL & ~ON_SQLITE),
    CASE_ON(a_damaged_file_is_told_by_name, ON_ALL & ~ON_POSTGRES & ~ON_SIM),
    {0},
};
