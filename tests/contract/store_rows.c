/* SPDX-License-Identifier: Apache-2.0 */
/* The store's contract: rows that are stepped over. */
#include "contract/store_fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "store/store_fault.h"

enum { LEVEL_COUNT = 12, MANY_COUNT = 5000 }; /* more levels than a set of statements has places */

static const char after_sql[] = "SELECT id FROM t WHERE id > $1 ORDER BY id";

static struct fixture *start_with_rows(void **state, int count)
{
    struct fixture *fixture = start(state);
    char sql[256];

    exec(fixture->store, "CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT)");
    snprintf(sql, sizeof(sql),
             "INSERT INTO t (id, n) WITH RECURSIVE c(i) AS "
             "(SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < %d) SELECT i, i FROM c",
             count);
    exec(fixture->store, sql);
    return fixture;
}

struct walk {
    int64_t count;
    int64_t sum;
    int64_t inner_count;
    int first_rc; /* of what did not end the function */
    int later_rc;
    struct err err;
};

static int sum_all(struct store_tx *tx, void *arg, struct err *err)
{
    struct walk *walk = arg;
    struct store_rows rows = store_select(tx, after_sql, &STORE_V_INT(0), 1);

    *walk = (struct walk){0};
    while (store_next(&rows)) {
        walk->count += rows.column_count == 1;
        walk->sum += rows.columns[0].integer;
    }
    walk->first_rc = store_next(&rows); /* the end stays the end */
    walk->later_rc = store_rows_end(&rows, err);
    return store_rows_end(&rows, err);
}

static void every_row_is_given_once(void **state)
{
    struct fixture *fixture = start_with_rows(state, MANY_COUNT);
    struct walk walk;

    for (int i = 0; i < 2; i++) {
        assert_int_equal(store_read(fixture->store, sum_all, &walk, NULL), 0);
        assert_int_equal(walk.count, MANY_COUNT);
        assert_int_equal(walk.sum, (int64_t)MANY_COUNT * (MANY_COUNT + 1) / 2);
        assert_false(walk.first_rc || walk.later_rc);
        exec(fixture->store, "UPDATE t SET n = 0");
    }
}

static int find_values(struct store_tx *tx, void *arg, struct err *err)
{
    int64_t *values = arg;
    struct store_rows none = {0};
    int rc = store_find_integer(tx, "SELECT n FROM t WHERE id = 2", NULL, 0, &values[0], err);

    if (rc == 0)
        rc = store_find_integer(tx, "SELECT n FROM t WHERE id = 9", NULL, 0, &values[1], err);
    if (rc == 0)
        rc = store_find_integer(tx, "SELECT CAST(NULL AS BIGINT)", NULL, 0, &values[2], err);
    return rc ? rc : store_rows_end(&none, err);
}

static void a_value_that_is_not_there_leaves_what_was(void **state)
{
    struct fixture *fixture = start_with_rows(state, 3);
    int64_t values[] = {-1, -2, -3};

    assert_int_equal(store_read(fixture->store, find_values, values, NULL), 0);
    assert_int_equal(values[0], 2);
    assert_int_equal(values[1], -2);
    assert_int_equal(values[2], -3);
}

static void a_value_of_another_type_is_refused(void **state)
{
    struct fixture *fixture = start(state);
    struct statement_args args = {.sql = "SELECT CAST('17' AS TEXT)", .integer = -1};
    struct err err;

    assert_int_equal(store_read(fixture->store, query_fn, &args, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.text, args.sql));
    assert_int_equal(args.integer, -1);
}

static int stop_at_three(struct store_tx *tx, void *arg, struct err *err)
{
    struct walk *walk = arg;
    struct store_rows rows = store_select(tx, after_sql, &STORE_V_INT(0), 1);

    *walk = (struct walk){0};
    while (store_next(&rows)) {
        walk->sum = rows.columns[0].integer;
        if (walk->sum == 3)
            rows.rc = err_set(err, ERR_RANGE, "enough");
    }
    walk->first_rc = store_rows_end(&rows, err);
    walk->err = *err;
    rows = store_select(tx, after_sql, &STORE_V_INT(walk->sum), 1); /* from its first row */
    if (store_next(&rows))
        walk->inner_count = rows.columns[0].integer;
    walk->later_rc = store_rows_end(&rows, err);
    return store_exec(tx, "DELETE FROM t WHERE id > $1", &STORE_V_INT(walk->sum), 1, NULL, err);
}

