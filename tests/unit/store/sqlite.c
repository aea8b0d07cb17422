/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of what only the embedded store has: its URL forms, groups and their log.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "patience.h"
#include "store/store.h"
#include "store/store_fault.h"

static int exec_fn(struct store_tx *tx, void *arg, struct err *err)
{
    return store_exec(tx, arg, NULL, 0, NULL, err);
}

static void exec(struct store *store, const char *sql)
{
    struct err err = {0};

    if (store_write(store, exec_fn, (void *)sql, &err))
        fail_msg("%s: %s", sql, err.text);
}

static int count_fn(struct store_tx *tx, void *arg, struct err *err)
{
    return store_find_integer(tx, "SELECT count(*) FROM t", NULL, 0, arg, err);
}

static int64_t count_rows(struct store *store)
{
    int64_t count = -1;

    assert_int_equal(store_read(store, count_fn, &count, NULL), 0);
    return count;
}

static void wrong_urls_are_refused_with_advice(void **state)
{
    struct store *store;
    struct err err;

    assert_int_equal(store_open("mysql://x", &store, &err), ERR_INVALID);
    assert_non_null(strstr(err.text, "sqlite:PATH"));
    assert_int_equal(store_open("sqlite:", &store, &err), ERR_INVALID);
    assert_int_equal(store_open("sqlite:/nowhere/at/all.db", &store, &err), ERR_UNAVAILABLE);
    assert_non_null(strstr(err.text, "/nowhere/at/all.db"));
    assert_null(store);
    assert_int_equal(store_open("postgres://torg@127.0.0.1:1/x", &store, &err), ERR_UNAVAILABLE);
    assert_null(store);
    assert_int_equal(
        store_open_with("sqlite::memory:", &(struct store_options){.connection_count = 100000},
                        &store, &err),
        ERR_LIMIT);
}

static void memory_stores_are_private_and_leave_nothing(void **state)
{
    char directory[] = P_tmpdir "/torg-unit-XXXXXX";
    struct store *one;
    struct store *two;

    assert_non_null(mkdtemp(directory));
    assert_int_equal(setenv("TMPDIR", directory, 1), 0);
    assert_int_equal(store_open("sqlite::memory:", &one, NULL), 0);
    assert_int_equal(store_open("sqlite::memory:", &two, NULL), 0);
    exec(one, "CREATE TABLE t (id BIGINT)");
    exec(one, "INSERT INTO t (id) VALUES (1)");
    exec(two, "CREATE TABLE t (id BIGINT)");
    assert_int_equal(count_rows(one), 1);
    assert_int_equal(count_rows(two), 0);
    store_close(one);
    store_close(two);
    unsetenv("TMPDIR");
    assert_int_equal(rmdir(directory), 0); /* only an empty one can be removed */
}

/* ---- groups ---- */

enum { MEMBER_COUNT = 16 };

struct crowd;

struct member {
    struct crowd *crowd;
    pthread_t thread;
    _Atomic pid_t tid; /* 0: it is not started */
    int64_t id;
    int rc;
    struct err err;
};

struct crowd {
    struct store *store;
    _Atomic bool is_held; /* by the first whose turn has come */
    struct member members[MEMBER_COUNT];
};

/* The kernel says so: what it waits for is its answer, as nothing else is held for long. */
static bool is_asleep(const struct member *member)
{
    char path[64], text[256] = "";
    FILE *file;

    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)atomic_load(&member->tid));
    file = fopen(path, "r");
    if (!file)
        return false;
    if (!fgets(text, sizeof(text), file))
        text[0] = 0;
    fclose(file);
    return strstr(text, ") S ") != NULL;
}

static bool do_all_wait(const struct crowd *crowd)
{
    for (int i = 0; i < MEMBER_COUNT; i++)
        if (!is_asleep(&crowd->members[i]))
            return false;
    return true;
}

