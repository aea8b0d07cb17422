/* SPDX-License-Identifier: Apache-2.0 */
/* filter_node.h - the nodes of a compiled filter: made by filter_plan.c, explained by
 * filter_explain.c. */
#ifndef TORG_QUERY_FILTER_FILTER_NODE_H
#define TORG_QUERY_FILTER_FILTER_NODE_H

#include "query/filter/filter_plan.h"

enum node_kind {
    NODE_AND,
    NODE_OR,
    NODE_NOT,
    NODE_NOTHING, /* no value of that name is known: nobody matches */
    NODE_RANGE,
    NODE_TABLE,   /* ordinals */
    NODE_NUMBERS, /* one of several */
    NODE_BOX,
    NODE_RADIUS,
};

struct filter_node {
    uint8_t kind; /* enum node_kind */
    uint16_t field;
    const struct query_filter *source;
    const struct column *column;  /* NULL: nobody has a value */
    struct filter_node *children; /* AND, OR, NOT */
    uint32_t count;               /* of children or numbers */
    int64_t low, high;
    struct ordinal_table table;
    const uint32_t *ordinals; /* TABLE: the same, when a set was asked for few */
    uint32_t ordinal_count;
    const int64_t *numbers; /* ascending */
    struct geo_box box;
    int32_t lat, lon;
    double radius_m;
};

void filter_node_apply(const struct filter_node *node, uint32_t window, struct window_bits *bits);

#endif
