/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns.c - see columns.h: making, changing and reading; names and hashes in columns_names.c.
 *
 * A change has two steps. First every page that cannot take its new value gives way to one that
 * can, with the same content: readers may use either. Then the window's number becomes odd, zones
 * widen, codes change, the number becomes even.
 */
#include "index/columns/columns.h"

#include <assert.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/object.h"
#include "index/columns/column_parts.h"
#include "index/field_bits.h"

enum { SPIN_COUNT = 64 };

/* One column's part of a change. */
struct step {
    struct column *column;
    struct column_slot *slot;
    int64_t old;
    int64_t value;
};

struct columns *columns_new(const struct schema *schema, struct epoch *epoch)
{
    struct columns *columns = mem_zero(sizeof(*columns));

    object_begin(columns, COLUMNS_MAGIC);
    columns->schema = schema;
    columns->epoch = epoch;
    columns->pool = page_pool_new();
    columns->steps = mem_map(SCHEMA_FIELD_COUNT_MAX * sizeof(columns->steps[0]));
    return columns;
}

static void chunk_free(struct page_pool *pool, struct column_chunk *chunk)
{
    for (uint32_t i = 0; chunk && i < COLUMN_CHUNK_SIZE; i++) {
        struct page *page = atomic_load(&chunk->slots[i].page);

        if (page)
            page_release(pool, (uintptr_t)page);
    }
    free(chunk);
}

static void column_free(struct page_pool *pool, struct column *column)
{
    uint32_t i;
    uint32_t j;

    if (!column)
        return;
    for (i = 0; i < COLUMN_BRANCH_COUNT; i++) {
        struct column_branch *branch = atomic_load(&column->branches[i]);

        for (j = 0; branch && j < COLUMN_BRANCH_SIZE; j++)
            chunk_free(pool, atomic_load(&branch->chunks[j]));
        free(branch);
    }
    dictionary_free(column->dictionary);
    value_lists_free(column->lists);
    object_end(column, COLUMN_MAGIC);
    free(column);
}

static void window_chunk_free(struct window_chunk *chunk)
{
    for (uint32_t i = 0; chunk && i < WINDOW_CHUNK_SIZE; i++)
        free(atomic_load(&chunk->masks[i]));
    free(chunk);
}

void columns_free(struct columns *columns)
{
    uint32_t i;

    if (!columns)
        return;
    object_check(columns, COLUMNS_MAGIC);
    while (epoch_reclaim(columns->epoch)) /* retired pages go back to the pool */
        sched_yield();
    for (i = 0; i < SCHEMA_FIELD_COUNT_MAX; i++)
        column_free(columns->pool, atomic_load(&columns->columns[i]));
    columns_free_lent(columns);
    for (i = 0; i < WINDOW_CHUNK_COUNT; i++)
        window_chunk_free(atomic_load(&columns->windows[i]));
    mem_unmap(columns->steps, SCHEMA_FIELD_COUNT_MAX * sizeof(columns->steps[0]));
    page_pool_free(columns->pool);
    object_end(columns, COLUMNS_MAGIC);
    free(columns);
}

struct column *columns_need(struct columns *columns, uint32_t field_id, struct err *err)
{
    const struct field *field = schema_field(columns->schema, field_id);
    struct column *column;

    object_check(columns, COLUMNS_MAGIC);
    if (!field || !field_has_column(field)) {
        err_set(err, ERR_INVALID, "%s %u%s%s%s is not an attribute",
                field ? "field" : "field number", field_id, field ? " (\"" : "",
                field ? field->name : "", field ? "\")" : "");
        return NULL;
    }
    column = atomic_load_explicit(&columns->columns[field_id], memory_order_relaxed);
    if (column)
        return column;
    column = mem_zero(sizeof(*column));
    object_begin(column, COLUMN_MAGIC);
    column->field = field;
    if (field_has_dictionary(field))
        column->dictionary = dictionary_new(columns->epoch, field->name, field->value_count_max);
    if (field->multiple && field->value_count_max > KEYWORD_MASK_COUNT_MAX)
        column->lists = value_lists_new();
    atomic_store_explicit(&columns->columns[field_id], column, memory_order_release);
    return column;
}

