/* SPDX-License-Identifier: Apache-2.0 */
/* table_ops.h - what table.c shares with the formats. */
#ifndef TORG_NUMERATOR_TABLE_OPS_H
#define TORG_NUMERATOR_TABLE_OPS_H

#include "base/arena.h"
#include "numerator/bounds.h"
#include "numerator/passage.h"
#include "numerator/table.h"

struct table_reader {
    const struct table_ops *ops;
    char *name;       /* owned */
    struct inlet *in; /* owned */
    struct buf window;
    struct bytes rest;   /* of the window */
    bool is_end;         /* the window has the file's end */
    char delimiter;      /* of CSV */
    struct arena *arena; /* names of columns */
    struct bytes columns[NUMBER_COLUMN_COUNT_MAX];
    uint32_t column_count;
    int slots[NUMBER_COLUMN_COUNT_MAX]; /* where the caller wants the column's cell; -1: nowhere */
    uint32_t pick_count;
    uint64_t row_count;       /* given */
    uint64_t line;            /* of the row at hand, from 1 */
    struct buf cells;         /* of the row at hand, when they cannot be given as they lie */
    struct arena *row;        /* what JSON leaves of a row */
    struct avro_reader *avro; /* owned; of Avro */
};

struct table_writer {
    const struct table_ops *ops;
    struct outlet *out; /* owned */
    char delimiter;
    struct table_column columns[TABLE_WRITE_COLUMN_MAX];
    uint32_t column_count;
    struct buf row;
    struct avro_writer *avro; /* owned; of Avro */
    int rc;
    struct err err; /* the first failure */
};

struct table_ops {
    const char *endings[3]; /* ended by NULL */
    char delimiter;
    int (*read_columns)(struct table_reader *reader, struct err *err);
    /* Empty lines are passed. */
    int (*next)(struct table_reader *reader, struct bytes *cells, bool *found, struct err *err);
    void (*close)(struct table_reader *reader); /* NULL: nothing is to be done; likewise the last */
    int (*put_columns)(struct table_writer *writer, struct err *err);
    /* A text goes into `row`, which is written then. */
    int (*put)(struct table_writer *writer, const struct table_cell *cells, struct err *err);
    int (*end)(struct table_writer *writer, struct err *err);
    void (*free)(struct table_writer *writer);
};

extern const struct table_ops table_csv_ops, table_tsv_ops, table_json_ops, table_avro_ops;

/* More of the file into the window, whose rest stays; is_end when there is none. */
int table_fetch(struct table_reader *reader, struct err *err);
/* The next line without its end; *found: false at the file's end. ERR_INVALID when the last one has
 * no end, unless may_be_open. */
int table_line(struct table_reader *reader, bool may_be_open, struct bytes *line, bool *found,
               struct err *err);
/* One more column; ERR_INVALID: its name is empty, no UTF-8 or there already. */
int table_add_column(struct table_reader *reader, struct bytes name, struct err *err);

#endif
