/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c - see rows.h; packing is in rows_pack.c. */
#include "registry/receiving/rows.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "numerator/numerator.h"
#include "registry/many.h"

#define COLUMNS                                                                                    \
    "hash, pk, epoch, version, modify_us, status, expires_us, content, dictionary, "               \
    "backfill_idx, "
#define ORDERS "SELECT " COLUMNS "'', '' FROM registry "
#define WHOLES "SELECT " COLUMNS "document, side FROM registry "
#define SIDES "SELECT " COLUMNS "'', side FROM registry "

enum { COLUMN_COUNT = 12 };

static void take_columns(const struct store_value *columns, size_t column_count,
                         struct arena *arena, struct row *row)
{
    assert(column_count == COLUMN_COUNT);
    *row = (struct row){.hash = columns[0].integer,
                        .pk = arena_copy(arena, columns[1].bytes),
                        .order = {.epoch = columns[2].integer,
                                  .version = columns[3].integer,
                                  .modify_us = columns[4].integer},
                        .status = (int)columns[5].integer,
                        .expires_us = columns[6].integer,
                        .content = columns[7].integer,
                        .dictionary = columns[8].integer,
                        .backfill_idx = columns[9].integer,
                        .packed = arena_copy(arena, columns[10].bytes)};
    if (columns[11].type != STORE_NULL)
        row->side = arena_copy(arena, columns[11].bytes);
}

/* --- by keys --- */

/* A list of hashes (IN) would say the same in fewer words; but while PostgreSQL knows nothing of
 * the table yet, it then reads all rows of the client (measured: 90 ms for 10 000). */
#define OF_HASH "WHERE client_id = $1 AND hash = ?"
static struct many find_orders = {.head = "",
                                  .row = ORDERS OF_HASH,
                                  .join = " UNION ALL ",
                                  .tail = "",
                                  .shared_count = 1,
                                  .own_count = 1};
static struct many find_wholes = {.head = "",
                                  .row = WHOLES OF_HASH,
                                  .join = " UNION ALL ",
                                  .tail = "",
                                  .shared_count = 1,
                                  .own_count = 1};
static struct many find_sides = {.head = "",
                                 .row = SIDES OF_HASH,
                                 .join = " UNION ALL ",
                                 .tail = "",
                                 .shared_count = 1,
                                 .own_count = 1};

struct asked {
    const struct bytes *pks;
    struct row *rows;
    size_t count;
    size_t first; /* asks before this one are answered */
    struct arena *arena;
};

/* A row belongs to whoever asked for its pk: a hash may be another's too. Answers come about in the
 * order of the asks. */
static void take_asked(struct asked *asked, const struct store_rows *found)
{
    for (size_t i = 0; i < asked->count; i++) {
        size_t place = (asked->first + i) % asked->count;
        struct row *row = &asked->rows[place];

        if (row->hash != found->columns[0].integer || row->status ||
            !bytes_equal(asked->pks[place], found->columns[1].bytes))
            continue;
        take_columns(found->columns, found->column_count, asked->arena, row);
        asked->first = place;
        return;
    }
    /* a key asked for twice has its rows twice, and a third may have this hash */
}

static void fill_hash(const void *rows, size_t place, struct store_value *own)
{
    own[0] = STORE_V_INT(((const struct row *)rows)[place].hash);
}

static int find_many(struct store_tx *tx, struct many *many, int64_t client_id,
                     const struct bytes *pks, size_t count, struct arena *arena, struct row *rows,
                     struct err *err)
{
    const struct store_value shared[] = {STORE_V_INT(client_id)};
    struct asked asked = {.pks = pks, .rows = rows, .count = count, .arena = arena};
    struct many_chunk chunk;
    int rc = 0;

    for (size_t i = 0; i < count; i++)
        rows[i] = (struct row){.hash = number_key_hash(pks[i])};
    chunk.done = 0;
    while (!rc && many_next(many, shared, rows, count, fill_hash, &chunk)) {
        struct store_rows found = store_select(tx, chunk.sql, chunk.params, chunk.param_count);

        while (store_next(&found))
            take_asked(&asked, &found);
        rc = store_rows_end(&found, err);
    }
    return rc;
}

int rows_find(struct store_tx *tx, int64_t client_id, const struct bytes *pks, size_t count,
              bool with_document, struct arena *arena, struct row *rows, struct err *err)
{
    return find_many(tx, with_document ? &find_wholes : &find_orders, client_id, pks, count, arena,
                     rows, err);
}

int rows_find_sides(struct store_tx *tx, int64_t client_id, const struct bytes *pks, size_t count,
                    struct arena *arena, struct row *rows, struct err *err)
{
    return find_many(tx, &find_sides, client_id, pks, count, arena, rows, err);
}

