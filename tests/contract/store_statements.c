/* SPDX-License-Identifier: Apache-2.0 */
/* The store's contract: statements and values. */
#include "contract/store_fixture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

struct row_copy {
    struct store_value values[4];
    char bytes[4][64];
    int row_count;
};

static void copy_row(const struct store_rows *rows, struct row_copy *copy)
{
    copy->row_count++;
    for (size_t i = 0; i < rows->column_count && i < 4; i++) {
        struct bytes bytes = rows->columns[i].bytes;

        copy->values[i] = rows->columns[i];
        if (copy->values[i].type != STORE_TEXT && copy->values[i].type != STORE_BLOB)
            continue;
        if (bytes.size)
            memcpy(copy->bytes[i], bytes.data, bytes.size);
        copy->values[i].bytes.data = (const uint8_t *)copy->bytes[i];
    }
}

struct round_trip {
    const struct store_value *in;
    struct row_copy out;
};

static int round_trip_fn(struct store_tx *tx, void *arg, struct err *err)
{
    struct round_trip *trip = arg;
    struct store_rows rows;
    int rc;

    trip->out.row_count = 0;
    rc = store_exec(tx, "DELETE FROM t", NULL, 0, NULL, err);
    if (rc == 0)
        rc = store_exec(tx, "INSERT INTO t (i, r, x, b) VALUES ($1, $2, $3, $4)", trip->in, 4, NULL,
                        err);
    if (rc)
        return rc;
    rows = store_select(tx, "SELECT i, r, x, b FROM t", NULL, 0);
    while (store_next(&rows))
        copy_row(&rows, &trip->out);
    return store_rows_end(&rows, err);
}

static void values_come_back_as_they_went(void **state)
{
    struct fixture *fixture = start(state);
    const struct store_value rows[][4] = {
        {STORE_V_NULL, STORE_V_NULL, STORE_V_NULL, STORE_V_NULL},
        {STORE_V_INT(INT64_MIN), STORE_V_REAL(-0.1), STORE_V_TEXT(BYTES_EMPTY),
         STORE_V_BLOB(BYTES_EMPTY)},
        {STORE_V_INT(INT64_MAX), STORE_V_REAL(1.7976931348623157e308),
         STORE_V_TEXT(bytes_of("велосипед 🚲 ' \" \\")), STORE_V_BLOB(bytes_make("\0a\0\xff", 4))},
        {STORE_V_INT(0), STORE_V_REAL(5e-324), STORE_V_TEXT(bytes_of("123")),
         STORE_V_BLOB(bytes_of("123"))},
        {STORE_V_INT(-1), STORE_V_REAL(INFINITY), STORE_V_TEXT(bytes_of("")),
         STORE_V_BLOB(bytes_of("\\x00"))},
    };
    struct err err = {0};
    size_t i;
    int j;

    exec(fixture->store, "CREATE TABLE t (i BIGINT, r DOUBLE PRECISION, x TEXT, b BYTEA)");
    for (i = 0; i < ARRAY_COUNT(rows); i++) {
        struct round_trip trip = {.in = rows[i]};

        if (store_write(fixture->store, round_trip_fn, &trip, &err))
            fail_msg("row %zu: %s", i, err.text);
        assert_int_equal(trip.out.row_count, 1);
        for (j = 0; j < 4; j++)
            assert_int_equal(trip.out.values[j].type, rows[i][j].type);
        if (rows[i][0].type == STORE_NULL)
            continue;
        assert_true(trip.out.values[0].integer == rows[i][0].integer);
        assert_true(trip.out.values[1].real == rows[i][1].real);
        assert_true(bytes_equal(trip.out.values[2].bytes, rows[i][2].bytes));
        assert_true(bytes_equal(trip.out.values[3].bytes, rows[i][3].bytes));
    }
}

static void values_that_one_backend_would_refuse_are_refused_by_all(void **state)
{
    struct fixture *fixture = start(state);
    const struct store_value bad[] = {
        STORE_V_TEXT(bytes_make("a\0b", 3)),
        STORE_V_TEXT(bytes_of("\xc3\x28")),
        STORE_V_REAL(NAN),
    };
    struct err err;
    size_t i;

    exec(fixture->store, "CREATE TABLE t (x TEXT)");
    for (i = 0; i < ARRAY_COUNT(bad); i++) {
        assert_int_equal(
            try_exec(fixture->store, "INSERT INTO t (x) VALUES ($1)", &bad[i], 1, &err),
            ERR_INVALID);
        assert_non_null(strstr(err.text, "$1"));
    }
}

static void parameters_are_found_by_number(void **state)
{
    struct fixture *fixture = start(state);
    struct store_value params[] = {STORE_V_INT(3), STORE_V_INT(10)};
    struct statement_args args = {
        .sql = "SELECT CAST($2 AS BIGINT) - CAST($1 AS BIGINT) * CAST($1 AS BIGINT)",
        .params = params,
        .param_count = 2};
    struct err err;

    assert_int_equal(store_read(fixture->store, query_fn, &args, &err), 0);
    assert_int_equal(args.integer, 1);
    args.param_count = 1;
    assert_int_equal(store_read(fixture->store, query_fn, &args, &err), ERR_INTERNAL);
}