/* The first one holds the writer until all stand in its queue, however slowly they are started. */
static int insert_fn(struct store_tx *tx, void *arg, struct err *err)
{
    const struct member *member = arg;

    if (!atomic_exchange(&member->crowd->is_held, true)) {
        while (!do_all_wait(member->crowd))
            usleep(1000);
    }
    return store_exec(tx, "INSERT INTO t (id) VALUES ($1)", &STORE_V_INT(member->id), 1, NULL, err);
}

static void *member_main(void *arg)
{
    struct member *member = arg;

    atomic_store(&member->tid, (pid_t)syscall(SYS_gettid));
    member->rc = store_write(member->crowd->store, insert_fn, member, &member->err);
    return NULL;
}

static void run_members(struct store *store, struct crowd *crowd)
{
    int i;

    memset(crowd, 0, sizeof(*crowd));
    crowd->store = store;
    for (i = 0; i < MEMBER_COUNT; i++) {
        struct member *member = &crowd->members[i];

        member->crowd = crowd;
        member->id = i;
        assert_int_equal(pthread_create(&member->thread, NULL, member_main, member), 0);
    }
    for (i = 0; i < MEMBER_COUNT; i++)
        pthread_join(crowd->members[i].thread, NULL);
}

/* While one transaction is slow the others gather, and one commit serves them: that of the group
 * that it is in, if that was still open, or the next. */
static void waiting_transactions_share_a_commit(void **state)
{
    struct counter *commits = metrics_counter("torg_store_commits_total", "backend=\"sqlite\"", "");
    struct crowd crowd;
    struct store *store;
    uint64_t before;
    int i;

    assert_int_equal(store_open("sqlite::memory:", &store, NULL), 0);
    exec(store, "CREATE TABLE t (id BIGINT PRIMARY KEY)");
    before = counter_value(commits);
    run_members(store, &crowd);
    for (i = 0; i < MEMBER_COUNT; i++)
        assert_int_equal(crowd.members[i].rc, 0);
    assert_int_equal(count_rows(store), MEMBER_COUNT);
    assert_in_range(counter_value(commits) - before, 1, 2);
    store_close(store);
}

/* The sync of the shared commit fails: nobody is told that all is well. */
static void when_the_commit_fails_every_caller_fails(void **state)
{
    char directory[] = P_tmpdir "/torg-unit-XXXXXX";
    struct crowd crowd;
    struct store *store;
    char url[128];
    int i;

    assert_non_null(mkdtemp(directory));
    snprintf(url, sizeof(url), "fault:sqlite:%s/store.db", directory);
    assert_int_equal(store_open(url, &store, NULL), 0);
    exec(store, "CREATE TABLE t (id BIGINT PRIMARY KEY)");
    disk_fault_arm(DISK_FAULT_SYNC, 0, 100);
    run_members(store, &crowd);
    disk_fault_arm(DISK_FAULT_SYNC, 0, 0);
    for (i = 0; i < MEMBER_COUNT; i++) {
        assert_int_equal(crowd.members[i].rc, ERR_UNAVAILABLE);
        assert_non_null(strstr(crowd.members[i].err.text, "unknown"));
    }
    assert_int_equal(count_rows(store), 0);
    run_members(store, &crowd); /* and the store goes on */
    assert_int_equal(count_rows(store), MEMBER_COUNT);
    store_close(store);
    dir_remove(directory, NULL);
}

/* ---- the log ---- */

enum { CHUNK_SIZE = 1 << 18, LOG_PAGE_COUNT = 2048 };

static int insert_chunks(struct store_tx *tx, void *arg, struct err *err)
{
    struct store_value params[] = {STORE_V_INT(0), STORE_V_BLOB(*(struct bytes *)arg)};
    int rc = 0;

    for (; params[0].integer < 8 && rc == 0; params[0].integer++)
        rc = store_exec(tx,
                        "INSERT INTO t (id, body) VALUES ($1, $2) "
                        "ON CONFLICT (id) DO UPDATE SET body = excluded.body",
                        params, 2, NULL, err);
    return rc;
}

struct long_reader {
    struct store *store;
    pthread_t thread;
    _Atomic int reading;
    _Atomic int release;
};

