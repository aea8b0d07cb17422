/* SPDX-License-Identifier: Apache-2.0 */
/* table_avro.c - Avro files (codec/avro_file.h): numbers are cells as they are written in decimal,
 * null is an empty one; bytes and lists are refused where a cell is asked for. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "codec/avro_file.h"
#include "numerator/table_ops.h"

static int read_piece(void *arg, void *to, size_t size, size_t *got, struct err *err)
{
    struct table_reader *reader = arg;
    int rc = 0;

    if (reader->rest.size == 0)
        rc = table_fetch(reader, err);
    *got = reader->rest.size < size ? reader->rest.size : size;
    if (*got > 0)
        memcpy(to, reader->rest.data, *got);
    reader->rest = bytes_skip(reader->rest, *got);
    return rc;
}

static int avro_read_columns(struct table_reader *reader, struct err *err)
{
    const struct avro_column *columns;
    size_t count;
    int rc = avro_reader_open(read_piece, reader, &reader->avro, err);

    if (rc)
        return rc;
    columns = avro_reader_columns(reader->avro, &count);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = table_add_column(reader, bytes_of(columns[i].name), err);
    return rc;
}

/* The cell as a text, in `cells` when it is none yet. */
static int text_of(struct table_reader *reader, const struct avro_value *value, struct bytes *text,
                   struct err *err)
{
    size_t before = reader->cells.size;

    switch (value->kind) {
    case AVRO_NULL:
        *text = BYTES_EMPTY;
        return 0;
    case AVRO_STRING:
        *text = value->text;
        return 0;
    case AVRO_BOOLEAN:
        *text = bytes_of(value->number ? "true" : "false");
        return 0;
    case AVRO_LONG:
        buf_printf(&reader->cells, "%" PRId64, value->number);
        break;
    case AVRO_DOUBLE:
        buf_printf(&reader->cells, "%.17g", value->real);
        break;
    case AVRO_BYTES:
    case AVRO_LIST:
        return err_set(err, ERR_INVALID, "a cell is %s, not a single text or number",
                       avro_kind_name(value->kind));
    }
    *text = bytes_make(reader->cells.data + before, reader->cells.size - before);
    return 0;
}

static int avro_next(struct table_reader *reader, struct bytes *cells, bool *found, struct err *err)
{
    const struct avro_value *row;
    int rc = avro_reader_next(reader->avro, &row, err);

    *found = rc == 0 && row;
    reader->line++;
    buf_reset(&reader->cells);
    buf_reserve(&reader->cells, NUMBER_ROW_SIZE_MAX); /* so that cells stay where they are */
    for (uint32_t i = 0; *found && rc == 0 && i < reader->column_count; i++)
        if (reader->slots[i] >= 0)
            rc = text_of(reader, &row[i], &cells[reader->slots[i]], err);
    return rc;
}

static void avro_close(struct table_reader *reader)
{
    avro_reader_close(reader->avro);
}

/* --- writing --- */

static int write_piece(void *arg, struct bytes bytes, struct err *err)
{
    struct table_writer *writer = arg;

    (void)err; /* the outlet tells it at its commit */
    while (bytes.size > 0) {
        size_t size = bytes.size < NUMBER_BLOCK_SIZE ? bytes.size : NUMBER_BLOCK_SIZE;

        outlet_put(writer->out, bytes_make(bytes.data, size));
        bytes = bytes_skip(bytes, size);
    }
    return 0;
}

static bool is_name(const char *name)
{
    bool is_so = isalpha((unsigned char)name[0]) || name[0] == '_';

    for (; is_so && *name; name++)
        is_so = isalnum((unsigned char)*name) || *name == '_';
    return is_so;
}

static int avro_put_columns(struct table_writer *writer, struct err *err)
{
    struct avro_column columns[TABLE_WRITE_COLUMN_MAX];

    for (uint32_t i = 0; i < writer->column_count; i++) {
        if (!is_name(writer->columns[i].name))
            return err_set(
                err, ERR_INVALID,
                "the column \"%s\" cannot be in an Avro file: names are of A-Z a-z 0-9 _",
                writer->columns[i].name);
        columns[i] = (struct avro_column){
            .name = writer->columns[i].name,
            .kind = writer->columns[i].kind == TABLE_INTEGER ? AVRO_LONG : AVRO_STRING};
    }
    writer->avro =
        avro_writer_new("docs", columns, writer->column_count, true, write_piece, writer);
    return 0;
}

static int avro_put(struct table_writer *writer, const struct table_cell *cells, struct err *err)
{
    struct avro_value row[TABLE_WRITE_COLUMN_MAX];

    for (uint32_t i = 0; i < writer->column_count; i++)
        row[i] = writer->columns[i].kind == TABLE_INTEGER
                     ? (struct avro_value){.kind = AVRO_LONG, .number = (int64_t)cells[i].integer}
                     : (struct avro_value){.kind = AVRO_STRING, .text = cells[i].text};
    return avro_writer_put(writer->avro, row, err);
}

static int avro_end(struct table_writer *writer, struct err *err)
{
    return avro_writer_end(writer->avro, err);
}

static void avro_free(struct table_writer *writer)
{
    avro_writer_free(writer->avro);
}

const struct table_ops table_avro_ops = {
    .endings = {".avro"},
    .read_columns = avro_read_columns,
    .next = avro_next,
    .close = avro_close,
    .put_columns = avro_put_columns,
    .put = avro_put,
    .end = avro_end,
    .free = avro_free,
};
