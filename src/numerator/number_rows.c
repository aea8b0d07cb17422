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
    ADD_COUNT = 20,       /* rows of one insert */
    ADD_COLUMN_COUNT = 3, /* of each; the others are the same in all */
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

/* "head($n, $n+1, ...)" */
static void list_sql(char sql[SQL_SIZE], const char *head, uint32_t first, uint32_t count)
{
    int at = snprintf(sql, SQL_SIZE, "%s(", head);

    for (uint32_t i = 0; i < count; i++)
        at += snprintf(sql + at, (size_t)(SQL_SIZE - at), i ? ", $%u" : "$%u", first + i);
    snprintf(sql + at, (size_t)(SQL_SIZE - at), ")");
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

/* --- statements on lists --- */

/* One of a list, as a parameter. */
typedef struct store_value element_fn(const void *list, uint32_t at);

static struct store_value key_element(const void *list, uint32_t at)
{
    return STORE_V_BLOB(((const struct bytes *)list)[at]);
}

static struct store_value row_key_element(const void *list, uint32_t at)
{
    return STORE_V_BLOB(((const struct slot_row *)list)[at].key);
}

static struct store_value id_element(const void *list, uint32_t at)
{
    return STORE_V_INT(((const uint32_t *)list)[at]);
}

/* A statement that ends with "IN " gets its list; the place is $1 and $2. */
struct list_statement {
    const char *head;
    struct store_value more[2]; /* $3, $4 */
    uint32_t more_count;
    element_fn *element;
    store_row_fn row; /* NULL: gives none */
    void *arg;
};

static int run_list(struct store_tx *tx, const struct number_place *place,
                    const struct list_statement *statement, const void *list, uint32_t count,
                    struct err *err)
{
    struct store_value params[4 + LIST_COUNT] = {STORE_V_INT(place->space),
                                                 STORE_V_INT(place->shard)};
    uint32_t before = 2 + statement->more_count;
    char sql[SQL_SIZE];
    int rc = 0;

    memcpy(params + 2, statement->more, statement->more_count * sizeof(params[0]));
    for (uint32_t done = 0; rc == 0 && done < count;) {
        uint32_t size = list_size(count - done), taken = least(size, count - done);

        for (uint32_t i = 0; i < size; i++)
            params[before + i] = statement->element(list, done + least(i, taken - 1));
        list_sql(sql, statement->head, before + 1, size);
        rc = statement->row
                 ? store_query(tx, sql, params, before + size, statement->row, statement->arg, err)
                 : store_exec(tx, sql, params, before + size, NULL, err);
        done += taken;
    }
    return rc;
}

/* --- keys and their numbers --- */

#define SLOT_COLUMNS "key, doc_id, class, birth_generation, seen_generation, gone_us"

struct slot_reader {
    slot_row_fn *found;
    void *arg;
};

static int take_slot(void *arg, const struct store_value *columns, size_t column_count,
                     struct err *err)
{
    struct slot_reader *reader = arg;
    struct slot_row row;

    assert(column_count == 6);
    row = (struct slot_row){
        .key = columns[0].bytes,
        .doc_id = (uint32_t)columns[1].integer,
        .class = columns[2].bytes,
        .birth = (uint32_t)columns[3].integer,
        .seen = (uint32_t)columns[4].integer,
        .gone_us = columns[5].integer,
    };
    return reader->found(reader->arg, &row, err);
}

int slot_rows_find(struct store_tx *tx, const struct number_place *place, const struct bytes *keys,
                   uint32_t count, slot_row_fn *found, void *arg, struct err *err)
{
    struct slot_reader reader = {found, arg};
    const struct list_statement statement = {
        .head = "SELECT " SLOT_COLUMNS " FROM number_slot "
                "WHERE space = $1 AND shard = $2 AND key IN ",
        .element = key_element,
        .row = take_slot,
        .arg = &reader,
    };

    return run_list(tx, place, &statement, keys, count, err);
}

int slot_rows_gone(struct store_tx *tx, const struct number_place *place, int64_t until_us,
                   uint32_t max, slot_row_fn *found, void *arg, struct err *err)
{
    const struct store_value params[] = {STORE_V_INT(place->space), STORE_V_INT(place->shard),
                                         STORE_V_INT(until_us), STORE_V_INT(max)};
    struct slot_reader reader = {found, arg};

    return store_query(tx,
                       "SELECT " SLOT_COLUMNS " FROM number_slot WHERE space = $1 AND shard = $2 "
                       "AND gone_us > 0 AND gone_us <= $3 ORDER BY gone_us, doc_id LIMIT $4",
                       params, 4, take_slot, &reader, err);
}

int slot_rows_after(struct store_tx *tx, const struct number_place *place, struct bytes key,
                    uint32_t max, slot_row_fn *found, void *arg, struct err *err)
{
    const struct store_value params[] = {STORE_V_INT(place->space), STORE_V_INT(place->shard),
                                         STORE_V_BLOB(key), STORE_V_INT(max)};
    struct slot_reader reader = {found, arg};

    return store_query(tx,
                       "SELECT " SLOT_COLUMNS " FROM number_slot WHERE space = $1 AND shard = $2 "
                       "AND key > $3 ORDER BY key LIMIT $4",
                       params, 4, take_slot, &reader, err);
}

static void add_sql(char sql[SQL_SIZE], uint32_t count)
{
    int at = snprintf(sql, SQL_SIZE,
                      "INSERT INTO number_slot (space, shard, key, doc_id, class, "
                      "birth_generation, seen_generation, gone_us) VALUES ");

    for (uint32_t i = 0; i < count; i++) {
        uint32_t first = 4 + i * ADD_COLUMN_COUNT;

        at += snprintf(sql + at, (size_t)(SQL_SIZE - at), "%s($1, $2, $%u, $%u, $%u, $3, $3, 0)",
                       i ? ", " : "", first, first + 1, first + 2);
    }
}

int slot_rows_add(struct store_tx *tx, const struct number_place *place,
                  const struct slot_row *rows, uint32_t count, uint32_t generation, struct err *err)
{
    struct store_value params[3 + ADD_COUNT * ADD_COLUMN_COUNT] = {
        STORE_V_INT(place->space), STORE_V_INT(place->shard), STORE_V_INT(generation)};
    char sql[SQL_SIZE];
    int rc = 0;

    for (uint32_t done = 0, size; rc == 0 && done < count; done += size) {
        size = count - done >= ADD_COUNT ? ADD_COUNT : 1;
        for (uint32_t i = 0; i < size; i++) {
            struct store_value *to = params + 3 + i * ADD_COLUMN_COUNT;

            to[0] = STORE_V_BLOB(rows[done + i].key);
            to[1] = STORE_V_INT(rows[done + i].doc_id);
            to[2] = STORE_V_TEXT(rows[done + i].class);
        }
        add_sql(sql, size);
        rc = store_exec(tx, sql, params, 3 + size * ADD_COLUMN_COUNT, NULL, err);
    }
    return rc;
}

int slot_rows_return(struct store_tx *tx, const struct number_place *place,
                     const struct bytes *keys, uint32_t count, struct err *err)
{
    const struct list_statement statement = {
        .head = "UPDATE number_slot SET gone_us = 0 WHERE space = $1 AND shard = $2 AND key IN ",
        .element = key_element,
    };

    return run_list(tx, place, &statement, keys, count, err);
}

int slot_rows_leave(struct store_tx *tx, const struct number_place *place, const struct bytes *keys,
                    uint32_t count, uint32_t generation, int64_t now_us, struct err *err)
{
    const struct list_statement statement = {
        .head = "UPDATE number_slot SET seen_generation = $3, gone_us = $4 "
                "WHERE space = $1 AND shard = $2 AND gone_us = 0 AND key IN ",
        .more = {STORE_V_INT(generation), STORE_V_INT(now_us)},
        .more_count = 2,
        .element = key_element,
    };

    return run_list(tx, place, &statement, keys, count, err);
}

/* --- free numbers --- */

int slot_rows_free(struct store_tx *tx, const struct number_place *place,
                   const struct slot_row *rows, uint32_t count, uint32_t generation, int64_t now_us,
                   struct err *err)
{
    const struct list_statement statement = {
        .head = "DELETE FROM number_slot WHERE space = $1 AND shard = $2 AND key IN ",
        .element = row_key_element,
    };
    int rc;

    rc = run_list(tx, place, &statement, rows, count, err);
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        const struct store_value params[] = {
            STORE_V_INT(place->space),   STORE_V_INT(place->shard), STORE_V_INT(rows[i].doc_id),
            STORE_V_TEXT(rows[i].class), STORE_V_INT(generation),   STORE_V_INT(now_us),
        };

        rc = store_exec(tx,
                        "INSERT INTO number_free (space, shard, doc_id, class, generation, "
                        "freed_us) VALUES ($1, $2, $3, $4, $5, $6)",
                        params, 6, NULL, err);
    }
    return rc;
}

