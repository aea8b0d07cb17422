/* SPDX-License-Identifier: Apache-2.0 */
/* number_rows.c - see number_rows.h. */
#include "numerator/number_rows.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    LIST_COUNT = 56,      /* places of a statement's longest list; STORE_PARAM_COUNT_MAX are all */
    LIST_COUNT_SHORT = 8, /* of a shorter one, and a single one */
    OWN_COUNT = 20,       /* rows of one insert */
    OWN_COLUMN_COUNT = 3, /* of each; the others are the same in all */
    SQL_SIZE = 2048,
};

/* The least size of a statement that takes so many, or the greatest. */
static uint32_t list_size(uint32_t count)
{
    if (count == 1)
        return 1;
    return count <= LIST_COUNT_SHORT ? LIST_COUNT_SHORT : LIST_COUNT;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* "head($n, $n+1, ...)tail" */
static void list_sql(char sql[SQL_SIZE], const char *head, uint32_t first, uint32_t count,
                     const char *tail)
{
    int at = snprintf(sql, SQL_SIZE, "%s(", head);

    for (uint32_t i = 0; i < count; i++)
        at += snprintf(sql + at, (size_t)(SQL_SIZE - at), i ? ", $%u" : "$%u", first + i);
    snprintf(sql + at, (size_t)(SQL_SIZE - at), ")%s", tail);
}

/* --- the space --- */

static int take_space(void *arg, const struct store_value *columns, size_t column_count,
                      struct err *err)
{
    struct space_row *row = arg;

    assert(column_count == 5);
    row->version = (struct number_version){
        .kind = (uint32_t)columns[0].integer,
        .scheme = (uint32_t)columns[1].integer,
        .rebuild = (uint32_t)columns[2].integer,
        .generation = (uint32_t)columns[3].integer,
    };
    row->change_no = columns[4].integer;
    return 0;
}

int space_row_find(struct store_tx *tx, const struct number_place *place, struct space_row *row,
                   struct err *err)
{
    const struct store_value params[] = {STORE_V_INT(place->space), STORE_V_INT(place->shard)};

    *row = (struct space_row){0};
    return store_query(tx,
                       "SELECT kind, scheme, rebuild, generation, change_no FROM number_space "
                       "WHERE space = $1 AND shard = $2",
                       params, 2, take_space, row, err);
}

int space_row_save(struct store_tx *tx, const struct number_place *place,
                   const struct space_row *row, struct err *err)
{
    const struct store_value params[] = {
        STORE_V_INT(place->space),         STORE_V_INT(place->shard),
        STORE_V_INT(row->version.kind),    STORE_V_INT(row->version.scheme),
        STORE_V_INT(row->version.rebuild), STORE_V_INT(row->version.generation),
        STORE_V_INT(row->change_no),
    };

    return store_exec(tx,
                      "INSERT INTO number_space "
                      "(space, shard, kind, scheme, rebuild, generation, change_no) "
                      "VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (space, shard) DO UPDATE "
                      "SET generation = excluded.generation, change_no = excluded.change_no",
                      params, 7, NULL, err);
}

/* --- reading slots --- */

#define SLOT_COLUMNS "doc_id, key, class, birth_generation, seen_generation, gone_us"

struct slot_reader {
    slot_row_fn *found;
    void *arg;
    uint32_t last; /* number */
    uint32_t count;
};

static int take_slot(void *arg, const struct store_value *columns, size_t column_count,
                     struct err *err)
{
    struct slot_reader *reader = arg;
    struct slot_row row;

    assert(column_count == 6);
    row = (struct slot_row){
        .doc_id = (uint32_t)columns[0].integer,
        .key = columns[1].type == STORE_NULL ? BYTES_EMPTY : columns[1].bytes,
        .class = columns[2].bytes,
        .birth = (uint32_t)columns[3].integer,
        .seen = (uint32_t)columns[4].integer,
        .gone_us = columns[5].integer,
    };
    reader->last = row.doc_id;
    reader->count++;
    return reader->found(reader->arg, &row, err);
}

int slot_rows_by_key(struct store_tx *tx, const struct number_place *place,
                     const struct bytes *keys, uint32_t count, slot_row_fn *found, void *arg,
                     struct err *err)
{
    struct store_value params[2 + LIST_COUNT] = {STORE_V_INT(place->space),
                                                 STORE_V_INT(place->shard)};
    struct slot_reader reader = {.found = found, .arg = arg};
    char sql[SQL_SIZE];
    int rc = 0;

    for (uint32_t done = 0; rc == 0 && done < count;) {
        uint32_t size = list_size(count - done), taken = least(size, count - done);

        for (uint32_t i = 0; i < size; i++)
            params[2 + i] = STORE_V_BLOB(keys[done + least(i, taken - 1)]);
        list_sql(sql,
                 "SELECT " SLOT_COLUMNS " FROM number_slot "
                 "WHERE space = $1 AND shard = $2 AND key IN ",
                 3, size, "");
        rc = store_query(tx, sql, params, 2 + size, take_slot, &reader, err);
        done += taken;
    }
    return rc;
}

int slot_rows_free(struct store_tx *tx, const struct number_place *place, slot_row_fn *found,
                   void *arg, struct err *err)
{
    struct slot_reader reader = {.found = found, .arg = arg};
    int64_t from = 0;
    int rc;

    do {
        const struct store_value params[] = {STORE_V_INT(place->space), STORE_V_INT(place->shard),
                                             STORE_V_INT(from), STORE_V_INT(NUMBER_LOAD_COUNT)};

        reader.count = 0;
        rc = store_query(tx,
                         "SELECT " SLOT_COLUMNS " FROM number_slot WHERE space = $1 AND "
                         "shard = $2 AND key IS NULL AND doc_id >= $3 ORDER BY doc_id LIMIT $4",
                         params, 4, take_slot, &reader, err);
        from = (int64_t)reader.last + 1;
    } while (rc == 0 && reader.count == NUMBER_LOAD_COUNT);
    return rc;
}

int slot_rows_gone(struct store_tx *tx, const struct number_place *place, int64_t until_us,
                   uint32_t max, slot_row_fn *found, void *arg, struct err *err)
{
    const struct store_value params[] = {STORE_V_INT(place->space), STORE_V_INT(place->shard),
                                         STORE_V_INT(until_us), STORE_V_INT(max)};
    struct slot_reader reader = {.found = found, .arg = arg};

    return store_query(tx,
                       "SELECT " SLOT_COLUMNS " FROM number_slot WHERE space = $1 AND shard = $2 "
                       "AND key IS NOT NULL AND gone_us > 0 AND gone_us <= $3 "
                       "ORDER BY gone_us, doc_id LIMIT $4",
                       params, 4, take_slot, &reader, err);
}

int slot_rows_from(struct store_tx *tx, const struct number_place *place, uint32_t from,
                   uint32_t max, slot_row_fn *found, void *arg, struct err *err)
{
    const struct store_value params[] = {STORE_V_INT(place->space), STORE_V_INT(place->shard),
                                         STORE_V_INT(from), STORE_V_INT(max)};
    struct slot_reader reader = {.found = found, .arg = arg};

    return store_query(tx,
                       "SELECT " SLOT_COLUMNS " FROM number_slot WHERE space = $1 AND shard = $2 "
                       "AND doc_id >= $3 ORDER BY doc_id LIMIT $4",
                       params, 4, take_slot, &reader, err);
}

/* --- writing slots --- */

static void own_sql(char sql[SQL_SIZE], uint32_t count)
{
    int at = snprintf(sql, SQL_SIZE,
                      "INSERT INTO number_slot (space, shard, doc_id, key, class, "
                      "birth_generation, seen_generation, gone_us) VALUES ");

    for (uint32_t i = 0; i < count; i++) {
        uint32_t first = 4 + i * OWN_COLUMN_COUNT;

        at += snprintf(sql + at, (size_t)(SQL_SIZE - at), "%s($1, $2, $%u, $%u, $%u, $3, $3, 0)",
                       i ? ", " : "", first, first + 1, first + 2);
    }
    snprintf(sql + at, (size_t)(SQL_SIZE - at),
             " ON CONFLICT (space, shard, doc_id) DO UPDATE SET key = excluded.key, "
             "birth_generation = excluded.birth_generation, "
             "seen_generation = excluded.seen_generation, gone_us = 0 "
             "WHERE number_slot.key IS NULL");
}

int slot_rows_own(struct store_tx *tx, const struct number_place *place,
                  const struct slot_row *rows, uint32_t count, uint32_t generation, struct err *err)
{
    struct store_value params[3 + OWN_COUNT * OWN_COLUMN_COUNT] = {
        STORE_V_INT(place->space), STORE_V_INT(place->shard), STORE_V_INT(generation)};
    char sql[SQL_SIZE];
    int64_t changed;

    for (uint32_t done = 0, size; done < count; done += size) {
        int rc;

        size = count - done >= OWN_COUNT ? OWN_COUNT : 1;
        for (uint32_t i = 0; i < size; i++) {
            struct store_value *to = params + 3 + i * OWN_COLUMN_COUNT;

            to[0] = STORE_V_INT(rows[done + i].doc_id);
            to[1] = STORE_V_BLOB(rows[done + i].key);
            to[2] = STORE_V_TEXT(rows[done + i].class);
        }
        own_sql(sql, size);
        rc = store_exec(tx, sql, params, 3 + size * OWN_COLUMN_COUNT, &changed, err);
        if (rc)
            return rc;
        if (changed != size)
            return err_set(err, ERR_CORRUPT,
                           "numbers of space %" PRId64 ", shard %" PRIu32
                           ": one of %u from %u on belongs to a key already",
                           place->space, place->shard, size, rows[done].doc_id);
    }
    return 0;
}

/* Runs the statement, whose first parameters are there, on lists of numbers. */
static int exec_by_id(struct store_tx *tx, const char *head, struct store_value *params,
                      uint32_t param_count, const uint32_t *doc_ids, uint32_t count,
                      struct err *err)
{
    char sql[SQL_SIZE];
    int rc = 0;

    for (uint32_t done = 0; rc == 0 && done < count;) {
        uint32_t size = list_size(count - done), taken = least(size, count - done);

        for (uint32_t i = 0; i < size; i++)
            params[param_count + i] = STORE_V_INT(doc_ids[done + least(i, taken - 1)]);
        list_sql(sql, head, param_count + 1, size, "");
        rc = store_exec(tx, sql, params, param_count + size, NULL, err);
        done += taken;
    }
    return rc;
}

int slot_rows_return(struct store_tx *tx, const struct number_place *place, const uint32_t *doc_ids,
                     uint32_t count, struct err *err)
{
    struct store_value params[2 + LIST_COUNT] = {STORE_V_INT(place->space),
                                                 STORE_V_INT(place->shard)};

    return exec_by_id(tx,
                      "UPDATE number_slot SET gone_us = 0 "
                      "WHERE space = $1 AND shard = $2 AND doc_id IN ",
                      params, 2, doc_ids, count, err);
}

int slot_rows_free_up(struct store_tx *tx, const struct number_place *place,
                      const uint32_t *doc_ids, uint32_t count, uint32_t generation, int64_t now_us,
                      struct err *err)
{
    struct store_value params[4 + LIST_COUNT] = {STORE_V_INT(place->space),
                                                 STORE_V_INT(place->shard), STORE_V_INT(generation),
                                                 STORE_V_INT(now_us)};

    return exec_by_id(tx,
                      "UPDATE number_slot SET key = NULL, seen_generation = $3, gone_us = $4 "
                      "WHERE space = $1 AND shard = $2 AND doc_id IN ",
                      params, 4, doc_ids, count, err);
}

int slot_rows_leave(struct store_tx *tx, const struct number_place *place, const struct bytes *keys,
                    uint32_t count, uint32_t generation, int64_t now_us, struct err *err)
{
    struct store_value params[4 + LIST_COUNT] = {STORE_V_INT(place->space),
                                                 STORE_V_INT(place->shard), STORE_V_INT(generation),
                                                 STORE_V_INT(now_us)};
    char sql[SQL_SIZE];
    int rc = 0;

    for (uint32_t done = 0; rc == 0 && done < count;) {
        uint32_t size = list_size(count - done), taken = least(size, count - done);

        for (uint32_t i = 0; i < size; i++)
            params[4 + i] = STORE_V_BLOB(keys[done + least(i, taken - 1)]);
        list_sql(sql,
                 "UPDATE number_slot SET seen_generation = $3, gone_us = $4 "
                 "WHERE space = $1 AND shard = $2 AND gone_us = 0 AND key IN ",
                 5, size, "");
        rc = store_exec(tx, sql, params, 4 + size, NULL, err);
        done += taken;
    }
    return rc;
}

/* --- extents --- */

int extent_row_add(struct store_tx *tx, const struct number_place *place, uint32_t first,
                   struct bytes class, struct err *err)
{
    const struct store_value params[] = {STORE_V_INT(place->space), STORE_V_INT(place->shard),
                                         STORE_V_INT(first), STORE_V_TEXT(class)};

    return store_exec(tx,
                      "INSERT INTO number_extent (space, shard, first_id, class) "
                      "VALUES ($1, $2, $3, $4)",
                      params, 4, NULL, err);
}

struct extent_reader {
    struct slots *slots;
    int64_t next;
    uint32_t count;
};

static int take_extent(void *arg, const struct store_value *columns, size_t column_count,
                       struct err *err)
{
    struct extent_reader *reader = arg;
    int64_t first = columns[0].integer;

    if (first < 0 || first > NUMBER_ID_END - NUMBER_EXTENT_SIZE ||
        columns[1].bytes.size > NUMBER_CLASS_SIZE_MAX)
        return err_set(err, ERR_CORRUPT, "the extent of numbers at %" PRId64 " is damaged", first);
    slots_restore_extent(reader->slots, columns[1].bytes, (uint32_t)first, NUMBER_EXTENT_SIZE);
    reader->next = first + 1;
    reader->count++;
    return 0;
}

static int take_highest(void *arg, const struct store_value *columns, size_t column_count,
                        struct err *err)
{
    if (columns[0].type == STORE_INT)
        *(int64_t *)arg = columns[0].integer;
    return 0;
}

/* The last extent of the class: above its highest slot nothing was given. */
static int find_used(struct store_tx *tx, const struct number_place *place,
                     struct slot_class *class, struct err *err)
{
    uint32_t first = class->end - NUMBER_EXTENT_SIZE;
    const struct store_value params[] = {STORE_V_INT(place->space), STORE_V_INT(place->shard),
                                         STORE_V_INT(first), STORE_V_INT(class->end)};
    int64_t highest = (int64_t)first - 1;
    int rc;

    rc = store_query(tx,
                     "SELECT max(doc_id) FROM number_slot "
                     "WHERE space = $1 AND shard = $2 AND doc_id >= $3 AND doc_id < $4",
                     params, 4, take_highest, &highest, err);
    class->next = (uint32_t)(highest + 1);
    return rc;
}

int extent_rows_load(struct store_tx *tx, const struct number_place *place, struct slots *slots,
                     struct err *err)
{
    struct extent_reader reader = {.slots = slots};
    int rc;

    do {
        const struct store_value params[] = {STORE_V_INT(place->space), STORE_V_INT(place->shard),
                                             STORE_V_INT(reader.next),
                                             STORE_V_INT(NUMBER_LOAD_COUNT)};

        reader.count = 0;
        rc = store_query(tx,
                         "SELECT first_id, class FROM number_extent WHERE space = $1 AND "
                         "shard = $2 AND first_id >= $3 ORDER BY first_id LIMIT $4",
                         params, 4, take_extent, &reader, err);
    } while (rc == 0 && reader.count == NUMBER_LOAD_COUNT);
    for (uint32_t i = 0; rc == 0 && i < slots->class_count; i++)
        if (slots->classes[i].end > 0)
            rc = find_used(tx, place, &slots->classes[i], err);
    return rc;
}
