/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_sqlite.c - the embedded backend of store.h: one file, one writer, parallel readers.
 *
 * Writes go to sqlite_writer. A read borrows a connection from a pool (the last one given back
 * first, its caches being warm) and sees the snapshot of its first statement. Several processes
 * may open the file, as `torg key` beside a server does; SQLite's locks order their writes.
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/object.h"
#include "store/sqlite_connection.h"
#include "store/sqlite_disk.h"
#include "store/sqlite_writer.h"
#include "store/store_fault.h"
#include "store/store_ops.h"
#include "store/turnstile.h"

struct sqlite_store {
    struct store base;
    struct sqlite_place place;
    char *temporary; /* owned: the directory of sqlite::memory:, or NULL */
    struct sqlite_writer *writer;

    struct turnstile readers; /* whoever is in has one connection */
    unsigned reader_max;
    pthread_mutex_t lock;
    struct sqlite_connection **idle; /* owned; a stack */
    unsigned idle_count;
};

/* ---- readers ---- */

/* An idle connection, or a zeroed one to be opened. */
static int borrow(struct sqlite_store *self, struct sqlite_connection **connection, struct err *err)
{
    *connection = NULL;
    if (!turnstile_enter(&self->readers, STORE_WAIT_MS_MAX))
        return err_set(err, ERR_UNAVAILABLE, "sqlite %s: all %u readers are busy for %d ms",
                       self->place.path, self->reader_max, STORE_WAIT_MS_MAX);
    pthread_mutex_lock(&self->lock);
    if (self->idle_count > 0)
        *connection = self->idle[--self->idle_count];
    assert(self->idle_count <= self->reader_max);
    pthread_mutex_unlock(&self->lock);
    if (!*connection)
        *connection = mem_zero(sizeof(**connection));
    return 0;
}

static void give_back(struct sqlite_store *self, struct sqlite_connection *connection, bool usable)
{
    if (usable) {
        object_check(connection, SQLITE_CONNECTION_MAGIC);
        pthread_mutex_lock(&self->lock);
        assert(self->idle_count < self->reader_max);
        self->idle[self->idle_count++] = connection;
        pthread_mutex_unlock(&self->lock);
    } else {
        sqlite_disconnect(connection);
        free(connection);
    }
    turnstile_leave(&self->readers);
}

/* What this thread holds between store_hold and store_let_go. */
static _Thread_local struct {
    struct sqlite_store *store;
    struct sqlite_connection *connection; /* NULL until the first read */
} held;

static int begin_read(struct sqlite_store *self, struct sqlite_connection **connection,
                      struct err *err)
{
    int rc = borrow(self, connection, err);

    if (rc)
        return rc;
    if (!(*connection)->db)
        rc = sqlite_connect(*connection, &self->place, SQLITE_ROLE_READER, err);
    if (rc == 0)
        rc = sqlite_step(*connection, (*connection)->begin, err);
    if (rc)
        give_back(self, *connection, false);
    return rc;
}

static void end_read(struct sqlite_store *self, struct sqlite_connection *connection, bool usable)
{
    struct err ignored;

    if (sqlite_in_transaction(connection))
        sqlite_step(connection, connection->commit, &ignored);
    give_back(self, connection, usable && !sqlite_in_transaction(connection));
}

static int run_read(struct sqlite_store *self, store_fn fn, void *arg, struct err *err)
{
    struct sqlite_tx tx = {.base = {.ops = &store_sqlite_ops, .mode = STORE_MODE_READ}};
    bool holding = held.store == self;
    int rc = 0;

    if (holding)
        tx.connection = held.connection;
    if (!tx.connection)
        rc = begin_read(self, &tx.connection, err);
    if (rc)
        return rc;
    assert(sqlite_in_transaction(tx.connection));
    rc = store_run(&tx.base, fn, arg, err);
    if (holding && rc != ERR_CORRUPT && sqlite_in_transaction(tx.connection)) {
        held.connection = tx.connection;
        return rc;
    }
    if (holding)
        held.connection = NULL;
    end_read(self, tx.connection, rc != ERR_CORRUPT);
    return rc;
}

