/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c - see store.h: the checks that every backend shares, dispatch, and retries.
 *
 * A transaction is run again only when its backend said STORE_AGAIN: rolled back for sure. Values
 * are checked here so that both backends refuse what only one of them would accept (text that is
 * not UTF-8, NaN).
 */
#include "store/store.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/bounds.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/text.h"
#include "store/bounds.h"
#include "store/sql_split.h"
#include "store/store_ops.h"

static const struct store_ops *const backends[] = {
    &store_sqlite_ops,
    &store_postgres_ops,
    &store_fault_ops,
};

static const struct store_ops *added;

void store_add_backend(const struct store_ops *ops)
{
    added = ops;
}

/* What store_read_rows has read; in its arena itself. */
struct row {
    struct row *next;
    struct store_value columns[];
};

struct store_copy {
    struct arena *arena;
    struct arena_mark begin; /* of the rows */
    struct store_call call;
    struct row *first; /* that was not given yet */
    size_t column_count;
    struct err failure;
};

/* The transaction this thread is running, to refuse one inside another. */
static _Thread_local struct store_tx *current;

int store_open(const char *url, struct store **store, struct err *err)
{
    return store_open_with(url, &(struct store_options){0}, store, err);
}

static int open_backend(const char *url, const struct store_options *chosen, struct store **store,
                        struct err *err)
{
    size_t i;

    if (strncmp(url, "postgresql:", strlen("postgresql:")) == 0) /* libpq knows both spellings */
        return store_postgres_ops.open(url, chosen, store, err);
    for (i = 0; i < ARRAY_COUNT(backends) + (added != NULL); i++) {
        const struct store_ops *ops = i < ARRAY_COUNT(backends) ? backends[i] : added;
        size_t size = strlen(ops->scheme);

        if (strncmp(url, ops->scheme, size) == 0 && url[size] == ':')
            return ops->open(url, chosen, store, err);
    }
    return err_set(err, ERR_INVALID,
                   "store: no backend for this URL; use sqlite:PATH or postgres://…");
}

int store_open_with(const char *url, const struct store_options *options, struct store **store,
                    struct err *err)
{
    struct store_options chosen = *options;
    struct err local;
    int rc;

    assert(url && store);
    *store = NULL;
    if (!err)
        err = &local;
    chosen.clock = clock_or_system(chosen.clock);
    if (chosen.connection_count == 0)
        chosen.connection_count = STORE_CONNECTION_COUNT;
    if (chosen.wal_page_count == 0)
        chosen.wal_page_count = STORE_WAL_PAGE_COUNT;
    if (chosen.wal_page_count > STORE_WAL_PAGE_COUNT_MAX / STORE_WAL_HELD_FACTOR)
        return err_set(err, ERR_LIMIT, "store: a log of %u pages; at most %d",
                       chosen.wal_page_count, STORE_WAL_PAGE_COUNT_MAX / STORE_WAL_HELD_FACTOR);
    if (chosen.connection_count > STORE_CONNECTION_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "store: %u connections; at most %d", chosen.connection_count,
                       STORE_CONNECTION_COUNT_MAX);
    rc = open_backend(url, &chosen, store, err);
    assert(rc <= 0 && !rc == !!*store);
    if (rc == 0) {
        assert((*store)->ops && (*store)->backend && (*store)->clock);
        object_begin(*store, STORE_MAGIC);
        pthread_mutex_init(&(*store)->seal_lock, NULL);
    }
    return rc;
}

void store_close(struct store *store)
{
    if (!store)
        return;
    assert(!current); /* nobody is in a transaction of this thread */
    object_end(store, STORE_MAGIC);
    pthread_mutex_destroy(&store->seal_lock);
    store->ops->close(store);
}

const char *store_backend(const struct store *store)
{
    object_check(store, STORE_MAGIC);
    return store->backend;
}

const struct clock *store_clock(const struct store *store)
{
    object_check(store, STORE_MAGIC);
    return store->clock;
}

bool store_is_local(const struct store *store)
{
    object_check(store, STORE_MAGIC);
    return strcmp(store->backend, store_sqlite_ops.scheme) == 0;
}

