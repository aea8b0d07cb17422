/* SPDX-License-Identifier: Apache-2.0 */
/* facet_plan.c - see facet_plan.h. */
#include "query/facet_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/limits.h"
#include "query/filter_plan.h"

enum { BOOLEAN_COUNT = 2, FACET_LIMIT_DEFAULT = 10 };

/* ---- the tree of paths ---- */

/* Every path and its ancestors, whether a document stands at them or only below. */
struct tree_nodes {
    struct bytes *paths;
    uint32_t count;
    uint32_t *slots; /* hash table of node + 1 */
    uint32_t slot_count;
    uint32_t *parents; /* of nodes, + 1; 0: a root */
    uint32_t *node_of; /* by ordinal */
    uint32_t ordinal_count;
    uint32_t *stamps; /* by node: the document that counted it last, + 1 */
};

static size_t parent_size(struct bytes path)
{
    size_t size = path.size;

    while (size > 0 && path.data[size - 1] != '/')
        size--;
    return size > 0 ? size - 1 : 0;
}

static uint32_t tree_add(struct tree_nodes *tree, struct bytes path)
{
    uint32_t below = 0; /* the child whose parent is found next, + 1 */
    uint32_t first = 0;

    for (;;) {
        uint32_t slot = (uint32_t)hash64(path) & (tree->slot_count - 1);
        uint32_t node;
        bool known;

        while (tree->slots[slot] && !bytes_equal(tree->paths[tree->slots[slot] - 1], path))
            slot = (slot + 1) & (tree->slot_count - 1);
        known = tree->slots[slot];
        if (!known) {
            tree->paths[tree->count] = path;
            tree->slots[slot] = ++tree->count;
        }
        node = tree->slots[slot];
        if (below)
            tree->parents[below - 1] = node;
        if (!first)
            first = node;
        if (known || !parent_size(path))
            return first - 1;
        below = node;
        path.size = parent_size(path);
    }
}

static uint32_t count_nodes_max(const struct dictionary *dictionary, uint32_t count)
{
    uint32_t total = 0;
    uint32_t i;

    for (i = 0; i < count; i++) {
        struct bytes path = dictionary_name(dictionary, i);

        for (total++; parent_size(path); path.size = parent_size(path))
            total++;
    }
    return total;
}

static struct tree_nodes *tree_make(const struct dictionary *dictionary, struct arena *arena)
{
    struct tree_nodes *tree = arena_zero(arena, sizeof(*tree));
    uint32_t count = dictionary_count(dictionary);
    uint32_t nodes_max = count_nodes_max(dictionary, count);
    uint32_t i;

    for (tree->slot_count = 16; tree->slot_count < 2 * nodes_max; tree->slot_count *= 2)
        ;
    tree->slots = arena_array(arena, tree->slot_count, sizeof(*tree->slots));
    tree->paths = arena_array(arena, nodes_max + 1, sizeof(*tree->paths));
    tree->parents = arena_array(arena, nodes_max + 1, sizeof(*tree->parents));
    tree->stamps = arena_array(arena, nodes_max + 1, sizeof(*tree->stamps));
    tree->node_of = arena_array(arena, count + 1, sizeof(*tree->node_of));
    tree->ordinal_count = count;
    for (i = 0; i < count; i++)
        tree->node_of[i] = tree_add(tree, dictionary_name(dictionary, i));
    return tree;
}

/* Counts a document's path and its ancestors, each at most once a document. */
static void tree_count(struct tree_nodes *tree, uint32_t ordinal, uint32_t stamp, uint32_t *counts)
{
    uint32_t node;

    if (ordinal >= tree->ordinal_count)
        return; /* came after the plan */
    for (node = tree->node_of[ordinal] + 1; node; node = tree->parents[node - 1]) {
        if (tree->stamps[node - 1] == stamp)
            return; /* its ancestors are counted too */
        tree->stamps[node - 1] = stamp;
        counts[node - 1]++;
    }
}

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

