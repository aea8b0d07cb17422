/* SPDX-License-Identifier: Apache-2.0 */
/* attribute_set.c - see attribute_set.h: changes and cursors; the scan is in set_scan.c. */
#include "index/columns/attribute_set.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/memory.h"
#include "base/object.h"
#include "index/bounds.h"
#include "index/columns/set_state.h"
#include "index/postings/id_sort.h"

enum {
    CELL_COUNT_MAX = 1 << 20,
    CELLS_ASKED_MAX = 1024, /* a box of more cells is better served by the column */
    DUE_COUNT_MIN = 1024,
    DUE_SHARE = 50, /* 2 % */
    LAT_BIAS = 900000000,
};

/* ---- overlay ---- */

struct overlay *overlay_new(void)
{
    struct overlay *overlay = mem_zero(sizeof(*overlay));

    object_begin(overlay, OVERLAY_MAGIC);
    return overlay;
}

void overlay_free(struct overlay *overlay)
{
    uint32_t i;

    if (!overlay)
        return;
    object_check(overlay, OVERLAY_MAGIC);
    for (i = 0; i < OVERLAY_STEP_COUNT; i++)
        free(atomic_load(&overlay->entries[i]));
    for (i = 0; i < HEAD_STEP_COUNT; i++)
        free((void *)atomic_load(&overlay->heads[i]));
    object_end(overlay, OVERLAY_MAGIC);
    free(overlay);
}

const struct overlay_entry *overlay_entry(const struct overlay *overlay, uint32_t index)
{
    struct ladder_place place = ladder_place(index, OVERLAY_SHIFT);

    return atomic_load_explicit(&overlay->entries[place.step], memory_order_acquire) + place.at;
}

uint32_t overlay_head(const struct overlay *overlay, uint32_t ordinal)
{
    struct ladder_place place = ladder_place(ordinal, HEAD_SHIFT);
    _Atomic uint32_t *heads = NULL;

    if (place.step < HEAD_STEP_COUNT)
        heads = atomic_load_explicit(&overlay->heads[place.step], memory_order_acquire);
    return heads ? atomic_load_explicit(&heads[place.at], memory_order_acquire) : 0;
}

/* The newest entry of the ordinal. */
static _Atomic uint32_t *need_head(struct overlay *overlay, uint32_t ordinal)
{
    struct ladder_place place = ladder_place(ordinal, HEAD_SHIFT);
    _Atomic uint32_t *heads;

    assert(place.step < HEAD_STEP_COUNT);
    heads = atomic_load_explicit(&overlay->heads[place.step], memory_order_relaxed);
    if (!heads) {
        heads = mem_array(ladder_step_size(place.step, HEAD_SHIFT), sizeof(heads[0]));
        atomic_store_explicit(&overlay->heads[place.step], heads, memory_order_release);
    }
    return heads + place.at;
}

void overlay_add(struct overlay *overlay, uint32_t ordinal, docid id, int64_t key)
{
    uint32_t count = atomic_load_explicit(&overlay->count, memory_order_relaxed);
    struct ladder_place place = ladder_place(count, OVERLAY_SHIFT);
    _Atomic uint32_t *head;
    struct overlay_entry *entries;

    object_check(overlay, OVERLAY_MAGIC);
    if (count == OVERLAY_COUNT_MAX) {
        atomic_store_explicit(&overlay->full, true, memory_order_release);
        overlay->dropped = true;
        return;
    }
    if (place.at == 0)
        atomic_store_explicit(
            &overlay->entries[place.step],
            mem_array(ladder_step_size(place.step, OVERLAY_SHIFT), sizeof(struct overlay_entry)),
            memory_order_release);
    head = need_head(overlay, ordinal);
    entries = atomic_load_explicit(&overlay->entries[place.step], memory_order_relaxed);
    entries[place.at] = (struct overlay_entry){
        .id = id,
        .previous = atomic_load_explicit(head, memory_order_relaxed),
        .key = key,
    };
    atomic_store_explicit(head, count + 1, memory_order_release);
    atomic_store_explicit(&overlay->count, count + 1, memory_order_release);
}

