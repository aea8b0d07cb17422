/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - SQL transactions as functions; the same statements on SQLite and PostgreSQL.
 *
 * A transaction is a function that is run, committed, and run again on a conflict: so it
 * must change nothing outside its arguments that a second run would not set again. It may run
 * on another thread than its caller's (SQLite has one writer for all), so it uses nothing
 * thread-local, waits for nobody, and starts no other transaction (refused).
 *
 * Statements use $1, $2, … and SQL that both backends speak: BIGINT, DOUBLE PRECISION, TEXT and
 * BYTEA columns, ON CONFLICT, RETURNING; casts as CAST(x AS BIGINT), sums cast so (PostgreSQL's
 * sum of BIGINT is a numeric). A statement that failed leaves its transaction only one way: every
 * later statement fails alike and nothing is committed.
 *
 * URLs: sqlite:PATH, sqlite::memory: (for tests: a private temporary directory, not durable, gone
 * at close), postgres://…; each may be wrapped as fault:… in tests.
 * Threads: a store is shared by all; a transaction belongs to the thread that runs it.
 */
#ifndef TORG_STORE_STORE_H
#define TORG_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/err.h"

struct store;
struct store_tx;
struct store_cursor;
struct store_copy;

enum store_type { STORE_NULL, STORE_INT, STORE_REAL, STORE_TEXT, STORE_BLOB };

struct store_value {
    enum store_type type;
    union {
        int64_t integer;
        double real;
        struct bytes bytes; /* TEXT (UTF-8) and BLOB; borrowed */
    };
};

#define STORE_V_NULL ((struct store_value){.type = STORE_NULL})
#define STORE_V_INT(value) ((struct store_value){.type = STORE_INT, .integer = (value)})
#define STORE_V_REAL(value) ((struct store_value){.type = STORE_REAL, .real = (value)})
#define STORE_V_TEXT(value) ((struct store_value){.type = STORE_TEXT, .bytes = (value)})
#define STORE_V_STRING(value) STORE_V_TEXT(bytes_of(value)) /* ends with NUL */
#define STORE_V_BLOB(value) ((struct store_value){.type = STORE_BLOB, .bytes = (value)})

/* The parameters of a statement and their count: two arguments. They live until the block ends. */
#define STORE_WITH(...)                                                                            \
    ((const struct store_value[]){__VA_ARGS__}),                                                   \
        sizeof((const struct store_value[]){__VA_ARGS__}) / sizeof(struct store_value)

/* Zero is the default of each. */
struct store_options {
    const struct clock *clock; /* the system's; borrowed */
    unsigned connection_count; /* readers at a time (SQLite), transactions at a time (PostgreSQL) */
    unsigned wal_page_count;   /* SQLite: 4 KB pages of log that start a checkpoint */
    bool faulty_disk;          /* tests: SQLite's files go through store_fault.h's disk */
    const char *ca; /* PostgreSQL: its certificate's authority; TLS and verify-full. NULL: the URL's
                     * word */
    bool read_committed; /* bench only: PostgreSQL without serializability, to compare */
};

/* On failure *store is NULL. */
int store_open(const char *url, struct store **store, struct err *err);
int store_open_with(const char *url, const struct store_options *options, struct store **store,
                    struct err *err);
void store_close(struct store *store); /* NULL is fine; no transaction may be under way */

/* "sqlite" or "postgres", for logs and for what only one of them can do. */
const char *store_backend(const struct store *store);
const struct clock *store_clock(const struct store *store);
/* A file of this machine: reads wait for the disk at the worst, and writes never conflict. */
bool store_is_local(const struct store *store);

/* Returns 0 to commit; anything negative rolls back and is what store_write returns. */
typedef int (*store_fn)(struct store_tx *tx, void *arg, struct err *err);

/* Runs fn in a serializable transaction; it is durable once this returns 0.
 * ERR_CONFLICT: others were faster too many times. ERR_UNAVAILABLE: disk or server failed, and
 * the text says when it is unknown whether the commit took place; it is then never run again. */
int store_write(struct store *store, store_fn fn, void *arg, struct err *err);

/* Runs fn on one snapshot; it must not write. ERR_UNAVAILABLE of both: all connections are busy,
 * too; ERR_LIMIT is only ever said of a value or a statement, and waiting does not help. */
int store_read(struct store *store, store_fn fn, void *arg, struct err *err);

/* Until store_let_go all reads of this thread may see one snapshot, taken by the first of them:
 * for a run of reads that were all asked for before. The thread must not write meanwhile. */
void store_hold(struct store *store);
void store_let_go(struct store *store);

/* --- inside a transaction --- */

/* Runs one statement. changed (may be NULL) gets the number of rows it wrote. */
int store_exec(struct store_tx *tx, const char *sql, const struct store_value *params,
               size_t param_count, int64_t *changed, struct err *err);

/* The rows of a statement, stepped over one by one:
 *
 *     struct store_rows rows = store_select(tx, "SELECT id, body FROM t WHERE id > $1", &after, 1);
 *
 *     while (store_next(&rows))
 *         rows.rc = take(rows.columns[0].integer, rows.columns[1].bytes, err);
 *     return store_rows_end(&rows, err);
 */
struct store_rows {
    const struct store_value *columns; /* of the current row; valid until the next step */
    size_t column_count;
    int rc; /* the caller's to set: not 0 ends the steps, and store_rows_end returns it */

    /* store.c's own */
    struct store_tx *tx;
    struct store_cursor *cursor; /* NULL: not open */
    bool broken;                 /* the statement failed, and rc with it */
    struct store_copy *copy;     /* of store_read_rows; NULL: of a transaction */
};

/* Runs a statement that gives rows (RETURNING too); its failure is told by store_rows_end. Text and
 * parameters' bytes are borrowed until then. Other statements, the same too, may run meanwhile, but
 * none that writes to what is being read. PostgreSQL's client holds the whole result: page through
 * what may be long with LIMIT. */
struct store_rows store_select(struct store_tx *tx, const char *sql,
                               const struct store_value *params, size_t param_count);
/* The next row is in columns; false when there is none, or rc is set. */
bool store_next(struct store_rows *rows);
/* Ends them, at any row, before the transaction's function returns. The first failure: of the
 * statement, or rc, whose text is the caller's. Zeroed or ended rows are fine. */
int store_rows_end(struct store_rows *rows, struct err *err);

/* The first row's first column, an integer. Nothing found, or NULL: *value is left as it is. */
int store_find_integer(struct store_tx *tx, const char *sql, const struct store_value *params,
                       size_t param_count, int64_t *value, struct err *err);

/* --- one statement, a transaction of its own --- */

/* As store_select, on a snapshot of its own and outside a transaction. The rows are copied before
 * the first is given, so the statement may be run again, and it has a LIMIT where they may be many.
 */
struct store_rows store_read_rows(struct store *store, const char *sql,
                                  const struct store_value *params, size_t param_count);
/* As store_find_integer and store_exec; failures are those of store_read and store_write. */
int store_read_integer(struct store *store, const char *sql, const struct store_value *params,
                       size_t param_count, int64_t *value, struct err *err);
int store_write_one(struct store *store, const char *sql, const struct store_value *params,
                    size_t param_count, int64_t *changed, struct err *err);

#endif
