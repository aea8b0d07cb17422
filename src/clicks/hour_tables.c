/* SPDX-License-Identifier: Apache-2.0 */
/* hour_tables.c - see hour_tables.h. */
#include "clicks/hour_tables.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "clicks/bounds.h"
#include "codec/avro_file.h"

#define TABLE_PREFIX "clicks/"

enum { PAGE_COUNT = 1000, HOUR_S = 3600, LATE_S = 60 };

static const struct avro_column columns[] = {
    {.name = "offer", .kind = AVRO_STRING},    {.name = "category", .kind = AVRO_STRING},
    {.name = "shows", .kind = AVRO_LONG},      {.name = "looks", .kind = AVRO_LONG},
    {.name = "clicks", .kind = AVRO_LONG},     {.name = "contacts", .kind = AVRO_LONG},
    {.name = "favourites", .kind = AVRO_LONG},
};

void hour_table_name(int64_t hour, char name[HOUR_TABLE_NAME_SIZE])
{
    char text[CLOCK_TEXT_SIZE];

    clock_format(hour * HOUR_S * SECOND_US, text);
    snprintf(name, HOUR_TABLE_NAME_SIZE, TABLE_PREFIX "%.13s.avro", text); /* up to the hour */
}

/* --- writing --- */

struct writing {
    struct store *store;
    struct blob_writer *blob;
    struct avro_writer *avro;
    int64_t hour;
    struct arena *arena;
    struct bytes after; /* the last offer that was written */
    size_t row_count;   /* of the last page */
};

static int append(void *arg, struct bytes bytes, struct err *err)
{
    return blob_append(((struct writing *)arg)->blob, bytes, err);
}

static struct avro_value value_of(const struct store_value *column, enum avro_kind kind)
{
    return kind == AVRO_STRING ? (struct avro_value){.kind = kind, .text = column->bytes}
                               : (struct avro_value){.kind = kind, .number = column->integer};
}

/* The rows are copied by the store: none is written twice. */
static int write_page(struct writing *writing, struct err *err)
{
    struct store_rows rows = store_read_rows(
        writing->store,
        "SELECT offer, category, shows, looks, clicks, contacts, favourites FROM click_hour "
        "WHERE hour = $1 AND offer > $2 ORDER BY offer LIMIT $3",
        STORE_WITH(STORE_V_INT(writing->hour), STORE_V_TEXT(writing->after),
                   STORE_V_INT(PAGE_COUNT)));

    writing->row_count = 0;
    while (store_next(&rows)) {
        struct avro_value row[ARRAY_COUNT(columns)];

        for (size_t i = 0; i < ARRAY_COUNT(columns); i++)
            row[i] = value_of(&rows.columns[i], columns[i].kind);
        rows.rc = avro_writer_put(writing->avro, row, err);
        writing->after = arena_copy(writing->arena, rows.columns[0].bytes);
        writing->row_count++;
    }
    return store_rows_end(&rows, err);
}

static int write_table(struct store *store, struct blob *blob, int64_t hour, struct err *err)
{
    struct writing writing = {.store = store, .hour = hour, .arena = arena_new()};
    char name[HOUR_TABLE_NAME_SIZE];
    int rc;

    hour_table_name(hour, name);
    rc = blob_begin(blob, name, &writing.blob, err);
    writing.after = bytes_of("");
    writing.avro = avro_writer_new("clicks", columns, ARRAY_COUNT(columns), true, append, &writing);
    if (!rc)
        do
            rc = write_page(&writing, err);
        while (!rc && writing.row_count == PAGE_COUNT);
    if (!rc)
        rc = avro_writer_end(writing.avro, err);
    if (!rc) {
        rc = blob_commit(writing.blob, err);
        writing.blob = NULL;
    }
    blob_abort(writing.blob);
    avro_writer_free(writing.avro);
    arena_free(writing.arena);
    return rc;
}

/* --- removing --- */

static int remove_old(struct blob *blob, int64_t before_hour, struct err *err)
{
    struct arena *arena = arena_new();
    char before[HOUR_TABLE_NAME_SIZE];
    struct blob_page page = {0};
    int rc = blob_list(blob, TABLE_PREFIX, "", HOUR_TABLES_OF_ROUND, arena, &page, err);

    hour_table_name(before_hour, before);
    for (size_t i = 0; i < page.count && !rc && strcmp(page.entries[i].name, before) < 0; i++)
        rc = blob_delete(blob, page.entries[i].name, err);
    arena_free(arena);
    return rc;
}

/* --- which --- */

/* The next hour with counts that is over and was not written; INT64_MAX: there is none. */
static int find_hour(struct store *store, int64_t end_hour, int64_t *hour, struct err *err)
{
    *hour = INT64_MAX;
    return store_read_integer(store,
                              "SELECT MIN(hour) FROM click_hour WHERE hour < $1 AND hour > "
                              "COALESCE((SELECT value FROM click_value WHERE name = 'table_hour'), "
                              "0)",
                              STORE_WITH(STORE_V_INT(end_hour)), hour, err);
}

int hour_tables_write(struct store *store, struct blob *blob, int64_t now_us, size_t *count,
                      struct err *err)
{
    /* transactions that began in an hour may end behind it */
    int64_t end_hour = (now_us / SECOND_US - LATE_S) / HOUR_S;
    int64_t hour;
    int rc = 0;

    for (*count = 0; *count < HOUR_TABLES_OF_ROUND && !rc; ++*count) {
        rc = find_hour(store, end_hour, &hour, err);
        if (rc || hour == INT64_MAX)
            break;
        rc = write_table(store, blob, hour, err);
        if (!rc)
            rc = store_write_one(store,
                                 "INSERT INTO click_value (name, value) VALUES ('table_hour', $1) "
                                 "ON CONFLICT (name) DO UPDATE SET value = excluded.value "
                                 "WHERE click_value.value < excluded.value",
                                 STORE_WITH(STORE_V_INT(hour)), NULL, err);
    }
    return rc || !*count ? rc : remove_old(blob, end_hour - HOUR_TABLE_KEEP_HOURS, err);
}
