/* SPDX-License-Identifier: Apache-2.0 */
/* column_filter.c - see column_filter.h; points on earth are in column_geo.c. */
#include "index/column_filter.h"

#include <string.h>

#include "base/limits.h"
#include "index/kernels_column.h"

/* Candidates up to which looking at each is cheaper than comparing all 4096. */
enum { FEW_8_16 = 64, FEW_32_64 = 128 };

uint32_t window_count(const struct window_bits *bits)
{
    return column_kernels()->popcount(bits->words);
}

static void clear(struct window_bits *bits)
{
    memset(bits, 0, sizeof(*bits));
}

static bool is_few(const struct column_view *view, const struct window_bits *bits)
{
    return window_count(bits) <= (view->width <= 2 ? FEW_8_16 : FEW_32_64);
}

/* ---- a range ---- */

/* The range in lanes; false when no lane can be in it. */
static bool lane_range(const struct column_view *view, int64_t low, int64_t high, uint64_t *first,
                       uint64_t *span)
{
    uint64_t greatest = lane_null(view->width) - 1;

    if (low < view->base)
        low = view->base;
    if (high < low || (uint64_t)low - (uint64_t)view->base > greatest)
        return false;
    *first = (uint64_t)low - (uint64_t)view->base;
    *span = (uint64_t)high - (uint64_t)low;
    if (*span > greatest - *first)
        *span = greatest - *first;
    return true;
}

static void range_few(const struct column_view *view, uint64_t first, uint64_t span,
                      struct window_bits *bits)
{
    uint32_t i;

    for (i = 0; i < WINDOW_WORDS; i++) {
        uint64_t word;

        for (word = bits->words[i]; word; word &= word - 1) {
            uint32_t offset = i * 64 + (uint32_t)__builtin_ctzll(word);

            if (lane_get(view->lanes, view->width, offset) - first > span)
                window_clear(bits, offset);
        }
    }
}

static void range_dense(const struct column_view *view, uint64_t first, uint64_t span,
                        struct window_bits *bits)
{
    const struct column_kernels *kernels = column_kernels();

    if (is_few(view, bits)) {
        range_few(view, first, span, bits);
        return;
    }
    switch (view->width) {
    case 1:
        kernels->range8(view->lanes, (uint8_t)first, (uint8_t)span, bits->words);
        break;
    case 2:
        kernels->range16(view->lanes, (uint16_t)first, (uint16_t)span, bits->words);
        break;
    case 4:
        kernels->range32(view->lanes, (uint32_t)first, (uint32_t)span, bits->words);
        break;
    default:
        kernels->range64(view->lanes, first, span, bits->words);
        break;
    }
}

void filter_range(const struct column_view *view, int64_t low, int64_t high,
                  struct window_bits *bits)
{
    struct window_bits found;
    uint64_t first;
    uint64_t span;
    uint32_t i;

    if (high == COLUMN_NULL)
        high = COLUMN_NULL - 1;
    if (view->kind == PAGE_ABSENT || low > view->max || high < view->min) {
        clear(bits);
        return;
    }
    if (view->kind == PAGE_CONSTANT) {
        if (view->base < low || view->base > high)
            clear(bits);
        return;
    }
    if (!lane_range(view, low, high, &first, &span)) {
        clear(bits);
        return;
    }
    if (view->kind == PAGE_DENSE) {
        range_dense(view, first, span, bits);
        return;
    }
    clear(&found);
    for (i = 0; i < view->count; i++)
        if (lane_get(view->lanes, view->width, i) - first <= span)
            window_set(&found, LANE_LOAD(&view->offsets[i]));
    for (i = 0; i < WINDOW_WORDS; i++)
        bits->words[i] &= found.words[i];
}

void filter_exists(const struct column_view *view, struct window_bits *bits)
{
    filter_range(view, INT64_MIN, COLUMN_NULL, bits);
}

/* ---- candidates one by one ---- */

/* Calls nothing: the candidates' offsets and lanes that are not null, for loops that follow. */
struct picked {
    uint32_t count;
    uint16_t offsets[WINDOW_SIZE];
    uint64_t lanes[WINDOW_SIZE];
};

static void add_picked(struct picked *picked, uint32_t offset, uint64_t lane, uint64_t null)
{
    picked->offsets[picked->count] = (uint16_t)offset;
    picked->lanes[picked->count] = lane;
    picked->count += lane != null;
}

