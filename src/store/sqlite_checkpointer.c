/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_checkpointer.c - see sqlite_checkpointer.h.
 *
 * SQLite restarts its log only when all of it is in the database and no reader uses it, and a
 * writer that never rests keeps it from getting there. So: passive rounds until little is left,
 * then one round with the writer held. The writer's part is two short calls under a mutex.
 */
#include "store/sqlite_checkpointer.h"

#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/condition.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/object.h"
#include "base/task.h"
#include "store/bounds.h"

enum { PASSIVE_ROUND_MAX = 6, REST_PAGE_COUNT = 512, IDLE_MS = 1000, RETRY_MS = 50 };

enum { SQLITE_CHECKPOINTER_MAGIC = OBJECT_MAGIC('s', 'q', 'c', 'p') };

struct sqlite_checkpointer {
    uint32_t magic;
    struct sqlite_connection connection;
    struct task task;
    pthread_mutex_t lock;
    struct condition changed; /* writer and checkpointer stand still for each other */
    int page_count_max;       /* of place: a checkpoint starts */
    bool durable;             /* of place */
    int page_count;           /* the log's length after the last commit */
    bool writing;             /* a group is under way */
    bool holding;             /* the writer is asked to stand still */
    struct gauge *pages_gauge;
    struct histogram *held;
    struct histogram *duration;
};

static int64_t now_us(const struct sqlite_checkpointer *self)
{
    return clock_mono_us(self->connection.place->clock);
}

/* One checkpoint; *copied gets how much of the log is in the database. */
static bool checkpoint(struct sqlite_checkpointer *self, int mode, int *copied)
{
    int64_t start = now_us(self);
    int page_count = 0;
    int rc = sqlite3_wal_checkpoint_v2(self->connection.db, NULL, mode, &page_count, copied);
    struct err err;

    histogram_add(self->duration, now_us(self) - start);
    if (rc != SQLITE_OK && rc != SQLITE_BUSY) {
        sqlite_fail(&self->connection, "checkpoint", &err);
        log_error("checkpoint failed", LOG_TEXT("reason", err.text));
    }
    return rc == SQLITE_OK;
}

/* SQLite syncs the database only with the last page of the log, which is when the writer is held:
 * what was copied before is then on disk already.
 *
 * Linux tells a failure once, and takes what could not be written for clean: the next sync is well,
 * the log would be begun anew, and the pages lost. SQLite counts them as copied and forgets that
 * only when it opens the log after a crash, so the process ends, and the next one copies all of
 * the log again. */