static void rows_may_be_left_early_and_the_transaction_goes_on(void **state)
{
    struct fixture *fixture = start_with_rows(state, 5);
    struct walk walk;

    assert_int_equal(store_write(fixture->store, stop_at_three, &walk, NULL), 0);
    assert_int_equal(walk.first_rc, ERR_RANGE);
    assert_string_equal(walk.err.text, "enough");
    assert_int_equal(walk.sum, 3);
    assert_int_equal(walk.inner_count, 4);
    assert_int_equal(walk.later_rc, 0);
    assert_int_equal(read_integer(fixture->store, "SELECT count(*) FROM t"), 3);
}

/* Each level steps to its own first row and leaves the rest to go on with afterwards. */
static int go_down(struct store_tx *tx, int64_t after, struct walk *walk, struct err *err)
{
    struct store_rows rows = store_select(tx, after_sql, &STORE_V_INT(after), 1);

    while (store_next(&rows)) {
        walk->count++;
        if (rows.columns[0].integer == after + 1)
            rows.rc = go_down(tx, after + 1, walk, err);
    }
    return store_rows_end(&rows, err);
}

static int nest(struct store_tx *tx, void *arg, struct err *err)
{
    struct walk *walk = arg;

    walk->count = 0;
    return go_down(tx, 0, walk, err);
}

static void the_same_statement_may_be_open_many_times(void **state)
{
    struct fixture *fixture = start_with_rows(state, LEVEL_COUNT);
    struct walk walk;

    for (int i = 0; i < 2; i++) {
        assert_int_equal(store_read(fixture->store, nest, &walk, NULL), 0);
        assert_int_equal(walk.count, LEVEL_COUNT * (LEVEL_COUNT + 1) / 2);
    }
}

static int write_meanwhile(struct store_tx *tx, void *arg, struct err *err)
{
    struct walk *walk = arg;
    struct store_rows rows = store_select(tx, after_sql, &STORE_V_INT(0), 1);

    walk->count = 0;
    while (store_next(&rows)) {
        rows.rc = store_exec(tx, "INSERT INTO u (id) VALUES ($1)",
                             &STORE_V_INT(rows.columns[0].integer), 1, NULL, err);
        walk->count++;
    }
    return store_rows_end(&rows, err);
}

static void other_tables_may_be_written_meanwhile(void **state)
{
    struct fixture *fixture = start_with_rows(state, 300);
    struct walk walk;

    exec(fixture->store, "CREATE TABLE u (id BIGINT PRIMARY KEY)");
    assert_int_equal(store_write(fixture->store, write_meanwhile, &walk, NULL), 0);
    assert_int_equal(walk.count, 300);
    assert_int_equal(read_integer(fixture->store, "SELECT count(*) FROM u"), 300);
    /* What fails there ends the steps, and the transaction with them. */
    exec(fixture->store, "DELETE FROM u WHERE id <> 10");
    assert_int_equal(store_write(fixture->store, write_meanwhile, &walk, NULL), ERR_EXISTS);
    assert_int_equal(walk.count, 10);
    assert_int_equal(read_integer(fixture->store, "SELECT count(*) FROM u"), 1);
}

/* Does not ask after the other statement's failure: the rows tell it. */
static int overlook(struct store_tx *tx, void *arg, struct err *err)
{
    struct walk *walk = arg;
    struct store_rows rows = store_select(tx, after_sql, &STORE_V_INT(0), 1);

    for (walk->count = 0; store_next(&rows); walk->count++)
        store_exec(tx, "INSERT INTO t (id) VALUES (1)", NULL, 0, NULL, NULL);
    walk->first_rc = store_rows_end(&rows, &walk->err);
    walk->later_rc = store_exec(tx, "DELETE FROM t", NULL, 0, NULL, err);
    return 0;
}

static void a_failure_beside_them_ends_the_rows(void **state)
{
    struct fixture *fixture = start_with_rows(state, 5);
    struct walk walk;
    struct err err;

    assert_int_equal(store_write(fixture->store, overlook, &walk, &err), ERR_EXISTS);
    assert_int_equal(walk.count, 1);
    assert_int_equal(walk.first_rc, ERR_EXISTS);
    assert_int_equal(walk.err.code, ERR_EXISTS);
    assert_int_equal(walk.later_rc, ERR_EXISTS);
    assert_int_equal(read_integer(fixture->store, "SELECT count(*) FROM t"), 5);
}

