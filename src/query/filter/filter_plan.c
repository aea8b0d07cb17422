/* SPDX-License-Identifier: Apache-2.0 */
/* filter_plan.c - see filter_plan.h. */
#include "query/filter/filter_plan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "query/bounds.h"
#include "query/filter/filter_node.h"

struct compiler {
    const struct snapshot *snapshot;
    const char *where;
    struct arena *arena;
    uint32_t node_count;
};

int query_field(const struct snapshot *snapshot, struct bytes name, const char *where,
                const struct field **field, struct err *err)
{
    *field = schema_find(snapshot->schema, name);
    if (!*field)
        return err_set(err, ERR_INVALID, "%s: there is no field \"%.*s\"", where, BYTES_ARG(name));
    return 0;
}

static int refuse_type(const struct compiler *compiler, const struct field *field, const char *what,
                       struct err *err)
{
    return err_set(err, ERR_INVALID, "%s: field \"%s\" is a %s: %s", compiler->where, field->name,
                   field_type_name(field->type), what);
}

static bool is_number(const struct field *field)
{
    return field->type == FIELD_INTEGER || field->type == FIELD_DECIMAL ||
           field->type == FIELD_DATE || field->type == FIELD_BOOLEAN;
}

/* ---- compiling the leaves ---- */

/* One ordinal of a column with single values is a plain comparison. */
static void make_one(struct filter_node *node)
{
    node->kind = NODE_RANGE;
    node->low = node->high = node->ordinals[0];
}

static void make_table(struct compiler *compiler, struct filter_node *node, const uint64_t *bits,
                       uint32_t bit_count)
{
    uint32_t *ordinals;
    uint32_t count = 0;
    uint32_t i;

    for (i = 0; i < (bit_count + 63) / 64; i++)
        count += (uint32_t)__builtin_popcountll(bits[i]);
    ordinals = arena_array(compiler->arena, count + 1, sizeof(*ordinals));
    count = 0;
    for (i = 0; i < (bit_count + 63) / 64; i++)
        for (uint64_t word = bits[i]; word; word &= word - 1)
            ordinals[count++] = i * 64 + (uint32_t)__builtin_ctzll(word);
    node->kind = count ? NODE_TABLE : NODE_NOTHING;
    node->table = (struct ordinal_table){.bits = bits, .bit_count = bit_count};
    if (column_lists(node->column)) {
        uint32_t names = value_lists_end(column_lists(node->column));

        names = names < QUERY_FILTER_NAME_COUNT_MAX ? names : QUERY_FILTER_NAME_COUNT_MAX;
        node->table.names = arena_zero(compiler->arena, names + 1);
        node->table.name_count = names;
    }
    node->ordinals = ordinals;
    node->ordinal_count = count;
    if (count == 1 && !column_field(node->column)->multiple)
        make_one(node);
}

/* A seller's offers, say: of millions of names one is asked for, and needs no table. */
static bool compile_one(struct compiler *compiler, struct filter_node *node)
{
    const struct query_filter *source = node->source;
    uint32_t *ordinal;

    if (source->count != 1 || source->kind == FILTER_SUBTREE ||
        column_field(node->column)->multiple)
        return false;
    ordinal = arena_array(compiler->arena, 1, sizeof(*ordinal));
    *ordinal = dictionary_find(column_dictionary(node->column), source->names[0]);
    if (*ordinal != ORDINAL_NONE) {
        node->ordinals = ordinal;
        node->ordinal_count = 1;
        make_one(node);
    }
    return true;
}

