/* SPDX-License-Identifier: Apache-2.0 */
/* The store's contract: held snapshots, and readers beside a writer of a growing file. */
#include "contract/store_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/endian.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/random.h"

struct bump {
    struct store *store;
    int rc;
};

static void *bump(void *arg)
{
    struct bump *bump = arg;
    struct err err;

    bump->rc = try_exec(bump->store, "UPDATE t SET n = n + 1", NULL, 0, &err);
    return NULL;
}

/* A thread that holds may not write: another one does. */
static void bump_elsewhere(struct fixture *fixture)
{
    struct bump own = {.store = fixture->store};
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, bump, &own), 0);
    pthread_join(thread, NULL);
    assert_int_equal(own.rc, 0);
}

static void a_held_snapshot_begins_with_its_first_read_and_ends(void **state)
{
    struct fixture *fixture = start(state);
    const char *look = "SELECT n FROM t";
    int64_t first;
    int64_t second;

    exec(fixture->store, "CREATE TABLE t (n BIGINT)");
    exec(fixture->store, "INSERT INTO t (n) VALUES (1)");
    store_hold(fixture->store);
    bump_elsewhere(fixture);
    first = read_integer(fixture->store, look);
    bump_elsewhere(fixture);
    second = read_integer(fixture->store, look);
    store_let_go(fixture->store);
    assert_int_equal(first, 2);
    if (!fixture->backend->postgres && !fixture->backend->fault && !fixture->backend->sim)
        assert_int_equal(second, 2);
    assert_int_equal(read_integer(fixture->store, look), 3);
}

static void a_failed_read_leaves_a_held_snapshot_usable(void **state)
{
    struct fixture *fixture = start(state);
    struct statement_args wrong = {.sql = "SELECT n FROM missing"};
    struct err err;

    exec(fixture->store, "CREATE TABLE t (n BIGINT)");
    exec(fixture->store, "INSERT INTO t (n) VALUES (1)");
    store_hold(fixture->store);
    assert_int_equal(read_integer(fixture->store, "SELECT n FROM t"), 1);
    assert_int_not_equal(store_read(fixture->store, query_fn, &wrong, &err), 0);
    assert_int_equal(read_integer(fixture->store, "SELECT n FROM t"), 1);
    store_let_go(fixture->store);
    bump_elsewhere(fixture);
    assert_int_equal(read_integer(fixture->store, "SELECT n FROM t"), 2);
}

/* ---- a file that grows past what is mapped of it ---- */

enum { ROW_COUNT = 3000, BODY_SIZE = 12000, BATCH = 50, ROUND_COUNT = 60, READER_COUNT = 2 };

struct body {
    uint8_t bytes[BODY_SIZE];
};

/* The id and a revision, then bytes that follow from both: a page of another time shows. */
static void fill_body(struct body *body, uint64_t id, uint64_t revision)
{
    uint8_t seed[16];

    put_le64(seed, id);
    put_le64(seed + 8, revision);
    memcpy(body->bytes, seed, sizeof(seed));
    memset(body->bytes + sizeof(seed), (int)(hash64(bytes_make(seed, sizeof(seed))) & 0xff),
           BODY_SIZE - sizeof(seed));
}

struct growth {
    struct fixture *fixture;
    uint64_t first;
    uint64_t revision;
    _Atomic uint64_t count; /* rows that are committed */
    _Atomic int wrong;
    _Atomic int stop;
};

static int put_rows(struct store_tx *tx, void *arg, struct err *err)
{
    struct growth *growth = arg;
    static struct body body; /* of the one thread that writes */
    int rc = 0;

    for (uint64_t id = growth->first; id < growth->first + BATCH && rc == 0; id++) {
        const struct store_value params[] = {STORE_V_INT((int64_t)id),
                                             STORE_V_BLOB(bytes_make(body.bytes, BODY_SIZE))};

        fill_body(&body, id, growth->revision);
        rc = store_exec(tx,
                        "INSERT INTO g (id, body) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE "
                        "SET body = excluded.body",
                        params, 2, NULL, err);
    }
    return rc;
}

static bool is_right(struct bytes found)
{
    struct body wanted;

    if (found.size != BODY_SIZE)
        return false;
    fill_body(&wanted, get_le64(found.data), get_le64(found.data + 8));
    return memcmp(wanted.bytes, found.data, BODY_SIZE) == 0;
}

struct look {
    int64_t id;
    bool right;
};

static int look_at(struct store_tx *tx, void *arg, struct err *err)
{
    struct look *look = arg;
    struct store_rows rows =
        store_select(tx, "SELECT body FROM g WHERE id = $1", &STORE_V_INT(look->id), 1);

    look->right = store_next(&rows) && is_right(rows.columns[0].bytes);
    return store_rows_end(&rows, err);
}

static void *read_rows(void *arg)
{
    struct growth *growth = arg;
    struct rng rng = rng_seeded((uint64_t)(uintptr_t)&rng);
    struct err err;

    while (!atomic_load(&growth->stop)) {
        uint64_t count = atomic_load(&growth->count);
        struct look look = {.id = (int64_t)(count ? rng_below(&rng, count) : 0)};

        if (count && (store_read(growth->fixture->store, look_at, &look, &err) || !look.right))
            atomic_fetch_add(&growth->wrong, 1);
    }
    return NULL;
}

/* 36 MB by batches, then batches rewritten at random; the log is short, so that pages of the
 * database file are replaced all the time while readers look at them. */
static void readers_see_whole_rows_while_the_file_grows_and_changes(void **state)
{
    struct fixture *fixture = start(state);
    const struct store_options options = {.wal_page_count = 500};
    struct growth growth = {.fixture = fixture};
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    pthread_t readers[READER_COUNT];
    struct err err;

    store_close(fixture->store);
    assert_int_equal(store_open_with(fixture->url, &options, &fixture->store, &err), 0);
    exec(fixture->store, "CREATE TABLE g (id BIGINT PRIMARY KEY, body BYTEA NOT NULL)");
    for (size_t i = 0; i < READER_COUNT; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_rows, &growth), 0);
    for (uint64_t i = 0; i < ROW_COUNT / BATCH + ROUND_COUNT; i++) {
        bool grows = i < ROW_COUNT / BATCH;

        growth.first = (grows ? i : rng_below(&rng, ROW_COUNT / BATCH)) * BATCH;
        growth.revision = i;
        if (store_write(fixture->store, put_rows, &growth, &err))
            fail_msg("seed %ju: %s", (uintmax_t)seed, err.text);
        if (grows)
            atomic_store(&growth.count, growth.first + BATCH);
    }
    atomic_store(&growth.stop, 1);
    for (size_t i = 0; i < READER_COUNT; i++)
        pthread_join(readers[i], NULL);
    if (atomic_load(&growth.wrong))
        fail_msg("seed %ju: %d rows were torn or missing", (uintmax_t)seed, growth.wrong);
}

const struct test_case store_snapshot_cases[] = {
    CASE_ON(a_held_snapshot_begins_with_its_first_read_and_ends, ON_ALL),
    CASE_ON(a_failed_read_leaves_a_held_snapshot_usable, ON_ALL),
    CASE_ON(readers_see_whole_rows_while_the_file_grows_and_changes, ON_SQLITE | ON_PLAIN),
    {0},
};
