/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column_parts.h - the insides of columns.h, for columns*.c only.
 *
 * Directories are two levels, so that they grow under readers: a fixed root of CHUNK_COUNT
 * pointers, each to the slots of 512 windows, made when the first of them is written.
 */
#ifndef TORG_INDEX_COLUMNS_COLUMN_PARTS_H
#define TORG_INDEX_COLUMNS_COLUMN_PARTS_H

#include <stdatomic.h>

#include "base/object.h"
#include "index/bounds.h"
#include "index/columns/columns.h"

enum {
    COLUMN_CHUNK_SHIFT = 9,
    COLUMN_CHUNK_SIZE = 1 << COLUMN_CHUNK_SHIFT,
    COLUMN_CHUNK_COUNT = 1 << (32 - WINDOW_SHIFT - COLUMN_CHUNK_SHIFT),
};

struct column_slot {
    _Atomic(struct page *) page;
    _Atomic int64_t min; /* min > max: no values */
    _Atomic int64_t max;
};

struct column_chunk {
    struct column_slot slots[COLUMN_CHUNK_SIZE];
};

struct column_note {
    column_note_fn *note;
    void *context;
};

enum { COLUMN_MAGIC = OBJECT_MAGIC('c', 'l', 'm', 'n') };

struct column {
    uint32_t magic;
    const struct field *field;     /* borrowed from the schema */
    struct dictionary *dictionary; /* owned; NULL for numbers */
    struct value_lists *lists;     /* owned; NULL unless multiple with many values */
    struct column_note notes[COLUMN_SET_COUNT_MAX]; /* the writer's */
    uint32_t note_count;
    _Atomic(struct column_chunk *) chunks[COLUMN_CHUNK_COUNT];
};

struct sequence_chunk {
    _Atomic uint32_t sequences[COLUMN_CHUNK_SIZE];
};

enum { COLUMNS_MAGIC = OBJECT_MAGIC('c', 'o', 'l', 's') };

struct columns {
    uint32_t magic;
    const struct schema *schema; /* borrowed */
    struct epoch *epoch;         /* borrowed */
    struct page_pool *pool;
    _Atomic uint32_t window_count;
    _Atomic(struct column *) columns[SCHEMA_FIELD_COUNT_MAX];
    _Atomic(struct sequence_chunk *) sequences[COLUMN_CHUNK_COUNT];
};

/* The field's column, made if need be; NULL with err set when it can have none. Writer only. */
struct column *columns_need(struct columns *columns, uint32_t field, struct err *err);

/* NULL when the chunk is not there. */
static inline struct column_slot *column_slot(const struct column *column, uint32_t window)
{
    struct column_chunk *chunk =
        atomic_load_explicit(&column->chunks[window >> COLUMN_CHUNK_SHIFT], memory_order_acquire);

    return chunk ? &chunk->slots[window & (COLUMN_CHUNK_SIZE - 1)] : NULL;
}

#endif
