/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_csv.c - CSV and TSV as in RFC 4180. A line without quotes, as most are, is cut at its
 * delimiters where it lies; one with quotes goes cell by cell into a buffer, and may go on behind a
 * line's end.
 */
#include <inttypes.h>
#include <string.h>

#include "numerator/table_ops.h"

/* The next line that is not empty. */
static int next_line(struct table_reader *reader, struct bytes *line, bool *found, struct err *err)
{
    int rc;

    do {
        rc = table_line(reader, false, line, found, err);
    } while (rc == 0 && *found && line->size == 0);
    return rc;
}

/* What begins with a quote: its cell goes into `cells`; line is what is left behind it. */
static int take_quoted(struct table_reader *reader, struct bytes *line, struct err *err)
{
    *line = bytes_skip(*line, 1);
    for (;;) {
        const uint8_t *quote = line->size ? memchr(line->data, '"', line->size) : NULL;
        bool found;
        int rc;

        if (!quote) { /* the cell has a line's end in it */
            buf_put(&reader->cells, *line);
            buf_put_byte(&reader->cells, '\n');
            rc = table_line(reader, false, line, &found, err);
            if (rc)
                return rc;
            if (!found)
                return err_set(err, ERR_INVALID, "a quote is not closed");
            if (buf_failed(&reader->cells))
                return err_set(err, ERR_LIMIT, "a row of more than %d bytes", NUMBER_ROW_SIZE_MAX);
            continue;
        }
        buf_put_raw(&reader->cells, line->data, (size_t)(quote - line->data));
        *line = bytes_skip(*line, (size_t)(quote - line->data) + 1);
        if (line->size == 0 || line->data[0] != '"')
            return 0;
        buf_put_byte(&reader->cells, '"');
        *line = bytes_skip(*line, 1);
    }
}

/* Up to the delimiter or the line's end. */
static struct bytes take_plain(struct bytes *line, char delimiter)
{
    const uint8_t *end = line->size ? memchr(line->data, delimiter, line->size) : NULL;
    size_t size = end ? (size_t)(end - line->data) : line->size;
    struct bytes cell = bytes_make(line->data, size);

    *line = bytes_skip(*line, size);
    return cell;
}

typedef int cell_fn(struct table_reader *reader, uint32_t at, struct bytes cell, void *arg,
                    struct err *err);

/* Cells of a line that has quotes. Those that were quoted lie in `cells`, which must not move: it
 * has its room from the beginning. */
static int split_quoted(struct table_reader *reader, struct bytes line, cell_fn *take, void *arg,
                        uint32_t *count, struct err *err)
{
    int rc = 0;

    buf_reset(&reader->cells);
    buf_reserve(&reader->cells, NUMBER_ROW_SIZE_MAX);
    for (*count = 0; rc == 0;) {
        size_t before = reader->cells.size;
        struct bytes plain;

        if (line.size > 0 && line.data[0] == '"') {
            rc = take_quoted(reader, &line, err);
            if (rc)
                return rc;
        }
        plain = take_plain(&line, reader->delimiter); /* of a quoted one, what is behind it */
        buf_put(&reader->cells, plain);
        if (buf_failed(&reader->cells))
            return err_set(err, ERR_LIMIT, "a row of more than %d bytes", NUMBER_ROW_SIZE_MAX);
        rc = take(reader, (*count)++,
                  bytes_make(reader->cells.data + before, reader->cells.size - before), arg, err);
        if (line.size == 0)
            break;
        line = bytes_skip(line, 1);
    }
    return rc;
}

static int split(struct table_reader *reader, struct bytes line, cell_fn *take, void *arg,
                 uint32_t *count, struct err *err)
{
    int rc = 0;

    if (memchr(line.data, '"', line.size))
        return split_quoted(reader, line, take, arg, count, err);
    for (*count = 0; rc == 0;) {
        rc = take(reader, (*count)++, take_plain(&line, reader->delimiter), arg, err);
        if (line.size == 0)
            break;
        line = bytes_skip(line, 1);
    }
    return rc;
}