static void compile_names(struct compiler *compiler, struct filter_node *node)
{
    const struct query_filter *source = node->source;
    const struct dictionary *dictionary;
    uint32_t bit_count;
    uint64_t *bits;
    uint32_t i;

    node->kind = NODE_NOTHING;
    if (!node->column || compile_one(compiler, node))
        return;
    dictionary = column_dictionary(node->column);
    bit_count = dictionary_count(dictionary);
    bits = arena_array(compiler->arena, bit_count / 64 + 1, sizeof(*bits));
    for (i = 0; i < source->count; i++) {
        uint32_t ordinal;

        if (source->kind == FILTER_SUBTREE) {
            dictionary_subtree(dictionary, source->names[i], bits, bit_count);
            continue;
        }
        ordinal = dictionary_find(dictionary, source->names[i]);
        if (ordinal < bit_count)
            bits[ordinal / 64] |= UINT64_C(1) << (ordinal % 64);
    }
    make_table(compiler, node, bits, bit_count);
}

static int compare_numbers(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void make_numbers(struct filter_node *node, int64_t *numbers, uint32_t count)
{
    if (count)
        qsort(numbers, count, sizeof(*numbers), compare_numbers);
    node->kind = count == 0 ? NODE_NOTHING : count == 1 ? NODE_RANGE : NODE_NUMBERS;
    node->numbers = numbers;
    node->count = count;
    if (count == 1)
        node->low = node->high = numbers[0];
}

/* "true" and "false", or the numbers themselves. */
static int compile_numbers(struct compiler *compiler, struct filter_node *node,
                           const struct field *field, struct err *err)
{
    const struct query_filter *source = node->source;
    int64_t *numbers = arena_array(compiler->arena, source->count + 1, sizeof(*numbers));
    uint32_t i;

    for (i = 0; i < source->count; i++) {
        if (source->numbers)
            numbers[i] = source->numbers[i];
        else if (field->type != FIELD_BOOLEAN)
            return refuse_type(compiler, field, "\"in\" needs numbers, not names", err);
        else if (bytes_equal_text(source->names[i], "true"))
            numbers[i] = 1;
        else if (bytes_equal_text(source->names[i], "false"))
            numbers[i] = 0;
        else
            return refuse_type(compiler, field, "its values are true and false", err);
    }
    make_numbers(node, numbers, source->count);
    return 0;
}

static int compile_in(struct compiler *compiler, struct filter_node *node,
                      const struct field *field, struct err *err)
{
    assert(node->source->count <= QUERY_FILTER_VALUE_COUNT_MAX);
    if (node->source->kind == FILTER_SUBTREE && field->type != FIELD_CATEGORY)
        return refuse_type(compiler, field, "\"subtree\" needs a category", err);
    if (is_number(field))
        return compile_numbers(compiler, node, field, err);
    if (!field_has_dictionary(field))
        return refuse_type(compiler, field, "\"in\" needs a keyword, category or number", err);
    if (node->source->count && !node->source->names)
        return refuse_type(compiler, field, "its values are names, not numbers", err);
    compile_names(compiler, node);
    return 0;
}

static int compile_geo(struct compiler *compiler, struct filter_node *node,
                       const struct field *field, struct err *err)
{
    const struct query_filter *source = node->source;

    if (field->type != FIELD_GEO)
        return refuse_type(compiler, field, "a box or radius needs a geo point", err);
    if (source->kind == FILTER_BOX) {
        node->kind = NODE_BOX;
        node->box = source->box;
        return 0;
    }
    if (!(source->radius_m >= 0))
        return err_set(err, ERR_INVALID, "%s: field \"%s\": the radius must be 0 or more metres",
                       compiler->where, field->name);
    node->kind = NODE_RADIUS;
    node->lat = source->lat;
    node->lon = source->lon;
    node->radius_m = source->radius_m;
    node->box = geo_box_around(source->lat, source->lon, source->radius_m);
    return 0;
}

static int compile_leaf(struct compiler *compiler, const struct query_filter *source,
                        struct filter_node *node, struct err *err)
{
    const struct field *field = NULL;
    int rc = query_field(compiler->snapshot, source->field, compiler->where, &field, err);

    if (rc)
        return rc;
    if (!field_has_column(field))
        return refuse_type(compiler, field, "it cannot be filtered", err);
    node->source = source;
    node->field = field->id;
    node->column = columns_column(compiler->snapshot->columns, field->id);
    switch ((enum filter_kind)source->kind) {
    case FILTER_IN:
    case FILTER_SUBTREE:
        return compile_in(compiler, node, field, err);
    case FILTER_RANGE:
        if (!is_number(field))
            return refuse_type(compiler, field, "\"range\" needs a number or date", err);
        node->kind = NODE_RANGE;
        node->low = source->low;
        node->high = source->high;
        return 0;
    case FILTER_EXISTS:
        node->kind = NODE_RANGE;
        node->low = INT64_MIN;
        node->high = COLUMN_NULL;
        return 0;
    case FILTER_BOX:
    case FILTER_RADIUS:
        return compile_geo(compiler, node, field, err);
    case FILTER_AND:
    case FILTER_OR:
    case FILTER_NOT:
        break; /* compile() takes them apart */
    }
    assert(!"a leaf of the query");
    return ERR_INVALID;
}

/* ---- compiling the tree ---- */

static uint16_t common_field(const struct filter_node *node)
{
    uint32_t i;

    for (i = 1; i < node->count; i++)
        if (node->children[i].field != node->children[0].field)
            return FIELD_MIXED;
    return node->count ? node->children[0].field : FIELD_MIXED;
}

static int compile(struct compiler *compiler, const struct query_filter *source, uint32_t depth,
                   struct filter_node *node, struct err *err)
{
    uint32_t i;

    compiler->node_count++;
    assert(depth <= QUERY_FILTER_DEPTH_MAX && compiler->node_count <= QUERY_FILTER_COUNT_MAX);
    if (source->kind > FILTER_NOT)
        return compile_leaf(compiler, source, node, err);
    assert(source->kind != FILTER_NOT || source->count == 1);
    assert(source->count <= QUERY_FILTER_COUNT_MAX);
    node->source = source;
    node->kind = source->kind == FILTER_AND  ? NODE_AND
                 : source->kind == FILTER_OR ? NODE_OR
                                             : NODE_NOT;
    node->count = source->count;
    node->children = arena_array(compiler->arena, source->count + 1, sizeof(*node->children));
    for (i = 0; i < source->count; i++) {
        int rc = compile(compiler, &source->children[i], depth + 1, &node->children[i], err);

        if (rc)
            return rc;
    }
    node->field = common_field(node);
    return 0;
}

static uint32_t count_conjuncts(const struct filter_node *node)
{
    uint32_t count = 0;
    uint32_t i;

    if (node->kind != NODE_AND)
        return 1;
    for (i = 0; i < node->count; i++)
        count += count_conjuncts(&node->children[i]);
    return count;
}

static uint8_t cost_of(const struct filter_node *node)
{
    switch ((enum node_kind)node->kind) {
    case NODE_NOTHING:
        return 0;
    case NODE_RANGE:
        return 1;
    case NODE_TABLE:
    case NODE_NUMBERS:
        return 2;
    case NODE_BOX:
        return 3;
    case NODE_AND:
    case NODE_OR:
    case NODE_NOT:
        return 4;
    case NODE_RADIUS:
        return 5;
    }
    assert(!"a node's kind");
    return 0;
}

static void add_conjuncts(struct filter_plan *plan, const struct filter_node *node)
{
    uint32_t i;

    if (node->kind != NODE_AND) {
        plan->conjuncts[plan->count++] =
            (struct conjunct){.node = node, .field = node->field, .cost = cost_of(node)};
        return;
    }
    for (i = 0; i < node->count; i++)
        add_conjuncts(plan, &node->children[i]);
}

static int compare_cost(const void *a, const void *b)
{
    return ((const struct conjunct *)a)->cost - ((const struct conjunct *)b)->cost;
}

int filter_plan_make(struct filter_plan *plan, const struct snapshot *snapshot,
                     const struct query_filter *filter, const char *where, struct arena *arena,
                     struct err *err)
{
    struct compiler compiler = {.snapshot = snapshot, .where = where, .arena = arena};
    struct filter_node *root = arena_zero(arena, sizeof(*root));
    int rc;

    *plan = (struct filter_plan){0};
    if (!filter)
        return 0;
    rc = compile(&compiler, filter, 1, root, err);
    if (rc)
        return rc;
    plan->conjuncts = arena_array(arena, count_conjuncts(root) + 1, sizeof(*plan->conjuncts));
    add_conjuncts(plan, root);
    if (plan->count)
        qsort(plan->conjuncts, plan->count, sizeof(*plan->conjuncts), compare_cost);
    return 0;
}

/* ---- proposals ---- */

void conjunct_propose(struct conjunct *conjunct, const struct snapshot *snapshot,
                      struct arena *arena)
{
    const struct filter_node *node = conjunct->node;
    struct attribute_set *set;

    if (conjunct->field == FIELD_MIXED || conjunct->field >= snapshot->set_count)
        return;
    set = snapshot->sets[conjunct->field];
    if (!set)
        return;
    conjunct->proposes = true;
    if (node->kind == NODE_TABLE)
        set_cursor_values(set, node->ordinals, node->ordinal_count, arena, &conjunct->proposal);
    else if (node->kind == NODE_RANGE && node->ordinal_count == 1)
        set_cursor_values(set, node->ordinals, 1, arena, &conjunct->proposal);
    else if (node->kind == NODE_RANGE && attribute_set_kind(set) == SET_RANGES)
        set_cursor_range(set, node->low, node->high, arena, &conjunct->proposal);
    else if (node->kind == NODE_BOX || node->kind == NODE_RADIUS)
        set_cursor_box(set, &node->box, arena, &conjunct->proposal);
    else
        conjunct->proposes = false;
    if (conjunct->proposes && conjunct->proposal.all)
        conjunct->proposes = false;
}

/* ---- the order ---- */

/* The share of documents that match, as far as a set can tell; 1: nobody knows. */
static double share_of(const struct filter_node *node, const struct snapshot *snapshot)
{
    uint64_t doc_count = snapshot->doc_count;
    const struct attribute_set *set =
        node->field < snapshot->set_count ? snapshot->sets[node->field] : NULL;
    uint64_t found = UINT64_MAX;

    if (!set)
        return 1;
    if (node->ordinal_count && (node->kind == NODE_TABLE || node->kind == NODE_RANGE))
        found = attribute_set_count_values(set, node->ordinals, node->ordinal_count);
    else if (node->kind == NODE_RANGE && attribute_set_kind(set) == SET_RANGES)
        found = attribute_set_count_range(set, node->low, node->high);
    return found < doc_count ? (double)found / (double)doc_count : 1;
}

/* Of a whole window, in bytes that a vector passes by. */
static double window_cost(const struct filter_node *node, const struct snapshot *snapshot)
{
    enum { TABLE_COST = 2, ONE_BY_ONE_COST = 16, BOX_COST = 10, TREE_COST = 20, RADIUS_COST = 60 };
    struct column_view view;

    switch ((enum node_kind)node->kind) {
    case NODE_NOTHING:
        return 0;
    case NODE_AND:
    case NODE_OR:
    case NODE_NOT:
        return TREE_COST;
    case NODE_BOX:
        return BOX_COST;
    case NODE_RADIUS:
        return RADIUS_COST;
    case NODE_RANGE:
    case NODE_TABLE:
    case NODE_NUMBERS:
        break;
    }
    column_view(node->column, snapshot->window_count / 2, &view);
    if (view.kind == PAGE_ABSENT || view.kind == PAGE_CONSTANT)
        return 1;
    if (node->kind == NODE_RANGE)
        return view.width;
    return node->kind == NODE_TABLE && view.width == 1 ? TABLE_COST : ONE_BY_ONE_COST;
}

double conjunct_rank(const struct conjunct *conjunct, const struct snapshot *snapshot, bool few)
{
    const double least_dropped = 0.02; /* so that cost counts when nothing is known */
    enum { COST_OF_FEW = 4 };          /* whatever it is, a document costs a miss of the cache */
    double cost = window_cost(conjunct->node, snapshot);

    if (few)
        cost += COST_OF_FEW;
    return cost / (1 + least_dropped - share_of(conjunct->node, snapshot));
}

/* ---- applying ---- */

static void apply_numbers(const struct filter_node *node, const struct column_view *view,
                          struct window_bits *bits)
{
    uint32_t i;

    for (i = 0; i < WINDOW_WORDS; i++) {
        uint64_t word;

        for (word = bits->words[i]; word; word &= word - 1) {
            uint32_t offset = i * 64 + (uint32_t)__builtin_ctzll(word);
            int64_t value = view_get(view, offset);

            if (!bsearch(&value, node->numbers, node->count, sizeof(value), compare_numbers))
                window_clear(bits, offset);
        }
    }
}

static void apply_or(const struct filter_node *node, uint32_t window, struct window_bits *bits)
{
    struct window_bits found = {0};
    uint32_t i;
    uint32_t k;

    for (i = 0; i < node->count; i++) {
        struct window_bits open;

        for (k = 0; k < WINDOW_WORDS; k++)
            open.words[k] = bits->words[k] & ~found.words[k];
        filter_node_apply(&node->children[i], window, &open);
        for (k = 0; k < WINDOW_WORDS; k++)
            found.words[k] |= open.words[k];
    }
    *bits = found;
}

static void apply_not(const struct filter_node *node, uint32_t window, struct window_bits *bits)
{
    struct window_bits found = *bits;
    uint32_t k;

    filter_node_apply(&node->children[0], window, &found);
    for (k = 0; k < WINDOW_WORDS; k++)
        bits->words[k] &= ~found.words[k];
}

static void apply_leaf(const struct filter_node *node, uint32_t window, struct window_bits *bits)
{
    struct column_view view;

    column_view(node->column, window, &view);
    switch ((enum node_kind)node->kind) {
    case NODE_RANGE:
        filter_range(&view, node->low, node->high, bits);
        break;
    case NODE_TABLE:
        filter_in(node->column, &view, node->table, bits);
        break;
    case NODE_NUMBERS:
        apply_numbers(node, &view, bits);
        break;
    case NODE_BOX:
        filter_box(&view, &node->box, bits);
        break;
    case NODE_RADIUS:
        filter_box(&view, &node->box, bits);
        filter_radius(&view, node->lat, node->lon, node->radius_m, bits);
        break;
    case NODE_AND:
    case NODE_OR:
    case NODE_NOT:
    case NODE_NOTHING:
        assert(!"a leaf");
        break;
    }
}

/* Recursion is as deep as the filter: QUERY_FILTER_DEPTH_MAX. */
void filter_node_apply(const struct filter_node *node, uint32_t window, struct window_bits *bits)
{
    uint32_t i;

    switch ((enum node_kind)node->kind) {
    case NODE_AND:
        for (i = 0; i < node->count; i++)
            filter_node_apply(&node->children[i], window, bits);
        break;
    case NODE_OR:
        apply_or(node, window, bits);
        break;
    case NODE_NOT:
        apply_not(node, window, bits);
        break;
    case NODE_NOTHING:
        *bits = (struct window_bits){0};
        break;
    case NODE_RANGE:
    case NODE_TABLE:
    case NODE_NUMBERS:
    case NODE_BOX:
    case NODE_RADIUS:
        apply_leaf(node, window, bits);
        break;
    }
}

void conjunct_apply(const struct conjunct *conjunct, uint32_t window, struct window_bits *bits)
{
    filter_node_apply(conjunct->node, window, bits);
}
