/* SPDX-License-Identifier: Apache-2.0 */
/* facet_tree.c - see facet_tree.h. */
#include "query/facet/facet_tree.h"

#include "base/hash.h"

size_t path_parent_size(struct bytes path)
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
        if (known || !path_parent_size(path))
            return first - 1;
        below = node;
        path.size = path_parent_size(path);
    }
}

static uint32_t count_nodes_max(const struct dictionary *dictionary, const uint32_t *counts,
                                uint32_t count)
{
    uint32_t total = 0;
    uint32_t i;

    for (i = 0; i < count; i++) {
        struct bytes path;

        if (counts && !counts[i])
            continue;
        path = dictionary_name(dictionary, i);
        for (total++; path_parent_size(path); path.size = path_parent_size(path))
            total++;
    }
    return total;
}

struct tree_nodes *tree_nodes_make(const struct dictionary *dictionary, const uint32_t *counts,
                                   uint32_t count, struct arena *arena)
{
    struct tree_nodes *tree = arena_zero(arena, sizeof(*tree));
    uint32_t nodes_max = count_nodes_max(dictionary, counts, count);
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
        if (!counts || counts[i])
            tree->node_of[i] = tree_add(tree, dictionary_name(dictionary, i));
    return tree;
}

void tree_nodes_count(struct tree_nodes *tree, const uint32_t *ordinals, uint32_t ordinal_count,
                      uint32_t weight, uint32_t *counts)
{
    uint32_t i;

    tree->stamp++;
    for (i = 0; i < ordinal_count; i++) {
        uint32_t node;

        if (ordinals[i] >= tree->ordinal_count)
            continue; /* came after the plan */
        for (node = tree->node_of[ordinals[i]] + 1; node; node = tree->parents[node - 1]) {
            if (tree->stamps[node - 1] == tree->stamp)
                break; /* its ancestors are counted too */
            tree->stamps[node - 1] = tree->stamp;
            counts[node - 1] += weight;
        }
    }
}