/* Fails at the fourth row: SQLite then, PostgreSQL before it gives any. */
static int overflow(struct store_tx *tx, void *arg, struct err *err)
{
    struct walk *walk = arg;
    struct store_rows rows;

    store_exec(tx, "INSERT INTO t (id, n) VALUES (100, 100)", NULL, 0, NULL, err);
    rows = store_select(tx, "SELECT abs(n) FROM t WHERE id > $1 ORDER BY id", &STORE_V_INT(0), 1);
    for (walk->count = 0; store_next(&rows);)
        walk->count++;
    walk->first_rc = store_rows_end(&rows, &walk->err);
    walk->later_rc = store_find_integer(tx, "SELECT 1", NULL, 0, &walk->sum, NULL);
    return 0;
}

static void rows_that_fail_midway_fail_the_transaction(void **state)
{
    struct fixture *fixture = start_with_rows(state, 6);
    struct walk walk = {0};
    struct err err;
    int rc;

    exec(fixture->store, "UPDATE t SET n = -9223372036854775807 - 1 WHERE id = 4");
    rc = store_write(fixture->store, overflow, &walk, &err);
    assert_true(rc == (fixture->backend->postgres ? ERR_INVALID : ERR_INTERNAL));
    assert_int_equal(walk.count, fixture->backend->postgres ? 0 : 3);
    assert_int_equal(walk.first_rc, rc);
    assert_int_equal(walk.err.code, rc);
    assert_non_null(strstr(walk.err.text, "abs(n)"));
    assert_int_equal(walk.later_rc, rc);
    assert_int_equal(walk.sum, 0);
    assert_string_equal(err.text, walk.err.text);
    assert_int_equal(read_integer(fixture->store, "SELECT count(*) FROM t"), 6);
}

static void a_row_that_cannot_be_read_fails_the_transaction(void **state)
{
    struct fixture *fixture = start_with_rows(state, 6);
    struct walk walk = {0};
    struct err err;

    store_fault_arm(fixture->store, STORE_FAULT_ROW, 2, 1);
    assert_int_equal(store_write(fixture->store, overflow, &walk, &err), ERR_UNAVAILABLE);
    assert_int_equal(walk.count, 2);
    assert_int_equal(walk.first_rc, ERR_UNAVAILABLE);
    assert_int_equal(walk.later_rc, ERR_UNAVAILABLE);
    assert_non_null(strstr(err.text, "injected"));
    assert_int_equal(read_integer(fixture->store, "SELECT count(*) FROM t"), 6);
}

static int insert_returning(struct store_tx *tx, void *arg, struct err *err)
{
    struct walk *walk = arg;
    struct store_rows rows = store_select(
        tx, "INSERT INTO u (id) SELECT id FROM t WHERE id > $1 RETURNING id", &STORE_V_INT(0), 1);

    walk->count = store_next(&rows);
    walk->first_rc = store_rows_end(&rows, err);
    return 0;
}

static void what_writes_does_all_of_it_though_left_early(void **state)
{
    struct fixture *fixture = start_with_rows(state, 20);
    struct walk walk;

    exec(fixture->store, "CREATE TABLE u (id BIGINT PRIMARY KEY)");
    assert_int_equal(store_write(fixture->store, insert_returning, &walk, NULL), 0);
    assert_int_equal(walk.count, 1);
    assert_int_equal(read_integer(fixture->store, "SELECT count(*) FROM u"), 20);
}

static void what_writes_and_breaks_a_rule_fails_though_left_early(void **state)
{
    struct fixture *fixture = start_with_rows(state, 20);
    struct walk walk;
    struct err err;

    exec(fixture->store, "CREATE TABLE p (id BIGINT PRIMARY KEY)");
    exec(fixture->store, "CREATE TABLE u (id BIGINT PRIMARY KEY REFERENCES p (id))");
    exec(fixture->store, "INSERT INTO p (id) SELECT id FROM t WHERE id < 20");
    assert_int_equal(store_write(fixture->store, insert_returning, &walk, &err), ERR_INVALID);
    assert_int_equal(walk.first_rc, ERR_INVALID);
    assert_int_equal(read_integer(fixture->store, "SELECT count(*) FROM u"), 0);
}

/* --- one statement, without a function --- */

static void rows_are_read_without_a_function(void **state)
{
    struct fixture *fixture = start_with_rows(state, MANY_COUNT);
    struct store_rows rows = store_read_rows(
        fixture->store, "SELECT id, CAST($2 AS TEXT), NULL FROM t WHERE id > $1 ORDER BY id",
        STORE_WITH(STORE_V_INT(10), STORE_V_STRING("слово")));
    int64_t at = 10;

    /* They are a copy: neither a change nor another read is in the way. */
    exec(fixture->store, "DELETE FROM t");
    while (store_next(&rows)) {
        at++;
        assert_int_equal(rows.column_count, 3);
        assert_int_equal(rows.columns[0].integer, at);
        assert_true(bytes_equal_text(rows.columns[1].bytes, "слово"));
        assert_int_equal(rows.columns[2].type, STORE_NULL);
    }
    assert_int_equal(at, MANY_COUNT);
    assert_false(store_next(&rows));
    assert_int_equal(store_rows_end(&rows, NULL), 0);
    assert_int_equal(store_rows_end(&rows, NULL), 0);
}

