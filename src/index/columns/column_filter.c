/* SPDX-License-Identifier: Apache-2.0 */
/* column_filter.c - see column_filter.h; points on earth are in column_geo.c. */
#include "index/columns/column_filter.h"

#include <string.h>

#include "index/bounds.h"
#include "index/columns/kernels_column.h"

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

/* The range in codes; false when no code can be in it. */
static bool code_range(const struct column_view *view, int64_t low, int64_t high, uint64_t *first,
                       uint64_t *span)
{
    uint64_t greatest = code_null(view->width) - 1;

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

static inline __attribute__((always_inline)) void range_few(const struct column_view *view,
                                                            uint32_t width, uint64_t first,
                                                            uint64_t span, struct window_bits *bits)
{
    uint32_t i;

    for (i = 0; i < WINDOW_WORDS; i++) {
        uint64_t found = 0;
        uint64_t word;

        for (word = bits->words[i]; word; word &= word - 1) {
            uint32_t j = (uint32_t)__builtin_ctzll(word);

            found |= (uint64_t)(code_get(view->codes, width, i * 64 + j) - first <= span) << j;
        }
        bits->words[i] = found;
    }
}

static void range_dense(const struct column_view *view, uint64_t first, uint64_t span,
                        struct window_bits *bits)
{
    const struct column_kernels *kernels = column_kernels();
    bool few = is_few(view, bits);

    switch (view->width) {
    case 1:
        if (few)
            range_few(view, 1, first, span, bits);
        else
            kernels->range8(view->codes, (uint8_t)first, (uint8_t)span, bits->words);
        break;
    case 2:
        if (few)
            range_few(view, 2, first, span, bits);
        else
            kernels->range16(view->codes, (uint16_t)first, (uint16_t)span, bits->words);
        break;
    case 4:
        if (few)
            range_few(view, 4, first, span, bits);
        else
            kernels->range32(view->codes, (uint32_t)first, (uint32_t)span, bits->words);
        break;
    default:
        if (few)
            range_few(view, 8, first, span, bits);
        else
            kernels->range64(view->codes, first, span, bits->words);
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
    if (!code_range(view, low, high, &first, &span)) {
        clear(bits);
        return;
    }
    if (view->kind == PAGE_DENSE) {
        range_dense(view, first, span, bits);
        return;
    }
    clear(&found);
    for (i = 0; i < view->count; i++)
        if (code_get(view->codes, view->width, i) - first <= span)
            window_set(&found, CODE_LOAD(&view->offsets[i]));
    for (i = 0; i < WINDOW_WORDS; i++)
        bits->words[i] &= found.words[i];
}

static inline __attribute__((always_inline)) uint64_t range_at(const struct column_view *view,
                                                               uint32_t width, uint64_t first,
                                                               uint64_t span,
                                                               const uint16_t *offsets,
                                                               uint64_t among)
{
    uint64_t found = 0;

    for (; among; among &= among - 1) {
        int i = __builtin_ctzll(among);

        found |= (uint64_t)(code_get(view->codes, width, offsets[i]) - first <= span) << i;
    }
    return found;
}

static uint64_t range_at_sparse(const struct column_view *view, int64_t low, int64_t high,
                                const uint16_t *offsets, uint64_t among)
{
    uint64_t found = 0;

    for (; among; among &= among - 1) {
        int i = __builtin_ctzll(among);
        int64_t value = view_get(view, offsets[i]);

        found |= (uint64_t)(value != COLUMN_NULL && value >= low && value <= high) << i;
    }
    return found;
}

uint64_t filter_range_at(const struct column_view *view, int64_t low, int64_t high,
                         const uint16_t *offsets, uint64_t among)
{
    uint64_t first;
    uint64_t span;

    if (view->kind == PAGE_ABSENT || low > view->max || high < view->min)
        return 0;
    if (view->kind != PAGE_DENSE)
        return range_at_sparse(view, low, high, offsets, among);
    if (!code_range(view, low, high == COLUMN_NULL ? COLUMN_NULL - 1 : high, &first, &span))
        return 0;
    switch (view->width) {
    case 1:
        return range_at(view, 1, first, span, offsets, among);
    case 2:
        return range_at(view, 2, first, span, offsets, among);
    case 4:
        return range_at(view, 4, first, span, offsets, among);
    default:
        return range_at(view, 8, first, span, offsets, among);
    }
}

void filter_exists(const struct column_view *view, struct window_bits *bits)
{
    filter_range(view, INT64_MIN, COLUMN_NULL, bits);
}

/* ---- in a table ---- */

static bool in_table(struct ordinal_table table, uint64_t ordinal)
{
    return ordinal < table.bit_count && (table.bits[ordinal / 64] >> (ordinal % 64) & 1);
}

static bool ask_list(const struct value_lists *lists, uint64_t name, struct ordinal_table table)
{
    uint32_t count;
    const uint32_t *list = value_lists_get(lists, (uint32_t)name, &count);
    uint32_t i;

    for (i = 0; i < count && i < KEYWORD_VALUES_MAX; i++)
        if (in_table(table, list[i]))
            return true;
    return false;
}

enum name_answer { NAME_UNKNOWN, NAME_OUT, NAME_IN };

/* Lists are few and documents many, so each is looked at once. */
static bool list_in_table(const struct value_lists *lists, uint64_t name,
                          struct ordinal_table table)
{
    if (name >= table.name_count)
        return ask_list(lists, name, table);
    if (table.names[name] == NAME_UNKNOWN)
        table.names[name] = ask_list(lists, name, table) ? NAME_IN : NAME_OUT;
    return table.names[name] == NAME_IN;
}

static void any_dense(const struct column_view *view, uint64_t mask, struct window_bits *bits)
{
    const struct column_kernels *kernels = column_kernels();

    switch (view->width) {
    case 1:
        kernels->any8(view->codes, (uint8_t)mask, bits->words);
        break;
    case 2:
        kernels->any16(view->codes, (uint16_t)mask, bits->words);
        break;
    case 4:
        kernels->any32(view->codes, (uint32_t)mask, bits->words);
        break;
    default:
        kernels->any64(view->codes, mask, bits->words);
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

/* Codes of a byte that are ordinals themselves. */
static void table_dense(const struct column_view *view, struct ordinal_table table,
                        struct window_bits *bits)
{
    uint64_t first[4] = {0};
    uint32_t i;

    for (i = 0; i < 4 && i * 64 < table.bit_count; i++) {
        uint32_t left = table.bit_count - i * 64;

        first[i] = left < 64 ? table.bits[i] & ((UINT64_C(1) << left) - 1) : table.bits[i];
    }
    first[3] &= UINT64_MAX >> 1; /* null */
    column_kernels()->table8(view->codes, first, bits->words);
}

static void in_dense(const struct column *column, const struct column_view *view,
                     struct ordinal_table table, struct window_bits *bits)
{
    uint64_t null = code_null(view->width);
    uint32_t i;

    for (i = 0; i < WINDOW_WORDS; i++) {
        uint64_t found = 0;
        uint64_t word;

        for (word = bits->words[i]; word; word &= word - 1) {
            int j = __builtin_ctzll(word);
            uint64_t code = code_get(view->codes, view->width, i * 64 + (uint32_t)j);

            if (code != null)
                found |= (uint64_t)value_in(column, (int64_t)((uint64_t)view->base + code), table)
                         << j;
        }
        bits->words[i] = found;
    }
}

static void in_sparse(const struct column *column, const struct column_view *view,
                      struct ordinal_table table, struct window_bits *bits)
{
    struct window_bits found;
    uint32_t i;

    clear(&found);
    for (i = 0; i < view->count; i++) {
        uint32_t offset = CODE_LOAD(&view->offsets[i]) & (WINDOW_SIZE - 1);
        uint64_t code = code_get(view->codes, view->width, i);

        if (window_test(bits, offset) && code != code_null(view->width) &&
            value_in(column, (int64_t)((uint64_t)view->base + code), table))
            window_set(&found, offset);
    }
    *bits = found;
}

void filter_in(const struct column *column, const struct column_view *view,
               struct ordinal_table table, struct window_bits *bits)
{
    bool is_mask = column && column_is_mask(column);
    bool is_list = column && column_lists(column);

    if (view->kind == PAGE_ABSENT ||
        (view->kind == PAGE_CONSTANT && !value_in(column, view->base, table)))
        clear(bits);
    else if (view->kind == PAGE_SPARSE)
        in_sparse(column, view, table, bits);
    else if (view->kind == PAGE_DENSE && is_mask && view->base == 0)
        any_dense(view, mask_of(table), bits);
    else if (view->kind == PAGE_DENSE && !is_list && view->width == 1 && !is_few(view, bits))
        table_dense(view, table, bits);
    else if (view->kind == PAGE_DENSE)
        in_dense(column, view, table, bits);
}

uint64_t filter_in_at(const struct column *column, const struct column_view *view,
                      struct ordinal_table table, const uint16_t *offsets, uint64_t among)
{
    bool is_plain = column && !column_field(column)->multiple;
    uint64_t found = 0;

    if (view->kind == PAGE_ABSENT)
        return 0;
    for (; among; among &= among - 1) {
        int i = __builtin_ctzll(among);
        int64_t value = view->kind == PAGE_DENSE
                            ? (int64_t)code_get(view->codes, view->width, offsets[i])
                            : view_get(view, offsets[i]);

        if (view->kind == PAGE_DENSE)
            value = (uint64_t)value == code_null(view->width)
                        ? COLUMN_NULL
                        : (int64_t)((uint64_t)view->base + (uint64_t)value);
        if (value != COLUMN_NULL)
            found |= (uint64_t)(is_plain ? in_table(table, (uint64_t)value)
                                         : value_in(column, value, table))
                     << i;
    }
    return found;
}

/* ---- facets ---- */

static void count_dense(const struct column_view *view, const struct window_bits *bits,
                        uint32_t *counts, uint32_t count)
{
    const struct column_kernels *kernels = column_kernels();
    uint32_t null = (uint32_t)code_null(view->width);

    if (count > null)
        count = null;
    if (view->width == 1 && count <= KERNEL_COUNT_VALUES_MAX && !is_few(view, bits))
        kernels->count8(view->codes, bits->words, counts, count);
    else if (view->width == 1)
        kernels->histogram8(view->codes, bits->words, counts, count);
    else if (view->width == 2)
        kernels->histogram16(view->codes, bits->words, counts, count);
    else
        kernels->histogram32(view->codes, bits->words, counts, count);
}

static inline __attribute__((always_inline)) uint32_t pick_dense(const struct column_view *view,
                                                                 uint32_t width,
                                                                 const struct facet_hits *hits,
                                                                 int64_t *values)
{
    uint64_t null = code_null(width);
    uint32_t count = 0;
    uint32_t i;

    for (i = 0; hits->offsets && i < hits->count; i++) {
        uint64_t code = code_get(view->codes, width, hits->offsets[i]);

        values[count] = (int64_t)((uint64_t)view->base + code);
        count += code != null;
    }
    for (i = 0; !hits->offsets && i < WINDOW_WORDS; i++) {
        uint64_t word;

        for (word = hits->bits->words[i]; word; word &= word - 1) {
            uint64_t code = code_get(view->codes, width, i * 64 + (uint32_t)__builtin_ctzll(word));

            values[count] = (int64_t)((uint64_t)view->base + code);
            count += code != null;
        }
    }
    return count;
}

/* Every entry of the page is looked for among the hits. During a change offsets may repeat: there
 * are never more than the page has room for. */
static uint32_t pick_entries(const struct column_view *view, const struct window_bits *bits,
                             int64_t *values)
{
    uint64_t null = code_null(view->width);
    uint32_t count = 0;
    uint32_t i;

    for (i = 0; i < view->count; i++) {
        uint32_t offset = CODE_LOAD(&view->offsets[i]) & (WINDOW_SIZE - 1);
        uint64_t code = code_get(view->codes, view->width, i);

        values[count] = (int64_t)((uint64_t)view->base + code);
        count += (code != null) & window_test(bits, offset);
    }
    return count;
}

/* The first entry from `at` on that is not below the offset: steps that double, then halves. */
static uint32_t sparse_seek(const struct column_view *view, uint32_t at, uint32_t offset)
{
    uint32_t step = 1;
    uint32_t end;

    while (at + step <= view->count && CODE_LOAD(&view->offsets[at + step - 1]) < offset) {
        at += step;
        step *= 2;
    }
    end = at + step <= view->count ? at + step - 1 : view->count;
    while (at < end) {
        uint32_t middle = (at + end) / 2;

        if (CODE_LOAD(&view->offsets[middle]) < offset)
            at = middle + 1;
        else
            end = middle;
    }
    return at;
}

/* Every hit is looked for among the entries of the page: both ascend. */
static uint32_t pick_listed(const struct column_view *view, const uint16_t *offsets,
                            uint32_t offset_count, int64_t *values)
{
    uint32_t at = 0;
    uint32_t count = 0;
    uint32_t i;

    for (i = 0; i < offset_count; i++) {
        uint64_t code;

        at = sparse_seek(view, at, offsets[i]);
        if (at == view->count)
            break;
        code = code_get(view->codes, view->width, at);
        if (CODE_LOAD(&view->offsets[at]) == offsets[i] && code != code_null(view->width))
            values[count++] = (int64_t)((uint64_t)view->base + code);
    }
    return count;
}

uint32_t facet_pick(const struct column_view *view, const struct facet_hits *hits,
                    int64_t values[WINDOW_SIZE])
{
    enum { SEEK_COST = 4 }; /* in entries that are passed by */
    uint32_t i;

    if (view->kind == PAGE_ABSENT)
        return 0;
    if (view->kind == PAGE_CONSTANT) {
        for (i = 0; i < hits->count; i++)
            values[i] = view->base;
        return hits->count;
    }
    if (view->kind == PAGE_SPARSE) {
        if (hits->bits && (!hits->offsets || view->count < hits->count * SEEK_COST))
            return pick_entries(view, hits->bits, values);
        return pick_listed(view, hits->offsets, hits->count, values);
    }
    switch (view->width) {
    case 1:
        return pick_dense(view, 1, hits, values);
    case 2:
        return pick_dense(view, 2, hits, values);
    case 4:
        return pick_dense(view, 4, hits, values);
    default:
        return pick_dense(view, 8, hits, values);
    }
}

static inline __attribute__((always_inline)) void count_codes(const struct column_view *view,
                                                              uint32_t width,
                                                              const struct facet_hits *hits,
                                                              uint32_t *counts, uint32_t count)
{
    uint32_t i;

    for (i = 0; i < hits->count; i++) {
        uint64_t code = code_get(view->codes, width, hits->offsets[i]);

        if (code < count)
            counts[code]++;
    }
}

/* Few hits of a page of codes that are the values. */
static void count_listed(const struct column_view *view, const struct facet_hits *hits,
                         uint32_t *counts, uint32_t count)
{
    if (count > code_null(view->width))
        count = (uint32_t)code_null(view->width);
    if (view->width == 1)
        count_codes(view, 1, hits, counts, count);
    else if (view->width == 2)
        count_codes(view, 2, hits, counts, count);
    else
        count_codes(view, 4, hits, counts, count);
}

void facet_values(const struct column_view *view, const struct facet_hits *hits, uint32_t *counts,
                  uint32_t count)
{
    int64_t values[WINDOW_SIZE];
    uint32_t picked;
    uint32_t i;

    if (view->kind == PAGE_DENSE && view->base == 0 && view->width <= 4) {
        if (hits->offsets)
            count_listed(view, hits, counts, count);
        else
            count_dense(view, hits->bits, counts, count);
        return;
    }
    if (view->kind == PAGE_CONSTANT) {
        if ((uint64_t)view->base < count)
            counts[view->base] += hits->count;
        return;
    }
    picked = facet_pick(view, hits, values);
    for (i = 0; i < picked; i++)
        if ((uint64_t)values[i] < count)
            counts[values[i]]++;
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

uint32_t facet_min_max(const struct column_view *view, const struct facet_hits *hits, int64_t *min,
                       int64_t *max)
{
    int64_t values[WINDOW_SIZE];
    int64_t least = *min;
    int64_t most = *max;
    uint32_t count;
    uint32_t i;

    if (!hits->offsets && view->min >= *min && view->max <= *max) {
        struct window_bits bits = *hits->bits; /* the zone has nothing beyond */

        filter_exists(view, &bits);
        return window_count(&bits);
    }
    count = facet_pick(view, hits, values);
    for (i = 0; i < count; i++) {
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    *min = least;
    *max = most;
    return count;
}