static int take_column(struct table_reader *reader, uint32_t at, struct bytes cell, void *arg,
                       struct err *err)
{
    (void)at;
    (void)arg;
    return table_add_column(reader, cell, err);
}

static int csv_read_columns(struct table_reader *reader, struct err *err)
{
    static const struct bytes mark = BYTES_LITERAL("\xef\xbb\xbf");
    struct bytes line;
    uint32_t count;
    bool found;
    int rc = next_line(reader, &line, &found, err);

    if (rc)
        return rc;
    if (!found)
        return err_set(err, ERR_INVALID, "it is empty: its first line names the columns");
    if (bytes_begin(line, mark))
        line = bytes_skip(line, mark.size);
    return split(reader, line, take_column, NULL, &count, err);
}

static int take_cell(struct table_reader *reader, uint32_t at, struct bytes cell, void *arg,
                     struct err *err)
{
    struct bytes *cells = arg;

    (void)err;
    if (at < reader->column_count && reader->slots[at] >= 0)
        cells[reader->slots[at]] = cell;
    return 0;
}

static int csv_next(struct table_reader *reader, struct bytes *cells, bool *found, struct err *err)
{
    struct bytes line;
    uint32_t count;
    int rc = next_line(reader, &line, found, err);

    if (rc || !*found)
        return rc;
    rc = split(reader, line, take_cell, cells, &count, err);
    if (rc == 0 && count != reader->column_count)
        rc =
            err_set(err, ERR_INVALID, "%" PRIu32 " cells; the first line names %" PRIu32 " columns",
                    count, reader->column_count);
    return rc;
}

/* --- writing --- */

static void put_cell(struct table_writer *writer, struct bytes text)
{
    bool is_quoted = false;

    for (size_t i = 0; i < text.size; i++)
        is_quoted = is_quoted || text.data[i] == (uint8_t)writer->delimiter ||
                    text.data[i] == '"' || text.data[i] == '\n' || text.data[i] == '\r';
    if (!is_quoted) {
        buf_put(&writer->row, text);
        return;
    }
    buf_put_byte(&writer->row, '"');
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '"')
            buf_put_byte(&writer->row, '"');
        buf_put_byte(&writer->row, text.data[i]);
    }
    buf_put_byte(&writer->row, '"');
}

static int csv_put_columns(struct table_writer *writer, struct err *err)
{
    (void)err;
    buf_reset(&writer->row);
    for (uint32_t i = 0; i < writer->column_count; i++) {
        if (i > 0)
            buf_put_byte(&writer->row, (uint8_t)writer->delimiter);
        put_cell(writer, bytes_of(writer->columns[i].name));
    }
    buf_put_byte(&writer->row, '\n');
    outlet_put(writer->out, buf_bytes(&writer->row));
    return 0;
}

static int csv_put(struct table_writer *writer, const struct table_cell *cells, struct err *err)
{
    (void)err;
    for (uint32_t i = 0; i < writer->column_count; i++) {
        if (i > 0)
            buf_put_byte(&writer->row, (uint8_t)writer->delimiter);
        if (writer->columns[i].kind == TABLE_INTEGER)
            buf_printf(&writer->row, "%" PRIu64, cells[i].integer);
        else
            put_cell(writer, cells[i].text);
    }
    buf_put_byte(&writer->row, '\n');
    return 0;
}

const struct table_ops table_csv_ops = {
    .endings = {".csv"},
    .delimiter = ',',
    .read_columns = csv_read_columns,
    .next = csv_next,
    .put_columns = csv_put_columns,
    .put = csv_put,
};

const struct table_ops table_tsv_ops = {
    .endings = {".tsv"},
    .delimiter = '\t',
    .read_columns = csv_read_columns,
    .next = csv_next,
    .put_columns = csv_put_columns,
    .put = csv_put,
};