/* ---- values ---- */

uint32_t set_bucket(const struct set_base *base, int64_t value)
{
    uint32_t low = 0;
    uint32_t count = base->bound_count;

    while (count > 0) { /* without branches on values, which nobody can foretell */
        uint32_t half = count / 2;
        bool above = value >= base->bounds[low + half];

        low += above ? half + 1 : 0;
        count = above ? count - half - 1 : half;
    }
    return low;
}

uint32_t set_cell(const struct attribute_set *set, int32_t lat, int32_t lon)
{
    uint32_t row = ((uint32_t)lat + LAT_BIAS) / set->cell_size;
    uint32_t column = ((uint32_t)lon + 1800000000U) / set->cell_size;
    uint32_t columns = 3600000000U / set->cell_size + 1;

    return row * columns + column;
}

static uint32_t cell_ordinal(const struct attribute_set *set, uint32_t cell)
{
    uint8_t key[4];

    put_le32(key, cell);
    return dictionary_find(set->cells, bytes_make(key, sizeof(key)));
}

uint32_t set_ordinals(const struct attribute_set *set, const struct set_base *base, int64_t value,
                      uint32_t *ordinals)
{
    const struct column *column = columns_column(set->columns, set->field);
    const uint32_t *list;
    uint32_t count = 0;
    int32_t lat;
    int32_t lon;
    uint64_t mask;

    object_check(set, ATTRIBUTE_SET_MAGIC);
    if (value == COLUMN_NULL)
        return 0;
    if (set->kind == SET_RANGES) {
        ordinals[0] = set_bucket(base, value);
        return 1;
    }
    if (set->kind == SET_CELLS) {
        geo_unpack(value, &lat, &lon);
        ordinals[0] = cell_ordinal(set, set_cell(set, lat, lon));
        return ordinals[0] != ORDINAL_NONE;
    }
    if (column_is_mask(column)) {
        for (mask = (uint64_t)value; mask; mask &= mask - 1)
            ordinals[count++] = (uint32_t)__builtin_ctzll(mask);
        return count;
    }
    if (column_lists(column)) {
        list = value_lists_get(column_lists(column), (uint32_t)value, &count);
        if (count > KEYWORD_VALUES_MAX)
            count = KEYWORD_VALUES_MAX;
        memcpy(ordinals, list, count * sizeof(ordinals[0]));
        return count;
    }
    ordinals[0] = (uint32_t)value;
    return 1;
}

/* ---- the writer ---- */

static struct set_state *state_of(const struct attribute_set *set)
{
    return atomic_load_explicit(&set->state, memory_order_acquire);
}

static void need_cell(struct attribute_set *set, int64_t value)
{
    uint8_t key[4];
    uint32_t ordinal;
    int32_t lat;
    int32_t lon;

    geo_unpack(value, &lat, &lon);
    put_le32(key, set_cell(set, lat, lon));
    if (!dictionary_add(set->cells, bytes_make(key, sizeof(key)), &ordinal, NULL))
        return;
    set->cells_full = true;
    atomic_store_explicit(&state_of(set)->overlay->full, true, memory_order_release);
}

/* Told before readers can see the value in the column: see columns_attach. */
static void note(void *context, docid id, int64_t value)
{
    struct attribute_set *set = context;
    struct set_state *state = state_of(set);
    uint32_t ordinals[KEYWORD_VALUES_MAX];
    uint32_t count;
    uint32_t i;

    object_check(set, ATTRIBUTE_SET_MAGIC);
    if (set->kind == SET_CELLS)
        need_cell(set, value);
    count = set_ordinals(set, state->base, value, ordinals);
    for (i = 0; i < count; i++)
        overlay_add(state->overlay, ordinals[i], id,
                    set->kind == SET_RANGES ? value : (int64_t)ordinals[i]);
}

void set_base_free(struct set_base *base)
{
    if (!base)
        return;
    free(base->firsts);
    free(base->totals);
    free(base->entries);
    free(base->payload);
    free(base);
}

