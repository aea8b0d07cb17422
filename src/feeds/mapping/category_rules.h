/* SPDX-License-Identifier: Apache-2.0 */
/*
 * category_rules.h - the file of --categories: which of our categories a seller's categories are.
 *
 * CSV in one of two forms. With the names of its columns in the first line, as `torg feed check
 * --template` writes it (more columns may follow, in any order behind the first two):
 *
 *     feed,category,attributes
 *     11,kitchen.kettles,
 *     26,prams,"type=Прогулочная; color=red"
 *     81,-,
 *     *,other,
 *
 * where "-" refuses the rows, an empty category says nothing yet, "*" is every category that has no
 * line of its own, and attributes are what a row of it has unless it says otherwise. Or plainly,
 * two columns, where an empty category refuses:
 *
 *     Бытовая техника/Чайники,kitchen.kettles
 */
#ifndef TORG_FEEDS_MAPPING_CATEGORY_RULES_H
#define TORG_FEEDS_MAPPING_CATEGORY_RULES_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "catalog/catalog.h"
#include "feeds/formats/row.h"

/* Where rows of a feed's category go, and what they have there. */
struct feed_placement {
    const struct category *category;
    const struct feed_attribute *attributes;
    size_t attribute_count;
};

struct category_rule {
    const char *from;         /* folded */
    struct feed_placement to; /* category NULL: refuse */
};

struct category_rules {
    struct category_rule *list; /* sorted by from */
    size_t count;
    const struct feed_placement *otherwise; /* NULL: no line "*" */
};

/* Memory is the arena's and the catalogue's. ERR_INVALID names the line. */
int category_rules_read(struct bytes content, const struct catalog *catalog, struct arena *arena,
                        struct category_rules *rules, struct err *err);
/* NULL: none. scratch: of the search. */
const struct category_rule *category_rules_find(const struct category_rules *rules,
                                                struct bytes text, struct arena *scratch);

#endif
