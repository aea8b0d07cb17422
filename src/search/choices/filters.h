/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filters.h - the filters of a search: those of every offer, and one for each attribute.
 *
 * A filter knows its field in the index, how buyers choose by it, and what it is called. Read by
 * those who turn a buyer's choices into a query, and by those who offer filters for what was found.
 */
#ifndef TORG_SEARCH_CHOICES_FILTERS_H
#define TORG_SEARCH_CHOICES_FILTERS_H

#include "base/arena.h"
#include "catalog/catalog.h"
#include "torg/v1/query.pb-c.h"
#include "torg/v1/search.pb-c.h"

struct search_filter {
    const char *id;
    const char *field; /* of the index */
    Torg__V1__SearchFilter__Kind kind;
    Torg__V1__Category__Filter standard; /* UNSPECIFIED: of an attribute */
    const struct attribute *attribute;   /* NULL: a standard one */
    struct local_text name;
    bool is_date;
    bool is_money;     /* in the smallest unit of the catalogue's currency */
    const char *upper; /* the field of its upper end, of what is a range itself; NULL: it is not */
};

/* The standard filters that offers have data for, in the order to show them. */
const struct search_filter *standard_filters(size_t *count);

/* The filter of an attribute; false when buyers do not choose by it. */
bool attribute_filter(const struct attribute *attribute, struct arena *arena,
                      struct search_filter *filter);

/* The filter of this id, as some category has it; false: there is none. `category` (may be NULL) is
 * looked at first. */
bool filter_find(const struct catalog *catalog, const struct category *category, const char *id,
                 struct arena *arena, struct search_filter *filter);

/* A value's name for people: of the filter's, the catalogue's or the arena's memory. */
const char *filter_value_name(const struct search_filter *filter, const char *value,
                              enum language language, struct arena *arena);

/* Whether its values are numbers: shown in their order, not by how many have them. */
bool filter_has_numbers(const struct search_filter *filter);

#endif