/* Full jitter: a random pause below a bound that doubles from 1 ms. */
static void back_off(const struct store *store, int attempt)
{
    int64_t bound_us = (int64_t)MS_US << (attempt < 16 ? attempt : 16);

    if (bound_us > STORE_BACKOFF_MS_MAX * MS_US)
        bound_us = STORE_BACKOFF_MS_MAX * MS_US;
    bound_us = (int64_t)(random_u64() % (uint64_t)bound_us);
    clock_sleep(store->clock, bound_us);
}

static void count_again(const struct store *store)
{
    char labels[METRIC_LABELS_SIZE_MAX];

    snprintf(labels, sizeof(labels), "backend=\"%s\"", store->backend);
    counter_add(metrics_counter("torg_store_retries_total", labels,
                                "transactions run again after a conflict or a lost connection"),
                1);
}

static int run(struct store *store, enum store_mode mode, store_fn fn, void *arg, struct err *err)
{
    struct err local;
    int attempt;
    int rc;

    object_check(store, STORE_MAGIC);
    assert(fn);
    if (!err)
        err = &local;
    if (current)
        return err_set(err, ERR_PRECONDITION,
                       "store: a transaction inside a transaction; use the one that is open");
    for (attempt = 0; attempt < STORE_ATTEMPT_COUNT_MAX; attempt++) {
        if (attempt) {
            count_again(store);
            back_off(store, attempt - 1);
        }
        err->code = 0;
        err->text[0] = 0;
        rc = store->ops->run(store, mode, fn, arg, err);
        assert(rc <= 0 && !current);
        if (rc != STORE_AGAIN)
            return rc;
        assert(err->code < 0);
    }
    err_wrap(err, "store: given up after %d runs", STORE_ATTEMPT_COUNT_MAX);
    return err->code;
}

int store_write(struct store *store, store_fn fn, void *arg, struct err *err)
{
    return run(store, STORE_MODE_WRITE, fn, arg, err);
}

int store_write_alone(struct store *store, store_fn fn, void *arg, struct err *err)
{
    return run(store, STORE_MODE_ALONE, fn, arg, err);
}

int store_read(struct store *store, store_fn fn, void *arg, struct err *err)
{
    return run(store, STORE_MODE_READ, fn, arg, err);
}

void store_hold(struct store *store)
{
    object_check(store, STORE_MAGIC);
    if (store->ops->hold)
        store->ops->hold(store, true);
}

void store_let_go(struct store *store)
{
    object_check(store, STORE_MAGIC);
    if (store->ops->hold)
        store->ops->hold(store, false);
}

int store_run(struct store_tx *tx, store_fn fn, void *arg, struct err *err)
{
    struct store_tx *outer = current;
    int rc;

    assert(tx->ops && tx != outer && tx->open_count == 0);
    object_begin(tx, STORE_TX_MAGIC);
    tx->failure.code = 0;
    current = tx;
    rc = fn(tx, arg, err);
    assert(current == tx);
    object_end(tx, STORE_TX_MAGIC);
    current = outer;
    assert(rc <= 0);
    assert(tx->open_count == 0); /* store_rows_end was forgotten */
    if (tx->failure.code && rc == 0) {
        *err = tx->failure;
        rc = tx->failure.code;
    }
    return rc;
}

static int check_value(const char *sql, size_t index, const struct store_value *value,
                       struct err *err)
{
    bool has_bytes = value->type == STORE_TEXT || value->type == STORE_BLOB;

    if (value->type == STORE_REAL && isnan(value->real))
        return err_set(err, ERR_INVALID, "parameter $%zu is not a number: %.100s", index + 1, sql);
    if (has_bytes && value->bytes.size > STORE_VALUE_SIZE_MAX)
        return err_set(err, ERR_LIMIT, "parameter $%zu has %zu bytes, at most %d: %.100s",
                       index + 1, value->bytes.size, STORE_VALUE_SIZE_MAX, sql);
    if (value->type == STORE_TEXT && value->bytes.size &&
        (memchr(value->bytes.data, 0, value->bytes.size) || !text_is_utf8(value->bytes)))
        return err_set(err, ERR_INVALID,
                       "parameter $%zu is not UTF-8 text without zero bytes: %.100s", index + 1,
                       sql);
    return 0;
}

