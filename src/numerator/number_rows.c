/* SPDX-License-Identifier: Apache-2.0 */
/* number_rows.c - see number_rows.h. */
#include "numerator/number_rows.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include "base/random.h"

enum {
    FIND_SIZE_COUNT = 3,
    FIND_COUNT_MAX = 60, /* keys of one look-up; with the place below STORE_PARAM_COUNT_MAX */
    FIND_SQL_SIZE = 16 << 10,
    ADD_COUNT = 20,       /* rows of one insert */
    ADD_COLUMN_COUNT = 3, /* of each; the others are the same in all */
    ADD_SQL_SIZE = 2048,
};

#define SLOT_COLUMNS "key, doc_id, class, birth_generation, seen_generation, gone_us"
#define SLOT_PLACE " WHERE space = $1 AND shard = $2"

static const uint32_t find_sizes[FIND_SIZE_COUNT] = {1, 10, FIND_COUNT_MAX};

/* Made once. */
static struct {
    char find[FIND_SIZE_COUNT][FIND_SQL_SIZE];
    char add[ADD_SQL_SIZE]; /* ADD_COUNT rows */
    char add_one[ADD_SQL_SIZE];
} texts;
static pthread_once_t texts_once = PTHREAD_ONCE_INIT;

static void make_find(char sql[FIND_SQL_SIZE], uint32_t count)
{
    size_t at = 0;

    for (uint32_t i = 0; i < count; i++)
        at += (size_t)snprintf(sql + at, FIND_SQL_SIZE - at,
                               "%sSELECT " SLOT_COLUMNS " FROM number_slot" SLOT_PLACE
                               " AND key = $%u",
                               i ? " UNION ALL " : "", i + 3);
    assert(at < FIND_SQL_SIZE);
}

static void make_add(char sql[ADD_SQL_SIZE], uint32_t count)
{
    size_t at = (size_t)snprintf(sql, ADD_SQL_SIZE,
                                 "INSERT INTO number_slot (space, shard, key, doc_id, class, "
                                 "birth_generation, seen_generation, gone_us) VALUES ");

    for (uint32_t i = 0; i < count; i++) {
        uint32_t first = 4 + i * ADD_COLUMN_COUNT;

        at += (size_t)snprintf(sql + at, ADD_SQL_SIZE - at, "%s($1, $2, $%u, $%u, $%u, $3, $3, 0)",
                               i ? ", " : "", first, first + 1, first + 2);
    }
    assert(at < ADD_SQL_SIZE);
}

static void make_texts(void)
{
    for (int i = 0; i < FIND_SIZE_COUNT; i++)
        make_find(texts.find[i], find_sizes[i]);
    make_add(texts.add, ADD_COUNT);
    make_add(texts.add_one, 1);
}

/* --- the space --- */

int space_row_find(struct store_tx *tx, const struct number_place *place, struct space_row *row,
                   struct err *err)
{
    struct store_rows rows =
        store_select(tx,
                     "SELECT kind, scheme, rebuild, generation, change_no, lineage, "
                     "origin_lineage, origin_generation FROM number_space "
                     "WHERE space = $1 AND shard = $2",
                     STORE_WITH(STORE_V_INT(place->space), STORE_V_INT(place->shard)));

    *row = (struct space_row){0};
    if (store_next(&rows)) {
        row->version = (struct number_version){
            .kind = (uint32_t)rows.columns[0].integer,
            .scheme = (uint32_t)rows.columns[1].integer,
            .rebuild = (uint32_t)rows.columns[2].integer,
            .generation = (uint32_t)rows.columns[3].integer,
        };
        row->change_no = rows.columns[4].integer;
        row->lineage = (uint32_t)rows.columns[5].integer;
        row->origin_lineage = (uint32_t)rows.columns[6].integer;
        row->origin_generation = (uint32_t)rows.columns[7].integer;
    }
    return store_rows_end(&rows, err);
}

#define SPACE_ADD                                                                                  \
    "INSERT INTO number_space "                                                                    \
    "(space, shard, kind, scheme, rebuild, generation, change_no, lineage, origin_lineage, "       \
    "origin_generation) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"

const char *space_row_misfit(const struct space_row *row, uint32_t lineage, uint32_t generation)
{
    return lineage == 0 || lineage == row->lineage ||
                   (lineage == row->origin_lineage && generation <= row->origin_generation)
               ? NULL
               : "it was made from a state that has gone its own way since, and not from these "
                 "numbers: make it from numbers that are exported now";
}

/* Never 0. */
static int64_t draw_lineage(void)
{
    return (int64_t)(random_u64() >> 32 | 1);
}