static void state_free(void *thing, uint64_t part)
{
    struct set_state *state = thing;

    (void)part;
    set_base_free(state->base);
    overlay_free(state->overlay);
    object_end(state, SET_STATE_MAGIC);
    free(state);
}

static int check_kind(const struct field *field, enum set_kind kind, struct err *err)
{
    bool is_number =
        field->type == FIELD_INTEGER || field->type == FIELD_DECIMAL || field->type == FIELD_DATE;
    bool fits = kind == SET_RANGES  ? is_number
                : kind == SET_CELLS ? field->type == FIELD_GEO
                                    : field_has_dictionary(field) || field->type == FIELD_BOOLEAN;

    if (fits)
        return 0;
    return err_set(err, ERR_INVALID, "attribute \"%s\" of type %s cannot have %s", field->name,
                   field_type_name(field->type),
                   kind == SET_RANGES  ? "range buckets"
                   : kind == SET_CELLS ? "cells"
                                       : "value sets");
}

int attribute_set_new(struct columns *columns, struct epoch *epoch, uint16_t field_id,
                      enum set_kind kind, uint32_t cell_size, struct attribute_set **out,
                      struct err *err)
{
    struct attribute_set *set = mem_zero(sizeof(*set));
    struct set_state *state = mem_zero(sizeof(*state));
    const struct field *field;
    int rc;

    object_begin(set, ATTRIBUTE_SET_MAGIC);
    object_begin(state, SET_STATE_MAGIC);
    *out = NULL;
    rc = columns_attach(columns, field_id, note, set, err);
    if (rc) {
        object_end(set, ATTRIBUTE_SET_MAGIC);
        free(set);
        object_end(state, SET_STATE_MAGIC);
        free(state);
        return rc;
    }
    field = column_field(columns_column(columns, field_id));
    rc = check_kind(field, kind, err);
    if (rc) {
        columns_detach(columns, field_id, set);
        object_end(set, ATTRIBUTE_SET_MAGIC);
        free(set);
        object_end(state, SET_STATE_MAGIC);
        free(state);
        return rc;
    }
    assert(kind != SET_CELLS || cell_size >= SET_CELL_5_KM);
    set->columns = columns;
    set->epoch = epoch;
    set->field = field_id;
    set->kind = kind;
    set->cell_size = cell_size;
    if (kind == SET_CELLS)
        set->cells = dictionary_new(epoch, field->name, CELL_COUNT_MAX);
    state->base = mem_zero(sizeof(*state->base));
    state->base->firsts = mem_array(1, sizeof(state->base->firsts[0]));
    state->overlay = overlay_new();
    /* what documents have already is not in it: a scan must come before it can say */
    atomic_init(&state->overlay->full, columns_window_count(columns) > 0);
    atomic_store_explicit(&set->state, state, memory_order_release);
    *out = set;
    return 0;
}

void attribute_set_free(struct attribute_set *set)
{
    if (!set)
        return;
    object_check(set, ATTRIBUTE_SET_MAGIC);
    columns_detach(set->columns, set->field, set);
    state_free(state_of(set), 0);
    set_base_free(set->scanned);
    dictionary_free(set->cells);
    object_end(set, ATTRIBUTE_SET_MAGIC);
    free(set);
}

enum set_kind attribute_set_kind(const struct attribute_set *set)
{
    object_check(set, ATTRIBUTE_SET_MAGIC);
    return set->kind;
}

bool attribute_set_is_due(const struct attribute_set *set)
{
    const struct set_state *state = state_of(set);
    uint64_t count = atomic_load_explicit(&state->overlay->count, memory_order_relaxed);

    object_check(set, ATTRIBUTE_SET_MAGIC);
    return atomic_load_explicit(&state->overlay->full, memory_order_relaxed) ||
           (count >= DUE_COUNT_MIN && count >= state->base->member_count / DUE_SHARE);
}

