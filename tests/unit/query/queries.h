/* SPDX-License-Identifier: Apache-2.0 */
/* queries.h - random queries about a world: every clause, filter, sort and facet there is. */
#ifndef TORG_TESTS_UNIT_QUERY_QUERIES_H
#define TORG_TESTS_UNIT_QUERY_QUERIES_H

#include "query/query.h"
#include "world.h"

/* A plan of one to three stages; sorts, facets, filters and text at random, no pages. */
struct query_plan random_plan(const struct world *world, struct rng *rng, struct arena *arena);

/* As lines that begin with #. */
void show_plan(const struct query_plan *plan);

/* Formulas of the tests by number, and what they are for a document, computed in C. */
uint32_t formula_count(const struct world *world);
const char *formula_text(uint32_t formula);
double formula_value(const struct world *world, uint32_t formula, docid id, float score);
uint32_t formula_number(struct bytes text);

#endif