int row_find(struct store_tx *tx, int64_t client_id, struct bytes pk, bool with_document,
             struct arena *arena, struct row *row, bool *found, struct err *err)
{
    int rc = rows_find(tx, client_id, &pk, 1, with_document, arena, row, err);

    *found = !rc && row->status;
    return rc;
}

struct row_reading {
    int64_t client_id;
    struct bytes pk;
    bool with_document;
    struct arena *arena;
    struct row *row;
    bool *found;
};

static int read_row(struct store_tx *tx, void *arg, struct err *err)
{
    const struct row_reading *reading = arg;

    return row_find(tx, reading->client_id, reading->pk, reading->with_document, reading->arena,
                    reading->row, reading->found, err);
}

int row_read(struct store *store, int64_t client_id, struct bytes pk, bool with_document,
             struct arena *arena, struct row *row, bool *found, struct err *err)
{
    struct row_reading reading = {client_id, pk, with_document, arena, row, found};

    *found = false;
    return store_read(store, read_row, &reading, err);
}

/* --- by hashes --- */

struct scan {
    struct arena *arena;
    struct row *rows;
    size_t count;
    size_t room;
};

static int take_scanned(struct store_rows *found, struct scan *scan, struct err *err)
{
    while (store_next(found)) {
        if (scan->count == scan->room) {
            size_t room = scan->room ? 2 * scan->room : 64;
            struct row *rows = arena_array(scan->arena, room, sizeof(*rows));

            if (scan->count)
                memcpy(rows, scan->rows, scan->count * sizeof(*rows));
            scan->rows = rows;
            scan->room = room;
        }
        take_columns(found->columns, found->column_count, scan->arena, &scan->rows[scan->count++]);
    }
    return store_rows_end(found, err);
}

/* The rows of one hash: nearly always one. */
static int scan_hash(struct store_tx *tx, int64_t client_id, int64_t hash, bool with_document,
                     struct scan *scan, struct err *err)
{
    struct store_rows found =
        store_select(tx,
                     with_document ? WHOLES "WHERE client_id = $1 AND hash = $2"
                                   : ORDERS "WHERE client_id = $1 AND hash = $2",
                     STORE_WITH(STORE_V_INT(client_id), STORE_V_INT(hash)));

    return take_scanned(&found, scan, err);
}

int rows_scan(struct store_tx *tx, int64_t client_id, int64_t after, int64_t last, size_t max,
              bool with_document, struct arena *arena, struct row **rows, size_t *count,
              struct err *err)
{
    const struct store_value params[] = {STORE_V_INT(client_id), STORE_V_INT(after),
                                         STORE_V_INT(last), STORE_V_INT((int64_t)max)};
    struct scan scan = {.arena = arena};
    struct store_rows found =
        store_select(tx,
                     with_document ? WHOLES "WHERE client_id = $1 AND hash > $2 AND hash <= $3 "
                                            "ORDER BY hash LIMIT $4"
                                   : ORDERS "WHERE client_id = $1 AND hash > $2 AND hash <= $3 "
                                            "ORDER BY hash LIMIT $4",
                     params, 4);
    int rc = take_scanned(&found, &scan, err);

    if (!rc && scan.count == max && max > 0) { /* the last hash may have more: all of it again */
        int64_t cut = scan.rows[scan.count - 1].hash;

        while (scan.count && scan.rows[scan.count - 1].hash == cut)
            scan.count--;
        rc = scan_hash(tx, client_id, cut, with_document, &scan, err);
    }
    *rows = scan.rows;
    *count = scan.count;
    return rc;
}

static void fill_given_hash(const void *hashes, size_t place, struct store_value *own)
{
    own[0] = STORE_V_INT(((const int64_t *)hashes)[place]);
}

int rows_find_hashes(struct store_tx *tx, int64_t client_id, const int64_t *hashes, size_t count,
                     struct arena *arena, struct row **rows, size_t *row_count, struct err *err)
{
    const struct store_value shared[] = {STORE_V_INT(client_id)};
    struct scan scan = {.arena = arena};
    struct many_chunk chunk;
    int rc = 0;

    chunk.done = 0;
    while (!rc && many_next(&find_orders, shared, hashes, count, fill_given_hash, &chunk)) {
        struct store_rows found = store_select(tx, chunk.sql, chunk.params, chunk.param_count);

        rc = take_scanned(&found, &scan, err);
    }
    *rows = scan.rows;
    *row_count = scan.count;
    return rc;
}

/* --- writing --- */