/* The cells of documents that had their points before the set was made. */
static void know_cells(struct attribute_set *set)
{
    uint32_t windows = columns_window_count(set->columns);
    int64_t values[WINDOW_SIZE];
    struct column_view view;
    uint32_t window;
    uint32_t i;

    for (window = 0; window < windows; window++) {
        column_view(columns_column(set->columns, set->field), window, &view);
        view_values(&view, values);
        for (i = 0; i < WINDOW_SIZE; i++)
            if (values[i] != COLUMN_NULL)
                need_cell(set, values[i]);
    }
    set->cells_known = true;
}

void attribute_set_begin(struct attribute_set *set)
{
    struct set_state *old = state_of(set);

    object_check(set, ATTRIBUTE_SET_MAGIC);
    assert(!set->scanned);
    if (set->kind == SET_CELLS && !set->cells_known)
        know_cells(set);
    if (old->overlay->dropped) {
        /* the scan will see what was dropped so far; what comes needs room */
        struct set_state *state = mem_zero(sizeof(*state));

        object_begin(state, SET_STATE_MAGIC);
        state->base = mem_zero(sizeof(*state->base));
        state->base->firsts = mem_array(1, sizeof(state->base->firsts[0]));
        state->overlay = overlay_new();
        atomic_init(&state->overlay->full, true);
        epoch_publish(set->epoch, &set->state, state, state_free);
    }
    set->begun_at = atomic_load_explicit(&state_of(set)->overlay->count, memory_order_relaxed);
}

void attribute_set_commit(struct attribute_set *set)
{
    struct set_state *old = state_of(set);
    struct set_state *state = mem_zero(sizeof(*state));
    uint32_t count = atomic_load_explicit(&old->overlay->count, memory_order_relaxed);
    uint32_t i;

    object_begin(state, SET_STATE_MAGIC);
    object_check(set, ATTRIBUTE_SET_MAGIC);
    assert(set->scanned);
    state->base = set->scanned;
    state->overlay = overlay_new();
    set->scanned = NULL;
    atomic_init(&state->overlay->full, set->cells_full || old->overlay->dropped);
    state->overlay->dropped = old->overlay->dropped;
    for (i = set->begun_at; i < count; i++) {
        const struct overlay_entry *entry = overlay_entry(old->overlay, i);
        uint32_t ordinal =
            set->kind == SET_RANGES ? set_bucket(state->base, entry->key) : (uint32_t)entry->key;

        overlay_add(state->overlay, ordinal, entry->id, entry->key);
    }
    epoch_publish(set->epoch, &set->state, state, state_free);
}

uint64_t attribute_set_size(const struct attribute_set *set)
{
    const struct set_state *state = state_of(set);
    const struct set_base *base = state->base;
    uint64_t entries = base->firsts[base->value_count];

    object_check(set, ATTRIBUTE_SET_MAGIC);
    return entries * sizeof(struct set_entry) + base->payload_count * sizeof(uint16_t) +
           base->value_count * (sizeof(base->firsts[0]) + sizeof(base->totals[0])) +
           atomic_load(&state->overlay->count) * sizeof(struct overlay_entry) +
           (set->cells ? dictionary_size(set->cells) : 0);
}

/* ---- cursors ---- */

/* Counts the overlay's ids of the ordinals, and writes them when list is not NULL. */
static uint64_t collect(const struct overlay *overlay, const uint32_t *heads, uint32_t count,
                        struct id_place *list)
{
    uint64_t total = 0;
    uint32_t i;

    for (i = 0; i < count; i++) {
        uint32_t index;

        for (index = heads[i]; index; index = overlay_entry(overlay, index - 1)->previous) {
            if (list)
                list[total] = (struct id_place){overlay_entry(overlay, index - 1)->id, 0};
            total++;
        }
    }
    return total;
}

static void collect_added(const struct overlay *overlay, const uint32_t *heads, uint32_t count,
                          struct arena *arena, struct set_cursor *cursor)
{
    uint64_t total = collect(overlay, heads, count, NULL), i;
    struct id_place *list = arena_alloc(arena, (2 * total + 1) * sizeof(*list));

