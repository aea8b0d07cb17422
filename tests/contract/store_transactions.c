/* SPDX-License-Identifier: Apache-2.0 */
/* The store's contract: transactions. */
#include "contract/store_fixture.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/memory.h"

static void a_commit_is_visible_and_survives_reopening(void **state)
{
    struct fixture *fixture = start(state);
    struct store_value params[] = {STORE_V_INT(1), STORE_V_TEXT(bytes_of("bicycle"))};
    struct statement_args args = {
        .sql = "INSERT INTO t (id, name) VALUES ($1, $2)", .params = params, .param_count = 2};
    struct err err;

    exec(fixture->store, "CREATE TABLE t (id BIGINT PRIMARY KEY, name TEXT)");
    assert_int_equal(store_write(fixture->store, exec_fn, &args, &err), 0);
    assert_int_equal(args.changed, 1);
    assert_int_equal(read_integer(fixture->store, "SELECT count(*) FROM t"), 1);
    store_close(fixture->store);
    open_store(fixture);
    assert_int_equal(read_integer(fixture->store, "SELECT count(*) FROM t WHERE name = 'bicycle'"),
                     1);
}

static int insert_then_fail(struct store_tx *tx, void *arg, struct err *err)
{
    int rc = store_exec(tx, "INSERT INTO t (id) VALUES (1)", NULL, 0, NULL, err);

    return rc ? rc : err_set(err, *(int *)arg, "the caller's own reason");
}

static void a_failing_function_rolls_back_and_its_code_is_returned(void **state)
{
    struct fixture *fixture = start(state);
    int codes[] = {ERR_NOT_FOUND, ERR_CONFLICT, ERR_STALE, ERR_UNAVAILABLE};
    struct err err;
    size_t i;

    exec(fixture->store, "CREATE TABLE t (id BIGINT PRIMARY KEY)");
    for (i = 0; i < ARRAY_COUNT(codes); i++) {
        assert_int_equal(store_write(fixture->store, insert_then_fail, &codes[i], &err), codes[i]);
        assert_string_equal(err.text, "the caller's own reason");
        assert_int_equal(read_integer(fixture->store, "SELECT count(*) FROM t"), 0);
    }
}

static int insert_many(struct store_tx *tx, void *arg, struct err *err)
{
    int64_t from = *(int64_t *)arg;
    int64_t i;
    int rc = 0;

    for (i = from; i < from + 5 && rc == 0; i++)
        rc = store_exec(tx, "INSERT INTO t (id) VALUES ($1)", &STORE_V_INT(i), 1, NULL, err);
    if (rc == 0 && from % 10 == 0)
        rc = err_set(err, ERR_INVALID, "every other one fails");
    return rc;
}

struct many {
    struct store *store;
    int64_t first;
    int wrong_count;
};

static void *write_many(void *arg)
{
    struct many *many = arg;
    int64_t i;

    for (i = many->first; i < many->first + 100; i += 5) {
        int wanted = i % 10 == 0 ? ERR_INVALID : 0;
        struct err err;

        if (store_write(many->store, insert_many, &i, &err) != wanted)
            many->wrong_count++;
    }
    return NULL;
}

/* Neighbours in a group, half of which fail after writing: each is undone alone. */
static void a_failure_leaves_the_neighbours_alone(void **state)
{
    struct fixture *fixture = start(state);
    struct many many[8];
    pthread_t threads[8];
    size_t i;

    exec(fixture->store, "CREATE TABLE t (id BIGINT PRIMARY KEY)");
    for (i = 0; i < ARRAY_COUNT(many); i++) {
        many[i] = (struct many){fixture->store, (int64_t)i * 100, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, write_many, &many[i]), 0);
    }
    for (i = 0; i < ARRAY_COUNT(many); i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(many[i].wrong_count, 0);
    }
    assert_int_equal(read_integer(fixture->store, "SELECT count(*) FROM t"), 400);
    assert_int_equal(read_integer(fixture->store, "SELECT count(*) FROM t WHERE id % 10 < 5"), 0);
}

