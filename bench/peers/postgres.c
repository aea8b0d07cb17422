/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PostgreSQL as a peer of bench core: a tsvector with a GIN index (title weight A, text D), B-tree
 * indexes of the attributes, ts_rank for relevance, the server that TORG_TEST_POSTGRES names. A
 * page is one statement. Times include the way to the server and back, as a program would meet it.
 */
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "peers/peer.h"
#include "peers/sql.h"

enum { TEXT_POSITION_FIRST = 100, POSITION_MAX = 16383, COPY_SIZE = 1 << 16 };

static PGconn *db, *writer;
static struct facets facets;
static struct buf copy = BUF_INIT(16 << 20), vector = BUF_INIT(1 << 20);

static PGresult *ask_server(PGconn *on, const char *sql, int count, const char *const *values)
{
    PGresult *result = PQexecParams(on, sql, count, NULL, values, NULL, NULL, 0);
    ExecStatusType status = PQresultStatus(result);

    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_COPY_IN)
        peer_die("PostgreSQL", PQerrorMessage(on));
    return result;
}

static void run(PGconn *on, const char *sql)
{
    PQclear(ask_server(on, sql, 0, NULL));
}

static PGconn *connect(void)
{
    const char *url = getenv("TORG_TEST_POSTGRES");
    PGconn *made = PQconnectdb(url ? url : "");

    if (PQstatus(made) != CONNECTION_OK)
        peer_die("PostgreSQL", PQerrorMessage(made));
    /* One core each, as everybody has; no compiler for queries of milliseconds. */
    run(made, "SET client_min_messages = error");
    run(made, "CREATE SCHEMA IF NOT EXISTS bench_core"); /* a server's other users stay apart */
    run(made, "SET search_path = bench_core");
    run(made, "SET max_parallel_workers_per_gather = 0");
    run(made, "SET max_parallel_maintenance_workers = 0");
    run(made, "SET jit = off");
    run(made, "SET work_mem = '256MB'");
    run(made, "SET maintenance_work_mem = '512MB'");
    run(made, "SET synchronous_commit = off");
    return made;
}

/* 'word':7A for each word; a word's place beyond what PostgreSQL counts is cut to its last. */
static void put_field(const char *words, uint32_t first, char weight)
{
    uint32_t position = first;

    while (*words) {
        size_t size = strcspn(words, " ");

        buf_printf(&vector, "'%.*s':%u%c ", (int)size, words,
                   position < POSITION_MAX ? position : POSITION_MAX, weight);
        words += size + (words[size] == ' ');
        position++;
    }
}

static const char *vector_of(const char *const *parts)
{
    buf_reset(&vector);
    put_field(parts[PART_TITLE], 1, 'A');
    put_field(parts[PART_TEXT], TEXT_POSITION_FIRST, 'D'); /* far: no phrase across the fields */
    return buf_text(&vector);
}

static void send_copy(void)
{
    if (PQputCopyData(db, (const char *)copy.data, (int)copy.size) != 1)
        peer_die("PostgreSQL", PQerrorMessage(db));
    buf_reset(&copy);
}

static void take(const char *const *parts, void *context)
{
    buf_printf(&copy, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", parts[PART_ID],
               parts[PART_CATEGORY], parts[PART_BRAND], parts[PART_CITY], parts[PART_SELLER],
               parts[PART_PRICE], parts[PART_DATE], parts[PART_CONDITION], parts[PART_DELIVERY],
               vector_of(parts));
    if (copy.size >= COPY_SIZE)
        send_copy();
}

static uint32_t make_index(const char *dir, const char *corpus, uint64_t limit)
{
    PGresult *result;

    db = connect();
    run(db, "DROP TABLE IF EXISTS listing");
    run(db,
        "CREATE TABLE listing (id bigint, category text COLLATE \"C\", brand text, city text,"
        " seller text, price bigint, date bigint, condition text, delivery text, words tsvector,"
        " rank bigint DEFAULT 0)");
    run(db, "COPY listing (id, category, brand, city, seller, price, date, condition, delivery,"
            " words) FROM STDIN");
    peer_read(corpus, limit, take, NULL);
    send_copy();
    PQputCopyEnd(db, NULL);
    for (result = PQgetResult(db); result; result = PQgetResult(db)) {
        if (PQresultStatus(result) != PGRES_COMMAND_OK)
            peer_die("PostgreSQL", PQerrorMessage(db));
        PQclear(result);
    }
    run(db, "ALTER TABLE listing ADD PRIMARY KEY (id)");
    run(db, "CREATE INDEX ON listing USING gin (words)");
    run(db, "CREATE INDEX ON listing (category, price)");
    run(db, "CREATE INDEX ON listing (date)");
    run(db, "CREATE INDEX ON listing (price)");
    run(db, "VACUUM ANALYZE listing");
    run(db, "CHECKPOINT");
    PQfinish(db);
    db = NULL;
    return 0;
}

static void open_index(const char *dir)
{
    db = connect();
    writer = connect();
}