/* ---- readers ---- */

const struct column *columns_column(const struct columns *columns, uint32_t field)
{
    object_check(columns, COLUMNS_MAGIC);
    assert(field < SCHEMA_FIELD_COUNT_MAX + OUTSIDE_NAME_COUNT_MAX);
    return atomic_load_explicit(field < SCHEMA_FIELD_COUNT_MAX
                                    ? &columns->columns[field]
                                    : &columns->lent[field - SCHEMA_FIELD_COUNT_MAX],
                                memory_order_acquire);
}

struct dictionary *column_dictionary(const struct column *column)
{
    object_check(column, COLUMN_MAGIC);
    return column->dictionary;
}

const struct value_lists *column_lists(const struct column *column)
{
    object_check(column, COLUMN_MAGIC);
    return column->lists;
}

const struct field *column_field(const struct column *column)
{
    object_check(column, COLUMN_MAGIC);
    return column->field;
}

bool column_is_mask(const struct column *column)
{
    object_check(column, COLUMN_MAGIC);
    return column->field->multiple && !column->lists;
}

uint32_t columns_window_count(const struct columns *columns)
{
    object_check(columns, COLUMNS_MAGIC);
    return atomic_load_explicit(&columns->window_count, memory_order_acquire);
}

static struct window_chunk *window_chunk(const struct columns *columns, uint32_t window)
{
    return atomic_load_explicit(&columns->windows[window >> WINDOW_CHUNK_SHIFT],
                                memory_order_acquire);
}

static const _Atomic uint32_t *sequence_of(const struct columns *columns, uint32_t window)
{
    struct window_chunk *chunk = window_chunk(columns, window);

    return chunk ? &chunk->sequences[window & (WINDOW_CHUNK_SIZE - 1)] : NULL;
}

static struct field_masks *masks_of(const struct columns *columns, uint32_t window)
{
    struct window_chunk *chunk = window_chunk(columns, window);

    return chunk ? atomic_load_explicit(&chunk->masks[window & (WINDOW_CHUNK_SIZE - 1)],
                                        memory_order_acquire)
                 : NULL;
}

uint64_t columns_mask(const struct columns *columns, docid id)
{
    struct field_masks *masks = masks_of(columns, window_of(id));

    object_check(columns, COLUMNS_MAGIC);
    return 1 |
           (masks ? atomic_load_explicit(&masks->bits[id & (WINDOW_SIZE - 1)], memory_order_acquire)
                  : 0);
}

uint32_t columns_read_begin(const struct columns *columns, uint32_t window)
{
    const _Atomic uint32_t *sequence = sequence_of(columns, window);
    uint32_t spins = 0;
    uint32_t value;

    object_check(columns, COLUMNS_MAGIC);
    if (!sequence)
        return 0;
    value = atomic_load_explicit(sequence, memory_order_acquire);
    while (value & 1) {
        if (++spins > SPIN_COUNT)
            sched_yield();
        value = atomic_load_explicit(sequence, memory_order_acquire);
    }
    return value;
}

bool columns_read_valid(const struct columns *columns, uint32_t window, uint32_t begun)
{
    const _Atomic uint32_t *sequence;

    code_fence();
    object_check(columns, COLUMNS_MAGIC);
    sequence = sequence_of(columns, window);
    return begun == (sequence ? atomic_load_explicit(sequence, memory_order_acquire) : 0);
}

void column_view(const struct column *column, uint32_t window, struct column_view *view)
{
    struct column_slot *slot;

    if (column && column->outside) {
        outside_column_view(column->outside, window, view);
        return;
    }
    slot = column ? column_slot(column, window) : NULL;
    page_view(slot ? atomic_load_explicit(&slot->page, memory_order_acquire) : NULL, view);
    view->min = slot ? atomic_load_explicit(&slot->min, memory_order_acquire) : INT64_MAX;
    view->max = slot ? atomic_load_explicit(&slot->max, memory_order_acquire) : INT64_MIN;
}