/* Nothing is run in a transaction that has failed. */
static int check_call(struct store_tx *tx, const struct store_call *call)
{
    struct err *failure = &tx->failure;
    int rc = failure->code;

    object_check(tx, STORE_TX_MAGIC);
    assert(tx == current);
    assert(call->sql && (call->params || call->param_count == 0));
    assert(call->param_count <= STORE_PARAM_COUNT_MAX);
    for (size_t i = 0; i < call->param_count && rc == 0; i++)
        rc = check_value(call->sql, i, &call->params[i], failure);
    return rc;
}

/* The transaction keeps the failure, whose text is there already. */
static int note_failure(struct store_tx *tx, int rc, struct err *err)
{
    assert(rc < 0);
    tx->failure.code = rc;
    if (err)
        *err = tx->failure;
    return rc;
}

int store_exec(struct store_tx *tx, const char *sql, const struct store_value *params,
               size_t param_count, int64_t *changed, struct err *err)
{
    struct store_call call = {.sql = sql, .params = params, .param_count = param_count};
    int rc = check_call(tx, &call);

    if (rc == 0)
        rc = tx->ops->exec(tx, &call, &tx->failure);
    assert(rc <= 0 && call.changed >= 0);
    if (changed)
        *changed = rc ? 0 : call.changed;
    return rc ? note_failure(tx, rc, err) : 0;
}

static void break_off(struct store_rows *rows, int rc)
{
    rows->rc = note_failure(rows->tx, rc, NULL);
    rows->broken = true;
}

struct store_rows store_select(struct store_tx *tx, const char *sql,
                               const struct store_value *params, size_t param_count)
{
    const struct store_call call = {.sql = sql, .params = params, .param_count = param_count};
    struct store_rows rows = {.tx = tx};
    int rc = check_call(tx, &call);

    if (rc == 0)
        rc = tx->ops->select(tx, &call, &rows.cursor, &tx->failure);
    if (rc)
        break_off(&rows, rc);
    else
        tx->open_count++;
    assert(!rc == !!rows.cursor);
    return rows;
}

static bool next_copy(struct store_rows *rows)
{
    struct row *row = rows->copy->first;

    rows->columns = row ? row->columns : NULL;
    rows->column_count = row ? rows->copy->column_count : 0;
    if (row)
        rows->copy->first = row->next;
    return row != NULL;
}

bool store_next(struct store_rows *rows)
{
    struct store_tx *tx = rows->tx;
    int rc;

    if (rows->rc)
        return false;
    if (rows->copy)
        return next_copy(rows);
    rc = tx->failure.code; /* another statement's, meanwhile */
    assert(rows->cursor && tx == current);
    object_check(tx, STORE_TX_MAGIC);
    assert(rows->cursor && tx == current && tx->open_count > 0);
    if (rc == 0)
        rc = tx->ops->next(tx, rows->cursor, &tx->failure);
    assert(rc <= 1);
    rows->columns = rc > 0 ? rows->cursor->columns : NULL;
    rows->column_count = rc > 0 ? rows->cursor->column_count : 0;
    if (rc < 0)
        break_off(rows, rc);
    return rc > 0;
}

static void end_copy(struct store_rows *rows, struct err *err)
{
    if (rows->broken && err)
        *err = rows->copy->failure;
    arena_free(rows->copy->arena);
    rows->copy = NULL;
    rows->columns = NULL;
    rows->broken = false; /* it is told */
}

int store_rows_end(struct store_rows *rows, struct err *err)
{
    struct store_tx *tx = rows->tx;

    if (rows->copy)
        end_copy(rows, err);
    if (rows->cursor) {
        assert(tx == current && tx->open_count > 0);
        tx->open_count--;
        tx->ops->end(tx, rows->cursor);
        rows->cursor = NULL;
        rows->columns = NULL;
    }
    if (rows->broken && err)
        *err = tx->failure;
    return rows->rc;
}

/* --- one statement, a transaction of its own --- */

