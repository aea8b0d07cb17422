/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns.h - the attributes of a shard's documents: arrays by document id, changed in place.
 *
 * One column per field that has one; a column is pages per window (column_page.h) with a zone
 * (least and greatest value) beside each. What a value means depends on the field's type:
 *
 *   integer, date  itself          decimal  scaled by 10^scale      boolean  0 or 1
 *   keyword, category              the ordinal in the field's dictionary
 *   - multiple, limit of values ≤ KEYWORD_MASK_COUNT_MAX: a bit per ordinal
 *   - multiple, more               the name of an array in the field's value_lists
 *   geo            geo_pack(lat, lon)
 *
 * The columns of one document change together: each window has a seqlock, a sequence number that is
 * odd while the writer works on it. A reader notes it, works, and asks whether it has moved; if so,
 * what was computed is thrown away and done again. Zones only widen; columns_tighten narrows them.
 *
 * Threads: one writer (set, reset, keyword, tighten, add). Readers without locks, inside an epoch.
 */
#ifndef TORG_INDEX_COLUMNS_COLUMNS_H
#define TORG_INDEX_COLUMNS_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "index/columns/column_page.h"
#include "index/columns/dictionary.h"
#include "index/columns/value_lists.h"
#include "index/epoch.h"
#include "index/postings/window.h"
#include "index/schema.h"

struct columns;
struct column;
struct attribute_set;

/* The schema and the epoch are borrowed and live longer. */
struct columns *columns_new(const struct schema *schema, struct epoch *epoch);

/* No reader may be inside. NULL is fine. */
void columns_free(struct columns *columns);

struct column_change {
    uint16_t field;
    int64_t value; /* COLUMN_NULL: none */
};

/* Sets the document's values, all or none of them. ERR_INVALID for a field that has no column or a
 * value its type cannot have; a list name in the changes is the columns' from then on. */
int columns_set(struct columns *columns, docid id, const struct column_change *changes,
                uint32_t count, struct err *err);

/* No value in any column: the number is free, or gets a new document. */
void columns_reset(struct columns *columns, docid id);

/* The values to set for a keyword or category field. New ones enter its dictionary. */
int columns_keyword(struct columns *columns, uint16_t field, struct bytes keyword, int64_t *value,
                    struct err *err);
int columns_keywords(struct columns *columns, uint16_t field, const struct bytes *keywords,
                     uint32_t count, int64_t *value, struct err *err);

/* What the document has of a field of documents: the writer's. */
int64_t columns_value(const struct columns *columns, uint32_t field, docid id);

/* Narrows the window's zones, and gives its pages the kind and width that fit them now. */
void columns_tighten(struct columns *columns, uint32_t window);

/* ---- readers ---- */

/* NULL while no document has a value of the field. */
const struct column *columns_column(const struct columns *columns, uint32_t field);

/* NULL for columns without. */
struct dictionary *column_dictionary(const struct column *column);
const struct value_lists *column_lists(const struct column *column);
const struct field *column_field(const struct column *column);
bool column_is_mask(const struct column *column);

/* Waits while the writer is in the window (less than a microsecond, unless it is preempted). */
uint32_t columns_read_begin(const struct columns *columns, uint32_t window);

/* Whether everything read from the window since then belongs together. */
bool columns_read_valid(const struct columns *columns, uint32_t window, uint32_t begun);

/* A NULL column gives an absent page. */
void column_view(const struct column *column, uint32_t window, struct column_view *view);

/* The values of one document, as they were together. */
void columns_get(const struct columns *columns, docid id, const uint16_t *fields, uint32_t count,
                 int64_t *values);

/* The same, of those of the first field_count fields that it has a value of, in ascending order:
 * how many those are. */
uint32_t columns_list(const struct columns *columns, docid id, uint32_t field_count,
                      uint16_t *fields, int64_t *values);

/* Which fields the document may have values of, to be gone through by columns_next: of all others
 * it has none. For the writer, or between columns_read_begin and columns_read_valid. */
uint64_t columns_mask(const struct columns *columns, docid id);

/* The first such field from this one on; `count`, that of the schema, or more: there is none. */
static inline uint32_t columns_next(uint64_t mask, uint32_t field, uint32_t count)
{
    while (field < count && !(mask >> field / 64 % 64 & 1))
        field = (field / 64 + 1) * 64;
    return field;
}

/* One more than the greatest window that has a page. */
uint32_t columns_window_count(const struct columns *columns);

/* A hash of all values by field name, id and content (not ordinals): equal for equal contents,
 * however they came about. Writer only, or while nothing changes. */
uint64_t columns_hash(const struct columns *columns);

/* The same of one document, as its values were together: any reader. */
uint64_t columns_hash_document(const struct columns *columns, docid id);

struct columns_size {
    uint64_t pages;
    uint64_t directories;
    uint64_t dictionaries;
    uint64_t lists;
};

void columns_size(const struct columns *columns, struct columns_size *size); /* writer only */

/* ---- for those who build on it: sets and checkpoints ---- */

/* Whoever is attached is told of each value a document gets, before readers can see it. */
typedef void column_note_fn(void *context, docid id, int64_t value);
int columns_attach(struct columns *columns, uint16_t field, column_note_fn *note, void *context,
                   struct err *err);
void columns_detach(struct columns *columns, uint16_t field, void *context);

/* Puts a page's values at once, at load: before any reader. */
int columns_load_values(struct columns *columns, uint16_t field, uint32_t window,
                        const int64_t values[WINDOW_SIZE], struct err *err);

/* ---- columns from outside: the writer's ---- */

/* Of a field that was lent (schema_lend): these values from now on, in the place of those it had,
 * which go when no reader has them any more. Takes them over. NULL: nobody has a value. At most
 * OUTSIDE_COLUMN_COUNT_MAX fields have values. */
struct outside_column;
void columns_lend(struct columns *columns, uint16_t field, struct outside_column *values);
/* NULL: nobody has a value of the field. */
const struct outside_column *columns_lent(const struct columns *columns, uint16_t field);
/* The number's owner was born in that generation: outside_column_settle of all of them. */
void columns_settle_lent(struct columns *columns, docid id, int64_t birth);

/* ---- points on earth ---- */

/* Units of 1e-7 degrees, about 1 cm: latitude in the upper half, so a zone bounds it. */
static inline int64_t geo_pack(int32_t lat, int32_t lon)
{
    return (int64_t)((uint64_t)(uint32_t)(lat + 900000000) << 32 | ((uint32_t)lon + 1800000000U));
}

static inline void geo_unpack(int64_t value, int32_t *lat, int32_t *lon)
{
    *lat = (int32_t)((uint64_t)value >> 32) - 900000000;
    *lon = (int32_t)((uint32_t)value - 1800000000U);
}

#endif
