/* SPDX-License-Identifier: Apache-2.0 */
/*
 * avro_file.h - Avro object container files, row by row: tables that Spark, Hive and DuckDB write
 * and read.
 *
 *   "Obj" 1 | names and values: avro.schema, avro.codec … | mark[16]
 *   then blocks: count of rows | size | rows, packed or not | the same mark[16]
 *
 * A file is a table: its schema is a record whose fields are null, boolean, int, long, float,
 * double, bytes, string, an enum, a fixed, a list of strings, or a union of these. Other fields
 * (records in records, maps) are refused when it is opened, with their names. Codecs: null and
 * deflate.
 *
 * Our own, as Debian's Avro C takes what a file says of its sizes for true: a few bytes make it ask
 * for gigabytes. Here memory follows the bytes that came, one block is held at a time, and all that
 * is wrong is ERR_INVALID or ERR_LIMIT (bounds.h) with the byte where it is.
 *
 * Threads: one reader or writer, one thread.
 */
#ifndef TORG_CODEC_AVRO_FILE_H
#define TORG_CODEC_AVRO_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"

enum avro_kind {
    AVRO_NULL,
    AVRO_BOOLEAN,
    AVRO_LONG,   /* int and long */
    AVRO_DOUBLE, /* float and double */
    AVRO_STRING, /* valid UTF-8; the name of an enum's value, too */
    AVRO_BYTES,  /* bytes and fixed */
    AVRO_LIST,   /* of strings */
};

struct avro_value {
    enum avro_kind kind;
    int64_t number; /* of AVRO_BOOLEAN: 0 or 1 */
    double real;
    struct bytes text;         /* of strings and bytes */
    const struct bytes *items; /* of a list */
    size_t count;
};

struct avro_column {
    const char *name;
    enum avro_kind kind; /* of a union: of its first that is not null */
    bool optional;       /* may be null */
};

/* "null", "boolean", "long", "double", "string", "bytes", "list". */
const char *avro_kind_name(enum avro_kind kind);

/* ---- reading ---- */

struct avro_reader;

/* read: up to size bytes of the source, *got = 0 at its end. On failure *reader is NULL. */
int avro_reader_open(int (*read)(void *arg, void *to, size_t size, size_t *got, struct err *err),
                     void *arg, struct avro_reader **reader, struct err *err);
void avro_reader_close(struct avro_reader *reader); /* NULL is fine */

/* In the order of the values of a row; as long as the reader. */
const struct avro_column *avro_reader_columns(const struct avro_reader *reader, size_t *count);
/* Which column has this name; -1: none. */
int avro_reader_find(const struct avro_reader *reader, const char *name);

/* The next row, a value a column, valid until the next call; *row = NULL behind the last one. */
int avro_reader_next(struct avro_reader *reader, const struct avro_value **row, struct err *err);

uint64_t avro_reader_offset(const struct avro_reader *reader); /* bytes of the file so far */

/* ---- writing ---- */

struct avro_writer;

/* Columns are copied, names are [A-Za-z_][A-Za-z0-9_]*; kinds other than AVRO_NULL. */
struct avro_writer *avro_writer_new(const char *record, const struct avro_column *columns,
                                    size_t count, bool packed,
                                    int (*write)(void *arg, struct bytes bytes, struct err *err),
                                    void *arg);
void avro_writer_free(struct avro_writer *writer); /* NULL is fine */

/* Values are of their columns' kinds, or null where that is optional. */
int avro_writer_put(struct avro_writer *writer, const struct avro_value *row, struct err *err);
/* Writes what is held, and the head if there was no row: the file is whole then. */
int avro_writer_end(struct avro_writer *writer, struct err *err);

#endif
