/* SPDX-License-Identifier: Apache-2.0 */
/* csv_reader.c - see csv_reader.h. */
#include "codec/csv_reader.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/object.h"
#include "base/text.h"
#include "codec/bounds.h"
#include "codec/csv_cells.h"

enum { BLOCK_SIZE = 64 << 10 };

enum { CSV_READER_MAGIC = OBJECT_MAGIC('c', 's', 'v', 'r') };

struct csv_reader {
    uint32_t magic;
    int (*read)(void *arg, void *to, size_t size, size_t *got, struct err *err);
    void *arg;
    struct csv_cells cells;
    struct bytes list[CSV_COLUMN_COUNT_MAX];
    struct bytes rest; /* of the block */
    uint8_t block[BLOCK_SIZE];
};

struct csv_reader *csv_reader_new(int (*read)(void *arg, void *to, size_t size, size_t *got,
                                              struct err *err),
                                  void *arg, size_t record_size_max)
{
    struct csv_reader *reader = mem_zero(sizeof(*reader));

    object_begin(reader, CSV_READER_MAGIC);
    reader->read = read;
    reader->arg = arg;
    csv_cells_init(&reader->cells, record_size_max, CSV_COLUMN_COUNT_MAX);
    return reader;
}

void csv_reader_free(struct csv_reader *reader)
{
    if (!reader)
        return;
    object_check(reader, CSV_READER_MAGIC);
    csv_cells_release(&reader->cells);
    object_end(reader, CSV_READER_MAGIC);
    free(reader);
}

uint64_t csv_reader_line(const struct csv_reader *reader)
{
    object_check(reader, CSV_READER_MAGIC);
    return reader->cells.record_line;
}

/* The rest is empty at the end alone. */
static int fill(struct csv_reader *reader, struct err *err)
{
    size_t size = 0;
    int rc;

    if (reader->rest.size)
        return 0;
    rc = reader->read(reader->arg, reader->block, BLOCK_SIZE, &size, err);
    reader->rest = bytes_make(reader->block, size);
    return rc;
}

/* The first line, however few bytes come at a time: it has the mark of UTF-8, if there is any, and
 * tells the delimiter. */
static int begin(struct csv_reader *reader, struct err *err)
{
    static const struct bytes mark = BYTES_LITERAL("\xef\xbb\xbf");
    size_t size = 0, got;
    int rc;

    do {
        got = 0;
        rc = reader->read(reader->arg, reader->block + size, BLOCK_SIZE - size, &got, err);
        size += got;
    } while (!rc && got && size < BLOCK_SIZE && !memchr(reader->block, '\n', size));
    if (rc)
        return rc;
    reader->rest = bytes_make(reader->block, size);
    if (bytes_begin(reader->rest, mark))
        reader->rest = bytes_skip(reader->rest, mark.size);
    reader->cells.delimiter = csv_guess_delimiter(reader->rest);
    return 0;
}

static int read_record(struct csv_reader *reader, bool *found, struct err *err)
{
    struct csv_cells *cells = &reader->cells;
    bool ended = false;
    int rc = cells->delimiter ? fill(reader, err) : begin(reader, err);

    if (rc)
        return rc;
    csv_cells_begin(cells);
    *found = true;
    while (!rc && !ended) {
        if (!reader->rest.size) {
            rc = csv_cells_finish(cells, found, err);
            break;
        }
        rc = csv_cells_take(cells, &reader->rest, &ended, err);
        if (!rc && !ended)
            rc = fill(reader, err);
    }
    if (!rc && cells->quote_open)
        rc = err_set(err, ERR_INVALID, "line %" PRIu64 ": a quote is not closed",
                     cells->record_line);
    if (!rc && !text_is_utf8(buf_bytes(&cells->text)))
        rc = err_set(err, ERR_INVALID, "line %" PRIu64 ": not valid UTF-8", cells->record_line);
    return rc;
}

int csv_reader_next(struct csv_reader *reader, const struct bytes **list, size_t *count,
                    struct err *err)
{
    const struct csv_cells *cells = &reader->cells;
    bool found;
    int rc;

    object_check(reader, CSV_READER_MAGIC);
    *count = 0;
    do {
        rc = read_record(reader, &found, err);
    } while (!rc && found && cells->count == 1 && cells->text.size == 0);
    if (rc || !found)
        return rc;
    for (size_t i = 0; i < cells->count; i++)
        reader->list[i] = csv_cells_at(cells, i);
    *list = reader->list;
    *count = cells->count;
    return 0;
}