int64_t columns_value(const struct columns *columns, uint32_t field, docid id)
{
    const struct column *column = columns_column(columns, field);
    const struct column_slot *slot = column ? column_slot(column, window_of(id)) : NULL;

    return slot ? page_get(atomic_load_explicit(&slot->page, memory_order_relaxed),
                           id & (WINDOW_SIZE - 1))
                : COLUMN_NULL;
}

void columns_get(const struct columns *columns, docid id, const uint16_t *fields, uint32_t count,
                 int64_t *values)
{
    uint32_t window = window_of(id);
    uint32_t begun;
    uint32_t i;

    object_check(columns, COLUMNS_MAGIC);
    do {
        begun = columns_read_begin(columns, window);
        for (i = 0; i < count; i++) {
            struct column_view view;

            column_view(columns_column(columns, fields[i]), window, &view);
            values[i] = view_get(&view, id & (WINDOW_SIZE - 1));
        }
    } while (!columns_read_valid(columns, window, begun));
}

/* What a document has, which may not belong together: see columns_read_valid. */
static uint32_t list_values(const struct columns *columns, docid id, uint32_t field_count,
                            uint16_t *fields, int64_t *values)
{
    uint64_t mask = columns_mask(columns, id);
    uint32_t count = 0;

    for (uint32_t i = columns_next(mask, 0, field_count); i < field_count;
         i = columns_next(mask, i + 1, field_count)) {
        struct column_view view;

        column_view(columns_column(columns, i), window_of(id), &view);
        fields[count] = (uint16_t)i;
        values[count] = view_get(&view, id & (WINDOW_SIZE - 1));
        count += values[count] != COLUMN_NULL;
    }
    return count;
}

uint32_t columns_list(const struct columns *columns, docid id, uint32_t field_count,
                      uint16_t *fields, int64_t *values)
{
    uint32_t window = window_of(id);
    uint32_t begun, count;

    object_check(columns, COLUMNS_MAGIC);
    assert(field_count <= SCHEMA_FIELD_COUNT_MAX);
    do {
        begun = columns_read_begin(columns, window);
        count = list_values(columns, id, field_count, fields, values);
    } while (!columns_read_valid(columns, window, begun));
    return count;
}

/* ---- the writer ---- */

static struct column_branch *branch_need(struct column *column, uint32_t chunk)
{
    _Atomic(struct column_branch *) *place = &column->branches[chunk >> COLUMN_BRANCH_SHIFT];
    struct column_branch *branch = atomic_load_explicit(place, memory_order_relaxed);

    if (!branch) {
        branch = mem_zero(sizeof(*branch));
        atomic_store_explicit(place, branch, memory_order_release);
    }
    return branch;
}

static struct column_slot *slot_need(struct columns *columns, struct column *column,
                                     uint32_t window)
{
    _Atomic(struct column_chunk *) *place =
        &branch_need(column, window >> COLUMN_CHUNK_SHIFT)
             ->chunks[window >> COLUMN_CHUNK_SHIFT & (COLUMN_BRANCH_SIZE - 1)];
    struct column_chunk *chunk = atomic_load_explicit(place, memory_order_relaxed);
    uint32_t i;

    if (!chunk) {
        chunk = mem_zero(sizeof(*chunk));
        for (i = 0; i < COLUMN_CHUNK_SIZE; i++) {
            atomic_init(&chunk->slots[i].min, INT64_MAX);
            atomic_init(&chunk->slots[i].max, INT64_MIN);
        }
        atomic_store_explicit(place, chunk, memory_order_release);
    }
    if (window >= atomic_load_explicit(&columns->window_count, memory_order_relaxed))
        atomic_store_explicit(&columns->window_count, window + 1, memory_order_release);
    return &chunk->slots[window & (COLUMN_CHUNK_SIZE - 1)];
}

