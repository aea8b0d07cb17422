/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_postgres.c - the backend of store.h for PostgreSQL and what speaks its protocol.
 *
 * A write is SERIALIZABLE; the server refuses what would not be (40001) or deadlocks (40P01), and
 * it is run again. So is one whose connection was lost before COMMIT was sent: the server rolls
 * it back. Once COMMIT was sent only an answer counts. A read is one REPEATABLE READ snapshot.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "store/postgres_pool.h"
#include "store/store_ops.h"

/* Any number nobody else uses in this database. */
#define ALONE_LOCK "7310290150413468277"

struct postgres_store {
    struct store base;
    struct postgres_pool *pool; /* owned */
    const char *begin_write;
    struct counter *commits;
    struct histogram *duration;
};

/* What a failed run means: try again only what cannot have been committed. */
static int judge_failure(const struct postgres_tx *tx, int rc, struct err *err)
{
    if (tx->conflict) {
        err->code = ERR_CONFLICT;
        return STORE_AGAIN;
    }
    if (tx->base.failure.code && (tx->connection->lost || tx->connection->replan)) {
        err->code = ERR_UNAVAILABLE;
        return STORE_AGAIN;
    }
    return rc;
}

static int end_write(struct postgres_store *self, struct postgres_tx *tx, int rc, struct err *err)
{
    struct postgres_connection *connection = tx->connection;

    if (rc) {
        rc = judge_failure(tx, rc, err);
        if (tx->open && !connection->lost)
            postgres_post(connection, "ROLLBACK");
        return rc;
    }
    if (!tx->open)
        return 0;
    switch (postgres_commit(connection, err)) {
    case POSTGRES_COMMITTED:
        counter_add(self->commits, 1);
        return 0;
    case POSTGRES_CONFLICT:
        return STORE_AGAIN;
    case POSTGRES_ROLLED_BACK:
    case POSTGRES_UNKNOWN:
        break;
    }
    return err->code;
}

static int end_read(struct postgres_tx *tx, int rc, struct err *err)
{
    if (rc)
        rc = judge_failure(tx, rc, err);
    if (tx->open && !tx->connection->lost)
        postgres_post(tx->connection, "COMMIT");
    return rc;
}

/* The lock is taken before BEGIN, because a snapshot taken before the wait would be old. Who waits
 * for it has as much time as the one who has it. */
static int enter_alone(struct postgres_connection *connection, struct err *err)
{
    char sql[64];
    int rc;

    snprintf(sql, sizeof(sql), "SET statement_timeout=%d", STORE_MIGRATION_MS_MAX);
    connection->statement_us_max = (int64_t)STORE_MIGRATION_MS_MAX * MS_US;
    rc = postgres_command(connection, sql, err);
    if (rc)
        return rc;
    return postgres_command(connection, "SELECT pg_advisory_lock(" ALONE_LOCK ")", err);
}

static int postgres_run(struct store *store, enum store_mode mode, store_fn fn, void *arg,
                        struct err *err)
{
    struct postgres_store *self = container_of(store, struct postgres_store, base);
    int64_t start = clock_mono_us(store->clock);
    struct postgres_tx tx = {.base = {.ops = &store_postgres_ops, .mode = mode}};
    int rc;

    rc = postgres_pool_take(self->pool, &tx.connection, err);
    if (rc)
        return rc;
    assert(!tx.connection->lost && !tx.connection->replan);
    tx.begin = mode == STORE_MODE_READ ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
                                       : self->begin_write;
    if (mode == STORE_MODE_ALONE)
        rc = enter_alone(tx.connection, err);
    if (rc && tx.connection->lost) {
        err->code = ERR_UNAVAILABLE;
        rc = STORE_AGAIN;
    }
    if (rc == 0) {
        rc = store_run(&tx.base, fn, arg, err);
        rc = mode == STORE_MODE_READ ? end_read(&tx, rc, err) : end_write(self, &tx, rc, err);
    }
    if (mode == STORE_MODE_ALONE) /* the lock and the settings go with the session */
        tx.connection->replan = true;
    if (mode != STORE_MODE_READ)
        histogram_add(self->duration, clock_mono_us(store->clock) - start);
    postgres_pool_give(self->pool, tx.connection);
    return rc;
}

static void postgres_close(struct store *store)
{
    struct postgres_store *self = container_of(store, struct postgres_store, base);

    postgres_pool_free(self->pool);
    free(self);
}

/* Connects once, so that a wrong URL is told at the start. */
static int postgres_open(const char *url, const struct store_options *options, struct store **store,
                         struct err *err)
{
    struct postgres_store *self = mem_zero(sizeof(*self));
    struct postgres_connection *first;
    int rc;

    self->base =
        (struct store){.ops = &store_postgres_ops, .backend = "postgres", .clock = options->clock};
    self->pool = postgres_pool_new(url, options->ca, options->connection_count, options->clock);
    /* Said in either case: a server may have another default. */
    self->begin_write = options->read_committed ? "BEGIN ISOLATION LEVEL READ COMMITTED"
                                                : "BEGIN ISOLATION LEVEL SERIALIZABLE";
    self->commits = metrics_counter("torg_store_commits_total", "backend=\"postgres\"",
                                    "commits, groups counted once");
    self->duration = metrics_histogram("torg_store_commit_seconds", "backend=\"postgres\"",
                                       "time from a transaction's begin to its durable commit");
    rc = postgres_pool_take(self->pool, &first, err);
    if (rc) {
        postgres_close(&self->base);
        return rc;
    }
    postgres_pool_give(self->pool, first);
    *store = &self->base;
    return 0;
}

const struct store_ops store_postgres_ops = {
    .scheme = "postgres",
    .open = postgres_open,
    .close = postgres_close,
    .run = postgres_run,
    .exec = postgres_exec,
    .select = postgres_select,
    .next = postgres_next,
    .end = postgres_end,
};