static void fill_row(const void *rows, size_t place, struct store_value *own)
{
    const struct row *row = ((const struct row *const *)rows)[place];

    assert(row->status == ROW_ALIVE || row->status == ROW_TOMBSTONE);
    own[0] = STORE_V_INT(row->hash);
    own[1] = STORE_V_TEXT(row->pk);
    own[2] = STORE_V_INT(row->order.epoch);
    own[3] = STORE_V_INT(row->order.version);
    own[4] = STORE_V_INT(row->order.modify_us);
    own[5] = STORE_V_INT(row->status);
    own[6] = STORE_V_INT(row->expires_us);
    own[7] = STORE_V_INT(row->content);
    own[8] = STORE_V_INT(row->dictionary);
    own[9] = STORE_V_BLOB(row->packed);
}

static struct many save_many = {
    .head = "INSERT INTO registry (client_id, hash, pk, epoch, version, modify_us, status, "
            "expires_us, content, dictionary, document) VALUES ",
    .row = "($1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    .tail = " ON CONFLICT (client_id, hash, pk) DO UPDATE SET epoch = excluded.epoch, "
            "version = excluded.version, modify_us = excluded.modify_us, status = excluded.status, "
            "expires_us = excluded.expires_us, content = excluded.content, "
            "dictionary = excluded.dictionary, document = excluded.document, backfill_idx = 0",
    .shared_count = 1,
    .own_count = 10,
};

int rows_save(struct store_tx *tx, int64_t client_id, const struct row *const *rows, size_t count,
              struct err *err)
{
    const struct store_value shared[] = {STORE_V_INT(client_id)};

    return many_exec(tx, &save_many, shared, rows, count, fill_row, err);
}

static void fill_side(const void *rows, size_t place, struct store_value *own)
{
    const struct row *row = ((const struct row *const *)rows)[place];

    assert(row->status == ROW_ALIVE); /* so it is there, and the insertion is none */
    own[0] = STORE_V_INT(row->hash);
    own[1] = STORE_V_TEXT(row->pk);
    own[2] = STORE_V_BLOB(row->side);
}

/* An update of many rows by one statement, as both backends know it. */
static struct many save_sides = {
    .head = "INSERT INTO registry (client_id, hash, pk, side, epoch, version, modify_us, status, "
            "expires_us, content, dictionary, document) VALUES ",
    .row = "($1, ?, ?, ?, 0, 0, 0, 0, 0, 0, 0, '')",
    .tail = " ON CONFLICT (client_id, hash, pk) DO UPDATE SET side = excluded.side",
    .shared_count = 1,
    .own_count = 3,
};

int rows_save_sides(struct store_tx *tx, int64_t client_id, const struct row *const *rows,
                    size_t count, struct err *err)
{
    const struct store_value shared[] = {STORE_V_INT(client_id)};

    return many_exec(tx, &save_sides, shared, rows, count, fill_side, err);
}

static void fill_place(const void *rows, size_t place, struct store_value *own)
{
    const struct row *row = ((const struct row *const *)rows)[place];

    assert(row->status); /* it is there */
    own[0] = STORE_V_INT(row->hash);
    own[1] = STORE_V_TEXT(row->pk);
    own[2] = STORE_V_INT(row->backfill_idx);
}

static struct many save_places = {
    .head = "INSERT INTO registry (client_id, hash, pk, backfill_idx, epoch, version, modify_us, "
            "status, expires_us, content, dictionary, document) VALUES ",
    .row = "($1, ?, ?, ?, 0, 0, 0, 0, 0, 0, 0, '')",
    .tail = " ON CONFLICT (client_id, hash, pk) DO UPDATE SET backfill_idx = excluded.backfill_idx",
    .shared_count = 1,
    .own_count = 3,
};

int rows_save_places(struct store_tx *tx, int64_t client_id, const struct row *const *rows,
                     size_t count, struct err *err)
{
    const struct store_value shared[] = {STORE_V_INT(client_id)};

    return many_exec(tx, &save_places, shared, rows, count, fill_place, err);
}

int row_forget(struct store_tx *tx, int64_t client_id, const struct row *row, struct err *err)
{
    const struct store_value of_row[] = {
        STORE_V_INT(client_id),          STORE_V_INT(row->hash),
        STORE_V_TEXT(row->pk),           STORE_V_INT(row->order.epoch),
        STORE_V_INT(row->order.version), STORE_V_INT(row->order.modify_us)};
    int rc = store_exec(tx,
                        "DELETE FROM registry WHERE client_id = $1 AND hash = $2 AND pk = $3 "
                        "AND epoch = $4 AND version = $5 AND modify_us = $6 AND side IS NULL",
                        of_row, ARRAY_COUNT(of_row), NULL, err);

    if (rc)
        return rc;
    return store_exec(tx,
                      "UPDATE registry SET version = 0, modify_us = 0, content = 0 "
                      "WHERE client_id = $1 AND hash = $2 AND pk = $3 "
                      "AND epoch = $4 AND version = $5 AND modify_us = $6",
                      of_row, ARRAY_COUNT(of_row), NULL, err);
}
