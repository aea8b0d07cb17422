/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQLite with FTS5 as a peer of bench core. The words lie in an FTS5 table whose content is the
 * table of listings; attributes are its columns, with indexes. Relevance is FTS5's own bm25, title
 * twice. A page is one statement: the hits once, in a materialised table, then what is counted.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "peers/peer.h"
#include "peers/sql.h"

enum { INDEX_BATCH = 10000 };

static sqlite3 *db, *writer;
static struct facets facets;
static struct {
    sqlite3_stmt *insert, *fts_insert, *fts_delete, *replace, *price, *rank;
} put;

static void check(sqlite3 *on, int rc)
{
    if (rc != SQLITE_OK && rc != SQLITE_ROW && rc != SQLITE_DONE)
        peer_die("SQLite", sqlite3_errmsg(on));
}

static void run(sqlite3 *on, const char *sql)
{
    check(on, sqlite3_exec(on, sql, NULL, NULL, NULL));
}

static sqlite3_stmt *prepare(sqlite3 *on, const char *sql)
{
    sqlite3_stmt *statement = NULL;

    check(on, sqlite3_prepare_v2(on, sql, -1, &statement, NULL));
    return statement;
}

static sqlite3 *connect(const char *dir)
{
    sqlite3 *made = NULL;
    char path[4096];

    snprintf(path, sizeof(path), "%s/listings.db", dir);
    check(made, sqlite3_open(path, &made));
    sqlite3_busy_timeout(made, 60000);
    run(made,
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA mmap_size = 8589934592;"
        "PRAGMA cache_size = -262144; PRAGMA temp_store = MEMORY");
    return made;
}

static void bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
}

static void step(sqlite3 *on, sqlite3_stmt *statement)
{
    check(on, sqlite3_step(statement));
    check(on, sqlite3_reset(statement));
}

static void bind_listing(sqlite3_stmt *statement, const char *const *parts)
{
    sqlite3_bind_int64(statement, 1, strtoll(parts[PART_ID], NULL, 10));
    for (int i = PART_TITLE; i < PART_LAT; i++)
        if (i == PART_PRICE || i == PART_DATE)
            sqlite3_bind_int64(statement, i + 1, strtoll(parts[i], NULL, 10));
        else
            bind_text(statement, i + 1, parts[i]);
}

static void bind_words(sqlite3_stmt *statement, const char *const *parts)
{
    sqlite3_bind_int64(statement, 1, strtoll(parts[PART_ID], NULL, 10));
    bind_text(statement, 2, parts[PART_TITLE]);
    bind_text(statement, 3, parts[PART_TEXT]);
}

static void take(const char *const *parts, void *context)
{
    uint64_t *count = context;

    if (++*count % INDEX_BATCH == 0)
        run(db, "COMMIT; BEGIN");
    bind_listing(put.insert, parts);
    step(db, put.insert);
    bind_words(put.fts_insert, parts);
    step(db, put.fts_insert);
}

static uint32_t make_index(const char *dir, const char *corpus, uint64_t limit)
{
    uint64_t count = 0;

    db = connect(dir);
    run(db, "CREATE TABLE listing (id INTEGER PRIMARY KEY, title TEXT, text TEXT, category TEXT,"
            " brand TEXT, city TEXT, seller TEXT, price INTEGER, date INTEGER, condition TEXT,"
            " delivery TEXT, rank INTEGER DEFAULT 0);"
            "CREATE VIRTUAL TABLE words USING fts5 (title, text, content='listing',"
            " content_rowid='id', tokenize=\"unicode61 remove_diacritics 0 tokenchars '.'\");"
            "INSERT INTO words (words, rank) VALUES ('rank', 'bm25(2.0, 1.0)')");
    put.insert = prepare(db, "INSERT INTO listing (id, title, text, category, brand, city, seller,"
                             " price, date, condition, delivery)"
                             " VALUES (?,?,?,?,?,?,?,?,?,?,?)");
    put.fts_insert = prepare(db, "INSERT INTO words (rowid, title, text) VALUES (?,?,?)");
    run(db, "BEGIN");
    peer_read(corpus, limit, take, &count);
    run(db, "COMMIT");
    sqlite3_finalize(put.insert);
    sqlite3_finalize(put.fts_insert);
    run(db, "CREATE INDEX by_category ON listing (category, price);"
            "CREATE INDEX by_date ON listing (date);"
            "CREATE INDEX by_price ON listing (price);"
            "ANALYZE; PRAGMA wal_checkpoint(TRUNCATE)");
    check(db, sqlite3_close(db));
    db = NULL;
    return 0;
}

static void open_index(const char *dir)
{
    db = connect(dir);
    writer = connect(dir);
}

/* MATCH of FTS5: "title : (a AND b)" and its like. */
static void match_text(const struct ask *ask, struct buf *match)
{
    const char *op = ask_get(ask, "op");
    bool phrase = !strcmp(op, "phrase");
    const char *between = phrase ? " " : !strcmp(op, "and") ? "\" AND \"" : "\" OR \"";

    if (!strcmp(ask_get(ask, "fields"), "text"))
        buf_put_text(match, "text : ");
    buf_put_text(match, "(\"");
    for (const char *at = ask_get(ask, "words"); *at; at++)
        if (*at == ' ')
            buf_put_text(match, between);
        else
            buf_put_byte(match, (uint8_t)*at);
    buf_put_text(match, "\")");
}