static void sync_database(struct sqlite_checkpointer *self)
{
    sqlite3_file *file = NULL;
    int rc = SQLITE_OK;

    if (self->durable &&
        sqlite3_file_control(self->connection.db, "main", SQLITE_FCNTL_FILE_POINTER, &file) ==
            SQLITE_OK &&
        file && file->pMethods)
        rc = file->pMethods->xSync(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
    if (rc == SQLITE_OK)
        return;
    log_error("the store's disk failed to sync: the process ends, and the next start copies the "
              "log again; look at the disk",
              LOG_TEXT("store", self->connection.place->path), LOG_INT("code", rc));
    abort();
}

/* Copies while the writer goes on, until what it added meanwhile is little. */
static void copy_most(struct sqlite_checkpointer *self)
{
    int rest = INT_MAX;
    int round;

    for (round = 0; round < PASSIVE_ROUND_MAX && rest > REST_PAGE_COUNT; round++) {
        int copied = 0;

        if (!checkpoint(self, SQLITE_CHECKPOINT_PASSIVE, &copied))
            return;
        sync_database(self);
        pthread_mutex_lock(&self->lock);
        rest = self->page_count - copied;
        pthread_mutex_unlock(&self->lock);
    }
}

/* Copies the rest with the writer standing still, so that its next group starts the log anew. */
static bool finish_held(struct sqlite_checkpointer *self)
{
    int copied;
    bool done;

    pthread_mutex_lock(&self->lock);
    assert(!self->holding);
    self->holding = true;
    while (self->writing && !task_is_stopping(&self->task))
        condition_wait(&self->changed, &self->lock);
    pthread_mutex_unlock(&self->lock);
    sqlite3_busy_timeout(self->connection.db, STORE_WAL_HOLD_MS / 2);
    done = checkpoint(self, SQLITE_CHECKPOINT_RESTART, &copied);
    pthread_mutex_lock(&self->lock);
    self->holding = false;
    if (done)
        self->page_count = 0;
    gauge_set(self->pages_gauge, self->page_count);
    condition_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
    return done;
}

static void checkpointer_main(struct task *task, void *arg)
{
    struct sqlite_checkpointer *self = arg;

    object_check(self, SQLITE_CHECKPOINTER_MAGIC);
    pthread_mutex_lock(&self->lock);
    while (!task_is_stopping(&self->task)) {
        if (self->page_count < self->page_count_max) {
            task_wait_on(task, &self->changed, &self->lock, now_us(self) + IDLE_MS * MS_US);
            continue;
        }
        pthread_mutex_unlock(&self->lock);
        task_says(task, "copying the log into the database");
        copy_most(self);
        if (finish_held(self)) {
            pthread_mutex_lock(&self->lock);
            continue;
        }
        pthread_mutex_lock(&self->lock);
        if (!task_is_stopping(
                &self->task)) /* a reader holds the log: it needs time, not our haste */
            task_wait_on(task, &self->changed, &self->lock, now_us(self) + RETRY_MS * MS_US);
    }
    pthread_mutex_unlock(&self->lock);
}

int sqlite_checkpointer_start(const struct sqlite_place *place,
                              struct sqlite_checkpointer **checkpointer, struct err *err)
{
    struct sqlite_checkpointer *self = mem_zero(sizeof(*self));
    const struct task_options task = {
        .name = "store-wal", .run = checkpointer_main, .arg = self, .clock = place->clock};
    int rc;

    object_begin(self, SQLITE_CHECKPOINTER_MAGIC);
    *checkpointer = NULL;
    rc = sqlite_connect(&self->connection, place, SQLITE_ROLE_CHECKPOINTER, err);
    if (rc) {
        object_end(self, SQLITE_CHECKPOINTER_MAGIC);
        free(self);
        return rc;
    }
    self->page_count_max = place->wal_page_count;
    self->durable = place->durable;
    pthread_mutex_init(&self->lock, NULL);
    condition_init(&self->changed, place->clock);
    self->pages_gauge =
        metrics_gauge("torg_store_wal_pages", NULL, "pages in SQLite's write-ahead log");
    self->held = metrics_histogram("torg_store_wal_held_seconds", NULL,
                                   "time groups waited for the checkpointer");
    self->duration =
        metrics_histogram("torg_store_checkpoint_seconds", NULL, "duration of checkpoints");
    rc = task_start(&self->task, &task, err);
    if (rc)
        sqlite_checkpointer_stop(self);
    else
        *checkpointer = self;
    return rc;
}

void sqlite_checkpointer_stop(struct sqlite_checkpointer *self)
{
    if (!self)
        return;
    object_check(self, SQLITE_CHECKPOINTER_MAGIC);
    pthread_mutex_lock(&self->lock);
    task_ask_stop(&self->task);
    condition_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
    task_stop(&self->task);
    assert(!self->writing && !self->holding);
    sqlite_disconnect(&self->connection);
    pthread_mutex_destroy(&self->lock);
    condition_release(&self->changed);
    object_end(self, SQLITE_CHECKPOINTER_MAGIC);
    free(self);
}

/* Far past the length that starts a checkpoint a group waits for the log to shrink, whoever delays
 * that. */
static bool must_wait(const struct sqlite_checkpointer *self)
{
    return self->holding || self->page_count >= self->page_count_max * STORE_WAL_HELD_FACTOR;
}

int sqlite_checkpointer_enter(struct sqlite_checkpointer *self, struct err *err)
{
    bool in_time = true;
    int64_t start;
    int rc = 0;

    object_check(self, SQLITE_CHECKPOINTER_MAGIC);
    pthread_mutex_lock(&self->lock);
    if (must_wait(self)) {
        start = now_us(self);
        while (must_wait(self) && in_time)
            in_time = condition_wait_until(&self->changed, &self->lock,
                                           start + STORE_WAL_HOLD_MS * MS_US);
        histogram_add(self->held, now_us(self) - start);
    }
    if (self->page_count >= STORE_WAL_PAGE_COUNT_MAX)
        rc = err_set(err, ERR_UNAVAILABLE,
                     "sqlite %s: the log has %d pages, at most %d: a reader holds an old snapshot",
                     self->connection.place->path, self->page_count, STORE_WAL_PAGE_COUNT_MAX);
    else {
        assert(!self->writing); /* one writer, one group at a time */
        self->writing = true;
    }
    pthread_mutex_unlock(&self->lock);
    return rc;
}

void sqlite_checkpointer_leave(struct sqlite_checkpointer *self, int page_count)
{
    object_check(self, SQLITE_CHECKPOINTER_MAGIC);
    pthread_mutex_lock(&self->lock);
    assert(self->writing && page_count >= 0);
    self->writing = false;
    if (page_count > 0) {
        self->page_count = page_count;
        gauge_set(self->pages_gauge, page_count);
    }
    if (self->holding || self->page_count >= self->page_count_max)
        condition_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}
