/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postgres_connection.c - see postgres_connection.h.
 *
 * Parameters get the types that the server infers: a statement is described once, when it is
 * prepared, and each value is encoded for the type found there. So a NULL needs no type, and the
 * same text serves every call. Results come in binary; a type we do not know is refused with the
 * advice to cast it.
 */
#include "store/postgres_connection.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/endian.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/text.h"

/* Of pg_type.dat; fixed for ever. */
enum {
    OID_BOOL = 16,
    OID_BYTEA = 17,
    OID_INT8 = 20,
    OID_INT2 = 21,
    OID_INT4 = 23,
    OID_TEXT = 25,
    OID_FLOAT4 = 700,
    OID_FLOAT8 = 701,
    OID_VARCHAR = 1043,
};

enum { NUMBER_TEXT_SIZE = 32, NAME_SIZE = 24, STATE_SIZE = 6 };

struct prepared {
    struct statement base;
    char name[NAME_SIZE];
    size_t param_count;
    Oid types[STORE_PARAM_COUNT_MAX];
};

/* One statement's parameters as libpq wants them. */
struct encoded {
    const char *values[STORE_PARAM_COUNT_MAX];
    int lengths[STORE_PARAM_COUNT_MAX];
    int formats[STORE_PARAM_COUNT_MAX];
    char scratch[STORE_PARAM_COUNT_MAX][NUMBER_TEXT_SIZE];
};

/* The whole answer, read row by row. */
struct result_cursor {
    struct store_cursor base;
    PGresult *result; /* owned */
    const char *sql;  /* borrowed */
    int row;          /* the next one */
    struct store_value columns[];
};

/* ---- errors ---- */

/* libpq ends its messages with a line end, and breaks them: an error here is one line. */
static int link_err(const PGconn *link, const char *what, const char *doing, struct err *err)
{
    char reason[256];
    size_t size = 0;

    snprintf(reason, sizeof(reason), "%s", link ? PQerrorMessage(link) : "no memory");
    for (size_t i = 0; reason[i]; i++) {
        if (reason[i] >= ' ' || reason[i] < 0)
            reason[size++] = reason[i];
        else if (size && reason[size - 1] != ' ')
            reason[size++] = ' ';
    }
    while (size && reason[size - 1] == ' ')
        size--;
    reason[size] = 0;
    return err_set(err, ERR_UNAVAILABLE, "postgres: %s: %s%s%.100s", what,
                   size ? reason : "no answer in time", *doing ? ": " : "", doing);
}

static int lose(struct postgres_connection *connection, const char *doing, struct err *err)
{
    connection->lost = true;
    return link_err(connection->link, "the connection is lost", doing, err);
}

static int code_of(const char *state)
{
    if (strcmp(state, "23505") == 0)
        return ERR_EXISTS;
    if (strncmp(state, "40", 2) == 0)
        return ERR_CONFLICT;
    if (strncmp(state, "22", 2) == 0 || strncmp(state, "23", 2) == 0 ||
        strcmp(state, "25006") == 0) /* a write in a read-only transaction */
        return ERR_INVALID;
    if (strcmp(state, "57014") == 0 || strcmp(state, "55P03") == 0) /* statement, lock timeout */
        return ERR_TIMEOUT;
    if (strcmp(state, "54000") == 0)
        return ERR_LIMIT;
    if (strcmp(state, "XX001") == 0 || strcmp(state, "XX002") == 0)
        return ERR_CORRUPT;
    if (strncmp(state, "53", 2) == 0 || strncmp(state, "57", 2) == 0 ||
        strncmp(state, "58", 2) == 0 || strncmp(state, "08", 2) == 0)
        return ERR_UNAVAILABLE;
    return ERR_INTERNAL;
}

static void state_of(const PGresult *result, char state[STATE_SIZE])
{
    const char *found = PQresultErrorField(result, PG_DIAG_SQLSTATE);

    snprintf(state, STATE_SIZE, "%s", found ? found : "");
}