static void sqlite_hold(struct store *store, bool wanted)
{
    struct sqlite_store *self = container_of(store, struct sqlite_store, base);

    assert(wanted ? !held.store : held.store == self);
    if (held.connection)
        end_read(self, held.connection, true);
    held.connection = NULL;
    held.store = wanted ? self : NULL;
}

static int sqlite_run(struct store *store, enum store_mode mode, store_fn fn, void *arg,
                      struct err *err)
{
    struct sqlite_store *self = container_of(store, struct sqlite_store, base);

    if (mode == STORE_MODE_READ)
        return run_read(self, fn, arg, err);
    assert(held.store != self);
    /* BEGIN IMMEDIATE excludes the writers of every process: each write is alone. */
    return sqlite_writer_run(self->writer, fn, arg, err);
}

/* ---- opening and closing ---- */

static int make_temporary(struct sqlite_store *self, struct err *err)
{
    const char *root = getenv("TMPDIR");
    char path[4096];

    snprintf(path, sizeof(path), "%s/torg-store-XXXXXX", root && root[0] ? root : P_tmpdir);
    if (!mkdtemp(path))
        return err_errno(err, "make a temporary directory %s", path);
    self->temporary = mem_strdup(path);
    snprintf(path, sizeof(path), "%s/store.db", self->temporary);
    self->place.path = mem_strdup(path);
    return 0;
}

static void sqlite_close(struct store *store)
{
    struct sqlite_store *self = container_of(store, struct sqlite_store, base);
    struct err ignored;

    assert(held.store != self);
    while (self->idle_count > 0) {
        struct sqlite_connection *connection = self->idle[--self->idle_count];

        sqlite_disconnect(connection);
        free(connection);
    }
    sqlite_writer_stop(self->writer);
    if (self->temporary)
        dir_remove(self->temporary, &ignored);
    pthread_mutex_destroy(&self->lock);
    turnstile_release(&self->readers);
    free(self->temporary);
    free(self->place.path);
    free(self->idle);
    free(self);
}

static int sqlite_open(const char *url, const struct store_options *options, struct store **store,
                       struct err *err)
{
    const char *path = url + strlen("sqlite:");
    struct sqlite_store *self = mem_zero(sizeof(*self));
    int rc = 0;

    self->base =
        (struct store){.ops = &store_sqlite_ops, .backend = "sqlite", .clock = options->clock};
    self->reader_max = options->connection_count;
    self->idle = mem_array(self->reader_max, sizeof(self->idle[0]));
    turnstile_init(&self->readers, self->reader_max, options->clock);
    pthread_mutex_init(&self->lock, NULL);
    self->place.clock = options->clock;
    self->place.wal_page_count = (int)options->wal_page_count;
    self->place.vfs = options->faulty_disk ? store_fault_vfs() : NULL;
    if (strcmp(path, ":memory:") == 0) {
        rc = make_temporary(self, err);
    } else if (path[0] == 0) {
        rc = err_set(err, ERR_INVALID, "store: sqlite: needs a path, as in sqlite:data/torg.db");
    } else {
        self->place.path = mem_strdup(path);
        self->place.durable = true;
        self->place.vfs = sqlite_disk(self->place.vfs);
    }
    if (rc == 0)
        rc = sqlite_writer_start(&self->place, &self->writer, err);
    if (rc)
        sqlite_close(&self->base);
    else
        *store = &self->base;
    return rc;
}

const struct store_ops store_sqlite_ops = {
    .scheme = "sqlite",
    .open = sqlite_open,
    .close = sqlite_close,
    .run = sqlite_run,
    .exec = sqlite_exec,
    .select = sqlite_select,
    .next = sqlite_next,
    .end = sqlite_end,
    .hold = sqlite_hold,
};