static int check_bounds(const struct query_facet *source, struct err *err)
{
    uint32_t i;

    if (source->kind != FACET_RANGES)
        return 0;
    if (source->bound_count < 2 || source->bound_count > QUERY_FACET_BOUND_COUNT_MAX)
        return err_set(err, ERR_INVALID, "facets: \"%.*s\" has %u bounds, 2 to %d are taken",
                       BYTES_ARG(source->field), source->bound_count, QUERY_FACET_BOUND_COUNT_MAX);
    for (i = 1; i < source->bound_count; i++)
        if (source->bounds[i] <= source->bounds[i - 1])
            return err_set(err, ERR_INVALID, "facets: the bounds of \"%.*s\" are to ascend",
                           BYTES_ARG(source->field));
    return 0;
}

int facet_count_make(struct facet_count *facet, const struct snapshot *snapshot,
                     const struct query_facet *source, bool is_part, struct arena *arena,
                     struct err *err)
{
    uint32_t most = is_part ? QUERY_FACET_PART_COUNT_MAX : QUERY_FACET_VALUE_COUNT_MAX;
    const struct field *field = NULL;
    int rc = query_field(snapshot, source->field, "facets", &field, err);

    rc = rc ? rc : check_type(source, field, err);
    rc = rc ? rc : check_bounds(source, err);
    if (rc)
        return rc;
    if (source->limit > most)
        return err_set(err, ERR_LIMIT, "facets: \"%s\" asks for %u values, at most %u are given",
                       field->name, source->limit, most);
    *facet =
        (struct facet_count){.source = source, .field = field, .min = INT64_MAX, .max = INT64_MIN};
    facet->column = columns_column(snapshot->columns, field->id);
    if (source->kind == FACET_RANGES)
        facet->count = source->bound_count - 1;
    else if (field->type == FIELD_BOOLEAN)
        facet->count = BOOLEAN_COUNT;
    else if (facet->column && field_has_dictionary(field))
        facet->count = dictionary_count(column_dictionary(facet->column));
    if (source->kind == FACET_TREE && field->multiple && facet->column) {
        facet->tree = tree_make(column_dictionary(facet->column), arena);
        facet->count = facet->tree->count;
    }
    facet->counts = arena_array(arena, facet->count + 1, sizeof(*facet->counts));
    return 0;
}

/* ---- counting ---- */

static void count_tree(struct facet_count *facet, uint32_t window, const struct column_view *view,
                       uint32_t offset)
{
    uint32_t stamp = window_first(window) + offset + 1;
    int64_t value = view_get(view, offset);
    const uint32_t *ordinals;
    uint32_t count;
    uint32_t i;

    if (value == COLUMN_NULL)
        return;
    if (column_is_mask(facet->column)) {
        uint64_t mask;

        for (mask = (uint64_t)value; mask; mask &= mask - 1)
            tree_count(facet->tree, (uint32_t)__builtin_ctzll(mask), stamp, facet->counts);
        return;
    }
    ordinals = value_lists_get(column_lists(facet->column), (uint32_t)value, &count);
    for (i = 0; i < count; i++)
        tree_count(facet->tree, ordinals[i], stamp, facet->counts);
}

