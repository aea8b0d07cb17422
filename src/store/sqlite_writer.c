/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_writer.c - see sqlite_writer.h.
 *
 * A savepoint costs copies of every page its member touches, and few members fail after having
 * written. So a group first runs without: a member that fails before writing needs no undoing;
 * one that fails after it makes the group roll back and run again without that one, the others
 * in savepoints (functions may be run again, see store.h), and so do the next groups for a while.
 *
 * Answers are given after the commit, failures too: a member may have failed because of what an
 * earlier one wrote, which is true only once that is committed. Callers are woken as a tree, each
 * wakes two more, because the writer's thread is the one that everybody waits for.
 */
#include "store/sqlite_writer.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/condition.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/object.h"
#include "base/task.h"

enum { CAREFUL_GROUP_COUNT = 64 };

struct request { /* on its caller's stack */
    store_fn fn;
    void *arg;
    struct err *err;
    int rc;
    bool failed; /* it has its answer, whatever becomes of the others */
    sem_t done;
    struct request *next;    /* in the queue */
    struct request *wake[2]; /* to be woken by this one */
};

enum { SQLITE_WRITER_MAGIC = OBJECT_MAGIC('s', 'q', 'w', 'r') };

struct sqlite_writer {
    uint32_t magic;
    const struct sqlite_place *place; /* borrowed */
    struct sqlite_connection connection;
    struct sqlite_checkpointer *checkpointer; /* owned */
    int wal_page_count;                       /* set by the commit hook */
    int careful_count;                        /* groups that still use savepoints */
    struct request *group[STORE_GROUP_COUNT_MAX];
    size_t group_count;

    struct task task;
    pthread_mutex_t lock;
    struct condition wanted; /* callers have queued something: the writer sleeps on it */
    struct request *first;   /* the queue */
    struct request **last;

    struct counter *commits;
    struct counter *members;
    struct counter *reruns;
    struct histogram *duration;
};

static int note_wal(void *arg, sqlite3 *db, const char *name, int page_count)
{
    struct sqlite_writer *self = arg;

    object_check(self, SQLITE_WRITER_MAGIC);
    self->wal_page_count = page_count;
    return SQLITE_OK;
}

static int connect_writer(struct sqlite_writer *self, struct err *err)
{
    int rc = sqlite_connect(&self->connection, self->place, SQLITE_ROLE_WRITER, err);

    if (rc == 0)
        sqlite3_wal_hook(self->connection.db, note_wal, self);
    return rc;
}

/* After a failure. SQLite opens a file that it cannot write just then for reading alone, its log as
 * well, and finds out with the first transaction: that is tried here, not by who comes next. */
static int reconnect_writer(struct sqlite_writer *self, struct err *err)
{
    struct sqlite_connection *connection = &self->connection;
    int rc = connect_writer(self, err);

    if (rc)
        return rc;
    rc = sqlite_step(connection, connection->begin, err);
    if (rc == 0)
        rc = sqlite_step(connection, connection->rollback, err);
    if (rc)
        sqlite_disconnect(connection);
    return rc;
}

/* ---- a group ---- */

/* Adds what waits; false when there was nothing or the group is full. */
static bool take_waiting(struct sqlite_writer *self)
{
    size_t before = self->group_count;

    pthread_mutex_lock(&self->lock);
    while (self->first && self->group_count < STORE_GROUP_COUNT_MAX) {
        assert(!self->first->failed && self->first->fn);
        self->group[self->group_count++] = self->first;
        self->first = self->first->next;
    }
    if (!self->first)
        self->last = &self->first;
    assert(self->group_count <= STORE_GROUP_COUNT_MAX);
    pthread_mutex_unlock(&self->lock);
    return self->group_count > before;
}

enum member_result { MEMBER_DONE, MEMBER_RERUN, MEMBER_BROKEN };