static int fail(const PGresult *result, const char *sql, struct err *err)
{
    const char *primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *detail = PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);
    char state[STATE_SIZE];

    state_of(result, state);
    return err_set(err, code_of(state), "postgres: %.200s (%s)%s%.100s: %.150s",
                   primary ? primary : PQresultErrorMessage(result), state, detail ? ": " : "",
                   detail ? detail : "", sql);
}

/* ---- waiting for answers ---- */

/* Reads until libpq has a whole result or the deadline is past. */
static bool wait_result(struct postgres_connection *connection, int64_t deadline_us)
{
    PGconn *link = connection->link;

    while (PQisBusy(link)) {
        int64_t left_us = deadline_us - clock_mono_us(connection->clock);
        struct pollfd fd = {.fd = PQsocket(link), .events = POLLIN};
        int ready;

        if (left_us <= 0)
            return false;
        ready = poll(&fd, 1, (int)(left_us / MS_US) + 1);
        if (ready < 0 && errno != EINTR)
            return false;
        if (ready > 0 && !PQconsumeInput(link))
            return false;
    }
    return true;
}

/* Reads everything up to the next sync. *wanted gets the first error if there is one, else the
 * last result; NULL only when the connection is lost. */
static int read_answers(struct postgres_connection *connection, const char *doing,
                        PGresult **wanted, struct err *err)
{
    int64_t deadline = clock_mono_us(connection->clock) + connection->statement_us_max;
    PGresult *kept = NULL;
    int idle_count = 0; /* NULLs in a row: one ends a command's results, more mean trouble */

    *wanted = NULL;
    assert(connection->answers_due > 0);
    for (;;) {
        PGresult *result;
        ExecStatusType status;

        if (!wait_result(connection, deadline) || idle_count > 1)
            break;
        result = PQgetResult(connection->link);
        if (!result) {
            idle_count++;
            continue;
        }
        idle_count = 0;
        status = PQresultStatus(result);
        if (status == PGRES_PIPELINE_SYNC) {
            PQclear(result);
            connection->answers_due--;
            *wanted = kept;
            return 0;
        }
        if (status == PGRES_PIPELINE_ABORTED ||
            (kept && PQresultStatus(kept) == PGRES_FATAL_ERROR)) {
            PQclear(result);
            continue;
        }
        PQclear(kept);
        kept = result;
    }
    /* The server's last words, if any, say more than "connection closed". */
    if (kept && PQresultStatus(kept) == PGRES_FATAL_ERROR)
        err_set(err, ERR_UNAVAILABLE, "postgres: the connection is lost: %.300s: %.100s",
                PQresultErrorMessage(kept), doing);
    else
        lose(connection, doing, err);
    connection->lost = true;
    PQclear(kept);
    return ERR_UNAVAILABLE;
}

static int send_sync(struct postgres_connection *connection, const char *doing, struct err *err)
{
    if (!PQpipelineSync(connection->link))
        return lose(connection, doing, err);
    connection->answers_due++;
    return 0;
}

/* Reads what earlier posts left unread; an error there means that the session is not clean. */
static int read_leftovers(struct postgres_connection *connection, struct err *err)
{
    PGresult *result;
    int rc = 0;

    while (rc == 0 && connection->answers_due > 0) {
        rc = read_answers(connection, "end of the last transaction", &result, err);
        if (rc == 0 && PQresultStatus(result) == PGRES_FATAL_ERROR)
            rc = lose(connection, "end of the last transaction", err);
        PQclear(result);
    }
    return rc;
}

static bool send_text(struct postgres_connection *connection, const char *sql)
{
    return PQsendQueryParams(connection->link, sql, 0, NULL, NULL, NULL, NULL, 1) == 1;
}

int postgres_command(struct postgres_connection *connection, const char *sql, struct err *err)
{
    PGresult *result = NULL;
    int rc;

    rc = read_leftovers(connection, err);
    object_check(connection, POSTGRES_CONNECTION_MAGIC);
    if (rc == 0 && !send_text(connection, sql))
        rc = lose(connection, sql, err);
    if (rc == 0)
        rc = send_sync(connection, sql, err);
    if (rc == 0)
        rc = read_answers(connection, sql, &result, err);
    if (rc == 0 && PQresultStatus(result) == PGRES_FATAL_ERROR)
        rc = fail(result, sql, err);
    PQclear(result);
    return rc;
}

