/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge_facets.c - see merge_facets.h. Each document is in one shard and counted there once, so
 * sums are exact as long as shards give all their values (QUERY_FACET_PART_COUNT_MAX).
 */
#include "searcher/front/merge_facets.h"

#include <stdlib.h>
#include <string.h>

enum { VALUE_COUNT_DEFAULT = 10 };

static int compare_names(const void *a, const void *b)
{
    return strcmp((*(Torg__V1__FacetValue *const *)a)->value,
                  (*(Torg__V1__FacetValue *const *)b)->value);
}

/* The most frequent first, ties by name. */
static int compare_counts(const void *a, const void *b)
{
    uint64_t x = (*(Torg__V1__FacetValue *const *)a)->count;
    uint64_t y = (*(Torg__V1__FacetValue *const *)b)->count;

    return x != y ? (x > y ? -1 : 1) : compare_names(a, b);
}

static const Torg__V1__FacetAnswer *facet_of(const struct merge_part *part, uint32_t stage,
                                             size_t facet)
{
    return part->answer->answer->stages[stage]->facets[facet];
}

/* All values of all parts; those of the same name together, their sum with the first. */
static size_t sum_values(Torg__V1__FacetValue **values, size_t count)
{
    size_t kept = 0;

    if (count)
        qsort(values, count, sizeof(values[0]), compare_names);
    for (size_t i = 0; i < count; i++) {
        if (kept && compare_names(&values[kept - 1], &values[i]) == 0)
            values[kept - 1]->count += values[i]->count;
        else
            values[kept++] = values[i];
    }
    if (kept)
        qsort(values, kept, sizeof(values[0]), compare_counts);
    return kept;
}

static void merge_values(const Torg__V1__Facet *query, uint32_t stage, size_t facet,
                         const struct merge_part *parts, uint32_t count, struct arena *arena,
                         Torg__V1__FacetAnswer *answer)
{
    size_t limit = query->limit ? query->limit : VALUE_COUNT_DEFAULT;
    Torg__V1__FacetValue *copies;
    size_t total = 0;

    for (uint32_t i = 0; i < count; i++)
        total += facet_of(&parts[i], stage, facet)->n_values;
    copies = arena_array(arena, total + 1, sizeof(*copies));
    answer->values = arena_array(arena, total + 1, sizeof(answer->values[0]));
    total = 0;
    for (uint32_t i = 0; i < count; i++) {
        const Torg__V1__FacetAnswer *part = facet_of(&parts[i], stage, facet);

        answer->other_count += part->other_count;
        for (size_t k = 0; k < part->n_values; k++) {
            copies[total] = *part->values[k];
            answer->values[total] = &copies[total];
            total++;
        }
    }
    total = sum_values(answer->values, total);
    answer->n_values = total < limit ? total : limit;
    answer->other_count += total - answer->n_values;
}

static void merge_ranges(uint32_t stage, size_t facet, const struct merge_part *parts,
                         uint32_t count, struct arena *arena, Torg__V1__FacetAnswer *answer)
{
    const Torg__V1__FacetAnswer *first = facet_of(&parts[0], stage, facet);
    Torg__V1__FacetValue *copies;

    for (uint32_t i = 1; i < count && !first->n_values; i++) /* a shard may not know the field */
        first = facet_of(&parts[i], stage, facet);
    copies = arena_array(arena, first->n_values + 1, sizeof(*copies));
    answer->values = arena_array(arena, first->n_values + 1, sizeof(answer->values[0]));
    answer->n_values = first->n_values;
    for (size_t k = 0; k < first->n_values; k++) {
        copies[k] = *first->values[k];
        copies[k].count = 0;
        answer->values[k] = &copies[k];
        for (uint32_t i = 0; i < count; i++) {
            const Torg__V1__FacetAnswer *part = facet_of(&parts[i], stage, facet);

            copies[k].count += k < part->n_values ? part->values[k]->count : 0;
        }
    }
}

static void merge_bounds(uint32_t stage, size_t facet, const struct merge_part *parts,
                         uint32_t count, Torg__V1__FacetAnswer *answer)
{
    const Torg__V1__FacetBounds *low = NULL;
    const Torg__V1__FacetBounds *high = NULL;

    for (uint32_t i = 0; i < count; i++) {
        const Torg__V1__FacetBounds *bounds = parts[i].answer->stages[stage]->facets[facet];
        const Torg__V1__FacetAnswer *part = facet_of(&parts[i], stage, facet);

        if (!bounds->has_values)
            continue;
        if (!low || bounds->min < low->min) {
            low = bounds;
            answer->_min_case = part->_min_case;
            answer->min = part->min;
        }
        if (!high || bounds->max > high->max) {
            high = bounds;
            answer->_max_case = part->_max_case;
            answer->max = part->max;
        }
    }
}

void merge_facets(const Torg__V1__QueryStage *query, uint32_t stage, const struct merge_part *parts,
                  uint32_t count, struct arena *arena, Torg__V1__StageAnswer *answer)
{
    Torg__V1__FacetAnswer *facets = arena_array(arena, query->n_facets + 1, sizeof(*facets));

    answer->facets = arena_array(arena, query->n_facets + 1, sizeof(answer->facets[0]));
    answer->n_facets = query->n_facets;
    for (size_t i = 0; i < query->n_facets; i++) {
        torg__v1__facet_answer__init(&facets[i]);
        answer->facets[i] = &facets[i];
        facets[i].name = facet_of(&parts[0], stage, i)->name;
        for (uint32_t k = 0; k < count; k++)
            facets[i].document_count += facet_of(&parts[k], stage, i)->document_count;
        if (query->facets[i]->kind == TORG__V1__FACET__KIND__MIN_MAX)
            merge_bounds(stage, i, parts, count, &facets[i]);
        else if (query->facets[i]->kind == TORG__V1__FACET__KIND__RANGES)
            merge_ranges(stage, i, parts, count, arena, &facets[i]);
        else
            merge_values(query->facets[i], stage, i, parts, count, arena, &facets[i]);
    }
}
