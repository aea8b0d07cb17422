/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postgres_connection.h - one connection to a PostgreSQL server, always in pipeline mode.
 *
 * What is sent together costs one round trip: BEGIN travels with the first statement, and a
 * read's COMMIT is sent without waiting, its answer being read at the next use. Integers, doubles
 * and bytes travel in binary. A connection that failed is marked lost and never used again.
 * Used by one thread at a time.
 */
#ifndef TORG_STORE_POSTGRES_CONNECTION_H
#define TORG_STORE_POSTGRES_CONNECTION_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/object.h"
#include "store/statements.h"
#include "store/store_ops.h"

enum { POSTGRES_CONNECTION_MAGIC = OBJECT_MAGIC('p', 'g', 'c', 'n') };

struct postgres_connection {
    uint32_t magic;
    PGconn *link;
    const struct clock *clock; /* borrowed */
    struct statements statements;
    uint64_t prepared_count;  /* names the next prepared statement */
    unsigned answers_due;     /* syncs whose answers nobody has read yet */
    int64_t statement_us_max; /* how long one answer may take */
    bool lost;
    bool replan; /* the schema changed under a prepared statement: use a new connection */
};

struct postgres_tx {
    struct store_tx base;
    struct postgres_connection *connection; /* borrowed */
    const char *begin;                      /* to be sent before the first statement, or NULL */
    bool open;                              /* BEGIN was sent */
    bool conflict;                          /* a statement met 40001 or 40P01 */
};

/* ca: the authority that the server's certificate must be of; NULL: as the URL says. */
int postgres_connect(struct postgres_connection *connection, const char *url, const char *ca,
                     const struct clock *clock, struct err *err);
void postgres_disconnect(struct postgres_connection *connection);

/* Runs a statement of our own without parameters or rows, waiting for its answer. */
int postgres_command(struct postgres_connection *connection, const char *sql, struct err *err);

/* Sends it; the answer is read, and an error in it taken as a loss, at the next use. */
void postgres_post(struct postgres_connection *connection, const char *sql);

enum postgres_commit {
    POSTGRES_COMMITTED,
    POSTGRES_ROLLED_BACK,
    POSTGRES_CONFLICT,
    POSTGRES_UNKNOWN
};

/* Ends the transaction; err is set for all but the first. */
enum postgres_commit postgres_commit(struct postgres_connection *connection, struct err *err);

/* These of store_ops. */
int postgres_exec(struct store_tx *tx, struct store_call *call, struct err *err);
int postgres_select(struct store_tx *tx, const struct store_call *call,
                    struct store_cursor **cursor, struct err *err);
int postgres_next(struct store_tx *tx, struct store_cursor *cursor, struct err *err);
void postgres_end(struct store_tx *tx, struct store_cursor *cursor);

#endif
