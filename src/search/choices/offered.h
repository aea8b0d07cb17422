/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offered.h - which filters fit what was found: by the categories of the hits.
 *
 * An attribute (or a standard filter) is worth offering when enough of the hits are in categories
 * that have it; strictly, when all categories found have it. What was chosen stays offered, so that
 * it can be taken back.
 */
#ifndef TORG_SEARCH_CHOICES_OFFERED_H
#define TORG_SEARCH_CHOICES_OFFERED_H

#include "search/choices/choices.h"

/* Hits by category. */
struct found_categories {
    const struct category *const *list; /* all of the catalogue, by number */
    size_t count;
    uint64_t *with_below; /* hits at and under each */
    uint64_t *own;        /* hits at each */
    uint64_t total;
    size_t category_count; /* with hits of their own */
};

void found_categories_read(struct found_categories *found, const struct wanted *wanted,
                           const Torg__V1__FacetAnswer *tree);

/* Below the category asked for, those that have offers, the most first. */
void found_categories_put(const struct found_categories *found, const struct wanted *wanted,
                          Torg__V1__SearchOffersResponse *response);

struct offered_filter {
    struct search_filter filter;
    uint64_t hit_count;    /* of categories that have it */
    size_t category_count; /* found ones that have it */
    uint64_t best_count;   /* of the category whose view of the attribute is taken */
    const char *hidden;    /* why it is not offered; NULL: it is */
};

/* Standard ones first, then attributes, the most useful first; hidden ones behind. */
void offered_choose(const struct wanted *wanted, const struct found_categories *found,
                    struct offered_filter **list, size_t *count);

#endif
