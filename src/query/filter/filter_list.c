/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_list.c - see filter_plan.h: a filter asked about a few documents of a window.
 *
 * The documents are a list, who matches is a mask over it: no bitmap of the window is touched. What
 * has no shorter way of its own (points on earth) goes by a bitmap after all.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "query/filter/filter_node.h"

static int compare_numbers(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static uint64_t test_numbers(const struct filter_node *node, const struct column_view *view,
                             const uint16_t *offsets, uint64_t among)
{
    uint64_t found = 0;

    for (; among; among &= among - 1) {
        int i = __builtin_ctzll(among);
        int64_t value = view_get(view, offsets[i]);
        bool is_there = value != COLUMN_NULL &&
                        bsearch(&value, node->numbers, node->count, sizeof(value), compare_numbers);

        found |= (uint64_t)is_there << i;
    }
    return found;
}

static uint64_t test_values(const struct filter_node *node, uint32_t window,
                            const uint16_t *offsets, uint64_t among)
{
    struct column_view view;

    column_view(node->column, window, &view);
    if (node->kind == NODE_RANGE)
        return filter_range_at(&view, node->low, node->high, offsets, among);
    if (node->kind == NODE_TABLE)
        return filter_in_at(node->column, &view, node->table, offsets, among);
    assert(node->kind == NODE_NUMBERS);
    return test_numbers(node, &view, offsets, among);
}

static uint64_t test_bits(const struct filter_node *node, uint32_t window, const uint16_t *offsets,
                          uint64_t among)
{
    struct window_bits bits = {0};
    uint64_t found = 0;
    uint64_t left;

    for (left = among; left; left &= left - 1)
        window_set(&bits, offsets[__builtin_ctzll(left)]);
    filter_node_apply(node, window, &bits);
    for (left = among; left; left &= left - 1) {
        int i = __builtin_ctzll(left);

        found |= (uint64_t)window_test(&bits, offsets[i]) << i;
    }
    return found;
}

/* Recursion is as deep as the filter: QUERY_FILTER_DEPTH_MAX. */
static uint64_t test_node(const struct filter_node *node, uint32_t window, const uint16_t *offsets,
                          uint64_t among)
{
    uint64_t found = 0;
    uint32_t i;

    switch ((enum node_kind)node->kind) {
    case NODE_AND:
        for (i = 0; i < node->count && among; i++)
            among = test_node(&node->children[i], window, offsets, among);
        return among;
    case NODE_OR:
        for (i = 0; i < node->count; i++)
            found |= test_node(&node->children[i], window, offsets, among & ~found);
        return found;
    case NODE_NOT:
        return among & ~test_node(&node->children[0], window, offsets, among);
    case NODE_NOTHING:
        return 0;
    case NODE_RANGE:
    case NODE_TABLE:
    case NODE_NUMBERS:
        return test_values(node, window, offsets, among);
    case NODE_BOX:
    case NODE_RADIUS:
        return test_bits(node, window, offsets, among);
    }
    assert(!"a node's kind");
    return 0;
}

uint64_t conjunct_test(const struct conjunct *conjunct, uint32_t window, const uint16_t *offsets,
                       uint64_t among)
{
    return among ? test_node(conjunct->node, window, offsets, among) : 0;
}

void conjunct_prefetch(const struct conjunct *conjunct, const docid *ids, uint32_t count)
{
    const struct filter_node *node = conjunct->node;
    struct column_view view;
    uint32_t i;

    if (node->kind != NODE_RANGE && node->kind != NODE_TABLE && node->kind != NODE_NUMBERS)
        return;
    for (i = 0; i < count; i++) {
        if (i == 0 || window_of(ids[i]) != window_of(ids[i - 1]))
            column_view(node->column, window_of(ids[i]), &view);
        if (view.kind == PAGE_DENSE)
            __builtin_prefetch((const uint8_t *)view.codes +
                               (size_t)(ids[i] & (WINDOW_SIZE - 1)) * view.width);
    }
}