    collect(overlay, heads, count, list);
    id_sort(list, list + total, total);
    cursor->added_count = total;
    cursor->added = arena_alloc(arena, (total + 1) * sizeof(docid));
    for (i = 0; i < total; i++)
        cursor->added[i] = list[i].id;
}

static void open_cursor(const struct attribute_set *set, const struct set_state *state,
                        const uint32_t *ordinals, uint32_t count, struct arena *arena,
                        struct set_cursor *cursor)
{
    const struct set_base *base = state->base;
    uint32_t *heads = arena_array(arena, count + 1, sizeof(*heads));
    uint32_t i;

    *cursor = (struct set_cursor){
        .payload = base->payload,
        .parts = arena_array(arena, count + 1, sizeof(*cursor->parts)),
        .all = atomic_load_explicit(&state->overlay->full, memory_order_acquire),
        .window_count = columns_window_count(set->columns),
    };
    for (i = 0; i < count; i++) {
        heads[i] = overlay_head(state->overlay, ordinals[i]); /* once: it may grow meanwhile */
        if (ordinals[i] < base->value_count) {
            struct set_part part = {base->entries + base->firsts[ordinals[i]],
                                    base->entries + base->firsts[ordinals[i] + 1]};

            cursor->estimate += base->totals[ordinals[i]];
            if (part.at < part.end)
                cursor->parts[cursor->part_count++] = part;
        }
    }
    collect_added(state->overlay, heads, count, arena, cursor);
    cursor->estimate += cursor->added_count;
    if (cursor->all)
        cursor->estimate = (uint64_t)cursor->window_count * WINDOW_SIZE;
}

void set_cursor_values(struct attribute_set *set, const uint32_t *ordinals, uint32_t count,
                       struct arena *arena, struct set_cursor *cursor)
{
    object_check(set, ATTRIBUTE_SET_MAGIC);
    assert(set->kind == SET_VALUES);
    open_cursor(set, state_of(set), ordinals, count, arena, cursor);
}

void set_cursor_range(struct attribute_set *set, int64_t low, int64_t high, struct arena *arena,
                      struct set_cursor *cursor)
{
    const struct set_state *state = state_of(set);
    uint32_t ordinals[SET_BUCKET_COUNT] = {0};
    uint32_t first = set_bucket(state->base, low);
    uint32_t last = set_bucket(state->base, high);
    uint32_t count = 0;

    object_check(set, ATTRIBUTE_SET_MAGIC);
    assert(set->kind == SET_RANGES);
    for (; low <= high && first <= last; first++)
        ordinals[count++] = first;
    open_cursor(set, state, ordinals, count, arena, cursor);
}

uint64_t attribute_set_count_values(const struct attribute_set *set, const uint32_t *ordinals,
                                    uint32_t count)
{
    const struct set_state *state = state_of(set);
    const struct set_base *base = state->base;
    uint64_t total = 0;
    uint32_t i;

    object_check(set, ATTRIBUTE_SET_MAGIC);
    if (atomic_load_explicit(&state->overlay->full, memory_order_acquire))
        return UINT64_MAX;
    for (i = 0; i < count; i++)
        total += ordinals[i] < base->value_count ? base->totals[ordinals[i]] : 0;
    return total;
}

uint64_t attribute_set_count_range(const struct attribute_set *set, int64_t low, int64_t high)
{
    const struct set_state *state = state_of(set);
    const struct set_base *base = state->base;
    uint32_t bucket = set_bucket(base, low);
    uint32_t last = set_bucket(base, high);
    uint64_t total = 0;

    object_check(set, ATTRIBUTE_SET_MAGIC);
    if (atomic_load_explicit(&state->overlay->full, memory_order_acquire))
        return UINT64_MAX;
    for (; low <= high && bucket <= last && bucket < base->value_count; bucket++)
        total += base->totals[bucket];
    return total;
}

