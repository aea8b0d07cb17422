/* SPDX-License-Identifier: Apache-2.0 */
/*
 * difference.h - what differs between two catalogues, field by field, for a person.
 */
#ifndef TORG_CATALOG_DIFFERENCE_H
#define TORG_CATALOG_DIFFERENCE_H

#include "catalog/catalog.h"

/* Fills categories, attributes and defaults of change; the memory is the arena's. Added and removed
 * items are told whole, changed ones by their fields. */
void catalog_compare(const struct catalog *before, const struct catalog *after, struct arena *arena,
                     Torg__V1__CatalogChange *change);

/* Whether nothing differs, the order of things included. */
bool catalog_equal(const struct catalog *before, const struct catalog *after);

/*
 * Whether an offer that obeys one category could break the other: attributes, standard filters and
 * publication rules, all inheritance resolved. Names do not count.
 */
bool category_rules_equal(const struct category *before, const struct category *after);

#endif