/* Runs one member's function; its failure is its own unless it broke the transaction. */
static enum member_result run_member(struct sqlite_writer *self, struct request *request,
                                     bool careful, struct err *err)
{
    struct sqlite_connection *connection = &self->connection;
    struct sqlite_tx tx = {.base = {.ops = &store_sqlite_ops, .mode = STORE_MODE_WRITE},
                           .connection = connection};

    if (careful && sqlite_step(connection, connection->savepoint, err))
        return MEMBER_BROKEN;
    request->rc = store_run(&tx.base, request->fn, request->arg, request->err);
    if (!sqlite_in_transaction(connection)) {
        assert(request->rc);
        err_set(err, request->rc == ERR_CORRUPT ? ERR_CORRUPT : ERR_UNAVAILABLE,
                "everything in the group of this commit is rolled back: %.400s",
                request->err->text);
        return MEMBER_BROKEN;
    }
    request->failed = request->rc != 0;
    if (request->failed && tx.wrote && !careful)
        return MEMBER_RERUN;
    if (careful && request->failed && sqlite_step(connection, connection->rollback_to, err))
        return MEMBER_BROKEN;
    if (careful && sqlite_step(connection, connection->release, err))
        return MEMBER_BROKEN;
    return MEMBER_DONE;
}

/* Begins, runs every member and those that come meanwhile; leaves the transaction open. */
static int run_members(struct sqlite_writer *self, bool careful, struct err *err)
{
    struct sqlite_connection *connection = &self->connection;
    int64_t deadline = clock_mono_us(self->place->clock) + STORE_GROUP_MS_MAX * MS_US;
    enum member_result result = MEMBER_DONE;
    size_t i = 0;
    int rc;

    assert(self->group_count > 0 && !sqlite_in_transaction(connection));
    rc = sqlite_step(connection, connection->begin, err);
    while (rc == 0 && result == MEMBER_DONE) {
        if (i == self->group_count &&
            (clock_mono_us(self->place->clock) > deadline || !take_waiting(self)))
            break;
        if (!self->group[i]->failed)
            result = run_member(self, self->group[i], careful, err);
        i++;
    }
    if (result == MEMBER_RERUN)
        return STORE_AGAIN;
    if (result == MEMBER_BROKEN)
        return err->code;
    return rc;
}

static int commit_group(struct sqlite_writer *self, struct err *err)
{
    struct sqlite_connection *connection = &self->connection;
    bool careful = self->careful_count > 0;
    int rc;

    rc = run_members(self, careful, err);
    if (rc == STORE_AGAIN) {
        if (self->group_count > 1) {
            counter_add(self->reruns, 1);
            self->careful_count = CAREFUL_GROUP_COUNT;
        }
        rc = sqlite_step(connection, connection->rollback, err);
        if (rc == 0)
            rc = run_members(self, true, err);
        assert(rc != STORE_AGAIN);
    }
    if (self->careful_count > 0)
        self->careful_count--;
    assert(self->careful_count >= 0 && self->careful_count <= CAREFUL_GROUP_COUNT);
    if (rc)
        return rc;
    assert(sqlite_in_transaction(connection));
    rc = sqlite_step(connection, connection->commit, err);
    if (rc) /* its frames may be in the log, unsynced, and a restart may take them for good */
        err_wrap(err, "it is unknown until a restart whether the commit took place");
    return rc;
}

static void wake_group(struct sqlite_writer *self)
{
    size_t count = self->group_count;
    size_t i;

    assert(count > 0 && count <= STORE_GROUP_COUNT_MAX);
    for (i = 0; i < count; i++) {
        self->group[i]->wake[0] = 2 * i + 1 < count ? self->group[2 * i + 1] : NULL;
        self->group[i]->wake[1] = 2 * i + 2 < count ? self->group[2 * i + 2] : NULL;
    }
    self->group_count = 0;
    sem_post(&self->group[0]->done);
}

/* Nothing of the group is acknowledged. The connection is opened anew, because what a failed
 * write or sync left behind in it is not worth knowing. */
static void fail_group(struct sqlite_writer *self, const struct err *why)
{
    struct err err;
    size_t i;

    log_error("group commit failed", LOG_INT("transactions", self->group_count),
              LOG_TEXT("reason", why->text));
    for (i = 0; i < self->group_count; i++) {
        self->group[i]->rc = why->code;
        *self->group[i]->err = *why;
    }
    assert(why->code < 0 && self->group_count > 0);
    sqlite_disconnect(&self->connection);
    if (reconnect_writer(self, &err))
        log_error("the store cannot be opened again", LOG_TEXT("reason", err.text));
}

