/* SPDX-License-Identifier: Apache-2.0 */
/* filter_explain.c - why a document passes a filter or not: the filter's own nodes, asked one by
 * one. */
#include <assert.h>

#include "base/buf.h"
#include "query/filter/filter_node.h"
#include "query/filter/ordinals.h"
#include "query/filter/value.h"

enum { TOLD_SIZE_MAX = 4096, TOLD_VALUES_MAX = 8 };

static void put_ordinals(struct buf *buf, const struct column *column, int64_t value)
{
    const struct dictionary *dictionary = column_dictionary(column);
    uint32_t known = dictionary_count(dictionary);
    uint32_t kept[ORDINALS_KEPT_COUNT];
    uint32_t count;
    const uint32_t *ordinals = ordinals_of(column, value, kept, &count);
    uint32_t i;

    for (i = 0; i < count && i < TOLD_VALUES_MAX; i++)
        if (ordinals[i] < known)
            buf_printf(buf, "%s%.*s", i ? ", " : "",
                       BYTES_ARG(dictionary_name(dictionary, ordinals[i])));
    if (count > TOLD_VALUES_MAX)
        buf_printf(buf, " and %u more", count - TOLD_VALUES_MAX);
}

static void put_value(struct buf *buf, const struct filter_node *node, int64_t value)
{
    int32_t lat;
    int32_t lon;

    if (value == COLUMN_NULL) {
        buf_put_text(buf, "it has none");
        return;
    }
    buf_put_text(buf, "it is ");
    if (field_has_dictionary(column_field(node->column))) {
        put_ordinals(buf, node->column, value);
    } else if (column_field(node->column)->type == FIELD_GEO) {
        geo_unpack(value, &lat, &lon);
        buf_printf(buf, "%.5f, %.5f", lat / 1e7, lon / 1e7);
        if (node->kind == NODE_RADIUS)
            buf_printf(buf, ", %.0f m away", geo_distance_m(lat, lon, node->lat, node->lon));
    } else {
        value_put(column_field(node->column), value, buf);
    }
}

static void put_names(struct buf *buf, const struct query_filter *source, const struct field *field)
{
    uint32_t i;

    for (i = 0; i < source->count && i < TOLD_VALUES_MAX; i++) {
        buf_put_text(buf, i ? ", " : "");
        if (source->names)
            buf_put(buf, source->names[i]);
        else
            value_put(field, source->numbers[i], buf);
    }
    if (source->count > TOLD_VALUES_MAX)
        buf_printf(buf, " and %u more", source->count - TOLD_VALUES_MAX);
}

static void put_condition(struct buf *buf, const struct filter_node *node,
                          const struct field *field)
{
    const struct query_filter *source = node->source;

    switch ((enum filter_kind)source->kind) {
    case FILTER_IN:
        buf_put_text(buf, "is one of ");
        put_names(buf, source, field);
        break;
    case FILTER_SUBTREE:
        buf_put_text(buf, "is at or under ");
        put_names(buf, source, field);
        break;
    case FILTER_RANGE:
        buf_put_text(buf, "is from ");
        if (source->low == INT64_MIN)
            buf_put_text(buf, "any");
        else
            value_put(field, source->low, buf);
        buf_put_text(buf, " to ");
        if (source->high == INT64_MAX)
            buf_put_text(buf, "any");
        else
            value_put(field, source->high, buf);
        break;
    case FILTER_EXISTS:
        buf_put_text(buf, "has a value");
        break;
    case FILTER_BOX:
        buf_put_text(buf, "is in the box");
        break;
    case FILTER_RADIUS:
        buf_printf(buf, "is within %.0f m", source->radius_m);
        break;
    case FILTER_AND:
    case FILTER_OR:
    case FILTER_NOT:
        assert(!"a leaf of the query");
        break;
    }
}

static bool node_holds(const struct filter_node *node, docid id)
{
    struct window_bits bits = {0};
    uint32_t offset = id & (WINDOW_SIZE - 1);

    window_set(&bits, offset);
    filter_node_apply(node, window_of(id), &bits);
    return window_test(&bits, offset);
}

static struct bytes tell_leaf(const struct filter_node *node, const struct snapshot *snapshot,
                              docid id, struct arena *arena)
{
    const struct field *field = schema_any_field(snapshot->schema, node->field);
    struct buf buf = BUF_INIT(TOLD_SIZE_MAX);
    int64_t value = COLUMN_NULL;
    struct bytes told;

    if (node->column)
        columns_get(snapshot->columns, id, &node->field, 1, &value);
    buf_printf(&buf, "%s ", field->name);
    put_condition(&buf, node, field);
    buf_put_text(&buf, ": ");
    put_value(&buf, node, value);
    told = arena_copy(arena, buf_bytes(&buf));
    buf_release(&buf);
    return told;
}

/* Recursion is as deep as the filter: QUERY_FILTER_DEPTH_MAX. */
static void explain_node(const struct filter_node *node, const struct snapshot *snapshot, docid id,
                         struct arena *arena, struct explanation *explanation)
{
    struct explanation *children;
    uint32_t i;

    *explanation = (struct explanation){.holds = node_holds(node, id)};
    if (node->kind > NODE_NOT) {
        explanation->text = tell_leaf(node, snapshot, id, arena);
        return;
    }
    explanation->text = bytes_of(node->kind == NODE_AND  ? "all of"
                                 : node->kind == NODE_OR ? "any of"
                                                         : "not");
    children = arena_array(arena, node->count + 1, sizeof(*children));
    for (i = 0; i < node->count; i++)
        explain_node(&node->children[i], snapshot, id, arena, &children[i]);
    explanation->children = children;
    explanation->count = node->count;
}

void conjunct_explain(const struct conjunct *conjunct, const struct snapshot *snapshot, docid id,
                      struct arena *arena, struct explanation *explanation)
{
    explain_node(conjunct->node, snapshot, id, arena, explanation);
}