/* Adds the known cells of the box, whose longitudes ascend; false when there are too many. */
static bool add_cells(const struct attribute_set *set, const struct geo_box *box, int32_t lon_min,
                      int32_t lon_max, uint32_t *ordinals, uint32_t *count)
{
    uint32_t columns = 3600000000U / set->cell_size + 1;
    uint32_t south = set_cell(set, box->lat_min, lon_min);
    uint32_t north = set_cell(set, box->lat_max, lon_min);
    uint32_t width = set_cell(set, box->lat_min, lon_max) - south;
    uint64_t asked = ((uint64_t)(north - south) / columns + 1) * ((uint64_t)width + 1);
    uint32_t row;
    uint32_t i;

    if (asked > CELLS_ASKED_MAX)
        return false;
    for (row = south; row <= north; row += columns) {
        for (i = 0; i <= width; i++) {
            uint32_t ordinal = cell_ordinal(set, row + i);

            if (ordinal != ORDINAL_NONE)
                ordinals[(*count)++] = ordinal;
        }
    }
    return true;
}

void set_cursor_box(struct attribute_set *set, const struct geo_box *box, struct arena *arena,
                    struct set_cursor *cursor)
{
    uint32_t *ordinals = arena_array(arena, 2 * CELLS_ASKED_MAX, sizeof(*ordinals));
    uint32_t count = 0;
    bool known = true;

    object_check(set, ATTRIBUTE_SET_MAGIC);
    assert(set->kind == SET_CELLS);
    if (box->lat_min <= box->lat_max) {
        bool crosses = box->lon_min > box->lon_max;

        known = add_cells(set, box, box->lon_min, crosses ? 1800000000 : box->lon_max, ordinals,
                          &count);
        if (known && crosses)
            known = add_cells(set, box, -1800000000, box->lon_max, ordinals, &count);
    }
    open_cursor(set, state_of(set), ordinals, count, arena, cursor);
    if (!known) {
        cursor->all = true;
        cursor->estimate = (uint64_t)cursor->window_count * WINDOW_SIZE;
    }
}

uint32_t set_cursor_next(struct set_cursor *cursor, uint32_t from)
{
    uint32_t next = WINDOW_END;
    uint32_t i;

    if (cursor->all)
        return from < cursor->window_count ? from : WINDOW_END;
    for (i = 0; i < cursor->part_count; i++) {
        struct set_part *part = &cursor->parts[i];

        while (part->at < part->end && part->at->window < from)
            part->at++;
        if (part->at < part->end && part->at->window < next)
            next = part->at->window;
    }
    while (cursor->added_at < cursor->added_count &&
           window_of(cursor->added[cursor->added_at]) < from)
        cursor->added_at++;
    if (cursor->added_at < cursor->added_count && window_of(cursor->added[cursor->added_at]) < next)
        next = window_of(cursor->added[cursor->added_at]);
    return next;
}

static void fill_entry(const uint16_t *payload, const struct set_entry *entry,
                       struct window_bits *bits)
{
    const uint16_t *list = entry->count <= SET_INLINE_MAX ? entry->offsets : payload + entry->place;
    uint32_t i;

    if (entry->count > SET_LIST_MAX) {
        const uint64_t *words = (const uint64_t *)(const void *)list;

        for (i = 0; i < WINDOW_WORDS; i++)
            bits->words[i] |= words[i];
        return;
    }
    for (i = 0; i < entry->count; i++)
        window_set(bits, list[i]);
}

void set_cursor_fill(const struct set_cursor *cursor, uint32_t window, struct window_bits *bits)
{
    uint64_t added = cursor->added_at;
    uint32_t i;

    if (cursor->all) {
        memset(bits, 0xff, sizeof(*bits));
        return;
    }
    for (i = 0; i < cursor->part_count; i++) {
        const struct set_part *part = &cursor->parts[i];

        if (part->at < part->end && part->at->window == window)
            fill_entry(cursor->payload, part->at, bits);
    }
    for (; added < cursor->added_count && window_of(cursor->added[added]) == window; added++)
        window_set(bits, cursor->added[added] & (WINDOW_SIZE - 1));
}
