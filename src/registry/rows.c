/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c - see rows.h; packing is in rows_pack.c. */
#include "registry/rows.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "numerator/numerator.h"

#define COLUMNS "hash, pk, epoch, version, modify_us, status, expires_us, content, dictionary, "
#define ORDERS "SELECT " COLUMNS "'' FROM registry "
#define WHOLES "SELECT " COLUMNS "document FROM registry "

enum { COLUMN_COUNT = 10 };

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
                        .packed = arena_copy(arena, columns[9].bytes)};
}

/* --- by keys --- */

/* Keys are asked for by lists of fixed sizes, so that there are few statements to prepare. */
#define IN_1 "WHERE client_id = $1 AND hash IN ($2)"
#define IN_8 "WHERE client_id = $1 AND hash IN ($2, $3, $4, $5, $6, $7, $8, $9)"
#define IN_32                                                                                      \
    "WHERE client_id = $1 AND hash IN ($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, "  \
    "$15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, "   \
    "$33)"

enum { LIST_COUNT_MAX = 32 };
static const struct list_form {
    size_t count;
    const char *orders;
    const char *wholes;
} list_forms[] = {
    {1, ORDERS IN_1, WHOLES IN_1},
    {8, ORDERS IN_8, WHOLES IN_8},
    {LIST_COUNT_MAX, ORDERS IN_32, WHOLES IN_32},
};

struct asked {
    const struct bytes *pks;
    struct row *rows;
    size_t count;
    struct arena *arena;
};

/* A row belongs to whoever asked for its pk: a hash may be another's too. */
static int take_asked(void *arg, const struct store_value *columns, size_t column_count,
                      struct err *err)
{
    const struct asked *asked = arg;
    const struct row *taken = NULL;

    for (size_t i = 0; i < asked->count; i++) {
        if (asked->rows[i].hash != columns[0].integer ||
            !bytes_equal(asked->pks[i], columns[1].bytes))
            continue;
        if (taken)
            asked->rows[i] = *taken;
        else
            take_columns(columns, column_count, asked->arena, &asked->rows[i]);
        taken = &asked->rows[i];
    }
    return 0;
}

static int find_list(struct store_tx *tx, int64_t client_id, const struct asked *asked,
                     bool with_document, struct err *err)
{
    struct store_value params[1 + LIST_COUNT_MAX] = {STORE_V_INT(client_id)};
    const struct list_form *form = list_forms;

    while (form->count < asked->count)
        form++;
    for (size_t i = 0; i < form->count; i++)
        params[1 + i] = STORE_V_INT(asked->rows[i < asked->count ? i : 0].hash);
    return store_query(tx, with_document ? form->wholes : form->orders, params, 1 + form->count,
                       take_asked, (void *)asked, err);
}

int rows_find(struct store_tx *tx, int64_t client_id, const struct bytes *pks, size_t count,
              bool with_document, struct arena *arena, struct row *rows, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < count; i++)
        rows[i] = (struct row){.hash = number_key_hash(pks[i])};
    for (size_t i = 0; i < count && !rc; i += LIST_COUNT_MAX) {
        const struct asked asked = {.pks = pks + i,
                                    .rows = rows + i,
                                    .count =
                                        count - i < LIST_COUNT_MAX ? count - i : LIST_COUNT_MAX,
                                    .arena = arena};

        rc = find_list(tx, client_id, &asked, with_document, err);
    }
    return rc;
}

int row_find(struct store_tx *tx, int64_t client_id, struct bytes pk, bool with_document,
             struct arena *arena, struct row *row, bool *found, struct err *err)
{
    int rc = rows_find(tx, client_id, &pk, 1, with_document, arena, row, err);

    *found = !rc && row->status;
    return rc;
}

/* --- by hashes --- */

struct scan {
    struct arena *arena;
    struct row *rows;
    size_t count;
    size_t room;
};

static int take_scanned(void *arg, const struct store_value *columns, size_t column_count,
                        struct err *err)
{
    struct scan *scan = arg;

    if (scan->count == scan->room) {
        size_t room = scan->room ? 2 * scan->room : 64;
        struct row *rows = arena_array(scan->arena, room, sizeof(*rows));

        if (scan->count)
            memcpy(rows, scan->rows, scan->count * sizeof(*rows));
        scan->rows = rows;
        scan->room = room;
    }
    take_columns(columns, column_count, scan->arena, &scan->rows[scan->count++]);
    return 0;
}

/* The rows of one hash: nearly always one. */
static int scan_hash(struct store_tx *tx, int64_t client_id, int64_t hash, bool with_document,
                     struct scan *scan, struct err *err)
{
    const struct store_value params[] = {STORE_V_INT(client_id), STORE_V_INT(hash)};

    return store_query(tx, with_document ? WHOLES IN_1 : ORDERS IN_1, params, 2, take_scanned, scan,
                       err);
}

int rows_scan(struct store_tx *tx, int64_t client_id, int64_t after, int64_t last, size_t max,
              bool with_document, struct arena *arena, struct row **rows, size_t *count,
              struct err *err)
{
    const struct store_value params[] = {STORE_V_INT(client_id), STORE_V_INT(after),
                                         STORE_V_INT(last), STORE_V_INT((int64_t)max)};
    struct scan scan = {.arena = arena};
    int rc = store_query(tx,
                         with_document ? WHOLES "WHERE client_id = $1 AND hash > $2 AND hash <= $3 "
                                                "ORDER BY hash LIMIT $4"
                                       : ORDERS "WHERE client_id = $1 AND hash > $2 AND hash <= $3 "
                                                "ORDER BY hash LIMIT $4",
                         params, 4, take_scanned, &scan, err);

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

/* --- writing --- */

int row_save(struct store_tx *tx, int64_t client_id, const struct row *row, struct err *err)
{
    const struct store_value params[] = {
        STORE_V_INT(client_id),          STORE_V_INT(row->hash),
        STORE_V_TEXT(row->pk),           STORE_V_INT(row->order.epoch),
        STORE_V_INT(row->order.version), STORE_V_INT(row->order.modify_us),
        STORE_V_INT(row->status),        STORE_V_INT(row->expires_us),
        STORE_V_INT(row->content),       STORE_V_INT(row->dictionary),
        STORE_V_BLOB(row->packed)};

    assert(row->status == ROW_ALIVE || row->status == ROW_TOMBSTONE);
    return store_exec(
        tx,
        "INSERT INTO registry (client_id, hash, pk, epoch, version, modify_us, status, expires_us, "
        "content, dictionary, document) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) "
        "ON CONFLICT (client_id, hash, pk) DO UPDATE SET epoch = excluded.epoch, "
        "version = excluded.version, modify_us = excluded.modify_us, status = excluded.status, "
        "expires_us = excluded.expires_us, content = excluded.content, "
        "dictionary = excluded.dictionary, document = excluded.document",
        params, ARRAY_COUNT(params), NULL, err);
}