int free_rows_take(struct store_tx *tx, const struct number_place *place, const uint32_t *doc_ids,
                   uint32_t count, struct err *err)
{
    const struct list_statement statement = {
        .head = "DELETE FROM number_free WHERE space = $1 AND shard = $2 AND doc_id IN ",
        .element = id_element,
    };

    return run_list(tx, place, &statement, doc_ids, count, err);
}

struct loader {
    struct slots *slots;
    int64_t next; /* where the next page begins */
    uint32_t count;
};

static int check_loaded(int64_t first, uint32_t size, struct bytes class, struct err *err)
{
    if (first < 0 || first > (int64_t)(NUMBER_ID_END - size) || class.size > NUMBER_CLASS_SIZE_MAX)
        return err_set(err, ERR_CORRUPT, "the row of number %" PRId64 " is damaged", first);
    return 0;
}

static int take_free(void *arg, const struct store_value *columns, size_t column_count,
                     struct err *err)
{
    struct loader *loader = arg;
    int64_t doc_id = columns[0].integer;
    int rc = check_loaded(doc_id, 1, columns[1].bytes, err);

    if (rc)
        return rc;
    slots_restore_free(loader->slots, columns[1].bytes, (uint32_t)doc_id,
                       (uint32_t)columns[2].integer, columns[3].integer);
    loader->next = doc_id + 1;
    loader->count++;
    return 0;
}

