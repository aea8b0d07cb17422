/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - see table.h. */
#include "numerator/table.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "numerator/table_ops.h"

static const struct table_ops *const formats[] = {&table_csv_ops, &table_tsv_ops, &table_json_ops,
                                                  &table_avro_ops};

static const struct table_ops *format_of(const char *name)
{
    const char *dot = strrchr(name, '.');

    for (size_t i = 0; dot && i < ARRAY_COUNT(formats); i++)
        for (const char *const *ending = formats[i]->endings; *ending; ending++)
            if (strcmp(dot, *ending) == 0)
                return formats[i];
    return NULL;
}

static int refuse_format(const char *name, struct err *err)
{
    return err_set(err, ERR_INVALID,
                   "%s: the ending of a table's name tells its format: expected .csv, .tsv, "
                   ".jsonl, .ndjson or .avro",
                   name);
}

/* --- reading --- */

int table_reader_open(const char *name, struct blob *blob, struct table_reader **reader,
                      struct err *err)
{
    const struct table_ops *ops = format_of(name);
    struct table_reader *made;
    int rc;

    *reader = NULL;
    if (!ops)
        return refuse_format(name, err);
    made = mem_zero(sizeof(*made));
    made->ops = ops;
    made->delimiter = ops->delimiter;
    made->name = mem_strdup(name);
    made->arena = arena_new();
    made->row = arena_new();
    buf_init(&made->window, 2 * NUMBER_PIECE_SIZE + NUMBER_ROW_SIZE_MAX);
    buf_init(&made->cells, NUMBER_ROW_SIZE_MAX);
    rc = inlet_open(name, blob, &made->in, err);
    if (rc == 0) {
        rc = ops->read_columns(made, err);
        if (rc)
            err_wrap(err, "%s", name);
    }
    if (rc)
        table_reader_close(made);
    else
        *reader = made;
    return rc;
}

void table_reader_close(struct table_reader *reader)
{
    if (!reader)
        return;
    if (reader->ops->close)
        reader->ops->close(reader);
    inlet_close(reader->in);
    buf_release(&reader->window);
    buf_release(&reader->cells);
    arena_free(reader->arena);
    arena_free(reader->row);
    free(reader->name);
    free(reader);
}

static int column_at(const struct table_reader *reader, const char *column)
{
    for (uint32_t i = 0; i < reader->column_count; i++)
        if (bytes_equal_text(reader->columns[i], column))
            return (int)i;
    return -1;
}

bool table_has_column(const struct table_reader *reader, const char *column)
{
    return column_at(reader, column) >= 0;
}

int table_pick(struct table_reader *reader, const char *const *columns, uint32_t count,
               struct err *err)
{
    assert(reader->pick_count == 0);
    for (uint32_t i = 0; i < reader->column_count; i++)
        reader->slots[i] = -1;
    for (uint32_t i = 0; i < count; i++) {
        int at = column_at(reader, columns[i]);

        if (at < 0)
            return err_set(err, ERR_INVALID, "%s: it has no column \"%s\"", reader->name,
                           columns[i]);
        if (reader->slots[at] >= 0)
            return err_set(err, ERR_INVALID, "the column \"%s\" is asked for twice", columns[i]);
        reader->slots[at] = (int)i;
    }
    reader->pick_count = count;
    return 0;
}

int table_wrap(const struct table_reader *reader, struct err *err)
{
    return err_wrap(err, "%s, line %" PRIu64, reader->name, reader->line);
}

int table_next(struct table_reader *reader, struct bytes *cells, bool *found, struct err *err)
{
    int rc = reader->ops->next(reader, cells, found, err);

    for (uint32_t i = 0; rc == 0 && *found && i < reader->pick_count; i++)
        if (!text_is_utf8(cells[i]))
            rc = err_set(err, ERR_INVALID, "a cell is not valid UTF-8");
    if (rc)
        return table_wrap(reader, err);
    reader->row_count += *found;
    return 0;
}

uint64_t table_line_number(const struct table_reader *reader)
{
    return reader->line;
}

uint64_t table_row_count(const struct table_reader *reader)
{
    return reader->row_count;
}

void table_progress(const struct table_reader *reader, uint64_t *read_size, uint64_t *total_size)
{
    *read_size = inlet_position(reader->in) - reader->rest.size;
    *total_size = inlet_size(reader->in);
}

