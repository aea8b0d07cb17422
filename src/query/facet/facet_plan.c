/* SPDX-License-Identifier: Apache-2.0 */
/* facet_plan.c - see facet_plan.h. */
#include "query/facet/facet_plan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "index/bounds.h"
#include "query/bounds.h"
#include "query/facet/facet_tree.h"
#include "query/filter/filter_plan.h"

enum {
    BOOLEAN_COUNT = 2,
    FACET_LIMIT_DEFAULT = 10,
    NAMES_AT_ONCE_MAX = 64, /* so few are counted by name from the first hit on */
    NAMES_OF_HIT = 16,      /* more: when so many a hit are to be gone through in the end */
    MASK_NAMES_SHIFT_MAX = 12,
};

/* ---- making ---- */

static int check_type(const struct query_facet *source, const struct field *field, struct err *err)
{
    bool number = field->type >= FIELD_INTEGER && field->type <= FIELD_DATE;
    bool right = source->kind == FACET_VALUES
                     ? field_has_dictionary(field) || field->type == FIELD_BOOLEAN
                 : source->kind == FACET_TREE ? field->type == FIELD_CATEGORY
                                              : number;

    if (right)
        return 0;
    return err_set(err, ERR_INVALID, "facets: field \"%s\" is a %s: %s", field->name,
                   field_type_name(field->type),
                   source->kind == FACET_VALUES ? "values are counted of keywords, categories and "
                                                  "booleans; for numbers ask for ranges"
                   : source->kind == FACET_TREE ? "a tree is counted of a category"
                                                : "ranges and min_max are of numbers and dates");
}

static void check_bounds(const struct query_facet *source)
{
    uint32_t i;

    if (source->kind != FACET_RANGES)
        return;
    assert(source->bound_count >= 2 && source->bound_count <= QUERY_FACET_BOUND_COUNT_MAX);
    for (i = 1; i < source->bound_count; i++)
        assert(source->bounds[i] > source->bounds[i - 1]);
}

/* How many combinations of values documents may have, if that is a number to count by. */
static uint32_t count_names(const struct facet_count *facet, const struct query_tuning *tuning)
{
    uint32_t count;

    if (!facet->column || !facet->field->multiple || tuning->facet_names < 0)
        return 0;
    if (column_is_mask(facet->column)) {
        count = dictionary_count(column_dictionary(facet->column));
        return count <= MASK_NAMES_SHIFT_MAX ? UINT32_C(1) << count : 0;
    }
    count = value_lists_end(column_lists(facet->column));
    return count <= QUERY_FACET_NAME_COUNT_MAX ? count : 0;
}

static void need_names(struct facet_count *facet, bool at_once)
{
    if (!facet->names && facet->name_count &&
        (at_once || facet->name_count <= NAMES_AT_ONCE_MAX ||
         facet->seen >= facet->name_count / NAMES_OF_HIT))
        facet->names = arena_array(facet->arena, facet->name_count, sizeof(*facet->names));
}

int facet_count_make(struct facet_count *facet, const struct snapshot *snapshot,
                     const struct query_facet *source, bool is_part,
                     const struct query_tuning *tuning, struct arena *arena, struct err *err)
{
    uint32_t most = is_part ? QUERY_FACET_PART_COUNT_MAX : QUERY_FACET_VALUE_COUNT_MAX;
    const struct field *field = NULL;
    int rc = query_field(snapshot, source->field, "facets", &field, err);

    rc = rc ? rc : check_type(source, field, err);
    if (rc)
        return rc;
    check_bounds(source);
    assert(source->limit <= most);
    *facet = (struct facet_count){
        .source = source, .field = field, .min = INT64_MAX, .max = INT64_MIN, .arena = arena};
    facet->column = columns_column(snapshot->columns, field->id);
    if (source->kind == FACET_RANGES)
        facet->count = source->bound_count - 1;
    else if (field->type == FIELD_BOOLEAN)
        facet->count = BOOLEAN_COUNT;
    else if (facet->column && field_has_dictionary(field))
        facet->count = dictionary_count(column_dictionary(facet->column));
    if (source->kind == FACET_TREE && field->multiple && facet->column) {
        facet->tree = tree_nodes_make(column_dictionary(facet->column), NULL, facet->count, arena);
        facet->count = facet->tree->count;
    }
    facet->counts = arena_array(arena, facet->count + 1, sizeof(*facet->counts));
    facet->name_count = count_names(facet, tuning);
    need_names(facet, tuning->facet_names > 0);
    return 0;
}

/* ---- counting ---- */