static int take_extent(void *arg, const struct store_value *columns, size_t column_count,
                       struct err *err)
{
    struct loader *loader = arg;
    int64_t first = columns[0].integer, used = columns[2].integer - first;
    int rc = check_loaded(first, NUMBER_EXTENT_SIZE, columns[1].bytes, err);

    if (rc)
        return rc;
    if (first % NUMBER_EXTENT_SIZE != 0 || used < 0 || used > NUMBER_EXTENT_SIZE)
        return err_set(err, ERR_CORRUPT, "the extent of numbers at %" PRId64 " is damaged", first);
    slots_restore_extent(loader->slots, columns[1].bytes, (uint32_t)first, (uint32_t)used);
    loader->next = first + 1;
    loader->count++;
    return 0;
}

/* All rows of the shard, in order, a page at a time; $3 is where one begins, $4 its size. */
static int load_rows(struct store_tx *tx, const struct number_place *place, struct slots *slots,
                     const char *sql, store_row_fn row, struct err *err)
{
    struct loader loader = {.slots = slots};
    int rc;

    do {
        const struct store_value params[] = {STORE_V_INT(place->space), STORE_V_INT(place->shard),
                                             STORE_V_INT(loader.next),
                                             STORE_V_INT(NUMBER_LOAD_COUNT)};

        loader.count = 0;
        rc = store_query(tx, sql, params, 4, row, &loader, err);
    } while (rc == 0 && loader.count == NUMBER_LOAD_COUNT);
    return rc;
}

int free_rows_load(struct store_tx *tx, const struct number_place *place, struct slots *slots,
                   struct err *err)
{
    return load_rows(tx, place, slots,
                     "SELECT doc_id, class, generation, freed_us FROM number_free WHERE space = $1 "
                     "AND shard = $2 AND doc_id >= $3 ORDER BY doc_id LIMIT $4",
                     take_free, err);
}

/* --- extents --- */

int extent_row_save(struct store_tx *tx, const struct number_place *place, uint32_t first,
                    struct bytes class, uint32_t next, struct err *err)
{
    const struct store_value params[] = {STORE_V_INT(place->space), STORE_V_INT(place->shard),
                                         STORE_V_INT(first), STORE_V_TEXT(class),
                                         STORE_V_INT(next)};

    return store_exec(tx,
                      "INSERT INTO number_extent (space, shard, first_id, class, next_id) "
                      "VALUES ($1, $2, $3, $4, $5) ON CONFLICT (space, shard, first_id) "
                      "DO UPDATE SET next_id = excluded.next_id",
                      params, 5, NULL, err);
}

int extent_rows_load(struct store_tx *tx, const struct number_place *place, struct slots *slots,
                     struct err *err)
{
    return load_rows(tx, place, slots,
                     "SELECT first_id, class, next_id FROM number_extent WHERE space = $1 AND "
                     "shard = $2 AND first_id >= $3 ORDER BY first_id LIMIT $4",
                     take_extent, err);
}