void postgres_post(struct postgres_connection *connection, const char *sql)
{
    struct err ignored;

    object_check(connection, POSTGRES_CONNECTION_MAGIC);
    if (read_leftovers(connection, &ignored))
        return;
    if (!send_text(connection, sql))
        connection->lost = true;
    else
        send_sync(connection, sql, &ignored);
}

/* An error in the answer, the connection being well, means that nothing was committed. Without an
 * answer nobody can know. "ROLLBACK" is what COMMIT answers in a transaction that had failed. */
enum postgres_commit postgres_commit(struct postgres_connection *connection, struct err *err)
{
    enum postgres_commit outcome = POSTGRES_UNKNOWN;
    char state[STATE_SIZE] = "";
    PGresult *result = NULL;

    object_check(connection, POSTGRES_CONNECTION_MAGIC);
    if (!send_text(connection, "COMMIT") || send_sync(connection, "COMMIT", err) ||
        read_answers(connection, "COMMIT", &result, err)) {
        connection->lost = true;
        link_err(connection->link, "no answer to COMMIT: it is unknown whether it took place", "",
                 err);
        return POSTGRES_UNKNOWN;
    }
    if (PQresultStatus(result) == PGRES_FATAL_ERROR) {
        state_of(result, state);
        outcome = strncmp(state, "40", 2) == 0 ? POSTGRES_CONFLICT : POSTGRES_ROLLED_BACK;
        fail(result, "COMMIT", err);
    } else if (strcmp(PQcmdStatus(result), "COMMIT") == 0) {
        outcome = POSTGRES_COMMITTED;
    } else {
        outcome = POSTGRES_ROLLED_BACK;
        err_set(err, ERR_INTERNAL, "postgres: COMMIT answered %s", PQcmdStatus(result));
    }
    PQclear(result);
    return outcome;
}

/* ---- connecting ---- */

int postgres_connect(struct postgres_connection *connection, const char *url, const char *ca,
                     const struct clock *clock, struct err *err)
{
    /* The URL may override what stands before it, and nothing behind it. */
    const char *const names[] = {"connect_timeout",  "application_name",
                                 "keepalives_idle",  "keepalives_count",
                                 "tcp_user_timeout", "dbname",
                                 "client_encoding",  ca ? "sslmode" : NULL,
                                 "sslrootcert",      NULL};
    char connect_s[NUMBER_TEXT_SIZE];
    char user_timeout_ms[NUMBER_TEXT_SIZE];
    const char *const values[] = {connect_s, "torg", "15",          "4", user_timeout_ms,
                                  url,       "UTF8", "verify-full", ca,  NULL};
    char settings[256];
    PGresult *result;
    int rc = 0;

    memset(connection, 0, sizeof(*connection));
    object_begin(connection, POSTGRES_CONNECTION_MAGIC);
    connection->clock = clock;
    connection->statement_us_max = (int64_t)(STORE_STATEMENT_MS_MAX + 5000) * MS_US;
    snprintf(connect_s, sizeof(connect_s), "%d", STORE_CONNECT_S_MAX);
    snprintf(user_timeout_ms, sizeof(user_timeout_ms), "%d", STORE_STATEMENT_MS_MAX);
    connection->link = PQconnectdbParams(names, values, 1);
    if (!connection->link || PQstatus(connection->link) != CONNECTION_OK) {
        rc = link_err(connection->link, "cannot connect", "", err);
        goto out;
    }
    snprintf(settings, sizeof(settings),
             "SET statement_timeout=%d; SET idle_in_transaction_session_timeout=%d;"
             "SET synchronous_commit=on; SET bytea_output=hex; SET client_min_messages=error",
             STORE_STATEMENT_MS_MAX, 2 * STORE_STATEMENT_MS_MAX);
    result = PQexec(connection->link, settings);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        rc = link_err(connection->link, "cannot set up the session", "", err);
    PQclear(result);
    if (rc == 0 && !PQenterPipelineMode(connection->link))
        rc = lose(connection, "pipeline mode", err);
out:
    if (rc)
        postgres_disconnect(connection);
    return rc;
}

