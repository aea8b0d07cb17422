/* SPDX-License-Identifier: Apache-2.0 */
/* parked.c - see parked.h. */
#include "documents/parked.h"

#include "base/memory.h"

#define COLUMNS "offer_id, partition_no, offset_no, attempt_count, first_us, next_us, reason"

/* One statement with its values, run as a transaction. */
struct statement {
    const char *sql;
    const struct store_value *params;
    size_t param_count;
    int64_t changed;
};

static int exec(struct store_tx *tx, void *arg, struct err *err)
{
    struct statement *statement = arg;

    return store_exec(tx, statement->sql, statement->params, statement->param_count,
                      &statement->changed, err);
}

int parked_add(struct store *store, const struct parked *parked, struct err *err)
{
    const struct store_value params[] = {STORE_V_TEXT(bytes_of(parked->offer_id)),
                                         STORE_V_INT(parked->partition),
                                         STORE_V_INT((int64_t)parked->offset),
                                         STORE_V_INT(parked->attempt_count),
                                         STORE_V_INT(parked->first_us),
                                         STORE_V_INT(parked->next_us),
                                         STORE_V_TEXT(bytes_of(parked->reason))};
    struct statement statement = {
        .sql = "INSERT INTO composer_parked (" COLUMNS ") VALUES ($1, $2, $3, $4, $5, $6, $7) "
               "ON CONFLICT (offer_id) DO UPDATE SET partition_no = excluded.partition_no, "
               "offset_no = excluded.offset_no, reason = excluded.reason",
        .params = params,
        .param_count = ARRAY_COUNT(params)};

    return store_write(store, exec, &statement, err);
}

int parked_delay(struct store *store, const struct parked *parked, struct err *err)
{
    const struct store_value params[] = {
        STORE_V_TEXT(bytes_of(parked->offer_id)), STORE_V_INT(parked->attempt_count),
        STORE_V_INT(parked->next_us), STORE_V_TEXT(bytes_of(parked->reason))};
    struct statement statement = {
        .sql = "UPDATE composer_parked SET attempt_count = $2, next_us = $3, reason = $4 "
               "WHERE offer_id = $1",
        .params = params,
        .param_count = ARRAY_COUNT(params)};

    return store_write(store, exec, &statement, err);
}

int parked_remove(struct store *store, const char *offer_id, uint64_t offset, struct err *err)
{
    const struct store_value params[] = {STORE_V_TEXT(bytes_of(offer_id)),
                                         STORE_V_INT((int64_t)offset)};
    struct statement statement = {
        .sql = "DELETE FROM composer_parked WHERE offer_id = $1 AND offset_no <= $2",
        .params = params,
        .param_count = ARRAY_COUNT(params)};

    return store_write(store, exec, &statement, err);
}

int parked_hurry(struct store *store, const char *offer_id, int64_t now_us, int64_t *count,
                 struct err *err)
{
    const struct store_value params[] = {STORE_V_INT(now_us), STORE_V_TEXT(bytes_of(offer_id))};
    struct statement statement = {
        .sql = "UPDATE composer_parked SET next_us = $1 WHERE offer_id = $2 OR $2 = ''",
        .params = params,
        .param_count = ARRAY_COUNT(params)};
    int rc = store_write(store, exec, &statement, err);

    *count = statement.changed;
    return rc;
}

/* --- reading --- */

struct reading {
    const char *sql;
    const struct store_value *params;
    size_t param_count;
    struct arena *arena;
    struct parked *list;
    size_t count;
    size_t max;
};

/* columns: COLUMNS */
static struct parked parked_of(const struct store_value *columns, struct arena *arena)
{
    return (struct parked){
        .offer_id = arena_text(arena, columns[0].bytes),
        .partition = (uint32_t)columns[1].integer,
        .offset = (uint64_t)columns[2].integer,
        .attempt_count = columns[3].integer,
        .first_us = columns[4].integer,
        .next_us = columns[5].integer,
        .reason = arena_text(arena, columns[6].bytes),
    };
}

static int read_rows(struct store_tx *tx, void *arg, struct err *err)
{
    struct reading *reading = arg;
    struct store_rows rows = store_select(tx, reading->sql, reading->params, reading->param_count);

    reading->count = 0; /* it may be run again */
    while (reading->count < reading->max && store_next(&rows))
        reading->list[reading->count++] = parked_of(rows.columns, reading->arena);
    return store_rows_end(&rows, err);
}

static int read_list(struct store *store, struct reading *reading, struct parked **list,
                     size_t *count, struct err *err)
{
    int rc;

    reading->list = arena_array(reading->arena, reading->max + 1, sizeof(reading->list[0]));
    rc = store_read(store, read_rows, reading, err);
    *list = reading->list;
    *count = rc ? 0 : reading->count;
    return rc;
}

int parked_due(struct store *store, int64_t now_us, size_t max, struct arena *arena,
               struct parked **list, size_t *count, struct err *err)
{
    const struct store_value params[] = {STORE_V_INT(now_us), STORE_V_INT((int64_t)max)};
    struct reading reading = {.sql = "SELECT " COLUMNS " FROM composer_parked "
                                     "WHERE next_us <= $1 ORDER BY next_us LIMIT $2",
                              .params = params,
                              .param_count = ARRAY_COUNT(params),
                              .arena = arena,
                              .max = max};

    return read_list(store, &reading, list, count, err);
}

int parked_list(struct store *store, const char *after, size_t max, struct arena *arena,
                struct parked **list, size_t *count, struct err *err)
{
    const struct store_value params[] = {STORE_V_TEXT(bytes_of(after)), STORE_V_INT((int64_t)max)};
    struct reading reading = {.sql = "SELECT " COLUMNS " FROM composer_parked "
                                     "WHERE offer_id > $1 ORDER BY offer_id LIMIT $2",
                              .params = params,
                              .param_count = ARRAY_COUNT(params),
                              .arena = arena,
                              .max = max};

    return read_list(store, &reading, list, count, err);
}

int parked_find(struct store_tx *tx, const char *offer_id, struct arena *arena,
                struct parked *parked, bool *found, struct err *err)
{
    const struct store_value params[] = {STORE_V_TEXT(bytes_of(offer_id))};
    struct store_rows rows =
        store_select(tx, "SELECT " COLUMNS " FROM composer_parked WHERE offer_id = $1", params, 1);

    *found = store_next(&rows);
    if (*found)
        *parked = parked_of(rows.columns, arena);
    return store_rows_end(&rows, err);
}

static int read_count(struct store_tx *tx, void *arg, struct err *err)
{
    return store_find_integer(tx, "SELECT COUNT(*) FROM composer_parked", NULL, 0, arg, err);
}

int parked_count(struct store *store, int64_t *count, struct err *err)
{
    *count = 0;
    return store_read(store, read_count, count, err);
}