static struct window_chunk *window_chunk_need(struct columns *columns, uint32_t window)
{
    _Atomic(struct window_chunk *) *place = &columns->windows[window >> WINDOW_CHUNK_SHIFT];
    struct window_chunk *chunk = atomic_load_explicit(place, memory_order_relaxed);

    if (!chunk) {
        chunk = mem_zero(sizeof(*chunk));
        atomic_store_explicit(place, chunk, memory_order_release);
    }
    return chunk;
}

static _Atomic uint32_t *sequence_need(struct columns *columns, uint32_t window)
{
    return &window_chunk_need(columns, window)->sequences[window & (WINDOW_CHUNK_SIZE - 1)];
}

/* That the document has values of these groups, too. */
static void mask_add(struct columns *columns, docid id, uint64_t groups)
{
    uint32_t window = window_of(id);
    _Atomic(struct field_masks *) *place;
    struct field_masks *masks;
    _Atomic uint64_t *bits;

    if (groups <= 1)
        return;
    place = &window_chunk_need(columns, window)->masks[window & (WINDOW_CHUNK_SIZE - 1)];
    masks = atomic_load_explicit(place, memory_order_relaxed);
    if (!masks) {
        masks = mem_zero(sizeof(*masks));
        atomic_store_explicit(place, masks, memory_order_release);
    }
    bits = &masks->bits[id & (WINDOW_SIZE - 1)];
    atomic_store_explicit(bits, atomic_load_explicit(bits, memory_order_relaxed) | groups,
                          memory_order_release);
}

static void mask_clear(struct columns *columns, docid id)
{
    struct field_masks *masks = masks_of(columns, window_of(id));

    if (masks)
        atomic_store_explicit(&masks->bits[id & (WINDOW_SIZE - 1)], 0, memory_order_release);
}

/* Codes are stored with release order, so nobody sees a new one and not the odd number. */
static void write_begin(_Atomic uint32_t *sequence)
{
    uint32_t value = atomic_load_explicit(sequence, memory_order_relaxed);

    assert(!(value & 1));
    atomic_store_explicit(sequence, value + 1, memory_order_relaxed);
}

static void write_end(_Atomic uint32_t *sequence)
{
    uint32_t value = atomic_load_explicit(sequence, memory_order_relaxed);

    assert(value & 1); /* begun, and by nobody else */
    atomic_store_explicit(sequence, value + 1, memory_order_release);
}

void columns_write_begin(struct columns *columns, uint32_t window)
{
    write_begin(sequence_need(columns, window));
}

void columns_write_end(struct columns *columns, uint32_t window)
{
    write_end(sequence_need(columns, window));
}

static void page_replace(struct columns *columns, struct column_slot *slot, struct page *page)
{
    struct page *old = atomic_load_explicit(&slot->page, memory_order_relaxed);

    assert(!old || old != page);
    atomic_store_explicit(&slot->page, page, memory_order_release);
    if (old)
        epoch_retire(columns->epoch, page_release, columns->pool, (uintptr_t)old);
}

static void widen(struct column_slot *slot, int64_t value)
{
    if (value == COLUMN_NULL)
        return;
    if (value < atomic_load_explicit(&slot->min, memory_order_relaxed))
        atomic_store_explicit(&slot->min, value, memory_order_release);
    if (value > atomic_load_explicit(&slot->max, memory_order_relaxed))
        atomic_store_explicit(&slot->max, value, memory_order_release);
}

static bool value_fits(const struct column *column, int64_t value)
{
    int32_t lat;
    int32_t lon;

    if (value == COLUMN_NULL)
        return true;
    switch (column->field->type) {
    case FIELD_BOOLEAN:
        return value == 0 || value == 1;
    case FIELD_GEO:
        if (value < 0)
            return false;
        geo_unpack(value, &lat, &lon);
        return lat <= 900000000 && (uint32_t)value <= 3600000000U;
    case FIELD_KEYWORD:
    case FIELD_CATEGORY:
        if (column->lists)
            return value > 0 && value <= UINT32_MAX - 1;
        if (column->field->multiple)
            return value > 0 && value >> dictionary_count(column->dictionary) == 0;
        return value >= 0 && value < dictionary_count(column->dictionary);
    default:
        return true;
    }
}