static void prepared_free(struct prepared *prepared)
{
    if (!prepared)
        return;
    statement_release(&prepared->base);
    free(prepared);
}

void postgres_disconnect(struct postgres_connection *connection)
{
    struct statement *statement;

    object_check(connection, POSTGRES_CONNECTION_MAGIC);
    for (;;) {
        statement = statements_take(&connection->statements);
        if (!statement)
            break;
        prepared_free(container_of(statement, struct prepared, base));
    }
    PQfinish(connection->link);
    connection->link = NULL;
    connection->lost = true;
}

/* ---- preparing ---- */

static int describe(struct prepared *prepared, const PGresult *result, struct err *err)
{
    int count = PQnparams(result);
    int i;

    if (count > STORE_PARAM_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "%d parameters, at most %d: %.150s", count,
                       STORE_PARAM_COUNT_MAX, prepared->base.sql);
    if (PQnfields(result) > STORE_COLUMN_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "%d columns, at most %d: %.150s", PQnfields(result),
                       STORE_COLUMN_COUNT_MAX, prepared->base.sql);
    prepared->param_count = (size_t)count;
    for (i = 0; i < count; i++)
        prepared->types[i] = PQparamtype(result, i);
    return 0;
}

/* Frees the statement's name on the server too; its answer joins the next ones. */
static void forget(struct postgres_connection *connection, struct statement *evicted)
{
    struct prepared *prepared = container_of(evicted, struct prepared, base);
    char sql[NAME_SIZE + 16];

    snprintf(sql, sizeof(sql), "DEALLOCATE %s", prepared->name);
    postgres_post(connection, sql);
    prepared_free(prepared);
}

static int prepare(struct postgres_tx *tx, const char *sql, struct prepared **prepared,
                   struct err *err)
{
    struct postgres_connection *connection = tx->connection;
    struct prepared *made = mem_zero(sizeof(*made));
    struct statement *evicted;
    PGresult *result = NULL;
    int rc;

    statement_init(&made->base, sql);
    snprintf(made->name, sizeof(made->name), "s%ju", (uintmax_t)connection->prepared_count++);
    rc = store_check_sql(sql, err);
    if (rc)
        goto out;
    if (!PQsendPrepare(connection->link, made->name, sql, 0, NULL) ||
        !PQsendDescribePrepared(connection->link, made->name)) {
        rc = lose(connection, sql, err);
        goto out;
    }
    rc = send_sync(connection, sql, err);
    if (rc == 0)
        rc = read_answers(connection, sql, &result, err);
    if (rc == 0 && PQresultStatus(result) == PGRES_FATAL_ERROR)
        rc = fail(result, sql, err);
    if (rc == 0)
        rc = describe(made, result, err);
    if (rc)
        goto out;
    evicted = statements_keep(&connection->statements, &made->base);
    if (evicted)
        forget(connection, evicted);
    *prepared = made;
    made = NULL;
out:
    PQclear(result);
    prepared_free(made);
    return rc;
}

/* ---- values ---- */

static void put_be64(char *to, uint64_t value)
{
    value = htobe64(value);
    memcpy(to, &value, sizeof(value));
}

static void put_be_int(char *to, int64_t value, int size)
{
    int i;

    for (i = 0; i < size; i++)
        to[i] = (char)(value >> (8 * (size - 1 - i)));
}

static bool fits(int64_t value, Oid type)
{
    return (type == OID_INT8) || (type == OID_INT4 && value == (int32_t)value) ||
           (type == OID_INT2 && value == (int16_t)value);
}

/* SQLite would keep the value in its own type; here bytes would become text unasked. */
static int check_type(const struct prepared *prepared, size_t i, const struct store_value *value,
                      struct err *err)
{
    Oid type = prepared->types[i];
    bool text = type == OID_TEXT || type == OID_VARCHAR;

    if ((value->type == STORE_BLOB && type != OID_BYTEA) || (value->type == STORE_TEXT && !text))
        return err_set(err, ERR_INVALID,
                       "parameter $%zu is a %s where type oid %u is expected: %.150s", i + 1,
                       value->type == STORE_BLOB ? "blob" : "text", type, prepared->base.sql);
    return 0;
}

