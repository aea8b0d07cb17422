/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - see table.h. */
#include "registry/plain/table.h"

#include <inttypes.h>

#include "base/text.h"
#include "codec/bounds.h"
#include "codec/csv_cells.h"
#include "registry/bounds.h"

struct table {
    struct bytes rest;
    struct csv_cells cells; /* of the line at hand */
    struct arena *arena;
    struct bytes *names;
    size_t name_count;
};

static int read_record(struct table *table, struct err *err)
{
    struct csv_cells *cells = &table->cells;
    bool ended, found;
    int rc;

    csv_cells_begin(cells);
    rc = csv_cells_take(cells, &table->rest, &ended, err);
    if (!rc && !ended)
        rc = csv_cells_finish(cells, &found, err);
    if (!rc && cells->quote_open)
        rc = err_set(err, ERR_INVALID, "line %" PRIu64 ": a quote is not closed",
                     cells->record_line);
    for (size_t i = 0; i < cells->count && !rc; i++)
        if (csv_cells_at(cells, i).size > PLAIN_CELL_SIZE_MAX)
            rc = err_set(err, ERR_LIMIT, "line %" PRIu64 ": a cell of more than %d bytes",
                         cells->record_line, PLAIN_CELL_SIZE_MAX);
    return rc;
}

static int read_names(struct table *table, struct err *err)
{
    int rc = read_record(table, err);

    if (rc)
        return rc;
    table->names = arena_array(table->arena, table->cells.count, sizeof(*table->names));
    for (; table->name_count < table->cells.count; table->name_count++) {
        struct bytes cell = csv_cells_at(&table->cells, table->name_count);

        for (size_t i = 0; i < table->name_count; i++)
            if (bytes_equal(table->names[i], cell))
                return err_set(err, ERR_INVALID, "line 1: two columns are called \"%.*s\"",
                               BYTES_ARG(cell));
        table->names[table->name_count] = arena_copy(table->arena, cell);
    }
    return 0;
}

/* *row stays NULL when the line is empty. */
static int read_row(struct table *table, struct placed_json **row, struct err *err)
{
    struct placed_json *object = arena_zero(table->arena, sizeof(*object));
    struct placed_json **last = &object->first;
    int rc = read_record(table, err);

    object->kind = PLACED_OBJECT;
    for (size_t i = 0; i < table->cells.count && !rc; i++) {
        struct bytes cell = csv_cells_at(&table->cells, i);
        struct placed_json *node;

        if (!cell.size)
            continue;
        if (i >= table->name_count)
            return err_set(err, ERR_INVALID,
                           "line %" PRIu64 ": has %zu cells; the first line names %zu",
                           table->cells.record_line, table->cells.count, table->name_count);
        node = arena_zero(table->arena, sizeof(*node));
        node->kind = PLACED_TEXT;
        node->key = table->names[i];
        node->text = arena_copy(table->arena, cell);
        *last = node;
        last = &node->next;
    }
    placed_json_end(object, table->arena);
    *row = object->count ? object : NULL;
    return rc;
}

int table_read(struct bytes csv, struct arena *arena, const struct placed_json **list,
               struct err *err)
{
    struct placed_json *root = arena_zero(arena, sizeof(*root));
    struct table table = {.arena = arena};
    struct placed_json **last = &root->first;
    size_t size_before = arena_size(arena);
    int rc = 0;

    root->kind = PLACED_LIST;
    *list = root;
    if (bytes_begin(csv, (struct bytes)BYTES_LITERAL("\xef\xbb\xbf")))
        csv = bytes_skip(csv, 3);
    if (!csv.size)
        return err_set(err, ERR_INVALID, "the CSV is empty: its first line names the columns");
    if (!text_is_utf8(csv) || memchr(csv.data, 0, csv.size))
        return err_set(err, ERR_INVALID, "the CSV is not valid UTF-8");
    table.rest = csv;
    csv_cells_init(&table.cells, csv.size + 1, PLAIN_COLUMN_COUNT_MAX);
    table.cells.delimiter = csv_guess_delimiter(csv);
    rc = read_names(&table, err);
    while (!rc && table.rest.size) {
        struct placed_json *row = NULL;

        rc = read_row(&table, &row, err);
        if (!rc && row) {
            *last = row;
            last = &row->next;
        }
        if (!rc && arena_size(arena) > MESSAGE_MEMORY_MAX + size_before)
            rc = err_set(err, ERR_LIMIT,
                         "the CSV takes more than %d MB when it is read; send less at a time",
                         MESSAGE_MEMORY_MAX >> 20);
    }
    placed_json_end(root, arena);
    csv_cells_release(&table.cells);
    return rc;
}
