/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - rows with named columns, read and written one at a time: CSV, TSV, JSON lines, Avro.
 *
 *     .csv .tsv        the first line names the columns; cells are quoted as of RFC 4180
 *     .jsonl .ndjson   one object per line; the first line has all columns, null or not
 *     .avro            as of codec/avro_file.h: texts and numbers
 *
 * The ending of a file's name tells its format. Files may be local or in the blob store
 * (passage.h). A table that may have been cut is refused: what is missing in it would be taken for
 * gone. Memory does not grow with the table. Threads: each belongs to one.
 */
#ifndef TORG_NUMERATOR_TABLE_H
#define TORG_NUMERATOR_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"
#include "blob/blob.h"

struct table_reader;
struct table_writer;

/* Reads the names of the columns. ERR_INVALID: the ending tells no format, or there are none. */
int table_reader_open(const char *name, struct blob *blob, struct table_reader **reader,
                      struct err *err);
void table_reader_close(struct table_reader *reader); /* NULL is fine */
bool table_has_column(const struct table_reader *reader, const char *column);
/* The columns whose cells table_next gives, in this order; none twice. Called once.
 * ERR_INVALID: it has no such column. */
int table_pick(struct table_reader *reader, const char *const *columns, uint32_t count,
               struct err *err);
/* A cell for each picked column, valid UTF-8, until the next call; *found: false at the end. What
 * is wrong is told with file and row. */
int table_next(struct table_reader *reader, struct bytes *cells, bool *found, struct err *err);
/* What stands before the text of an error about the row given last. */
int table_wrap(const struct table_reader *reader, struct err *err);
/* The row given last: in CSV and JSON its (last) line, from 1, in Avro its place. */
uint64_t table_line_number(const struct table_reader *reader);
uint64_t table_row_count(const struct table_reader *reader);
void table_progress(const struct table_reader *reader, uint64_t *read_size, uint64_t *total_size);

enum table_kind { TABLE_TEXT, TABLE_INTEGER };

struct table_column {
    const char *name; /* borrowed until the end */
    enum table_kind kind;
};

struct table_cell {
    struct bytes text;
    uint64_t integer; /* of a column of integers */
};

/* count ≤ TABLE_WRITE_COLUMN_MAX */
enum { TABLE_WRITE_COLUMN_MAX = 16 };
int table_writer_open(const char *name, struct blob *blob, const struct table_column *columns,
                      uint32_t count, struct table_writer **writer, struct err *err);
/* A failure is told by the commit. */
void table_put(struct table_writer *writer, const struct table_cell *cells);
int table_commit(struct table_writer *writer, struct err *err); /* frees it, success or not */
void table_abort(struct table_writer *writer);                  /* NULL is fine */

#endif
