/* SPDX-License-Identifier: Apache-2.0 */
/* columns_lent.c - columns from outside beside those of the documents: see columns.h. */
#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "index/columns/column_parts.h"

static void free_lent(void *thing, uint64_t part)
{
    struct column *column = thing;

    (void)part;
    outside_column_close(column->outside);
    object_end(column, COLUMN_MAGIC);
    free(column);
}

void columns_free_lent(struct columns *columns)
{
    for (uint32_t i = 0; i < columns->lent_count; i++)
        free_lent(columns->lent_now[i], 0);
    columns->lent_count = 0;
}

static _Atomic(struct column *) *place_of(struct columns *columns, uint16_t field)
{
    assert(field >= SCHEMA_FIELD_COUNT_MAX &&
           field - SCHEMA_FIELD_COUNT_MAX < OUTSIDE_NAME_COUNT_MAX);
    return &columns->lent[field - SCHEMA_FIELD_COUNT_MAX];
}

const struct outside_column *columns_lent(const struct columns *columns, uint16_t field)
{
    const struct column *column = columns_column(columns, field);

    return column ? column->outside : NULL;
}

/* Who is among those that are settled: the new one in the place of the old. */
static void note_lent(struct columns *columns, const struct column *old, struct column *column)
{
    uint32_t i = 0;

    while (i < columns->lent_count && columns->lent_now[i] != old)
        i++;
    if (column) {
        assert(i < OUTSIDE_COLUMN_COUNT_MAX);
        columns->lent_count += i == columns->lent_count;
        columns->lent_now[i] = column;
    } else if (i < columns->lent_count) {
        columns->lent_now[i] = columns->lent_now[--columns->lent_count];
    }
}

void columns_lend(struct columns *columns, uint16_t field, struct outside_column *values)
{
    _Atomic(struct column *) *place = place_of(columns, field);
    struct column *old = atomic_load_explicit(place, memory_order_relaxed);
    struct column *column = NULL;

    object_check(columns, COLUMNS_MAGIC);
    if (values) {
        column = mem_zero(sizeof(*column));
        object_begin(column, COLUMN_MAGIC);
        column->field = schema_any_field(columns->schema, field);
        column->outside = values;
        assert(column->field);
    }
    note_lent(columns, old, column);
    atomic_store_explicit(place, column, memory_order_release);
    if (old)
        epoch_retire(columns->epoch, free_lent, old, 0);
}

void columns_settle_lent(struct columns *columns, docid id, int64_t birth)
{
    object_check(columns, COLUMNS_MAGIC);
    if (!columns->lent_count)
        return;
    columns_write_begin(columns, window_of(id));
    for (uint32_t i = 0; i < columns->lent_count; i++)
        outside_column_settle(columns->lent_now[i]->outside, id, birth);
    columns_write_end(columns, window_of(id));
}