/* In binary where the server's type is the value's own; else as text, for the server to judge. */
static void encode(struct encoded *to, size_t i, const struct store_value *value, Oid type)
{
    char *scratch = to->scratch[i];
    double real = value->type == STORE_REAL ? value->real : (double)value->integer;
    uint64_t bits;

    to->values[i] = scratch;
    to->formats[i] = 1;
    if (value->type == STORE_NULL) {
        to->values[i] = NULL;
        to->lengths[i] = 0;
    } else if (value->type == STORE_INT && fits(value->integer, type)) {
        to->lengths[i] = type == OID_INT8 ? 8 : type == OID_INT4 ? 4 : 2;
        put_be_int(scratch, value->integer, to->lengths[i]);
    } else if ((value->type == STORE_REAL || value->type == STORE_INT) && type == OID_FLOAT8) {
        memcpy(&bits, &real, sizeof(bits));
        put_be64(scratch, bits);
        to->lengths[i] = 8;
    } else if (value->type == STORE_INT) {
        to->formats[i] = 0;
        snprintf(scratch, NUMBER_TEXT_SIZE, "%jd", (intmax_t)value->integer);
    } else if (value->type == STORE_REAL) {
        to->formats[i] = 0;
        snprintf(scratch, NUMBER_TEXT_SIZE, "%.17g", value->real);
    } else {
        to->values[i] = value->bytes.size ? (const char *)value->bytes.data : "";
        to->lengths[i] = (int)value->bytes.size;
    }
}

static int64_t get_be_int(const char *from, int size)
{
    uint64_t value = (from[0] & 0x80) ? UINT64_MAX : 0;
    int i;

    for (i = 0; i < size; i++)
        value = (value << 8) | (uint8_t)from[i];
    return (int64_t)value;
}

static double get_real(const char *from, int size)
{
    uint64_t bits = (uint64_t)get_be_int(from, size);
    uint32_t half = (uint32_t)bits;
    double real;
    float single;

    if (size == 4) {
        memcpy(&single, &half, sizeof(single));
        return (double)single;
    }
    memcpy(&real, &bits, sizeof(real));
    return real;
}

static int decode(const PGresult *result, int row, int column, const char *sql,
                  struct store_value *value, struct err *err)
{
    const char *data = PQgetvalue(result, row, column);
    int size = PQgetlength(result, row, column);
    Oid type = PQftype(result, column);

    if (PQgetisnull(result, row, column)) {
        *value = STORE_V_NULL;
        return 0;
    }
    switch (type) {
    case OID_BOOL:
    case OID_INT2:
    case OID_INT4:
    case OID_INT8:
        *value = STORE_V_INT(get_be_int(data, size));
        return 0;
    case OID_FLOAT4:
    case OID_FLOAT8:
        *value = STORE_V_REAL(get_real(data, size));
        return 0;
    case OID_TEXT:
    case OID_VARCHAR:
        *value = STORE_V_TEXT(bytes_make(data, (size_t)size));
        return 0;
    case OID_BYTEA:
        *value = STORE_V_BLOB(bytes_make(data, (size_t)size));
        return 0;
    default:
        return err_set(err, ERR_UNSUPPORTED,
                       "postgres: column %d (%s) has a type we do not read (oid %u): cast it to "
                       "BIGINT, DOUBLE PRECISION, TEXT or BYTEA: %.150s",
                       column + 1, PQfname(result, column), type, sql);
    }
}

/* ---- statements ---- */

/* Sends BEGIN, when it is due, and the statement; reads both answers. */
static int execute(struct postgres_tx *tx, const struct prepared *prepared,
                   const struct store_call *call, PGresult **result, struct err *err)
{
    struct postgres_connection *connection = tx->connection;
    struct encoded encoded;
    size_t i;
    int rc;

    rc = read_leftovers(connection, err); /* preparing may have made room by a DEALLOCATE */
    if (rc)
        return rc;
    for (i = 0; i < call->param_count; i++) {
        rc = check_type(prepared, i, &call->params[i], err);
        if (rc)
            return rc;
        encode(&encoded, i, &call->params[i], prepared->types[i]);
    }
    if (tx->begin && !tx->open && !send_text(connection, tx->begin))
        return lose(connection, tx->begin, err);
    tx->open = true;
    if (!PQsendQueryPrepared(connection->link, prepared->name, (int)call->param_count,
                             encoded.values, encoded.lengths, encoded.formats, 1))
        return lose(connection, call->sql, err);
    rc = send_sync(connection, call->sql, err);
    if (rc == 0)
        rc = read_answers(connection, call->sql, result, err);
    return rc;
}