/* The candidates that have a value. The lane of a constant page is 0 above the base. */
static void pick(const struct column_view *view, const struct window_bits *bits,
                 struct picked *picked)
{
    uint64_t null = view->kind == PAGE_ABSENT || view->kind == PAGE_CONSTANT
                        ? UINT64_MAX
                        : lane_null(view->width);
    uint32_t i;

    picked->count = 0;
    if (view->kind == PAGE_ABSENT)
        return;
    if (view->kind == PAGE_SPARSE) {
        /* during a change offsets may repeat: never more than the page has room for */
        for (i = 0; i < view->count; i++) {
            uint32_t offset = LANE_LOAD(&view->offsets[i]);

            if (window_test(bits, offset))
                add_picked(picked, offset, lane_get(view->lanes, view->width, i), null);
        }
        return;
    }
    for (i = 0; i < WINDOW_WORDS; i++) {
        uint64_t word;

        for (word = bits->words[i]; word; word &= word - 1) {
            uint32_t offset = i * 64 + (uint32_t)__builtin_ctzll(word);

            if (picked->count == WINDOW_SIZE)
                return;
            add_picked(picked, offset,
                       view->kind == PAGE_CONSTANT ? 0 : lane_get(view->lanes, view->width, offset),
                       null);
        }
    }
}

static bool in_table(struct ordinal_table table, uint64_t ordinal)
{
    return ordinal < table.bit_count && (table.bits[ordinal / 64] >> (ordinal % 64) & 1);
}

static bool list_in_table(const struct value_lists *lists, uint64_t name,
                          struct ordinal_table table)
{
    uint32_t count;
    const uint32_t *list = value_lists_get(lists, (uint32_t)name, &count);
    uint32_t i;

    for (i = 0; i < count && i < KEYWORD_VALUES_MAX; i++)
        if (in_table(table, list[i]))
            return true;
    return false;
}

/* ---- in a set ---- */

static void any_dense(const struct column_view *view, uint64_t mask, struct window_bits *bits)
{
    const struct column_kernels *kernels = column_kernels();

    switch (view->width) {
    case 1:
        kernels->any8(view->lanes, (uint8_t)mask, bits->words);
        break;
    case 2:
        kernels->any16(view->lanes, (uint16_t)mask, bits->words);
        break;
    case 4:
        kernels->any32(view->lanes, (uint32_t)mask, bits->words);
        break;
    default:
        kernels->any64(view->lanes, mask, bits->words);
        break;
    }
}

static uint64_t mask_of(struct ordinal_table table)
{
    uint64_t mask = table.bit_count ? table.bits[0] : 0;

    return table.bit_count < 64 ? mask & ((UINT64_C(1) << table.bit_count) - 1) : mask;
}

bool value_in(const struct column *column, int64_t value, struct ordinal_table table)
{
    if (column_is_mask(column))
        return ((uint64_t)value & mask_of(table)) != 0;
    if (column_lists(column))
        return list_in_table(column_lists(column), (uint64_t)value, table);
    return in_table(table, (uint64_t)value);
}

void filter_in(const struct column *column, const struct column_view *view,
               struct ordinal_table table, struct window_bits *bits)
{
    struct window_bits found;
    struct picked picked;
    uint32_t i;

    if (column && column_is_mask(column) && view->kind == PAGE_DENSE && view->base == 0) {
        any_dense(view, mask_of(table), bits);
        return;
    }
    pick(view, bits, &picked);
    clear(&found);
    for (i = 0; i < picked.count; i++) {
        if (value_in(column, (int64_t)((uint64_t)view->base + picked.lanes[i]), table))
            window_set(&found, picked.offsets[i]);
    }
    *bits = found;
}

/* ---- facets ---- */

static void count_dense(const struct column_view *view, const struct window_bits *bits,
                        uint32_t *counts, uint32_t count)
{
    const struct column_kernels *kernels = column_kernels();
    uint32_t null = (uint32_t)lane_null(view->width);

    if (count > null)
        count = null;
    if (view->width == 1 && count <= KERNEL_COUNT_VALUES_MAX && !is_few(view, bits))
        kernels->count8(view->lanes, bits->words, counts, count);
    else if (view->width == 1)
        kernels->histogram8(view->lanes, bits->words, counts, count);
    else if (view->width == 2)
        kernels->histogram16(view->lanes, bits->words, counts, count);
    else
        kernels->histogram32(view->lanes, bits->words, counts, count);
}

