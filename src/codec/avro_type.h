/* SPDX-License-Identifier: Apache-2.0 */
/*
 * avro_type.h - the schema of an Avro file, read: what its columns are on disk. Only for avro_*.c.
 */
#ifndef TORG_CODEC_AVRO_TYPE_H
#define TORG_CODEC_AVRO_TYPE_H

#include <stddef.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "codec/avro_file.h"

enum avro_wire {
    AVRO_WIRE_NULL,
    AVRO_WIRE_BOOLEAN,
    AVRO_WIRE_INT,
    AVRO_WIRE_LONG,
    AVRO_WIRE_FLOAT,
    AVRO_WIRE_DOUBLE,
    AVRO_WIRE_BYTES,
    AVRO_WIRE_STRING,
    AVRO_WIRE_ENUM,
    AVRO_WIRE_FIXED,
    AVRO_WIRE_LIST,
};

/* One of the types that a column's values may have. */
struct avro_branch {
    enum avro_wire wire;
    size_t size;                 /* of a fixed: bytes; of an enum: names */
    const struct bytes *symbols; /* of an enum */
};

struct avro_type {
    size_t count;
    bool is_union; /* each value says which branch it has */
    struct avro_branch *branches;
};

struct avro_table {
    size_t count;
    struct avro_column *columns;
    struct avro_type *types;
};

/* All of it is the arena's. ERR_INVALID, ERR_LIMIT and ERR_UNSUPPORTED name the column. */
int avro_table_read(struct bytes schema, struct arena *arena, struct avro_table *table,
                    struct err *err);

enum avro_kind avro_wire_kind(enum avro_wire wire);

#endif