/* The statement of a page: rows of (what, value, number). */
static void page_sql(const struct ask *ask, struct buf *sql)
{
    bool text = *ask_get(ask, "op") != 0;

    buf_printf(sql,
               "WITH m AS MATERIALIZED (SELECT l.id, l.price, l.date, l.category, l.brand,"
               " l.city, l.condition, l.delivery FROM %s WHERE 1",
               text ? "words w JOIN listing l ON l.id = w.rowid" : "listing l");
    if (text)
        buf_put_text(sql, " AND words MATCH ?1");
    sql_put_filters(ask, "l.", sql);
    sql_put_page(ask, sql);
}

static void read_row(sqlite3_stmt *statement, struct answer *answer)
{
    int what = sqlite3_column_int(statement, 0);

    if (what == SQL_ROW_TOTAL) {
        answer->has_total = true;
        answer->total = (uint64_t)sqlite3_column_int64(statement, 2);
    } else if (what == SQL_ROW_HIT) {
        answer_add(answer, (uint64_t)sqlite3_column_int64(statement, 1),
                   sqlite3_column_double(statement, 2));
    } else {
        facets_add(&facets, (size_t)what, (const char *)sqlite3_column_text(statement, 1),
                   (uint64_t)sqlite3_column_int64(statement, 2));
    }
}

static void query(const struct ask *ask, struct answer *answer)
{
    struct buf sql = BUF_INIT(1 << 16), match = BUF_INIT(1 << 12);
    sqlite3_stmt *statement;
    uint64_t top = ask_number(ask, "top", 0);
    bool total = ask_number(ask, "total", 0);

    facets_start(&facets, ask_get(ask, "facets"));
    if (*ask_get(ask, "op"))
        match_text(ask, &match);
    if (*ask_get(ask, "facets")) {
        page_sql(ask, &sql);
    } else {
        if (top)
            buf_printf(&sql,
                       "SELECT * FROM (SELECT -2, rowid, -rank FROM words WHERE words MATCH ?1"
                       " ORDER BY rank LIMIT %ju)",
                       (uintmax_t)top);
        if (total || !top)
            buf_printf(&sql, "%s SELECT -1, '', count(*) FROM words WHERE words MATCH ?1",
                       top ? " UNION ALL" : "");
    }
    statement = prepare(db, buf_text(&sql));
    if (match.size)
        bind_text(statement, 1, buf_text(&match));
    for (;;) {
        int rc = sqlite3_step(statement);

        check(db, rc);
        if (rc != SQLITE_ROW)
            break;
        read_row(statement, answer);
    }
    sqlite3_finalize(statement);
    buf_release(&sql);
    buf_release(&match);
}

static void put_facets(struct buf *out)
{
    facets_put(&facets, out);
}

static void change_begin(void)
{
    put.fts_delete = prepare(writer, "INSERT INTO words (words, rowid, title, text)"
                                     " SELECT 'delete', id, title, text FROM listing WHERE id = ?");
    put.fts_insert = prepare(writer, "INSERT INTO words (rowid, title, text) VALUES (?,?,?)");
    put.replace = prepare(writer, "REPLACE INTO listing (id, title, text, category, brand, city,"
                                  " seller, price, date, condition, delivery)"
                                  " VALUES (?,?,?,?,?,?,?,?,?,?,?)");
    put.price = prepare(writer, "UPDATE listing SET price = ?2 WHERE id = ?1");
    put.rank = prepare(writer, "UPDATE listing SET rank = ?2 WHERE id = ?1");
    run(writer, "BEGIN IMMEDIATE");
}

static void change(enum change_kind kind, const char *const *parts, uint64_t number)
{
    sqlite3_int64 id = strtoll(parts[PART_ID], NULL, 10);

    if (kind == CHANGE_WHOLE) {
        sqlite3_bind_int64(put.fts_delete, 1, id);
        step(writer, put.fts_delete);
        bind_listing(put.replace, parts);
        step(writer, put.replace);
        bind_words(put.fts_insert, parts);
        step(writer, put.fts_insert);
    } else {
        sqlite3_stmt *statement = kind == CHANGE_PRICE ? put.price : put.rank;

        sqlite3_bind_int64(statement, 1, id);
        sqlite3_bind_int64(statement, 2,
                           kind == CHANGE_PRICE ? strtoll(parts[PART_PRICE], NULL, 10)
                                                : (sqlite3_int64)number);
        step(writer, statement);
    }
}

static void change_commit(void)
{
    run(writer, "COMMIT; BEGIN IMMEDIATE");
}

static void change_end(void)
{
    run(writer, "COMMIT");
    sqlite3_finalize(put.fts_delete);
    sqlite3_finalize(put.fts_insert);
    sqlite3_finalize(put.replace);
    sqlite3_finalize(put.price);
    sqlite3_finalize(put.rank);
}

static void close_index(void)
{
    sqlite3_close(writer);
    sqlite3_close(db);
    facets_release(&facets);
}

int main(void)
{
    static const struct peer_ops ops = {
        .name = "sqlite",
        .index = make_index,
        .open = open_index,
        .query = query,
        .put_facets = put_facets,
        .change_begin = change_begin,
        .change = change,
        .change_commit = change_commit,
        .change_end = change_end,
        .close = close_index,
    };

    return peer_main(&ops);
}