static int copy_rows(struct store_tx *tx, void *arg, struct err *err)
{
    struct store_copy *copy = arg;
    struct arena *arena = copy->arena;
    struct row **last = &copy->first;
    struct store_rows rows;

    arena_rewind(arena, copy->begin); /* of a run before this one */
    copy->first = NULL;
    rows = store_select(tx, copy->call.sql, copy->call.params, copy->call.param_count);
    while (store_next(&rows)) {
        size_t size = rows.column_count * sizeof(struct store_value);
        struct row *row = arena_alloc(arena, sizeof(*row) + size);

        copy->column_count = rows.column_count;
        row->next = NULL;
        for (size_t i = 0; i < rows.column_count; i++) {
            row->columns[i] = rows.columns[i];
            if (row->columns[i].type == STORE_TEXT || row->columns[i].type == STORE_BLOB)
                row->columns[i].bytes = arena_copy(arena, rows.columns[i].bytes);
        }
        *last = row;
        last = &row->next;
    }
    return store_rows_end(&rows, err);
}

struct store_rows store_read_rows(struct store *store, const char *sql,
                                  const struct store_value *params, size_t param_count)
{
    struct arena *arena = arena_new();
    struct store_copy *copy = arena_alloc(arena, sizeof(*copy));
    struct store_rows rows = {.copy = copy};

    *copy = (struct store_copy){.arena = arena,
                                .call = {.sql = sql, .params = params, .param_count = param_count}};
    copy->begin = arena_mark(arena);
    rows.rc = store_read(store, copy_rows, copy, &copy->failure);
    rows.broken = rows.rc != 0;
    return rows;
}

static int first_integer(struct store_rows *rows, const char *sql, int64_t *value, struct err *err)
{
    if (store_next(rows)) {
        if (rows->columns[0].type == STORE_INT)
            *value = rows->columns[0].integer;
        else if (rows->columns[0].type != STORE_NULL) /* SQLite keeps what it is given */
            rows->rc =
                err_set(err, ERR_CORRUPT, "expected an integer, found another type: %.150s", sql);
    }
    return store_rows_end(rows, err);
}

int store_find_integer(struct store_tx *tx, const char *sql, const struct store_value *params,
                       size_t param_count, int64_t *value, struct err *err)
{
    struct store_rows rows = store_select(tx, sql, params, param_count);

    return first_integer(&rows, sql, value, err);
}

int store_read_integer(struct store *store, const char *sql, const struct store_value *params,
                       size_t param_count, int64_t *value, struct err *err)
{
    struct store_rows rows = store_read_rows(store, sql, params, param_count);

    return first_integer(&rows, sql, value, err);
}

static int exec_call(struct store_tx *tx, void *arg, struct err *err)
{
    struct store_call *call = arg;

    return store_exec(tx, call->sql, call->params, call->param_count, &call->changed, err);
}

int store_write_one(struct store *store, const char *sql, const struct store_value *params,
                    size_t param_count, int64_t *changed, struct err *err)
{
    struct store_call call = {.sql = sql, .params = params, .param_count = param_count};
    int rc = store_write(store, exec_call, &call, err);

    if (changed)
        *changed = rc ? 0 : call.changed;
    return rc;
}

int store_check_sql(const char *sql, struct err *err)
{
    static const char *const refused[] = {
        "begin",   "start", "commit", "end",     "rollback", "abort",      "savepoint",
        "release", "set",   "reset",  "prepare", "attach",   "detach",     "pragma",
        "vacuum",  "copy",  "lock",   "listen",  "discard",  "deallocate",
    };
    struct bytes text = bytes_of(sql);
    struct bytes statement;
    size_t word = 0;
    size_t i;

    if (strlen(sql) > STORE_SQL_SIZE_MAX)
        return err_set(err, ERR_LIMIT, "a statement of more than %d bytes: %.100s…",
                       STORE_SQL_SIZE_MAX, sql);
    if (!sql_next(&text, &statement))
        return err_set(err, ERR_INTERNAL, "an empty statement");
    while (word < statement.size && isalpha(statement.data[word]))
        word++;
    for (i = 0; i < ARRAY_COUNT(refused); i++)
        if (strlen(refused[i]) == word &&
            strncasecmp((const char *)statement.data, refused[i], word) == 0)
            return err_set(err, ERR_INVALID, "%s is not for a transaction's function: %.100s",
                           refused[i], sql);
    return 0;
}
