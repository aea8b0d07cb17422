/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_connection.c - see sqlite_connection.h.
 *
 * SQLite takes $1 for a name and numbers parameters by first appearance, so each prepared
 * statement keeps a map from its positions to ours. Values are bound without copies: they are
 * the caller's until the statement is reset, which is before sqlite_exec or sqlite_end returns.
 */
#include "store/sqlite_connection.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/text.h"

struct prepared {
    struct statement base;
    sqlite3_stmt *handle;
    int position_count;
    uint16_t param_of[STORE_PARAM_COUNT_MAX]; /* position (from 0) → number of $n, less one */
    size_t param_count;                       /* the highest n */
    bool readonly;
    bool done; /* it has no more rows */
    struct store_cursor cursor;
    struct store_value *columns; /* owned; the cursor's */
    size_t column_max;
};

static int code_of(int extended)
{
    switch (extended) {
    case SQLITE_CONSTRAINT_UNIQUE:
    case SQLITE_CONSTRAINT_PRIMARYKEY:
    case SQLITE_CONSTRAINT_ROWID:
        return ERR_EXISTS;
    default:
        break;
    }
    switch (extended & 0xff) {
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_RANGE:
    case SQLITE_AUTH:
        return ERR_INVALID;
    case SQLITE_TOOBIG:
        return ERR_LIMIT;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return ERR_CORRUPT;
    case SQLITE_ERROR:
    case SQLITE_MISUSE:
        return ERR_INTERNAL;
    default: /* IOERR, FULL, BUSY, CANTOPEN, READONLY, … */
        return ERR_UNAVAILABLE;
    }
}

int sqlite_fail(struct sqlite_connection *connection, const char *doing, struct err *err)
{
    int extended = sqlite3_extended_errcode(connection->db);
    int code = code_of(extended);
    const char *advice = "";

    object_check(connection, SQLITE_CONNECTION_MAGIC);
    if (code == ERR_CORRUPT)
        advice = "; the file is damaged: restore it from a backup";
    else if ((extended & 0xff) == SQLITE_FULL)
        advice = "; make room on the disk";
    else if ((extended & 0xff) == SQLITE_BUSY)
        advice = "; another process is writing";
    return err_set(err, code, "sqlite %s: %s (%d)%s: %.150s", connection->place->path,
                   sqlite3_errmsg(connection->db), extended, advice, doing);
}

/* ---- connecting ---- */