enum { INCREMENTER_COUNT = 4 };

struct incrementer {
    struct store *store;
    _Atomic int *arrived; /* those that have looked for the first time; NULL: nobody waits */
    _Atomic int run_count;
    int failure_count;
};

/* Where several write at once, all have looked before the first one writes: one of them wins. */
static int increment(struct store_tx *tx, void *arg, struct err *err)
{
    struct incrementer *self = arg;
    struct statement_args args = {0};
    bool is_first = atomic_fetch_add(&self->run_count, 1) == 0;
    int rc;

    rc = store_find_integer(tx, "SELECT n FROM counter", NULL, 0, &args.integer, err);
    if (rc)
        return rc;
    if (is_first && self->arrived) {
        atomic_fetch_add(self->arrived, 1);
        wait_flag(self->arrived, INCREMENTER_COUNT);
    }
    return store_exec(tx, "UPDATE counter SET n = $1", &STORE_V_INT(args.integer + 1), 1, NULL,
                      err);
}

static void *increment_often(void *arg)
{
    struct incrementer *self = arg;
    int i;

    for (i = 0; i < 25; i++)
        if (store_write(self->store, increment, self, NULL))
            self->failure_count++;
    return NULL;
}

static void conflicts_are_run_again_and_no_update_is_lost(void **state)
{
    struct fixture *fixture = start(state);
    struct incrementer self[INCREMENTER_COUNT];
    pthread_t threads[INCREMENTER_COUNT];
    _Atomic int arrived = 0;
    int run_count = 0;
    size_t i;

    exec(fixture->store, "CREATE TABLE counter (n BIGINT)");
    exec(fixture->store, "INSERT INTO counter (n) VALUES (0)");
    for (i = 0; i < ARRAY_COUNT(self); i++) {
        self[i] = (struct incrementer){.store = fixture->store,
                                       .arrived = fixture->backend->postgres ? &arrived : NULL};
        assert_int_equal(pthread_create(&threads[i], NULL, increment_often, &self[i]), 0);
    }
    for (i = 0; i < ARRAY_COUNT(self); i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(self[i].failure_count, 0);
        run_count += self[i].run_count;
    }
    assert_int_equal(read_integer(fixture->store, "SELECT n FROM counter"), 100);
    if (fixture->backend->postgres)
        assert_true(run_count > 100); /* or the case has shown nothing */
}

struct doctor {
    struct store *store;
    int64_t id;
    _Atomic int *arrived;
    int rc;
};

/* Goes home if the other is on call; both look before either goes. */
static int go_home(struct store_tx *tx, void *arg, struct err *err)
{
    struct doctor *doctor = arg;
    struct statement_args args = {0};
    int64_t deadline = now_us() + 300 * MS_US;
    int rc;

    rc = store_find_integer(tx, "SELECT CAST(sum(on_call) AS BIGINT) FROM doctor", NULL, 0,
                            &args.integer, err);
    atomic_fetch_add(doctor->arrived, 1);
    while (*doctor->arrived < 2 && now_us() < deadline)
        pause_ms(1); /* where one writer runs after the other, this passes by time */
    if (rc || args.integer < 2)
        return rc;
    return store_exec(tx, "UPDATE doctor SET on_call = 0 WHERE id = $1", &STORE_V_INT(doctor->id),
                      1, NULL, err);
}

static void *doctor_main(void *arg)
{
    struct doctor *doctor = arg;

    doctor->rc = store_write(doctor->store, go_home, doctor, NULL);
    return NULL;
}

