/* SPDX-License-Identifier: Apache-2.0 */
/* merge_facets.h - the facets of a stage over several shards; between merge.c and
 * merge_facets.c. */
#ifndef TORG_SEARCHER_FRONT_MERGE_FACETS_H
#define TORG_SEARCHER_FRONT_MERGE_FACETS_H

#include "searcher/front/merge.h"

void merge_facets(const Torg__V1__QueryStage *query, uint32_t stage, const struct merge_part *parts,
                  uint32_t count, struct arena *arena, Torg__V1__StageAnswer *answer);

#endif