static void count_mask(uint64_t mask, uint32_t *counts, uint32_t count)
{
    for (; mask; mask &= mask - 1) {
        uint32_t ordinal = (uint32_t)__builtin_ctzll(mask);

        if (ordinal < count)
            counts[ordinal]++;
    }
}

static void count_list(const struct value_lists *lists, uint64_t name, uint32_t *counts,
                       uint32_t count)
{
    uint32_t length;
    const uint32_t *list = value_lists_get(lists, (uint32_t)name, &length);
    uint32_t i;

    for (i = 0; i < length && i < KEYWORD_VALUES_MAX; i++)
        if (list[i] < count)
            counts[list[i]]++;
}

void facet_values(const struct column *column, const struct column_view *view,
                  const struct window_bits *bits, uint32_t *counts, uint32_t count)
{
    bool is_mask = column && column_is_mask(column);
    bool is_list = column && column_lists(column);
    struct picked picked;
    uint32_t i;

    if (!is_mask && !is_list && view->base == 0 && view->kind == PAGE_DENSE && view->width <= 4) {
        count_dense(view, bits, counts, count);
        return;
    }
    if (!is_mask && !is_list && view->kind == PAGE_CONSTANT) {
        if ((uint64_t)view->base < count)
            counts[view->base] += window_count(bits);
        return;
    }
    pick(view, bits, &picked);
    for (i = 0; i < picked.count; i++) {
        uint64_t value = (uint64_t)view->base + picked.lanes[i];

        if (is_mask)
            count_mask(value, counts, count);
        else if (is_list)
            count_list(column_lists(column), value, counts, count);
        else if (value < count)
            counts[value]++;
    }
}

uint32_t window_list(const struct window_bits *bits, uint32_t count_max,
                     uint16_t offsets[WINDOW_SIZE])
{
    uint32_t total = window_count(bits);
    uint32_t count = 0;
    uint32_t i;

    for (i = 0; total <= count_max && i < WINDOW_WORDS; i++) {
        uint64_t word;

        for (word = bits->words[i]; word; word &= word - 1)
            offsets[count++] = (uint16_t)(i * 64 + (uint32_t)__builtin_ctzll(word));
    }
    return total;
}

void facet_values_at(const struct column *column, const struct column_view *view,
                     const uint16_t *offsets, uint32_t offset_count, uint32_t *counts,
                     uint32_t count)
{
    bool is_mask = column && column_is_mask(column);
    bool is_list = column && column_lists(column);
    uint32_t width = view->width;
    const void *lanes = view->lanes;
    uint32_t i;

    if (!is_mask && !is_list && view->base == 0 && view->kind == PAGE_DENSE && width <= 2) {
        if (count > lane_null(width))
            count = (uint32_t)lane_null(width);
        for (i = 0; i < offset_count; i++) {
            uint64_t lane = lane_get(lanes, width, offsets[i]);

            if (lane < count)
                counts[lane]++;
        }
        return;
    }
    for (i = 0; i < offset_count; i++) {
        int64_t value = view_get(view, offsets[i]);

        if (value == COLUMN_NULL)
            continue;
        if (is_mask)
            count_mask((uint64_t)value, counts, count);
        else if (is_list)
            count_list(column_lists(column), (uint64_t)value, counts, count);
        else if ((uint64_t)value < count)
            counts[value]++;
    }
}

void facet_ranges(const struct column_view *view, const struct window_bits *bits,
                  const int64_t *bounds, uint32_t bound_count, uint32_t *counts)
{
    uint32_t i;

    for (i = 0; i + 1 < bound_count; i++) {
        struct window_bits part = *bits;
        int64_t high = bounds[i + 1];

        if (high == INT64_MIN)
            continue;
        filter_range(view, bounds[i], high - 1, &part);
        counts[i] += window_count(&part);
    }
}

void facet_min_max(const struct column_view *view, const struct window_bits *bits, int64_t *min,
                   int64_t *max)
{
    struct picked picked;
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;
    uint32_t i;

    if (view->min >= *min && view->max <= *max)
        return; /* the zone has nothing beyond */
    pick(view, bits, &picked);
    if (!picked.count)
        return;
    for (i = 0; i < picked.count; i++) {
        least = picked.lanes[i] < least ? picked.lanes[i] : least;
        most = picked.lanes[i] > most ? picked.lanes[i] : most;
    }
    if ((int64_t)((uint64_t)view->base + least) < *min)
        *min = (int64_t)((uint64_t)view->base + least);
    if ((int64_t)((uint64_t)view->base + most) > *max)
        *max = (int64_t)((uint64_t)view->base + most);
}