static int put_space(struct store_tx *tx, const char *sql, const struct number_place *place,
                     const struct space_row *row, struct err *err)
{
    return store_exec(tx, sql,
                      STORE_WITH(STORE_V_INT(place->space), STORE_V_INT(place->shard),
                                 STORE_V_INT(row->version.kind), STORE_V_INT(row->version.scheme),
                                 STORE_V_INT(row->version.rebuild),
                                 STORE_V_INT(row->version.generation), STORE_V_INT(row->change_no),
                                 STORE_V_INT(draw_lineage()), STORE_V_INT(row->origin_lineage),
                                 STORE_V_INT(row->origin_generation)),
                      NULL, err);
}

int space_row_add(struct store_tx *tx, const struct number_place *place,
                  const struct space_row *row, struct err *err)
{
    return put_space(tx, SPACE_ADD, place, row, err);
}

int space_row_save(struct store_tx *tx, const struct number_place *place,
                   const struct space_row *row, struct err *err)
{
    return put_space(tx,
                     SPACE_ADD " ON CONFLICT (space, shard) DO UPDATE "
                               "SET generation = excluded.generation, "
                               "change_no = excluded.change_no, lineage = CASE WHEN "
                               "number_space.lineage = 0 THEN excluded.lineage "
                               "ELSE number_space.lineage END",
                     place, row, err);
}

/* --- keys and their numbers --- */

/* Gives each slot to found, and ends the rows. */
static int take_slots(struct store_rows *rows, slot_row_fn *found, void *arg, struct err *err)
{
    while (store_next(rows)) {
        const struct store_value *columns = rows->columns;
        const struct slot_row row = {
            .key = columns[0].bytes,
            .doc_id = (uint32_t)columns[1].integer,
            .class = columns[2].bytes,
            .birth = (uint32_t)columns[3].integer,
            .seen = (uint32_t)columns[4].integer,
            .gone_us = columns[5].integer,
        };

        rows->rc = found(arg, &row, err);
    }
    return store_rows_end(rows, err);
}

int slot_rows_find(struct store_tx *tx, const struct number_place *place, const struct bytes *keys,
                   uint32_t count, slot_row_fn *found, void *arg, struct err *err)
{
    struct store_value params[2 + FIND_COUNT_MAX] = {STORE_V_INT(place->space),
                                                     STORE_V_INT(place->shard)};
    struct store_rows rows;
    uint32_t taken;
    int rc = 0;

    pthread_once(&texts_once, make_texts);
    for (uint32_t done = 0; rc == 0 && done < count; done += taken) {
        int size_no = 0;

        while (size_no < FIND_SIZE_COUNT - 1 && find_sizes[size_no] < count - done)
            size_no++;
        taken = count - done < find_sizes[size_no] ? count - done : find_sizes[size_no];
        for (uint32_t i = 0; i < find_sizes[size_no]; i++)
            params[2 + i] = i < taken ? STORE_V_BLOB(keys[done + i]) : STORE_V_NULL;
        rows = store_select(tx, texts.find[size_no], params, 2 + find_sizes[size_no]);
        rc = take_slots(&rows, found, arg, err);
    }
    return rc;
}

int slot_rows_gone(struct store_tx *tx, const struct number_place *place, int64_t until_us,
                   uint32_t max, slot_row_fn *found, void *arg, struct err *err)
{
    struct store_rows rows =
        store_select(tx,
                     "SELECT " SLOT_COLUMNS " FROM number_slot WHERE space = $1 AND shard = $2 "
                     "AND gone_us > 0 AND gone_us <= $3 ORDER BY gone_us, doc_id LIMIT $4",
                     STORE_WITH(STORE_V_INT(place->space), STORE_V_INT(place->shard),
                                STORE_V_INT(until_us), STORE_V_INT(max)));

    return take_slots(&rows, found, arg, err);
}

int slot_rows_after(struct store_tx *tx, const struct number_place *place, struct bytes key,
                    uint32_t max, slot_row_fn *found, void *arg, struct err *err)
{
    struct store_rows rows =
        store_select(tx,
                     "SELECT " SLOT_COLUMNS " FROM number_slot WHERE space = $1 AND shard = $2 "
                     "AND key > $3 ORDER BY key LIMIT $4",
                     STORE_WITH(STORE_V_INT(place->space), STORE_V_INT(place->shard),
                                STORE_V_BLOB(key), STORE_V_INT(max)));

    return take_slots(&rows, found, arg, err);
}