static void judge(struct postgres_tx *tx, const PGresult *result)
{
    const char *place = PQresultErrorField(result, PG_DIAG_SOURCE_FUNCTION);
    char state[STATE_SIZE];

    state_of(result, state);
    if (strncmp(state, "40", 2) == 0)
        tx->conflict = true;
    /* "cached plan must not change result type": a migration ran; a new session knows better.
     * The server has no code for it alone, and its text depends on its language. */
    if (strcmp(state, "0A000") == 0 && place && strcmp(place, "RevalidateCachedQuery") == 0)
        tx->connection->replan = true;
}

static int64_t changed_of(PGresult *result)
{
    int64_t count = 0;

    /* For a query this is the count of rows it gave; only what it wrote is wanted. */
    if (strncmp(PQcmdStatus(result), "SELECT", 6) != 0)
        text_to_i64(bytes_of(PQcmdTuples(result)), &count);
    return count;
}

/* Runs it; *result is the caller's to clear, and NULL on failure. */
static int run(struct postgres_tx *tx, const struct store_call *call, PGresult **result,
               struct err *err)
{
    struct statement *found;
    struct prepared *prepared = NULL;
    int rc;

    *result = NULL;
    rc = read_leftovers(tx->connection, err);
    if (rc)
        return rc;
    found = statements_find(&tx->connection->statements, call->sql);
    if (found)
        prepared = container_of(found, struct prepared, base);
    else
        rc = prepare(tx, call->sql, &prepared, err);
    if (rc)
        return rc;
    if (prepared->param_count != call->param_count)
        rc = err_set(err, ERR_INTERNAL, "%zu parameters given, $%zu is the last used: %.150s",
                     call->param_count, prepared->param_count, call->sql);
    else
        rc = execute(tx, prepared, call, result, err);
    if (rc == 0 && PQresultStatus(*result) == PGRES_FATAL_ERROR) {
        judge(tx, *result);
        rc = fail(*result, call->sql, err);
        PQclear(*result);
        *result = NULL;
    }
    return rc;
}

int postgres_exec(struct store_tx *tx, struct store_call *call, struct err *err)
{
    PGresult *result;
    int rc = run(container_of(tx, struct postgres_tx, base), call, &result, err);

    if (rc == 0)
        call->changed = changed_of(result);
    PQclear(result);
    return rc;
}

int postgres_select(struct store_tx *tx, const struct store_call *call,
                    struct store_cursor **cursor, struct err *err)
{
    struct result_cursor *self;
    PGresult *result;
    int rc = run(container_of(tx, struct postgres_tx, base), call, &result, err);
    size_t count;

    *cursor = NULL;
    if (rc)
        return rc;
    count = (size_t)PQnfields(result);
    self = mem_alloc(sizeof(*self) + count * sizeof(self->columns[0]));
    self->base = (struct store_cursor){self->columns, count};
    self->result = result;
    self->sql = call->sql;
    self->row = 0;
    *cursor = &self->base;
    return 0;
}

int postgres_next(struct store_tx *tx, struct store_cursor *cursor, struct err *err)
{
    struct result_cursor *self = container_of(cursor, struct result_cursor, base);
    int rc = 0;

    (void)tx;
    if (self->row == PQntuples(self->result))
        return 0;
    for (size_t i = 0; i < cursor->column_count && rc == 0; i++)
        rc = decode(self->result, self->row, (int)i, self->sql, &self->columns[i], err);
    self->row++;
    return rc ? rc : 1;
}

void postgres_end(struct store_tx *tx, struct store_cursor *cursor)
{
    struct result_cursor *self = container_of(cursor, struct result_cursor, base);

    (void)tx;
    PQclear(self->result);
    free(self);
}