static void put_tsquery(const struct ask *ask, struct buf *out)
{
    const char *op = ask_get(ask, "op");
    const char *between = !strcmp(op, "phrase") ? " <-> " : !strcmp(op, "and") ? " & " : " | ";
    const char *field = !strcmp(ask_get(ask, "fields"), "text") ? ":D" : "";
    const char *at = ask_get(ask, "words");

    while (*at) {
        size_t size = strcspn(at, " ");

        buf_printf(out, "'%.*s'%s%s", (int)size, at, field, at[size] ? between : "");
        at += size + (at[size] == ' ');
    }
}

static void page_sql(const struct ask *ask, struct buf *sql)
{
    buf_put_text(sql, "WITH m AS MATERIALIZED (SELECT id, price, date, category, brand, city,"
                      " condition, delivery FROM listing WHERE true");
    if (*ask_get(ask, "op"))
        buf_put_text(sql, " AND words @@ $1::tsquery");
    sql_put_filters(ask, "", sql);
    sql_put_page(ask, sql);
}

static void text_sql(const struct ask *ask, struct buf *sql)
{
    uint64_t top = ask_number(ask, "top", 0);

    if (top)
        buf_printf(sql,
                   "SELECT * FROM (SELECT -2, id::text, ts_rank('{0.5,0.5,0.5,1}', words,"
                   " $1::tsquery)::float8 AS r FROM listing WHERE words @@ $1::tsquery"
                   " ORDER BY r DESC, id LIMIT %ju) AS h",
                   (uintmax_t)top);
    if (ask_number(ask, "total", 0) || !top)
        buf_printf(sql,
                   "%s SELECT -1, '', count(*)::float8 FROM listing WHERE words @@ $1::tsquery",
                   top ? " UNION ALL" : "");
}

static void query(const struct ask *ask, struct answer *answer)
{
    struct buf sql = BUF_INIT(1 << 16), words = BUF_INIT(1 << 12);
    const char *values[1];
    PGresult *result;

    facets_start(&facets, ask_get(ask, "facets"));
    if (*ask_get(ask, "facets"))
        page_sql(ask, &sql);
    else
        text_sql(ask, &sql);
    put_tsquery(ask, &words);
    values[0] = buf_text(&words);
    result = ask_server(db, buf_text(&sql), words.size ? 1 : 0, values);
    for (int row = 0; row < PQntuples(result); row++) {
        long what = strtol(PQgetvalue(result, row, 0), NULL, 10);
        const char *value = PQgetvalue(result, row, 1), *number = PQgetvalue(result, row, 2);

        if (what == SQL_ROW_TOTAL) {
            answer->has_total = true;
            answer->total = (uint64_t)strtod(number, NULL);
        } else if (what == SQL_ROW_HIT) {
            answer_add(answer, strtoull(value, NULL, 10), strtod(number, NULL));
        } else {
            facets_add(&facets, (size_t)what, value, strtoull(number, NULL, 10));
        }
    }
    PQclear(result);
    buf_release(&sql);
    buf_release(&words);
}

static void put_facets(struct buf *out)
{
    facets_put(&facets, out);
}

static void change_begin(void)
{
    run(writer, "BEGIN");
}

static void change(enum change_kind kind, const char *const *parts, uint64_t number)
{
    char text[24];

    snprintf(text, sizeof(text), "%ju", (uintmax_t)number);
    if (kind == CHANGE_WHOLE) {
        const char *values[] = {parts[PART_ID], parts[PART_PRICE], vector_of(parts)};

        PQclear(ask_server(writer, "UPDATE listing SET price = $2, words = $3 WHERE id = $1", 3,
                           values));
    } else {
        const char *values[] = {parts[PART_ID], kind == CHANGE_PRICE ? parts[PART_PRICE] : text};

        PQclear(ask_server(writer,
                           kind == CHANGE_PRICE ? "UPDATE listing SET price = $2 WHERE id = $1"
                                                : "UPDATE listing SET rank = $2 WHERE id = $1",
                           2, values));
    }
}

static void change_commit(void)
{
    run(writer, "COMMIT");
    run(writer, "BEGIN");
}

static void change_end(void)
{
    run(writer, "COMMIT");
}

static void put_sizes(struct buf *out)
{
    PGresult *result = ask_server(db, "SELECT pg_total_relation_size('listing')", 0, NULL);

    buf_printf(out, "\tdisk=%s", PQgetvalue(result, 0, 0));
    PQclear(result);
}

static void close_index(void)
{
    PQfinish(writer);
    PQfinish(db);
    facets_release(&facets);
    buf_release(&copy);
    buf_release(&vector);
}

int main(void)
{
    static const struct peer_ops ops = {
        .name = "postgres",
        .index = make_index,
        .open = open_index,
        .query = query,
        .put_facets = put_facets,
        .change_begin = change_begin,
        .change = change,
        .change_commit = change_commit,
        .change_end = change_end,
        .close = close_index,
        .put_sizes = put_sizes,
    };

    return peer_main(&ops);
}