/* The ordinals that a value of the column stands for, told to so many documents' facet. */
static void count_several(struct facet_count *facet, int64_t value, uint32_t weight)
{
    uint32_t of_mask[KEYWORD_MASK_COUNT_MAX + 2];
    const uint32_t *ordinals = of_mask;
    uint32_t count = 0;
    uint64_t mask;
    uint32_t i;

    if (!column_is_mask(facet->column)) {
        ordinals = value_lists_get(column_lists(facet->column), (uint32_t)value, &count);
        count = count < KEYWORD_VALUES_MAX ? count : KEYWORD_VALUES_MAX;
    } else {
        for (mask = (uint64_t)value; mask; mask &= mask - 1)
            of_mask[count++] = (uint32_t)__builtin_ctzll(mask);
    }
    if (facet->tree) {
        tree_nodes_count(facet->tree, ordinals, count, weight, facet->counts);
        return;
    }
    for (i = 0; i < count; i++)
        if (ordinals[i] < facet->count)
            facet->counts[ordinals[i]] += weight;
}

/* By name if that pays, else each hit's values at once. */
static void add_several(struct facet_count *facet, const struct column_view *view,
                        const struct facet_hits *hits)
{
    int64_t values[WINDOW_SIZE];
    uint32_t count;
    uint32_t i;

    need_names(facet, false);
    if (facet->names) {
        facet_values(view, hits, facet->names, facet->name_count);
        return;
    }
    count = facet_pick(view, hits, values);
    for (i = 0; i < count; i++)
        count_several(facet, values[i], 1);
    facet->doc_count += count;
    facet->seen += count;
}

/* The range that the value is in, if any: bounds ascend. */
static void count_range(struct facet_count *facet, int64_t value)
{
    const int64_t *bounds = facet->source->bounds;
    uint32_t low = 0;
    uint32_t high = facet->source->bound_count;

    while (low < high) { /* bounds above the value begin at low */
        uint32_t middle = low + (high - low) / 2;

        if (bounds[middle] <= value)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 && low < facet->source->bound_count)
        facet->counts[low - 1]++;
}

static void add_ranges(struct facet_count *facet, const struct column_view *view,
                       const struct facet_hits *hits)
{
    int64_t values[WINDOW_SIZE];
    struct window_bits bits;
    uint32_t count;
    uint32_t i;

    if (hits->offsets) {
        count = facet_pick(view, hits, values);
        for (i = 0; i < count; i++)
            count_range(facet, values[i]);
        facet->doc_count += count;
        return;
    }
    facet_ranges(view, hits->bits, facet->source->bounds, facet->source->bound_count,
                 facet->counts);
    if (facet->source->counts_docs) {
        bits = *hits->bits;
        filter_exists(view, &bits);
        facet->doc_count += window_count(&bits);
    }
}

void facet_count_add(struct facet_count *facet, uint32_t window, const struct facet_hits *hits)
{
    struct column_view view;

    if (!facet->column)
        return;
    column_view(facet->column, window, &view);
    if (view.kind == PAGE_ABSENT)
        return;
    if (facet->source->kind == FACET_RANGES)
        add_ranges(facet, &view, hits);
    else if (facet->source->kind == FACET_MIN_MAX)
        facet->doc_count += facet_min_max(&view, hits, &facet->min, &facet->max);
    else if (facet->field->multiple)
        add_several(facet, &view, hits);
    else
        facet_values(&view, hits, facet->counts, facet->count);
}

/* ---- the answer ---- */

static int compare_values(const void *a, const void *b)
{
    const struct facet_value *x = a;
    const struct facet_value *y = b;

    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return bytes_compare(x->name, y->name);
}

static struct bytes value_name(const struct facet_count *facet, uint32_t ordinal)
{
    if (facet->field->type == FIELD_BOOLEAN)
        return bytes_of(ordinal ? "true" : "false");
    if (facet->tree)
        return facet->tree->paths[ordinal];
    return dictionary_name(column_dictionary(facet->column), ordinal);
}

/* The best so far, the worst of them first: of thousands of values a page shows ten. */
struct top_values {
    struct facet_value *values;
    uint32_t count;
    uint32_t limit;
};

static void sift_down(struct facet_value *values, uint32_t count, uint32_t at)
{
    struct facet_value moved = values[at];

    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child + 1 < count && compare_values(&values[child + 1], &values[child]) > 0)
            child++;
        if (child >= count || compare_values(&values[child], &moved) <= 0)
            break;
        values[at] = values[child];
        at = child;
    }
    values[at] = moved;
}