/* --- for formats --- */

int table_fetch(struct table_reader *reader, struct err *err)
{
    size_t before;
    int rc;

    buf_consume(&reader->window, reader->window.size - reader->rest.size);
    before = reader->window.size;
    if (before > NUMBER_ROW_SIZE_MAX)
        return err_set(err, ERR_LIMIT, "a row of more than %d bytes", NUMBER_ROW_SIZE_MAX);
    rc = inlet_read(reader->in, &reader->window, NUMBER_PIECE_SIZE, err);
    reader->rest = buf_bytes(&reader->window);
    reader->is_end = rc == 0 && reader->window.size == before;
    return rc;
}

int table_line(struct table_reader *reader, bool may_be_open, struct bytes *line, bool *found,
               struct err *err)
{
    const uint8_t *end;
    size_t looked = 0;
    int rc;

    *found = false;
    for (;;) {
        end = reader->rest.size > looked
                  ? memchr(reader->rest.data + looked, '\n', reader->rest.size - looked)
                  : NULL;
        if (end || reader->is_end)
            break;
        looked = reader->rest.size;
        rc = table_fetch(reader, err);
        if (rc)
            return rc;
    }
    reader->line++;
    if (!end && reader->rest.size == 0)
        return 0;
    if (!end && !may_be_open)
        return err_set(err, ERR_INVALID,
                       "the last line does not end with a line break: the table may be cut");
    *found = true;
    *line =
        bytes_make(reader->rest.data, end ? (size_t)(end - reader->rest.data) : reader->rest.size);
    reader->rest = bytes_skip(reader->rest, line->size + (end != NULL));
    if (line->size > 0 && line->data[line->size - 1] == '\r')
        line->size--;
    return 0;
}

int table_add_column(struct table_reader *reader, struct bytes name, struct err *err)
{
    if (reader->column_count == NUMBER_COLUMN_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "more than %d columns", NUMBER_COLUMN_COUNT_MAX);
    if (!text_is_utf8(name))
        return err_set(err, ERR_INVALID, "the name of column %" PRIu32 " is not valid UTF-8",
                       reader->column_count + 1);
    for (uint32_t i = 0; name.size > 0 && i < reader->column_count; i++)
        if (bytes_equal(reader->columns[i], name))
            return err_set(err, ERR_INVALID, "two columns are called \"%.*s\"", BYTES_ARG(name));
    reader->columns[reader->column_count++] = arena_copy(reader->arena, name);
    return 0;
}

/* --- writing --- */

int table_writer_open(const char *name, struct blob *blob, const struct table_column *columns,
                      uint32_t count, struct table_writer **writer, struct err *err)
{
    const struct table_ops *ops = format_of(name);
    struct table_writer *made;
    int rc;

    *writer = NULL;
    assert(count <= TABLE_WRITE_COLUMN_MAX);
    if (!ops)
        return refuse_format(name, err);
    made = mem_zero(sizeof(*made));
    made->ops = ops;
    made->delimiter = ops->delimiter;
    memcpy(made->columns, columns, count * sizeof(*columns));
    made->column_count = count;
    buf_init(&made->row, NUMBER_ROW_SIZE_MAX);
    rc = outlet_open(name, blob, &made->out, err);
    if (rc == 0)
        rc = ops->put_columns(made, err);
    if (rc)
        table_abort(made);
    else
        *writer = made;
    return rc;
}

void table_put(struct table_writer *writer, const struct table_cell *cells)
{
    buf_reset(&writer->row);
    if (writer->rc == 0)
        writer->rc = writer->ops->put(writer, cells, &writer->err);
    assert(!buf_failed(&writer->row)); /* a few keys, and numbers */
    outlet_put(writer->out, buf_bytes(&writer->row));
}

int table_commit(struct table_writer *writer, struct err *err)
{
    int rc = writer->rc;

    if (rc)
        *err = writer->err;
    else if (writer->ops->end)
        rc = writer->ops->end(writer, err);
    if (rc == 0) {
        struct outlet *out = writer->out;

        writer->out = NULL;
        rc = outlet_commit(out, err);
    }
    table_abort(writer);
    return rc;
}

void table_abort(struct table_writer *writer)
{
    if (!writer)
        return;
    if (writer->ops->free)
        writer->ops->free(writer);
    outlet_abort(writer->out);
    buf_release(&writer->row);
    free(writer);
}
