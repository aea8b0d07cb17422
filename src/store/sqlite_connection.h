/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_connection.h - one connection to a SQLite file: its settings, statements and errors.
 *
 * Used by one thread at a time. Transactions are begun and ended by the owner (the writer, a
 * reader's turn); statements run by sqlite_exec inside them.
 */
#ifndef TORG_STORE_SQLITE_CONNECTION_H
#define TORG_STORE_SQLITE_CONNECTION_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/object.h"
#include "store/statements.h"
#include "store/store_ops.h"

/* Where the database is; borrowed by its connections. */
struct sqlite_place {
    char *path;                /* owned */
    const char *vfs;           /* NULL: SQLite's own */
    bool durable;              /* synced at commit */
    int wal_page_count;        /* the log's length that starts a checkpoint */
    const struct clock *clock; /* borrowed */
};

enum sqlite_role { SQLITE_ROLE_WRITER, SQLITE_ROLE_READER, SQLITE_ROLE_CHECKPOINTER };

enum { SQLITE_CONNECTION_MAGIC = OBJECT_MAGIC('s', 'q', 'c', 'n') };

struct sqlite_connection {
    uint32_t magic;
    sqlite3 *db;
    const struct sqlite_place *place; /* borrowed */
    struct statements statements;
    sqlite3_stmt *begin;
    sqlite3_stmt *commit;
    sqlite3_stmt *rollback;
    sqlite3_stmt *savepoint;
    sqlite3_stmt *release;
    sqlite3_stmt *rollback_to;
};

struct sqlite_tx {
    struct store_tx base;
    struct sqlite_connection *connection; /* borrowed */
    bool wrote;                           /* a statement that may write was run */
};

int sqlite_connect(struct sqlite_connection *connection, const struct sqlite_place *place,
                   enum sqlite_role role, struct err *err);
void sqlite_disconnect(struct sqlite_connection *connection); /* zeroed is fine */

/* Runs one of the connection's own statements (begin, commit, …). */
int sqlite_step(struct sqlite_connection *connection, sqlite3_stmt *statement, struct err *err);

/* Whether a transaction is open; SQLite ends it by itself after some failures. */
bool sqlite_in_transaction(const struct sqlite_connection *connection);

/* These of store_ops. */
int sqlite_exec(struct store_tx *tx, struct store_call *call, struct err *err);
int sqlite_select(struct store_tx *tx, const struct store_call *call, struct store_cursor **cursor,
                  struct err *err);
int sqlite_next(struct store_tx *tx, struct store_cursor *cursor, struct err *err);
void sqlite_end(struct store_tx *tx, struct store_cursor *cursor);

/* The error of the last call on the connection; doing says what was tried. */
int sqlite_fail(struct sqlite_connection *connection, const char *doing, struct err *err);

#endif
