/* SPDX-License-Identifier: Apache-2.0 */
/* column_rows.c - see column_rows.h. */
#include "numerator/column_rows.h"

#include "numerator/bounds.h"
#include "store/sequence.h"

int column_rows_mark(struct store *store, int64_t *mark, struct err *err)
{
    /* A load makes the greatest mark, a drop fewer rows. */
    *mark = 0;
    return store_read_integer(
        store,
        "SELECT CAST(COALESCE(MAX(mark), 0) * 65536 + COUNT(*) AS BIGINT) FROM outside_column",
        NULL, 0, mark, err);
}

static struct column_row read_row(const struct store_value *columns, struct arena *arena)
{
    return (struct column_row){.client_id = columns[0].integer,
                               .client = arena_text(arena, columns[1].bytes),
                               .name = arena_text(arena, columns[2].bytes),
                               .version = {.kind = (uint32_t)columns[0].integer,
                                           .scheme = (uint32_t)columns[3].integer,
                                           .rebuild = (uint32_t)columns[4].integer,
                                           .generation = (uint32_t)columns[5].integer},
                               .digits = (uint8_t)columns[6].integer,
                               .number_count = columns[7].integer,
                               .size = columns[8].integer,
                               .mark = columns[9].integer,
                               .place = arena_text(arena, columns[10].bytes),
                               .loaded_us = columns[11].integer,
                               .loaded_by = arena_text(arena, columns[12].bytes)};
}

int column_rows_read(struct store *store, int64_t client_id, struct arena *arena,
                     struct column_rows *rows, struct err *err)
{
    struct column_row *list = arena_array(arena, NUMBER_COLUMN_ROW_COUNT_MAX, sizeof(*list));
    struct store_rows found = store_read_rows(
        store,
        "SELECT o.client_id, c.name, o.name, o.scheme, o.rebuild, o.generation, "
        "o.digits, o.number_count, o.size, o.mark, o.place, o.loaded_us, "
        "o.loaded_by FROM outside_column o JOIN registry_client c "
        "ON c.id = o.client_id WHERE CAST($1 AS BIGINT) = 0 "
        "OR o.client_id = $1 "
        "ORDER BY o.client_id, o.name, o.mark LIMIT $2",
        STORE_WITH(STORE_V_INT(client_id), STORE_V_INT(NUMBER_COLUMN_ROW_COUNT_MAX)));

    *rows = (struct column_rows){.list = list};
    while (store_next(&found))
        list[rows->count++] = read_row(found.columns, arena);
    return store_rows_end(&found, err);
}

int column_row_put(struct store_tx *tx, struct column_row *row, struct err *err)
{
    const struct store_value values[] = {STORE_V_INT(row->client_id), STORE_V_STRING(row->name),
                                         STORE_V_INT(row->version.scheme),
                                         STORE_V_INT(row->version.rebuild)};
    int rc = store_next_seq(tx, "outside-columns", 1, &row->mark, err);

    if (!rc)
        rc = store_exec(tx,
                        "DELETE FROM outside_column WHERE client_id = $1 AND name = $2 "
                        "AND scheme = $3 AND rebuild = $4",
                        values, 4, NULL, err);
    if (!rc)
        rc = store_exec(
            tx,
            "INSERT INTO outside_column (client_id, name, scheme, rebuild, generation, digits, "
            "number_count, size, mark, place, loaded_us, loaded_by) "
            "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
            STORE_WITH(values[0], values[1], values[2], values[3],
                       STORE_V_INT(row->version.generation), STORE_V_INT(row->digits),
                       STORE_V_INT(row->number_count), STORE_V_INT(row->size),
                       STORE_V_INT(row->mark), STORE_V_STRING(row->place),
                       STORE_V_INT(row->loaded_us), STORE_V_STRING(row->loaded_by)),
            NULL, err);
    return rc;
}

int column_rows_drop(struct store_tx *tx, int64_t client_id, const char *name, int64_t *count,
                     struct err *err)
{
    return store_exec(tx, "DELETE FROM outside_column WHERE client_id = $1 AND name = $2",
                      STORE_WITH(STORE_V_INT(client_id), STORE_V_STRING(name)), count, err);
}

/* Of a client without any epoch they stay, as its numbers do: its rows are damaged. */
#define RETIRED                                                                                    \
    "FROM outside_column WHERE EXISTS (SELECT 1 FROM registry_epoch e "                            \
    "WHERE e.client_id = outside_column.client_id) AND NOT EXISTS (SELECT 1 "                      \
    "FROM registry_epoch e JOIN registry_client c ON c.id = e.client_id "                          \
    "WHERE e.client_id = outside_column.client_id AND e.rebuild = outside_column.rebuild AND "     \
    "(e.shard_count = outside_column.scheme OR "                                                   \
    "(e.shard_count = 0 AND c.shard_count = outside_column.scheme)))"

int column_rows_drop_retired(struct store_tx *tx, int64_t *count, struct err *err)
{
    int rc;

    *count = 0;
    rc = store_find_integer(tx, "SELECT COUNT(*) " RETIRED, NULL, 0, count, err);
    if (!rc && *count)
        rc = store_exec(tx, "DELETE " RETIRED, NULL, 0, count, err);
    return rc;
}