static void write_skew_is_prevented(void **state)
{
    struct fixture *fixture = start(state);
    _Atomic int arrived = 0;
    struct doctor doctors[2];
    pthread_t threads[2];
    int i;

    exec(fixture->store, "CREATE TABLE doctor (id BIGINT PRIMARY KEY, on_call BIGINT)");
    exec(fixture->store, "INSERT INTO doctor (id, on_call) VALUES (1, 1), (2, 1)");
    for (i = 0; i < 2; i++) {
        doctors[i] = (struct doctor){fixture->store, i + 1, &arrived, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, doctor_main, &doctors[i]), 0);
    }
    for (i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(doctors[i].rc, 0);
    }
    assert_int_equal(
        read_integer(fixture->store, "SELECT CAST(sum(on_call) AS BIGINT) FROM doctor"), 1);
}

struct snapshot {
    struct store *store;
    _Atomic int looked;
    _Atomic int written;
    int64_t before;
    int64_t after;
};

static void *write_meanwhile(void *arg)
{
    struct snapshot *self = arg;

    if (wait_flag(&self->looked, 1) &&
        try_exec(self->store, "INSERT INTO t (id) VALUES (2)", NULL, 0, NULL) == 0)
        self->written = 1;
    return NULL;
}

static int look_twice(struct store_tx *tx, void *arg, struct err *err)
{
    struct snapshot *self = arg;
    struct statement_args args = {0};
    int rc;

    rc = store_find_integer(tx, "SELECT count(*) FROM t", NULL, 0, &args.integer, err);
    self->before = args.integer;
    self->looked = 1;
    if (rc || !wait_flag(&self->written, 1))
        return rc ? rc : err_set(err, ERR_TIMEOUT, "nobody wrote");
    rc = store_find_integer(tx, "SELECT count(*) FROM t", NULL, 0, &args.integer, err);
    self->after = args.integer;
    return rc;
}

static void a_read_sees_one_snapshot_while_writers_go_on(void **state)
{
    struct fixture *fixture = start(state);
    struct snapshot self = {.store = fixture->store};
    struct err err = {0};
    pthread_t thread;
    int rc;

    exec(fixture->store, "CREATE TABLE t (id BIGINT PRIMARY KEY)");
    exec(fixture->store, "INSERT INTO t (id) VALUES (1)");
    assert_int_equal(pthread_create(&thread, NULL, write_meanwhile, &self), 0);
    rc = store_read(fixture->store, look_twice, &self, &err);
    pthread_join(thread, NULL);
    if (rc)
        fail_msg("%s", err.text);
    assert_int_equal(self.before, 1);
    assert_int_equal(self.after, 1);
    assert_int_equal(read_integer(fixture->store, "SELECT count(*) FROM t"), 2);
}

static int nested_fn(struct store_tx *tx, void *arg, struct err *err)
{
    struct fixture *fixture = arg;
    struct statement_args args = {.sql = "SELECT 1"};
    struct err inner;

    if (store_write(fixture->store, query_fn, &args, &inner) != ERR_PRECONDITION ||
        store_read(fixture->store, query_fn, &args, &inner) != ERR_PRECONDITION)
        return err_set(err, ERR_INTERNAL, "a nested transaction was let through");
    return store_find_integer(tx, "SELECT 1", NULL, 0, &args.integer, err);
}

static void a_transaction_inside_another_is_refused(void **state)
{
    struct fixture *fixture = start(state);

    assert_int_equal(store_write(fixture->store, nested_fn, fixture, NULL), 0);
    assert_int_equal(store_read(fixture->store, nested_fn, fixture, NULL), 0);
}

const struct test_case store_transaction_cases[] = {
    CASE_ON(a_commit_is_visible_and_survives_reopening, ON_ALL),
    CASE_ON(a_failing_function_rolls_back_and_its_code_is_returned, ON_ALL),
    CASE_ON(a_failure_leaves_the_neighbours_alone, ON_ALL),
    CASE_ON(conflicts_are_run_again_and_no_update_is_lost, ON_ALL),
    CASE_ON(write_skew_is_prevented, ON_ALL),
    CASE_ON(a_read_sees_one_snapshot_while_writers_go_on, ON_ALL),
    CASE_ON(a_transaction_inside_another_is_refused, ON_ALL),
    {0},
};