static int check_changes(struct columns *columns, const struct column_change *changes,
                         uint32_t count, struct err *err)
{
    struct field_bits seen;
    uint32_t i;

    field_bits_init(&seen, schema_count(columns->schema));
    for (i = 0; i < count; i++) {
        uint32_t field = changes[i].field;
        struct column *column = columns_need(columns, field, err);

        if (!column)
            return ERR_INVALID;
        if (field_bits_has(&seen, field))
            return err_set(err, ERR_INVALID, "attribute \"%s\" is set twice in one change",
                           column->field->name);
        field_bits_add(&seen, field);
        if (!value_fits(column, changes[i].value))
            return err_set(err, ERR_INVALID,
                           "attribute \"%s\" of type %s cannot have the value %jd",
                           column->field->name, field_type_name(column->field->type),
                           (intmax_t)changes[i].value);
    }
    return 0;
}

static void prepare(struct columns *columns, struct step *step, docid id)
{
    uint32_t offset = id & (WINDOW_SIZE - 1);
    struct page *page;
    uint32_t i;

    step->slot = slot_need(columns, step->column, window_of(id));
    page = atomic_load_explicit(&step->slot->page, memory_order_relaxed);
    step->old = page_get(page, offset);
    if (!page_takes(page, offset, step->value)) {
        page = page_remake(columns->pool, page, offset, step->value, false);
        page_replace(columns, step->slot, page);
    }
    if (step->value != step->old && step->value != COLUMN_NULL)
        for (i = 0; i < step->column->note_count; i++)
            step->column->notes[i].note(step->column->notes[i].context, id, step->value);
}

static void run_steps(struct columns *columns, docid id, uint32_t count)
{
    _Atomic uint32_t *sequence = sequence_need(columns, window_of(id));
    struct step *steps = columns->steps;
    uint32_t offset = id & (WINDOW_SIZE - 1);
    uint64_t groups = 0;
    uint32_t i;

    for (i = 0; i < count; i++) {
        prepare(columns, &steps[i], id);
        if (steps[i].value != COLUMN_NULL)
            groups |= field_group(steps[i].column->field->id);
    }
    write_begin(sequence);
    mask_add(columns, id, groups);
    for (i = 0; i < count; i++) {
        widen(steps[i].slot, steps[i].value);
        page_put(atomic_load_explicit(&steps[i].slot->page, memory_order_relaxed), offset,
                 steps[i].value);
    }
    write_end(sequence);
    for (i = 0; i < count; i++) /* of a list set once more one use is too much */
        if (steps[i].column->lists && steps[i].old != COLUMN_NULL)
            epoch_retire(columns->epoch, value_lists_release, steps[i].column->lists,
                         (uint64_t)steps[i].old);
}

int columns_set(struct columns *columns, docid id, const struct column_change *changes,
                uint32_t count, struct err *err)
{
    uint32_t i;
    int rc;

    object_check(columns, COLUMNS_MAGIC);
    assert(id != DOCID_END);
    rc = check_changes(columns, changes, count, err);
    if (rc)
        return rc;
    for (i = 0; i < count; i++)
        columns->steps[i] = (struct step){
            .column =
                atomic_load_explicit(&columns->columns[changes[i].field], memory_order_relaxed),
            .value = changes[i].value,
        };
    run_steps(columns, id, count);
    return 0;
}

void columns_reset(struct columns *columns, docid id)
{
    uint32_t fields = schema_count(columns->schema);
    uint64_t mask = columns_mask(columns, id);
    uint32_t count = 0;
    uint32_t i;

    for (i = columns_next(mask, 0, fields); i < fields; i = columns_next(mask, i + 1, fields))
        if (columns_value(columns, i, id) != COLUMN_NULL)
            columns->steps[count++] = (struct step){
                .column = atomic_load_explicit(&columns->columns[i], memory_order_relaxed),
                .value = COLUMN_NULL,
            };
    run_steps(columns, id, count);
    mask_clear(columns, id); /* who reads one more than there is finds no value */
}