static void such_rows_may_be_left_and_tell_what_failed(void **state)
{
    struct fixture *fixture = start_with_rows(state, 5);
    struct store_rows rows = store_read_rows(fixture->store, after_sql, STORE_WITH(STORE_V_INT(2)));
    struct err err = {0};

    assert_true(store_next(&rows));
    rows.rc = err_set(&err, ERR_RANGE, "enough");
    assert_false(store_next(&rows));
    assert_int_equal(store_rows_end(&rows, &err), ERR_RANGE);
    assert_string_equal(err.text, "enough");
    rows = store_read_rows(fixture->store, "SELECT nothing FROM nowhere", NULL, 0);
    assert_false(store_next(&rows));
    assert_true(store_rows_end(&rows, &err) < 0);
    assert_non_null(strstr(err.text, "nowhere"));
}

static void one_value_is_read_and_one_statement_written(void **state)
{
    struct fixture *fixture = start_with_rows(state, 5);
    int64_t value = -1;
    struct err err = {0};

    assert_int_equal(store_read_integer(fixture->store, "SELECT n FROM t WHERE id = $1",
                                        STORE_WITH(STORE_V_INT(4)), &value, &err),
                     0);
    assert_int_equal(value, 4);
    assert_int_equal(store_read_integer(fixture->store, "SELECT n FROM t WHERE id = $1",
                                        STORE_WITH(STORE_V_INT(44)), &value, &err),
                     0);
    assert_int_equal(value, 4);
    assert_int_equal(store_write_one(fixture->store, "UPDATE t SET n = $1 WHERE id > $2",
                                     STORE_WITH(STORE_V_INT(9), STORE_V_INT(3)), &value, &err),
                     0);
    assert_int_equal(value, 2);
    assert_int_equal(read_integer(fixture->store, "SELECT CAST(SUM(n) AS BIGINT) FROM t"), 24);
    assert_int_equal(store_write_one(fixture->store, "INSERT INTO t (id, n) VALUES (1, 1)", NULL, 0,
                                     &value, &err),
                     ERR_EXISTS);
    assert_int_equal(value, 0);
}

/* Those of the run that did not count are not given beside those of the next. */
static void a_conflict_gives_such_rows_once(void **state)
{
    struct fixture *fixture = start_with_rows(state, 5);
    struct store_rows rows;
    int count = 0;

    store_fault_arm(fixture->store, STORE_FAULT_CONFLICT, 0, 1);
    rows = store_read_rows(fixture->store, after_sql, STORE_WITH(STORE_V_INT(0)));
    while (store_next(&rows))
        count++;
    assert_int_equal(store_rows_end(&rows, NULL), 0);
    assert_int_equal(count, 5);
}

const struct test_case store_rows_cases[] = {
    CASE_ON(every_row_is_given_once, ON_ALL),
    CASE_ON(a_value_that_is_not_there_leaves_what_was, ON_ALL),
    CASE_ON(a_value_of_another_type_is_refused, ON_ALL),
    CASE_ON(rows_may_be_left_early_and_the_transaction_goes_on, ON_ALL),
    CASE_ON(the_same_statement_may_be_open_many_times, ON_ALL),
    CASE_ON(other_tables_may_be_written_meanwhile, ON_ALL),
    CASE_ON(a_failure_beside_them_ends_the_rows, ON_ALL),
    CASE_ON(rows_that_fail_midway_fail_the_transaction, ON_ALL),
    CASE_ON(a_row_that_cannot_be_read_fails_the_transaction, ON_ALL & ~ON_PLAIN),
    CASE_ON(what_writes_does_all_of_it_though_left_early, ON_ALL),
    CASE_ON(what_writes_and_breaks_a_rule_fails_though_left_early, ON_ALL),
    CASE_ON(rows_are_read_without_a_function, ON_ALL),
    CASE_ON(such_rows_may_be_left_and_tell_what_failed, ON_ALL),
    CASE_ON(one_value_is_read_and_one_statement_written, ON_ALL),
    CASE_ON(a_conflict_gives_such_rows_once, ON_ALL & ~ON_PLAIN),
    {0},
};
