/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute_set.h - which documents may have a value: proposes candidates, the column decides.
 *
 * For each value of a column (or each bucket of its numbers, or each cell of its points) the
 * windows that hold it, with a container each: up to 4 offsets in the entry itself, a list of u16
 * up to 256, else a bitmap. This base is immutable and made by a scan of the column; ids that got
 * a value since go to an append-only overlay. Nothing is ever taken out: a set may propose a
 * document that lost the value, it never misses one that has it, so whoever uses it asks the
 * column after. When the overlay has grown (is_due) the base is made anew in the background.
 *
 * Threads: begin, commit and the noting of changes are the writer's; scan runs in any thread
 * inside an epoch; cursors are opened and used by readers inside an epoch.
 */
#ifndef TORG_INDEX_COLUMNS_ATTRIBUTE_SET_H
#define TORG_INDEX_COLUMNS_ATTRIBUTE_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "index/columns/column_filter.h"
#include "index/columns/columns.h"

struct attribute_set;

enum set_kind {
    SET_VALUES, /* keyword, category, boolean: the ordinal (boolean: 0, 1) */
    SET_RANGES, /* numbers: 64 buckets of equal depth, found anew by each scan */
    SET_CELLS,  /* points: squares of cell_size */
};

/* Sides of cells in 1e-7 degrees: about 5, 25 and 125 km from south to north. */
enum { SET_CELL_5_KM = 449660, SET_CELL_25_KM = 2248301, SET_CELL_125_KM = 11241507 };

/* A set that is told of all changes from now on. If documents have values already, it proposes
 * everything until its first scan. cell_size: of SET_CELLS only. Borrows the columns; the epoch is
 * theirs. */
int attribute_set_new(struct columns *columns, struct epoch *epoch, uint16_t field,
                      enum set_kind kind, uint32_t cell_size, struct attribute_set **set,
                      struct err *err);
void attribute_set_free(struct attribute_set *set); /* no reader inside; NULL is fine */

enum set_kind attribute_set_kind(const struct attribute_set *set);

/* ---- rebuilding ---- */

bool attribute_set_is_due(const struct attribute_set *set); /* the overlay passes 2 % */

void attribute_set_begin(struct attribute_set *set);  /* writer */
void attribute_set_scan(struct attribute_set *set);   /* any thread, inside an epoch */
void attribute_set_commit(struct attribute_set *set); /* writer; after the scan */

/* ---- reading ---- */

#define WINDOW_END UINT32_MAX

struct set_part {
    const struct set_entry *at;
    const struct set_entry *end;
};

struct set_cursor {
    const uint16_t *payload;
    struct set_part *parts; /* one per value asked for */
    uint32_t part_count;
    docid *added; /* from the overlay, ascending */
    uint64_t added_count;
    uint64_t added_at;
    uint32_t window_count; /* all: of the columns */
    bool all;              /* the set cannot say: every window is proposed whole */
    uint64_t estimate;     /* members proposed, at most */
};

/* Documents that may have one of the ordinals. Memory from the arena. */
void set_cursor_values(struct attribute_set *set, const uint32_t *ordinals, uint32_t count,
                       struct arena *arena, struct set_cursor *cursor);
void set_cursor_range(struct attribute_set *set, int64_t low, int64_t high, struct arena *arena,
                      struct set_cursor *cursor);
void set_cursor_box(struct attribute_set *set, const struct geo_box *box, struct arena *arena,
                    struct set_cursor *cursor);

/* About how many documents have one of the ordinals, or a value in the range, told without a
 * cursor; UINT64_MAX: the set cannot say. */
uint64_t attribute_set_count_values(const struct attribute_set *set, const uint32_t *ordinals,
                                    uint32_t count);
uint64_t attribute_set_count_range(const struct attribute_set *set, int64_t low, int64_t high);

/* The first window from `from` on with a candidate, or WINDOW_END; `from` never goes back. */
uint32_t set_cursor_next(struct set_cursor *cursor, uint32_t from);

/* bits |= the window's candidates; the window that next has given. */
void set_cursor_fill(const struct set_cursor *cursor, uint32_t window, struct window_bits *bits);

uint64_t attribute_set_size(const struct attribute_set *set); /* bytes of memory, writer only */

#endif