static int run_text(struct sqlite_connection *connection, const char *sql, struct err *err)
{
    if (sqlite3_exec(connection->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        return sqlite_fail(connection, sql, err);
    return 0;
}

static int prepare_own(struct sqlite_connection *connection, const char *sql,
                       sqlite3_stmt **statement, struct err *err)
{
    if (sqlite3_prepare_v3(connection->db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL) !=
        SQLITE_OK)
        return sqlite_fail(connection, sql, err);
    return 0;
}

/* SQLite's busy handler is not asked when two processes turn a new file to WAL at the same moment
 * (waiting there could be for each other), so the one that came second asks again by itself. */
static int turn_to_wal(struct sqlite_connection *connection, struct err *err)
{
    const struct clock *clock = connection->place->clock;
    int64_t deadline = clock_mono_us(clock) + (int64_t)STORE_LOCK_MS_MAX * MS_US;
    int rc;

    for (;;) {
        rc = run_text(connection,
                      "PRAGMA page_size=4096; PRAGMA auto_vacuum=NONE; PRAGMA journal_mode=WAL;",
                      err);
        if (rc == 0 || (sqlite3_extended_errcode(connection->db) & 0xff) != SQLITE_BUSY ||
            clock_mono_us(clock) > deadline)
            return rc;
        clock_sleep(clock, 5 * MS_US);
    }
}

/* Why these: Debian's SQLite overwrites what is deleted (secure_delete) and we need not;
 * checkpoints have a thread of their own; a group is never spilled before its commit; readers
 * map the file, because every commit empties their private page caches (a disk that fails to read
 * then kills the process: the price). The log keeps its size when it begins anew: growing costs. */
static int set_up(struct sqlite_connection *connection, enum sqlite_role role, struct err *err)
{
    static const char *const of_role[] = {
        [SQLITE_ROLE_WRITER] = "PRAGMA cache_size=-65536; PRAGMA cache_spill=OFF;"
                               "PRAGMA journal_size_limit=268435456;",
        [SQLITE_ROLE_READER] = "PRAGMA query_only=ON; PRAGMA cache_size=-8192;"
                               "PRAGMA mmap_size=2147418112;",
        [SQLITE_ROLE_CHECKPOINTER] = "PRAGMA cache_size=-256;",
    };
    int rc = 0;

    sqlite3_busy_timeout(connection->db, STORE_LOCK_MS_MAX);
    if (role == SQLITE_ROLE_WRITER)
        rc = turn_to_wal(connection, err);
    if (rc == 0)
        rc = run_text(
            connection,
            connection->place->durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=OFF", err);
    if (rc == 0)
        rc =
            run_text(connection,
                     "PRAGMA wal_autocheckpoint=0; PRAGMA secure_delete=OFF;"
                     "PRAGMA temp_store=MEMORY; PRAGMA foreign_keys=ON; PRAGMA trusted_schema=OFF;",
                     err);
    if (rc == 0)
        rc = run_text(connection, of_role[role], err);
    return rc;
}

int sqlite_connect(struct sqlite_connection *connection, const struct sqlite_place *place,
                   enum sqlite_role role, struct err *err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    int rc;

    memset(connection, 0, sizeof(*connection));
    object_begin(connection, SQLITE_CONNECTION_MAGIC);
    connection->place = place;
    if (role == SQLITE_ROLE_WRITER)
        flags |= SQLITE_OPEN_CREATE;
    if (sqlite3_open_v2(place->path, &connection->db, flags, place->vfs) != SQLITE_OK) {
        rc = sqlite_fail(connection, "open", err);
        goto out;
    }
    sqlite3_extended_result_codes(connection->db, 1);
    sqlite3_limit(connection->db, SQLITE_LIMIT_LENGTH, 2 * STORE_VALUE_SIZE_MAX);
    rc = set_up(connection, role, err);
    if (rc == 0 && role != SQLITE_ROLE_CHECKPOINTER)
        rc = prepare_own(connection, role == SQLITE_ROLE_WRITER ? "BEGIN IMMEDIATE" : "BEGIN",
                         &connection->begin, err);
    if (rc == 0)
        rc = prepare_own(connection, "COMMIT", &connection->commit, err);
    if (rc == 0)
        rc = prepare_own(connection, "ROLLBACK", &connection->rollback, err);
    if (rc == 0)
        rc = prepare_own(connection, "SAVEPOINT member", &connection->savepoint, err);
    if (rc == 0)
        rc = prepare_own(connection, "RELEASE member", &connection->release, err);
    if (rc == 0)
        rc = prepare_own(connection, "ROLLBACK TO member", &connection->rollback_to, err);
out:
    if (rc)
        sqlite_disconnect(connection);
    return rc;
}

static void prepared_free(struct prepared *prepared)
{
    if (!prepared)
        return;
    sqlite3_finalize(prepared->handle);
    statement_release(&prepared->base);
    free(prepared->columns);
    free(prepared);
}

void sqlite_disconnect(struct sqlite_connection *connection)
{
    struct statement *statement;

    if (!connection->db)
        return;
    object_check(connection, SQLITE_CONNECTION_MAGIC);
    for (;;) {
        statement = statements_take(&connection->statements);
        if (!statement)
            break;
        prepared_free(container_of(statement, struct prepared, base));
    }
    sqlite3_finalize(connection->begin);
    sqlite3_finalize(connection->commit);
    sqlite3_finalize(connection->rollback);
    sqlite3_finalize(connection->savepoint);
    sqlite3_finalize(connection->release);
    sqlite3_finalize(connection->rollback_to);
    sqlite3_close_v2(connection->db);
    connection->db = NULL;
    object_end(connection, SQLITE_CONNECTION_MAGIC);
}

int sqlite_step(struct sqlite_connection *connection, sqlite3_stmt *statement, struct err *err)
{
    int rc = 0;

    object_check(connection, SQLITE_CONNECTION_MAGIC);
    if (sqlite3_step(statement) != SQLITE_DONE)
        rc = sqlite_fail(connection, sqlite3_sql(statement), err);
    sqlite3_reset(statement);
    return rc;
}

bool sqlite_in_transaction(const struct sqlite_connection *connection)
{
    object_check(connection, SQLITE_CONNECTION_MAGIC);
    return !sqlite3_get_autocommit(connection->db);
}

/* ---- statements ---- */

static int map_params(struct prepared *prepared, struct err *err)
{
    int count = sqlite3_bind_parameter_count(prepared->handle);
    int i;

    if (count > STORE_PARAM_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "%d parameters, at most %d: %.150s", count,
                       STORE_PARAM_COUNT_MAX, prepared->base.sql);
    prepared->position_count = count;
    for (i = 0; i < count; i++) {
        const char *name = sqlite3_bind_parameter_name(prepared->handle, i + 1);
        uint64_t number = 0;

        if (!name || name[0] != '$' || !text_to_u64(bytes_of(name + 1), &number) || number < 1 ||
            number > STORE_PARAM_COUNT_MAX)
            return err_set(err, ERR_INTERNAL,
                           "parameter %s: write $1, $2, … and casts as CAST($1 AS TEXT): %.150s",
                           name ? name : "?", prepared->base.sql);
        prepared->param_of[i] = (uint16_t)(number - 1);
        if (number > prepared->param_count)
            prepared->param_count = number;
    }
    return 0;
}

static int prepare(struct sqlite_connection *connection, const char *sql,
                   struct prepared **prepared, struct err *err)
{
    struct prepared *made = mem_zero(sizeof(*made));
    struct statement *evicted;
    const char *tail = NULL;
    int rc;

    statement_init(&made->base, sql);
    rc = store_check_sql(sql, err);
    if (rc)
        goto out;
    if (sqlite3_prepare_v3(connection->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &made->handle,
                           &tail) != SQLITE_OK) {
        rc = sqlite_fail(connection, sql, err);
        goto out;
    }
    if (!made->handle || tail[strspn(tail, "; \t\r\n")]) {
        rc = err_set(err, ERR_INTERNAL, "not one statement: %.150s", sql);
        goto out;
    }
    rc = map_params(made, err);
    if (rc)
        goto out;
    made->readonly = sqlite3_stmt_readonly(made->handle);
    evicted = statements_keep(&connection->statements, &made->base);
    if (evicted)
        prepared_free(container_of(evicted, struct prepared, base));
    *prepared = made;
    made = NULL;
out:
    prepared_free(made);
    return rc;
}

static int bind_value(sqlite3_stmt *handle, int position, const struct store_value *value)
{
    /* A NULL pointer would bind NULL, not an empty value. */
    const void *data = value->bytes.size ? (const void *)value->bytes.data : "";

    switch (value->type) {
    case STORE_NULL:
        return sqlite3_bind_null(handle, position);
    case STORE_INT:
        return sqlite3_bind_int64(handle, position, value->integer);
    case STORE_REAL:
        return sqlite3_bind_double(handle, position, value->real);
    case STORE_TEXT:
        return sqlite3_bind_text64(handle, position, data, value->bytes.size, SQLITE_STATIC,
                                   SQLITE_UTF8);
    case STORE_BLOB:
        return sqlite3_bind_blob64(handle, position, data, value->bytes.size, SQLITE_STATIC);
    }
    return SQLITE_MISUSE;
}

static struct store_value column_value(sqlite3_stmt *handle, int column)
{
    const void *data;

    switch (sqlite3_column_type(handle, column)) {
    case SQLITE_INTEGER:
        return STORE_V_INT(sqlite3_column_int64(handle, column));
    case SQLITE_FLOAT:
        return STORE_V_REAL(sqlite3_column_double(handle, column));
    case SQLITE_TEXT:
        data = sqlite3_column_text(handle, column);
        return STORE_V_TEXT(bytes_make(data, (size_t)sqlite3_column_bytes(handle, column)));
    case SQLITE_BLOB:
        data = sqlite3_column_blob(handle, column);
        return STORE_V_BLOB(bytes_make(data, (size_t)sqlite3_column_bytes(handle, column)));
    default:
        return STORE_V_NULL;
    }
}

/* SQLite prepares again by itself when the schema has changed, and SELECT * then has more. */
static int fill_columns(struct prepared *prepared, struct err *err)
{
    size_t count = (size_t)sqlite3_column_count(prepared->handle);

    if (count > STORE_COLUMN_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "%zu columns, at most %d: %.150s", count,
                       STORE_COLUMN_COUNT_MAX, prepared->base.sql);
    if (count > prepared->column_max) {
        prepared->columns = mem_resize(prepared->columns, count * sizeof(*prepared->columns));
        prepared->column_max = count;
    }
    for (size_t i = 0; i < count; i++)
        prepared->columns[i] = column_value(prepared->handle, (int)i);
    prepared->cursor = (struct store_cursor){prepared->columns, count};
    return 0;
}

/* 1: a row, 0: no more, or an err_code. */
static int step(struct sqlite_tx *tx, struct prepared *prepared, struct err *err)
{
    int stepped = prepared->done ? SQLITE_DONE : sqlite3_step(prepared->handle);

    if (stepped == SQLITE_ROW)
        return 1;
    prepared->done = true;
    return stepped == SQLITE_DONE ? 0 : sqlite_fail(tx->connection, prepared->base.sql, err);
}

static void finish(struct prepared *prepared)
{
    assert(prepared->base.busy);
    sqlite3_reset(prepared->handle);
    prepared->base.busy = false;
    if (!prepared->base.kept)
        prepared_free(prepared);
}

static int bind(struct sqlite_tx *tx, struct prepared *prepared, const struct store_call *call,
                struct err *err)
{
    if (prepared->param_count != call->param_count)
        return err_set(err, ERR_INTERNAL, "%zu parameters given, $%zu is the last used: %.150s",
                       call->param_count, prepared->param_count, call->sql);
    if (tx->base.mode == STORE_MODE_READ && !prepared->readonly)
        return err_set(err, ERR_INVALID, "store_read may not write: %.150s", call->sql);
    for (int i = 0; i < prepared->position_count; i++)
        if (bind_value(prepared->handle, i + 1, &call->params[prepared->param_of[i]]) != SQLITE_OK)
            return sqlite_fail(tx->connection, call->sql, err);
    return 0;
}

/* Finds or prepares the statement and binds its values; finish() is due unless this fails. */
static int begin(struct sqlite_tx *tx, const struct store_call *call, struct prepared **prepared,
                 struct err *err)
{
    struct statement *found = statements_find(&tx->connection->statements, call->sql);
    int rc = 0;

    object_check(tx->connection, SQLITE_CONNECTION_MAGIC);
    if (found)
        *prepared = container_of(found, struct prepared, base);
    else
        rc = prepare(tx->connection, call->sql, prepared, err);
    if (rc)
        return rc;
    assert(!(*prepared)->base.busy);
    (*prepared)->base.busy = true;
    (*prepared)->done = false;
    rc = bind(tx, *prepared, call, err);
    if (rc)
        finish(*prepared);
    else
        tx->wrote |= !(*prepared)->readonly;
    return rc;
}

int sqlite_exec(struct store_tx *base, struct store_call *call, struct err *err)
{
    struct sqlite_tx *tx = container_of(base, struct sqlite_tx, base);
    sqlite3 *db = tx->connection->db;
    sqlite3_int64 before = sqlite3_total_changes64(db);
    struct prepared *prepared;
    int rc;

    rc = begin(tx, call, &prepared, err);
    if (rc)
        return rc;
    do
        rc = step(tx, prepared, err);
    while (rc > 0);
    /* changes() keeps the last statement's count when this one could write nothing. */
    if (rc == 0 && sqlite3_total_changes64(db) != before)
        call->changed = sqlite3_changes64(db);
    finish(prepared);
    return rc;
}

int sqlite_select(struct store_tx *tx, const struct store_call *call, struct store_cursor **cursor,
                  struct err *err)
{
    struct prepared *prepared;
    int rc = begin(container_of(tx, struct sqlite_tx, base), call, &prepared, err);

    *cursor = rc ? NULL : &prepared->cursor;
    return rc;
}

int sqlite_next(struct store_tx *tx, struct store_cursor *cursor, struct err *err)
{
    struct prepared *prepared = container_of(cursor, struct prepared, cursor);
    int rc = step(container_of(tx, struct sqlite_tx, base), prepared, err);
    int filled = rc > 0 ? fill_columns(prepared, err) : 0;

    return filled ? filled : rc;
}

/* What writes has written all, and checked it, before its first row. */
void sqlite_end(struct store_tx *tx, struct store_cursor *cursor)
{
    (void)tx;
    finish(container_of(cursor, struct prepared, cursor));
}
