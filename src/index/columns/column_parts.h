/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column_parts.h - the insides of columns.h, for columns*.c only.
 *
 * A column's directory is three levels, so that it grows under readers and costs little where few
 * documents have the attribute: a root of 64 pointers to branches of 256 pointers to chunks of the
 * slots of 64 windows, each made when the first window below it is written.
 *
 * Which columns a document has is noted in a mask: a bit stands for 64 fields that follow each
 * other, and after the 64th bit it begins anew. With 64 fields or fewer there are no masks: all are
 * looked at. A bit may stay when the values that it stood for are gone, until the document is.
 */
#ifndef TORG_INDEX_COLUMNS_COLUMN_PARTS_H
#define TORG_INDEX_COLUMNS_COLUMN_PARTS_H

#include <stdatomic.h>

#include "base/object.h"
#include "index/bounds.h"
#include "index/columns/columns.h"
#include "index/columns/outside_column.h"

enum {
    COLUMN_CHUNK_SHIFT = 6,
    COLUMN_CHUNK_SIZE = 1 << COLUMN_CHUNK_SHIFT,
    COLUMN_BRANCH_SHIFT = 8,
    COLUMN_BRANCH_SIZE = 1 << COLUMN_BRANCH_SHIFT,
    COLUMN_BRANCH_COUNT = 1 << (32 - WINDOW_SHIFT - COLUMN_CHUNK_SHIFT - COLUMN_BRANCH_SHIFT),
    FIELD_GROUP_SIZE = 64, /* fields of a bit of a mask */
    WINDOW_CHUNK_SHIFT = 9,
    WINDOW_CHUNK_SIZE = 1 << WINDOW_CHUNK_SHIFT,
    WINDOW_CHUNK_COUNT = 1 << (32 - WINDOW_SHIFT - WINDOW_CHUNK_SHIFT),
};

struct column_slot {
    _Atomic(struct page *) page;
    _Atomic int64_t min; /* min > max: no values */
    _Atomic int64_t max;
};

struct column_chunk {
    struct column_slot slots[COLUMN_CHUNK_SIZE];
};

struct column_branch {
    _Atomic(struct column_chunk *) chunks[COLUMN_BRANCH_SIZE];
};

struct column_note {
    column_note_fn *note;
    void *context;
};

enum { COLUMN_MAGIC = OBJECT_MAGIC('c', 'l', 'm', 'n') };

struct column {
    uint32_t magic;
    const struct field *field;      /* borrowed from the schema */
    struct dictionary *dictionary;  /* owned; NULL for numbers */
    struct value_lists *lists;      /* owned; NULL unless multiple with many values */
    struct outside_column *outside; /* owned; its values, if they come from outside; else NULL */
    struct column_note notes[COLUMN_SET_COUNT_MAX]; /* the writer's */
    uint32_t note_count;
    _Atomic(struct column_branch *) branches[COLUMN_BRANCH_COUNT];
};

/* What windows have in common for all columns. */
struct window_chunk {
    _Atomic uint32_t sequences[WINDOW_CHUNK_SIZE];
    _Atomic(struct field_masks *) masks[WINDOW_CHUNK_SIZE]; /* owned; NULL: no bit but the first */
};

struct field_masks {
    _Atomic uint64_t
        bits[WINDOW_SIZE]; /* by document; the first bit is not kept: always looked at */
};

enum { COLUMNS_MAGIC = OBJECT_MAGIC('c', 'o', 'l', 's') };

struct columns {
    uint32_t magic;
    const struct schema *schema; /* borrowed */
    struct epoch *epoch;         /* borrowed */
    struct page_pool *pool;
    _Atomic uint32_t window_count;
    _Atomic(struct column *) columns[SCHEMA_FIELD_COUNT_MAX];
    _Atomic(struct window_chunk *) windows[WINDOW_CHUNK_COUNT];
    struct step *steps; /* mapped; the writer's: room for a change of every field */
    /* From outside, by id - SCHEMA_FIELD_COUNT_MAX; and those that are there, the writer's. */
    _Atomic(struct column *) lent[OUTSIDE_NAME_COUNT_MAX];
    struct column *lent_now[OUTSIDE_COLUMN_COUNT_MAX];
    uint32_t lent_count;
};

/* The field's column, made if need be; NULL with err set when it can have none. Writer only. */
struct column *columns_need(struct columns *columns, uint32_t field, struct err *err);

/* All of them go; no reader is inside. columns_lent.c. */
void columns_free_lent(struct columns *columns);

/* columns.c: the seqlock of a window, for who changes it. */
void columns_write_begin(struct columns *columns, uint32_t window);
void columns_write_end(struct columns *columns, uint32_t window);

/* The bit of a mask that stands for the field. */
static inline uint64_t field_group(uint32_t field)
{
    return UINT64_C(1) << field / FIELD_GROUP_SIZE % 64;
}

/* NULL when the chunk is not there. */
static inline struct column_slot *column_slot(const struct column *column, uint32_t window)
{
    uint32_t number = window >> COLUMN_CHUNK_SHIFT;
    struct column_branch *branch = atomic_load_explicit(
        &column->branches[number >> COLUMN_BRANCH_SHIFT], memory_order_acquire);
    struct column_chunk *chunk =
        branch ? atomic_load_explicit(&branch->chunks[number & (COLUMN_BRANCH_SIZE - 1)],
                                      memory_order_acquire)
               : NULL;

    return chunk ? &chunk->slots[window & (COLUMN_CHUNK_SIZE - 1)] : NULL;
}

#endif
