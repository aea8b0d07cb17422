/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_ops.h - what a backend of store.h provides; for backends and this folder only.
 *
 * store.c checks arguments once for all, keeps a transaction's first failure, and runs again
 * what a backend says was rolled back for sure. A backend runs the function by store_run.
 */
#ifndef TORG_STORE_STORE_OPS_H
#define TORG_STORE_STORE_OPS_H

#include <pthread.h>

#include "base/object.h"
#include "base/seal.h"
#include "store/store.h"

/* Not an err_code: "nothing was committed, run it again". err->code tells what to return when
 * the attempts are used up (ERR_CONFLICT, or ERR_UNAVAILABLE for a lost connection). */
enum { STORE_AGAIN = -1000 };

enum store_mode {
    STORE_MODE_READ,
    STORE_MODE_WRITE,
    STORE_MODE_ALONE, /* a write that waits for every other such one, in all processes */
};

/* What a statement is run with. */
struct store_call {
    const char *sql;
    const struct store_value *params;
    size_t param_count;
    int64_t changed; /* out, of exec */
};

/* A statement whose rows are being read; embedded in each backend's struct. */
struct store_cursor {
    const struct store_value *columns;
    size_t column_count;
};

struct store_ops {
    const char *scheme;
    int (*open)(const char *url, const struct store_options *options, struct store **store,
                struct err *err);
    void (*close)(struct store *store);
    /* One attempt: 0 committed and durable, STORE_AGAIN, or an err_code. err is never NULL. */
    int (*run)(struct store *store, enum store_mode mode, store_fn fn, void *arg, struct err *err);
    int (*exec)(struct store_tx *tx, struct store_call *call, struct err *err);
    /* On failure no cursor is open. */
    int (*select)(struct store_tx *tx, const struct store_call *call, struct store_cursor **cursor,
                  struct err *err);
    /* 1: a row is in the cursor, 0: no more, or an err_code. */
    int (*next)(struct store_tx *tx, struct store_cursor *cursor, struct err *err);
    void (*end)(struct store_tx *tx, struct store_cursor *cursor); /* closes it, at any row */
    void (*hold)(struct store *store, bool held); /* of this thread; NULL: it has no use for it */
};

enum { STORE_MAGIC = OBJECT_MAGIC('s', 't', 'o', 'r') };

struct store {      /* embedded in each backend's struct */
    uint32_t magic; /* set by store_open_with */
    const struct store_ops *ops;
    const char *backend;       /* what store_backend answers: a wrapper says what it wraps */
    const struct clock *clock; /* borrowed */
    pthread_mutex_t seal_lock;
    bool has_seal; /* under the lock, as the next: it was read */
    struct seal seal;
};

enum { STORE_TX_MAGIC = OBJECT_MAGIC('s', 't', 't', 'x') };

struct store_tx {   /* embedded in each backend's struct */
    uint32_t magic; /* while store_run runs its function */
    const struct store_ops *ops;
    enum store_mode mode;
    struct err failure;  /* the first failed statement; code 0 while there is none */
    unsigned open_count; /* cursors */
};

extern const struct store_ops store_sqlite_ops;
extern const struct store_ops store_postgres_ops;
extern const struct store_ops store_fault_ops;

/* tests: one more, found by its scheme; NULL takes it away. Before other threads open stores. */
void store_add_backend(const struct store_ops *ops);

/* Runs fn on this thread as the one transaction it is in. A statement's failure that fn did not
 * pass on is returned all the same. */
int store_run(struct store_tx *tx, store_fn fn, void *arg, struct err *err);

/* As store_write, in STORE_MODE_ALONE. */
int store_write_alone(struct store *store, store_fn fn, void *arg, struct err *err);

/* Refuses what would end or escape the transaction (COMMIT, SAVEPOINT, PRAGMA, …); asked once
 * for each statement, when it is prepared. */
int store_check_sql(const char *sql, struct err *err);

#endif