int slot_rows_add(struct store_tx *tx, const struct number_place *place,
                  const struct slot_row *rows, uint32_t count, uint32_t generation, struct err *err)
{
    struct store_value params[3 + ADD_COUNT * ADD_COLUMN_COUNT] = {
        STORE_V_INT(place->space), STORE_V_INT(place->shard), STORE_V_INT(generation)};
    int rc = 0;

    pthread_once(&texts_once, make_texts);
    for (uint32_t done = 0, size; rc == 0 && done < count; done += size) {
        size = count - done >= ADD_COUNT ? ADD_COUNT : 1;
        for (uint32_t i = 0; i < size; i++) {
            struct store_value *to = params + 3 + i * ADD_COLUMN_COUNT;

            to[0] = STORE_V_BLOB(rows[done + i].key);
            to[1] = STORE_V_INT(rows[done + i].doc_id);
            to[2] = STORE_V_TEXT(rows[done + i].class);
        }
        rc = store_exec(tx, size > 1 ? texts.add : texts.add_one, params,
                        3 + size * ADD_COLUMN_COUNT, NULL, err);
    }
    return rc;
}

int slot_rows_return(struct store_tx *tx, const struct number_place *place,
                     const struct bytes *keys, uint32_t count, struct err *err)
{
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        rc = store_exec(
            tx, "UPDATE number_slot SET gone_us = 0" SLOT_PLACE " AND key = $3",
            STORE_WITH(STORE_V_INT(place->space), STORE_V_INT(place->shard), STORE_V_BLOB(keys[i])),
            NULL, err);
    }
    return rc;
}

int slot_rows_leave(struct store_tx *tx, const struct number_place *place, const struct bytes *keys,
                    uint32_t count, uint32_t generation, int64_t now_us, int64_t *left_count,
                    struct err *err)
{
    int rc = 0;

    *left_count = 0;
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        int64_t changed = 0;

        rc = store_exec(tx,
                        "UPDATE number_slot SET seen_generation = $4, gone_us = $5" SLOT_PLACE
                        " AND key = $3 AND gone_us = 0",
                        STORE_WITH(STORE_V_INT(place->space), STORE_V_INT(place->shard),
                                   STORE_V_BLOB(keys[i]), STORE_V_INT(generation),
                                   STORE_V_INT(now_us)),
                        &changed, err);
        *left_count += changed;
    }
    return rc;
}

/* --- free numbers --- */

static int free_slot(struct store_tx *tx, const struct number_place *place,
                     const struct slot_row *row, uint32_t generation, int64_t now_us,
                     struct err *err)
{
    const struct store_value by_key[] = {STORE_V_INT(place->space), STORE_V_INT(place->shard),
                                         STORE_V_BLOB(row->key)};
    int rc;

    rc = store_exec(tx, "DELETE FROM number_slot" SLOT_PLACE " AND key = $3", by_key, 3, NULL, err);
    if (rc)
        return rc;
    return store_exec(tx,
                      "INSERT INTO number_free (space, shard, doc_id, class, generation, freed_us) "
                      "VALUES ($1, $2, $3, $4, $5, $6)",
                      STORE_WITH(STORE_V_INT(place->space), STORE_V_INT(place->shard),
                                 STORE_V_INT(row->doc_id), STORE_V_TEXT(row->class),
                                 STORE_V_INT(generation), STORE_V_INT(now_us)),
                      NULL, err);
}

int slot_rows_free(struct store_tx *tx, const struct number_place *place,
                   const struct slot_row *rows, uint32_t count, uint32_t generation, int64_t now_us,
                   struct err *err)
{
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < count; i++)
        rc = free_slot(tx, place, &rows[i], generation, now_us, err);
    return rc;
}

int free_rows_take(struct store_tx *tx, const struct number_place *place, const uint32_t *doc_ids,
                   uint32_t count, struct err *err)
{
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        rc = store_exec(tx, "DELETE FROM number_free" SLOT_PLACE " AND doc_id = $3",
                        STORE_WITH(STORE_V_INT(place->space), STORE_V_INT(place->shard),
                                   STORE_V_INT(doc_ids[i])),
                        NULL, err);
    }
    return rc;
}

static int check_loaded(int64_t first, uint32_t size, struct bytes class, struct err *err)
{
    if (first < 0 || first > (int64_t)(NUMBER_ID_END - size) || class.size > NUMBER_CLASS_SIZE_MAX)
        return err_set(err, ERR_CORRUPT, "the row of number %" PRId64 " is damaged", first);
    return 0;
}

/* columns: doc_id, class, generation, freed_us; *next is where the page after it begins */
static int take_free(struct slots *slots, const struct store_value *columns, int64_t *next,
                     struct err *err)
{
    int64_t doc_id = columns[0].integer;
    int rc = check_loaded(doc_id, 1, columns[1].bytes, err);

    if (rc)
        return rc;
    slots_restore_free(slots, columns[1].bytes, (uint32_t)doc_id, (uint32_t)columns[2].integer,
                       columns[3].integer);
    *next = doc_id + 1;
    return 0;
}