static void tighten_slot(struct columns *columns, struct column_slot *slot)
{
    struct page *page = atomic_load_explicit(&slot->page, memory_order_relaxed);
    struct page *better = page_remake(columns->pool, page, 0, COLUMN_NULL, true);
    int64_t values[WINDOW_SIZE];
    struct column_view view;
    int64_t min = INT64_MAX;
    int64_t max = INT64_MIN;
    uint32_t i;

    page_view(page, &view);
    view_values(&view, values);
    for (i = 0; i < WINDOW_SIZE; i++) {
        if (values[i] == COLUMN_NULL)
            continue;
        min = values[i] < min ? values[i] : min;
        max = values[i] > max ? values[i] : max;
    }
    atomic_store_explicit(&slot->min, min, memory_order_release);
    atomic_store_explicit(&slot->max, max, memory_order_release);
    if (page && better && page->kind == better->kind && page->width == better->width &&
        page->capacity == better->capacity && page->base == better->base)
        page_release(columns->pool, (uintptr_t)better);
    else if (page || better)
        page_replace(columns, slot, better);
}

void columns_tighten(struct columns *columns, uint32_t window)
{
    _Atomic uint32_t *sequence;
    uint32_t fields = schema_count(columns->schema);
    uint32_t i;

    object_check(columns, COLUMNS_MAGIC);
    if (window >= columns_window_count(columns))
        return;
    sequence = sequence_need(columns, window);
    for (i = 0; i < fields; i++) {
        struct column *column = atomic_load_explicit(&columns->columns[i], memory_order_relaxed);
        struct column_slot *slot = column ? column_slot(column, window) : NULL;

        if (!slot || !atomic_load_explicit(&slot->page, memory_order_relaxed))
            continue;
        write_begin(sequence); /* a column at a time: some 10 µs */
        tighten_slot(columns, slot);
        write_end(sequence);
    }
}

int columns_attach(struct columns *columns, uint16_t field, column_note_fn *note, void *context,
                   struct err *err)
{
    struct column *column = columns_need(columns, field, err);

    object_check(columns, COLUMNS_MAGIC);
    if (!column)
        return ERR_INVALID;
    if (column->note_count == COLUMN_SET_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "attribute \"%s\" has %d indexes already, its limit",
                       column->field->name, COLUMN_SET_COUNT_MAX);
    column->notes[column->note_count++] = (struct column_note){note, context};
    return 0;
}

void columns_detach(struct columns *columns, uint16_t field, void *context)
{
    struct column *column = columns_need(columns, field, NULL);
    uint32_t i;

    object_check(columns, COLUMNS_MAGIC);
    for (i = 0; column && i < column->note_count; i++) {
        if (column->notes[i].context != context)
            continue;
        column->notes[i] = column->notes[--column->note_count];
        return;
    }
}

int columns_load_values(struct columns *columns, uint16_t field, uint32_t window,
                        const int64_t values[WINDOW_SIZE], struct err *err)
{
    struct column *column = columns_need(columns, field, err);
    struct column_slot *slot;
    uint32_t i;

    object_check(columns, COLUMNS_MAGIC);
    if (!column)
        return ERR_INVALID;
    for (i = 0; i < WINDOW_SIZE; i++)
        if (!value_fits(column, values[i]))
            return err_set(err, ERR_CORRUPT, "attribute \"%s\" has an impossible value for id %ju",
                           column->field->name, (uintmax_t)window_first(window) + i);
    slot = slot_need(columns, column, window);
    page_replace(columns, slot, page_of_values(columns->pool, values));
    for (i = 0; i < WINDOW_SIZE; i++) {
        widen(slot, values[i]);
        if (values[i] != COLUMN_NULL)
            mask_add(columns, window_first(window) + i, field_group(field));
    }
    return 0;
}