static void top_add(struct top_values *top, const struct facet_count *facet, uint32_t ordinal,
                    uint64_t count)
{
    struct facet_value value = {.count = count};
    uint32_t i;

    if (top->count == top->limit && count < top->values[0].count)
        return;
    value.name = value_name(facet, ordinal);
    if (top->count < top->limit) {
        top->values[top->count++] = value;
        for (i = top->count / 2; top->count == top->limit && i-- > 0;)
            sift_down(top->values, top->count, i);
    } else if (compare_values(&value, &top->values[0]) < 0) {
        top->values[0] = value;
        sift_down(top->values, top->count, 0);
    }
}

/* The paths that were found and all above them become the facet's values. */
static void roll_up(struct facet_count *facet, struct arena *arena)
{
    const struct dictionary *dictionary = column_dictionary(facet->column);
    struct tree_nodes *tree = tree_nodes_make(dictionary, facet->counts, facet->count, arena);
    uint32_t *counts = arena_array(arena, tree->count + 1, sizeof(*counts));
    uint32_t i;

    for (i = 0; i < facet->count; i++)
        if (facet->counts[i])
            tree_nodes_count(tree, &i, 1, facet->counts[i], counts);
    facet->tree = tree;
    facet->counts = counts;
    facet->count = tree->count;
}

/* The next value that was counted, from `at` on: of thousands most were not. */
static uint32_t next_counted(const struct facet_count *facet, uint32_t at)
{
    enum { RUN = 16 };

    for (; at < facet->count; at++) {
        uint32_t any = 0;
        uint32_t i;

        if (facet->counts[at])
            return at;
        while (at + RUN < facet->count) {
            for (i = 0; i < RUN; i++)
                any |= facet->counts[at + 1 + i];
            if (any)
                break;
            at += RUN;
        }
    }
    return at;
}

static void finish_values(struct facet_count *facet, struct arena *arena,
                          struct facet_answer *answer)
{
    struct top_values top = {.limit =
                                 facet->source->limit ? facet->source->limit : FACET_LIMIT_DEFAULT};
    uint32_t count = 0;
    uint32_t i;

    if (facet->source->kind == FACET_TREE && !facet->tree && facet->column)
        roll_up(facet, arena);
    for (i = 0; i < facet->count; i++)
        count += facet->counts[i] != 0;
    top.limit = top.limit < count ? top.limit : count;
    top.values = arena_array(arena, top.limit + 1, sizeof(*top.values));
    for (i = next_counted(facet, 0); i < facet->count; i = next_counted(facet, i + 1))
        top_add(&top, facet, i, facet->counts[i]);
    if (top.count)
        qsort(top.values, top.count, sizeof(*top.values), compare_values);
    answer->values = top.values;
    answer->count = top.count;
    answer->other_count = count - top.count;
    for (i = 0; i < top.count; i++)
        top.values[i].name = arena_copy(arena, top.values[i].name);
}

static void finish_ranges(const struct facet_count *facet, struct arena *arena,
                          struct facet_answer *answer)
{
    struct facet_value *values = arena_array(arena, facet->count + 1, sizeof(*values));
    uint32_t i;

    for (i = 0; i < facet->count; i++)
        values[i].count = facet->counts[i];
    answer->values = values;
    answer->count = facet->count;
}

/* What was counted by name becomes counts of values; every hit that has a value was counted
 * once. */
static void spread_names(struct facet_count *facet)
{
    uint32_t i;

    for (i = 0; facet->names && i < facet->name_count; i++) {
        if (!facet->names[i])
            continue;
        count_several(facet, i, facet->names[i]);
        facet->doc_count += facet->names[i];
    }
}

void facet_count_finish(struct facet_count *facet, struct arena *arena, struct facet_answer *answer)
{
    struct bytes name = facet->source->name.size ? facet->source->name : facet->source->field;
    bool is_number = facet->source->kind == FACET_RANGES || facet->source->kind == FACET_MIN_MAX;
    uint32_t i;

    spread_names(facet);
    if (facet->source->counts_docs && !is_number && !facet->field->multiple)
        for (i = 0; i < facet->count; i++)
            facet->doc_count += facet->counts[i];
    *answer = (struct facet_answer){
        .name = arena_copy(arena, name),
        .doc_count = facet->source->counts_docs ? facet->doc_count : 0,
    };
    if (facet->source->kind == FACET_RANGES) {
        finish_ranges(facet, arena, answer);
    } else if (facet->source->kind == FACET_MIN_MAX) {
        answer->has_values = facet->min <= facet->max;
        answer->min = answer->has_values ? facet->min : 0;
        answer->max = answer->has_values ? facet->max : 0;
    } else {
        finish_values(facet, arena, answer);
    }
}