/* All rows of the shard are read in order, a page at a time; $3 is where one begins, $4 its size.
 */
static struct store_rows select_page(struct store_tx *tx, const struct number_place *place,
                                     int64_t next, const char *sql)
{
    return store_select(tx, sql,
                        STORE_WITH(STORE_V_INT(place->space), STORE_V_INT(place->shard),
                                   STORE_V_INT(next), STORE_V_INT(NUMBER_LOAD_COUNT)));
}

int free_rows_load(struct store_tx *tx, const struct number_place *place, struct slots *slots,
                   struct err *err)
{
    int64_t next = 0;
    size_t count;
    int rc;

    do {
        struct store_rows rows =
            select_page(tx, place, next,
                        "SELECT doc_id, class, generation, freed_us FROM number_free "
                        "WHERE space = $1 AND shard = $2 AND doc_id >= $3 "
                        "ORDER BY doc_id LIMIT $4");

        for (count = 0; store_next(&rows); count++)
            rows.rc = take_free(slots, rows.columns, &next, err);
        rc = store_rows_end(&rows, err);
    } while (rc == 0 && count == NUMBER_LOAD_COUNT);
    return rc;
}

/* --- extents --- */

int extent_row_save(struct store_tx *tx, const struct number_place *place, uint32_t first,
                    struct bytes class, uint32_t next, struct err *err)
{
    return store_exec(tx,
                      "INSERT INTO number_extent (space, shard, first_id, class, next_id) "
                      "VALUES ($1, $2, $3, $4, $5) ON CONFLICT (space, shard, first_id) "
                      "DO UPDATE SET next_id = excluded.next_id",
                      STORE_WITH(STORE_V_INT(place->space), STORE_V_INT(place->shard),
                                 STORE_V_INT(first), STORE_V_TEXT(class), STORE_V_INT(next)),
                      NULL, err);
}

/* columns: first_id, class, next_id; *next is where the page after it begins */
static int take_extent(struct slots *slots, const struct store_value *columns, int64_t *next,
                       struct err *err)
{
    int64_t first = columns[0].integer, used = columns[2].integer - first;
    int rc = check_loaded(first, NUMBER_EXTENT_SIZE, columns[1].bytes, err);

    if (rc)
        return rc;
    if (first != slots->next_extent || used < 0 || used > NUMBER_EXTENT_SIZE)
        return err_set(err, ERR_CORRUPT, "the extent of numbers at %" PRId64 " is damaged", first);
    slots_restore_extent(slots, columns[1].bytes, (uint32_t)first, (uint32_t)used);
    *next = first + 1;
    return 0;
}

int extent_rows_load(struct store_tx *tx, const struct number_place *place, struct slots *slots,
                     struct err *err)
{
    int64_t next = 0;
    size_t count;
    int rc;

    do {
        struct store_rows rows = select_page(tx, place, next,
                                             "SELECT first_id, class, next_id FROM number_extent "
                                             "WHERE space = $1 AND shard = $2 AND first_id >= $3 "
                                             "ORDER BY first_id LIMIT $4");

        for (count = 0; store_next(&rows); count++)
            rows.rc = take_extent(slots, rows.columns, &next, err);
        rc = store_rows_end(&rows, err);
    } while (rc == 0 && count == NUMBER_LOAD_COUNT);
    return rc;
}

/* --- the end of a space --- */

int place_rows_drop(struct store_tx *tx, const struct number_place *place, uint32_t max,
                    bool *is_over, struct err *err)
{
    static const char *const parts[] = {
        "DELETE FROM number_slot WHERE space = $1 AND shard = $2 AND key IN (SELECT key FROM "
        "number_slot WHERE space = $1 AND shard = $2 LIMIT $3)",
        "DELETE FROM number_free WHERE space = $1 AND shard = $2 AND doc_id IN (SELECT doc_id FROM "
        "number_free WHERE space = $1 AND shard = $2 LIMIT $3)",
        "DELETE FROM number_extent WHERE space = $1 AND shard = $2 AND first_id IN (SELECT "
        "first_id FROM number_extent WHERE space = $1 AND shard = $2 LIMIT $3)",
    };
    const struct store_value params[] = {STORE_V_INT(place->space), STORE_V_INT(place->shard),
                                         STORE_V_INT(max)};
    int rc = 0;

    *is_over = true;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !rc; i++) {
        int64_t count = 0;

        rc = store_exec(tx, parts[i], params, 3, &count, err);
        *is_over = *is_over && count < max;
    }
    if (!rc && *is_over) /* the last: who looks for what is left looks for it */
        rc = store_exec(tx, "DELETE FROM number_space WHERE space = $1 AND shard = $2", params, 2,
                        NULL, err);
    return rc;
}