static int hold_snapshot(struct store_tx *tx, void *arg, struct err *err)
{
    struct long_reader *reader = arg;
    int64_t count;
    int rc = count_fn(tx, &count, err);

    reader->reading = 1;
    while (!reader->release)
        usleep(1000);
    return rc;
}

static void *reader_main(void *arg)
{
    struct long_reader *reader = arg;

    store_read(reader->store, hold_snapshot, reader, NULL);
    return NULL;
}

static void write_mb(struct store *store, int mb)
{
    uint8_t *data = mem_zero(CHUNK_SIZE);
    struct bytes chunk = bytes_make(data, CHUNK_SIZE);
    struct err err;
    int written;

    for (written = 0; written < mb; written += 2) {
        memset(data, written, CHUNK_SIZE); /* what does not change is not written */
        if (store_write(store, insert_chunks, &chunk, &err))
            fail_msg("%s", err.text);
    }
    free(data);
}

static bool log_gets_short(const struct gauge *pages)
{
    int64_t deadline = clock_mono_us(clock_system()) + PATIENCE_S * (int64_t)SECOND_US;

    while (atomic_load(&pages->value) >= LOG_PAGE_COUNT && clock_mono_us(clock_system()) < deadline)
        usleep(2000);
    return atomic_load(&pages->value) < LOG_PAGE_COUNT;
}

/* Five times the checkpointer's threshold is written; the log is begun anew in between. With a
 * reader on an old snapshot it cannot be, writes go on slowed, and it is once the reader is gone.
 */
static void the_log_stays_short_unless_a_reader_holds_it(void **state)
{
    struct gauge *pages = metrics_gauge("torg_store_wal_pages", NULL, "");
    struct long_reader reader = {0};
    struct store_options options = {.wal_page_count = LOG_PAGE_COUNT};
    struct store *store;

    assert_int_equal(store_open_with("sqlite::memory:", &options, &store, NULL), 0);
    exec(store, "CREATE TABLE t (id BIGINT PRIMARY KEY, body BYTEA)");
    write_mb(store, 40);
    assert_true(log_gets_short(pages));

    reader.store = store;
    assert_int_equal(pthread_create(&reader.thread, NULL, reader_main, &reader), 0);
    while (!reader.reading)
        usleep(1000);
    write_mb(store, 16);
    assert_true(atomic_load(&pages->value) > LOG_PAGE_COUNT);
    reader.release = 1;
    pthread_join(reader.thread, NULL);
    exec(store, "DELETE FROM t WHERE id = 7");
    assert_true(log_gets_short(pages));
    assert_int_equal(count_rows(store), 7);
    store_close(store);
}

/* What the checkpointer copied may be lost by a sync that fails, and only the log has it: it must
 * not be begun anew. The third sync after the commit's is the one of the copied pages. */
static void a_checkpoint_that_cannot_be_synced_ends_the_process(void **state)
{
    char directory[] = P_tmpdir "/torg-unit-XXXXXX";
    struct store_options options = {.wal_page_count = 64};
    struct store *store;
    char url[128];
    int status = 0;
    pid_t child;

    assert_non_null(mkdtemp(directory));
    snprintf(url, sizeof(url), "fault:sqlite:%s/store.db", directory);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (store_open_with(url, &options, &store, NULL))
            _exit(1);
        exec(store, "CREATE TABLE t (id BIGINT PRIMARY KEY, body BYTEA)");
        disk_fault_arm(DISK_FAULT_SYNC, 3, 1);
        write_mb(store, 2);
        sleep(60); /* it ends before */
        _exit(2);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_int_equal(store_open(url, &store, NULL), 0);
    assert_int_equal(count_rows(store), 8);
    store_close(store);
    dir_remove(directory, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_urls_are_refused_with_advice),
        cmocka_unit_test(memory_stores_are_private_and_leave_nothing),
        cmocka_unit_test(waiting_transactions_share_a_commit),
        cmocka_unit_test(when_the_commit_fails_every_caller_fails),
        cmocka_unit_test(the_log_stays_short_unless_a_reader_holds_it),
        cmocka_unit_test(a_checkpoint_that_cannot_be_synced_ends_the_process),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