static void run_group(struct sqlite_writer *self)
{
    int64_t start = clock_mono_us(self->place->clock);
    struct err err = {.code = 0};
    int rc = 0;

    self->wal_page_count = 0;
    if (!self->connection.db)
        rc = reconnect_writer(self, &err);
    if (rc == 0)
        rc = sqlite_checkpointer_enter(self->checkpointer, &err);
    if (rc == 0) {
        rc = commit_group(self, &err);
        sqlite_checkpointer_leave(self->checkpointer, self->wal_page_count);
    }
    if (rc)
        fail_group(self, &err);
    counter_add(self->commits, 1);
    counter_add(self->members, self->group_count);
    histogram_add(self->duration, clock_mono_us(self->place->clock) - start);
    wake_group(self);
}

static void writer_main(struct task *task, void *arg)
{
    struct sqlite_writer *self = arg;

    object_check(self, SQLITE_WRITER_MAGIC);
    for (;;) {
        pthread_mutex_lock(&self->lock);
        while (!self->first && !task_is_stopping(task))
            task_wait_on(task, &self->wanted, &self->lock, CLOCK_NEVER);
        if (!self->first) {
            pthread_mutex_unlock(&self->lock);
            return;
        }
        pthread_mutex_unlock(&self->lock);
        task_says(task, "committing a group");
        if (take_waiting(self))
            run_group(self);
    }
}

/* ---- for callers ---- */

int sqlite_writer_run(struct sqlite_writer *self, store_fn fn, void *arg, struct err *err)
{
    struct request request = {.fn = fn, .arg = arg, .err = err};
    bool was_empty;
    int i;

    object_check(self, SQLITE_WRITER_MAGIC);
    sem_init(&request.done, 0, 0);
    pthread_mutex_lock(&self->lock);
    assert(!task_is_stopping(&self->task));
    was_empty = !self->first;
    *self->last = &request;
    self->last = &request.next;
    pthread_mutex_unlock(&self->lock);
    if (was_empty)
        condition_signal(&self->wanted);
    while (sem_wait(&request.done) != 0)
        assert(errno == EINTR);
    for (i = 0; i < 2; i++)
        if (request.wake[i])
            sem_post(&request.wake[i]->done);
    assert(request.rc <= 0 && request.rc != STORE_AGAIN);
    sem_destroy(&request.done);
    return request.rc;
}

int sqlite_writer_start(const struct sqlite_place *place, struct sqlite_writer **writer,
                        struct err *err)
{
    struct sqlite_writer *self = mem_zero(sizeof(*self));
    const struct task_options task = {
        .name = "store-writer", .run = writer_main, .arg = self, .clock = place->clock};
    int rc;

    object_begin(self, SQLITE_WRITER_MAGIC);
    *writer = NULL;
    self->place = place;
    self->last = &self->first;
    rc = connect_writer(self, err);
    if (rc == 0)
        rc = sqlite_checkpointer_start(place, &self->checkpointer, err);
    if (rc) {
        sqlite_disconnect(&self->connection);
        object_end(self, SQLITE_WRITER_MAGIC);
        free(self);
        return rc;
    }
    pthread_mutex_init(&self->lock, NULL);
    condition_init(&self->wanted, place->clock);
    self->commits = metrics_counter("torg_store_commits_total", "backend=\"sqlite\"",
                                    "commits, groups counted once");
    self->members = metrics_counter("torg_store_transactions_total", "backend=\"sqlite\"",
                                    "write transactions answered");
    self->reruns = metrics_counter("torg_store_group_reruns_total", NULL,
                                   "groups run again because one of them failed after writing");
    self->duration = metrics_histogram("torg_store_commit_seconds", "backend=\"sqlite\"",
                                       "time from a group's begin to its durable commit");
    rc = task_start(&self->task, &task, err);
    if (rc)
        sqlite_writer_stop(self);
    else
        *writer = self;
    return rc;
}

void sqlite_writer_stop(struct sqlite_writer *self)
{
    if (!self)
        return;
    object_check(self, SQLITE_WRITER_MAGIC);
    pthread_mutex_lock(&self->lock);
    task_ask_stop(&self->task);
    condition_signal(&self->wanted);
    pthread_mutex_unlock(&self->lock);
    task_stop(&self->task);
    assert(!self->first && self->group_count == 0); /* every caller has its answer */
    sqlite_checkpointer_stop(self->checkpointer);
    sqlite_disconnect(&self->connection);
    pthread_mutex_destroy(&self->lock);
    condition_release(&self->wanted);
    object_end(self, SQLITE_WRITER_MAGIC);
    free(self);
}
