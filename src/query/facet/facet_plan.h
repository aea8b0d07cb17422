/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facet_plan.h - counts over hits: by value, by range, minimum and maximum, by path of a tree.
 *
 * Counting goes window by window over a bitmap of hits; names are looked up once, at the end.
 *
 * Threads: one, inside its epoch; memory is the arena's.
 */
#ifndef TORG_QUERY_FACET_FACET_PLAN_H
#define TORG_QUERY_FACET_FACET_PLAN_H

#include "query/query.h"

struct tree_nodes;

struct facet_count {
    const struct query_facet *source;
    const struct field *field;
    const struct column *column; /* NULL: nobody has a value */
    uint32_t *counts;            /* by ordinal, range or node of the tree */
    uint32_t count;
    int64_t min, max;
    uint64_t doc_count;      /* with a value; counted if the source asks for it */
    struct tree_nodes *tree; /* of paths, where a document may have several values */
    uint32_t group;          /* which set of hits it counts on; the page's to use */

    /* Of several values: hits by what they have together (the name of a list, or a mask), which
     * becomes counts at the end. */
    uint32_t *names;
    uint32_t name_count; /* 0: each hit is asked for its values */
    uint32_t seen;       /* hits asked for their values so far, while names is NULL */
    struct arena *arena;
};

int facet_count_make(struct facet_count *facet, const struct snapshot *snapshot,
                     const struct query_facet *source, bool is_part,
                     const struct query_tuning *tuning, struct arena *arena, struct err *err);

void facet_count_add(struct facet_count *facet, uint32_t window, const struct facet_hits *hits);

/* Once. */
void facet_count_finish(struct facet_count *facet, struct arena *arena,
                        struct facet_answer *answer);

#endif