static void add_tree(struct facet_count *facet, uint32_t window, const struct column_view *view,
                     const struct window_bits *bits)
{
    uint32_t i;

    for (i = 0; i < WINDOW_WORDS; i++) {
        uint64_t word;

        for (word = bits->words[i]; word; word &= word - 1)
            count_tree(facet, window, view, i * 64 + (uint32_t)__builtin_ctzll(word));
    }
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

/* One by one. */
static void add_listed(struct facet_count *facet, uint32_t window, const struct column_view *view,
                       const struct facet_hits *hits)
{
    uint32_t i;

    for (i = 0; i < hits->count; i++) {
        int64_t value;

        if (facet->tree) {
            count_tree(facet, window, view, hits->offsets[i]);
            continue;
        }
        value = view_get(view, hits->offsets[i]);
        if (value == COLUMN_NULL)
            continue;
        if (facet->source->kind == FACET_RANGES)
            count_range(facet, value);
        facet->min = value < facet->min ? value : facet->min;
        facet->max = value > facet->max ? value : facet->max;
    }
}

static uint32_t count_docs(const struct column_view *view, const struct facet_hits *hits)
{
    struct window_bits bits;
    uint32_t count = 0;

    if (hits->offsets) {
        for (uint32_t i = 0; i < hits->count; i++)
            count += view_get(view, hits->offsets[i]) != COLUMN_NULL;
        return count;
    }
    bits = *hits->bits;
    filter_exists(view, &bits);
    return window_count(&bits);
}

void facet_count_add(struct facet_count *facet, uint32_t window, const struct facet_hits *hits)
{
    struct column_view view;

    if (!facet->column)
        return;
    column_view(facet->column, window, &view);
    if (view.kind == PAGE_ABSENT)
        return;
    if (facet->source->counts_docs)
        facet->doc_count += count_docs(&view, hits);
    if (!hits->bits && (facet->source->kind == FACET_RANGES ||
                        facet->source->kind == FACET_MIN_MAX || facet->tree))
        add_listed(facet, window, &view, hits);
    else if (facet->source->kind == FACET_RANGES)
        facet_ranges(&view, hits->bits, facet->source->bounds, facet->source->bound_count,
                     facet->counts);
    else if (facet->source->kind == FACET_MIN_MAX)
        facet_min_max(&view, hits->bits, &facet->min, &facet->max);
    else if (facet->tree)
        add_tree(facet, window, &view, hits->bits);
    else if (hits->offsets)
        facet_values_at(facet->column, &view, hits->offsets, hits->count, facet->counts,
                        facet->count);
    else
        facet_values(facet->column, &view, hits->bits, facet->counts, facet->count);
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

static int compare_paths(const void *a, const void *b)
{
    return bytes_compare(((const struct facet_value *)a)->name,
                         ((const struct facet_value *)b)->name);
}

static struct bytes value_name(const struct facet_count *facet, uint32_t ordinal)
{
    if (facet->field->type == FIELD_BOOLEAN)
        return bytes_of(ordinal ? "true" : "false");
    if (facet->tree)
        return facet->tree->paths[ordinal];
    return dictionary_name(column_dictionary(facet->column), ordinal);
}

/* Adds each path's ancestors, then sums up what has the same name. */
static uint32_t roll_up(struct facet_value *values, uint32_t count, struct arena *arena,
                        struct facet_value **rolled)
{
    struct facet_value *all;
    uint32_t all_count = 0;
    uint32_t kept = 0;
    uint32_t i;

    for (i = 0; i < count; i++) {
        struct bytes path = values[i].name;

        for (all_count++; parent_size(path); path.size = parent_size(path))
            all_count++;
    }
    all = arena_array(arena, all_count + 1, sizeof(*all));
    all_count = 0;
    for (i = 0; i < count; i++) {
        struct bytes path = values[i].name;

        all[all_count++] = values[i];
        while (parent_size(path)) {
            path.size = parent_size(path);
            all[all_count++] = (struct facet_value){path, values[i].count};
        }
    }
    if (all_count)
        qsort(all, all_count, sizeof(*all), compare_paths);
    for (i = 0; i < all_count; i++) {
        if (kept && bytes_equal(all[kept - 1].name, all[i].name))
            all[kept - 1].count += all[i].count;
        else
            all[kept++] = all[i];
    }
    *rolled = all;
    return kept;
}

static void finish_values(const struct facet_count *facet, struct arena *arena,
                          struct facet_answer *answer)
{
    uint32_t limit = facet->source->limit ? facet->source->limit : FACET_LIMIT_DEFAULT;
    struct facet_value *values;
    uint32_t count = 0;
    uint32_t i;

    for (i = 0; i < facet->count; i++)
        count += facet->counts[i] != 0;
    values = arena_array(arena, count + 1, sizeof(*values));
    count = 0;
    for (i = 0; i < facet->count; i++)
        if (facet->counts[i])
            values[count++] = (struct facet_value){value_name(facet, i), facet->counts[i]};
    if (facet->source->kind == FACET_TREE && !facet->tree)
        count = roll_up(values, count, arena, &values);
    if (count)
        qsort(values, count, sizeof(*values), compare_values);
    answer->values = values;
    answer->count = count < limit ? count : limit;
    answer->other_count = count - answer->count;
    for (i = 0; i < answer->count; i++)
        values[i].name = arena_copy(arena, values[i].name);
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

void facet_count_finish(const struct facet_count *facet, struct arena *arena,
                        struct facet_answer *answer)
{
    struct bytes name = facet->source->name.size ? facet->source->name : facet->source->field;

    *answer = (struct facet_answer){.name = arena_copy(arena, name), .doc_count = facet->doc_count};
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
