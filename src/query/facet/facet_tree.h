/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facet_tree.h - the paths of a category field as a tree, for its facet.
 *
 * Threads: one, inside its epoch; memory is the arena's.
 */
#ifndef TORG_QUERY_FACET_FACET_TREE_H
#define TORG_QUERY_FACET_FACET_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "index/columns/dictionary.h"

/* Every path and its ancestors, whether a document stands at them or only below. */
struct tree_nodes {
    struct bytes *paths;
    uint32_t count;
    uint32_t *slots; /* hash table of node + 1 */
    uint32_t slot_count;
    uint32_t *parents; /* of nodes, + 1; 0: a root */
    uint32_t *node_of; /* by ordinal */
    uint32_t ordinal_count;
    uint32_t *stamps; /* by node: who counted it last */
    uint32_t stamp;
};

/* Of the first `count` paths of the dictionary; with counts, of those that have one. */
struct tree_nodes *tree_nodes_make(const struct dictionary *dictionary, const uint32_t *counts,
                                   uint32_t count, struct arena *arena);

/* Counts the paths and their ancestors, each at most once a call: for as many documents as weight
 * says, which have these paths. */
void tree_nodes_count(struct tree_nodes *tree, const uint32_t *ordinals, uint32_t ordinal_count,
                      uint32_t weight, uint32_t *counts);

/* Bytes of the path above; 0: there is none. */
size_t path_parent_size(struct bytes path);

#endif