static void broken_rules_are_told_by_kind_and_name(void **state)
{
    struct fixture *fixture = start(state);
    struct err err;

    exec(fixture->store, "CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT NOT NULL, "
                         "CONSTRAINT n_is_small CHECK (n < 10))");
    exec(fixture->store, "INSERT INTO t (id, n) VALUES (1, 1)");
    assert_int_equal(try_exec(fixture->store, "INSERT INTO t (id, n) VALUES (1, 2)", NULL, 0, &err),
                     ERR_EXISTS);
    assert_non_null(strstr(err.text, fixture->backend->postgres ? "t_pkey" : "t.id"));
    assert_int_equal(
        try_exec(fixture->store, "INSERT INTO t (id, n) VALUES (2, 10)", NULL, 0, &err),
        ERR_INVALID);
    assert_non_null(strstr(err.text, "n_is_small"));
    assert_int_equal(
        try_exec(fixture->store, "INSERT INTO t (id, n) VALUES (3, NULL)", NULL, 0, &err),
        ERR_INVALID);
    assert_int_equal(try_exec(fixture->store, "INSERT INTO nowhere (id) VALUES (1)", NULL, 0, &err),
                     ERR_INTERNAL);
    assert_non_null(strstr(err.text, "nowhere"));
    assert_int_equal(read_integer(fixture->store, "SELECT count(*) FROM t"), 1);
}

static int fail_then_go_on(struct store_tx *tx, void *arg, struct err *err)
{
    int *later = arg;

    store_exec(tx, "INSERT INTO t (id) VALUES (2)", NULL, 0, NULL, err);
    store_exec(tx, "INSERT INTO t (id) VALUES (1)", NULL, 0, NULL, err);
    *later = store_exec(tx, "INSERT INTO t (id) VALUES (3)", NULL, 0, NULL, err);
    return 0;
}

static void a_failed_statement_fails_the_transaction(void **state)
{
    struct fixture *fixture = start(state);
    struct err err;
    int later = 0;

    exec(fixture->store, "CREATE TABLE t (id BIGINT PRIMARY KEY)");
    exec(fixture->store, "INSERT INTO t (id) VALUES (1)");
    assert_int_equal(store_write(fixture->store, fail_then_go_on, &later, &err), ERR_EXISTS);
    assert_int_equal(later, ERR_EXISTS);
    assert_int_equal(read_integer(fixture->store, "SELECT count(*) FROM t"), 1);
}

static int upsert_fn(struct store_tx *tx, void *arg, struct err *err)
{
    return store_find_integer(tx,
                              "INSERT INTO t (id, n) VALUES (7, 1) "
                              "ON CONFLICT (id) DO UPDATE SET n = t.n + 1 RETURNING n",
                              NULL, 0, &((struct statement_args *)arg)->integer, err);
}

static void upserts_and_returning_work(void **state)
{
    struct fixture *fixture = start(state);
    struct statement_args args = {0};
    int i;

    exec(fixture->store, "CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT NOT NULL)");
    for (i = 1; i <= 3; i++) {
        assert_int_equal(store_write(fixture->store, upsert_fn, &args, NULL), 0);
        assert_int_equal(args.integer, i);
    }
}

static void a_read_may_not_write_and_nobody_ends_the_transaction(void **state)
{
    struct fixture *fixture = start(state);
    struct statement_args insert = {.sql = "INSERT INTO t (id) VALUES (1)"};
    struct statement_args select = {.sql = "SELECT count(*) FROM t"};
    const char *refused[] = {"COMMIT",         "  rollback",  "/* sly */ COMMIT",
                             "-- sly\nCOMMIT", "SAVEPOINT a", "PRAGMA user_version=1",
                             "BEGIN"};
    struct err err;
    size_t i;

    exec(fixture->store, "CREATE TABLE t (id BIGINT PRIMARY KEY)");
    assert_int_equal(store_read(fixture->store, exec_fn, &insert, &err), ERR_INVALID);
    for (i = 0; i < ARRAY_COUNT(refused); i++)
        assert_int_equal(try_exec(fixture->store, refused[i], NULL, 0, &err), ERR_INVALID);
    assert_int_equal(store_write(fixture->store, exec_fn, &select, &err), 0);
    assert_int_equal(select.changed, 0);
    assert_int_equal(read_integer(fixture->store, "SELECT count(*) FROM t"), 0);
}

/* More texts than a connection keeps prepared. */
static void many_different_statements_work(void **state)
{
    struct fixture *fixture = start(state);
    char sql[64];
    int i;

    for (i = 0; i < 600; i++) {
        snprintf(sql, sizeof(sql), "SELECT %d", i % 400);
        assert_int_equal(read_integer(fixture->store, sql), i % 400);
    }
}

static void a_changed_schema_is_noticed_by_prepared_statements(void **state)
{
    struct fixture *fixture = start(state);

    exec(fixture->store, "CREATE TABLE t (id BIGINT PRIMARY KEY)");
    exec(fixture->store, "INSERT INTO t (id) VALUES (4)");
    assert_int_equal(read_integer(fixture->store, "SELECT * FROM t"), 4);
    exec(fixture->store, "ALTER TABLE t ADD COLUMN more BIGINT");
    assert_int_equal(read_integer(fixture->store, "SELECT * FROM t"), 4);
}

const struct test_case store_statement_cases[] = {
    CASE_ON(values_come_back_as_they_went, ON_ALL),
    CASE_ON(values_that_one_backend_would_refuse_are_refused_by_all, ON_ALL),
    CASE_ON(parameters_are_found_by_number, ON_ALL),
    CASE_ON(broken_rules_are_told_by_kind_and_name, ON_ALL),
    CASE_ON(a_failed_statement_fails_the_transaction, ON_ALL),
    CASE_ON(upserts_and_returning_work, ON_ALL),
    CASE_ON(a_read_may_not_write_and_nobody_ends_the_transaction, ON_ALL),
    CASE_ON(many_different_statements_work, ON_ALL),
    CASE_ON(a_changed_schema_is_noticed_by_prepared_statements, ON_ALL),
    {0},
};
