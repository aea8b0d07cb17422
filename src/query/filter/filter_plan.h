/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_plan.h - a filter compiled for one snapshot: names have become ordinals, fields columns.
 *
 * The filter is a list of conjuncts (the children of its ANDs at the top). Each keeps, of a
 * window's candidates, those that match. A conjunct may also propose candidates, from an
 * attribute set: a superset, which spares the windows that have none.
 *
 * Threads: a plan belongs to one thread, inside its epoch; memory is the arena's.
 */
#ifndef TORG_QUERY_FILTER_FILTER_PLAN_H
#define TORG_QUERY_FILTER_FILTER_PLAN_H

#include "query/query.h"

struct filter_node;

enum { FIELD_MIXED = UINT16_MAX }; /* a conjunct over several fields */

struct conjunct {
    const struct filter_node *node;
    uint16_t field; /* that all its leaves are of, or FIELD_MIXED */
    uint8_t cost;   /* the cheap go first */
    bool proposes;
    struct set_cursor proposal;
};

struct filter_plan {
    struct conjunct *conjuncts;
    uint32_t count;
};

/* A NULL filter has no conjuncts. where: the filter's place in the request, for errors. */
int filter_plan_make(struct filter_plan *plan, const struct snapshot *snapshot,
                     const struct query_filter *filter, const char *where, struct arena *arena,
                     struct err *err);

/* Asks the conjunct's attribute set, if there is one, for its proposal. */
void conjunct_propose(struct conjunct *conjunct, const struct snapshot *snapshot,
                      struct arena *arena);

/* Those with a lower rank are better asked first: they cost less, or leave less to be asked after.
 * few: about single documents, not whole windows. */
double conjunct_rank(const struct conjunct *conjunct, const struct snapshot *snapshot, bool few);

/* Keeps the candidates that match. */
void conjunct_apply(const struct conjunct *conjunct, uint32_t window, struct window_bits *bits);
/* The same for few, as a list: of those in the mask `among`, the mask of those that match. */
uint64_t conjunct_test(const struct conjunct *conjunct, uint32_t window, const uint16_t *offsets,
                       uint64_t among);
/* Documents it will be asked about: their values are fetched while others are looked at. */
void conjunct_prefetch(const struct conjunct *conjunct, const docid *ids, uint32_t count);

/* Whether the document matches, told with its value, child by child. */
void conjunct_explain(const struct conjunct *conjunct, const struct snapshot *snapshot, docid id,
                      struct arena *arena, struct explanation *explanation);

/* The field, or ERR_INVALID that says where it was named. */
int query_field(const struct snapshot *snapshot, struct bytes name, const char *where,
                const struct field **field, struct err *err);

#endif
