/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute.h - a feed's names and values as attributes of a category.
 *
 * A name is an attribute's id, or its name in Russian or English, small and capital letters and
 * signs aside; "vendor" and "model", which YML has tags for, are also what categories call so. A
 * value is read as the attribute's type has it: numbers with a comma or a point and a unit behind
 * them, flags by words, options by id or name. A number is read whole or refused: what stands
 * behind its digits is a unit that the attribute knows, or the value is none.
 */
#ifndef TORG_FEEDS_MAPPING_ATTRIBUTE_H
#define TORG_FEEDS_MAPPING_ATTRIBUTE_H

#include "base/arena.h"
#include "catalog/catalog.h"
#include "feeds/formats/row.h"
#include "feeds/mapping/memo.h"

struct feed_attributes {
    struct feed_memo names;   /* attributes, by category */
    struct feed_memo options; /* options, by attribute */
    struct arena *scratch;    /* owned: of one lookup */
    char decimal;             /* before fractions; 0: not told */
};

void feed_attributes_init(struct feed_attributes *attributes, char decimal);
void feed_attributes_release(struct feed_attributes *attributes);

/* NULL: the category has none of that name. *unit: what the name tells of it, as in "Width (mm)",
 * "Width, mm" and "Width [mm]", a part of the name; empty: nothing. */
const struct attribute *feed_attribute_find(struct feed_attributes *attributes,
                                            const struct category *category, struct bytes name,
                                            struct bytes *unit);

/*
 * Fills value (initialised, or filled before by the same attribute, which some types add to), whose
 * memory is the arena's and the catalogue's. NULL, or what is wrong, in the arena: the value
 * then has what could be read, or nothing.
 */
const char *feed_attribute_read(struct feed_attributes *attributes,
                                const struct attribute *attribute,
                                const struct feed_attribute *given, struct arena *arena,
                                Torg__V1__AttributeValue *value);

#endif
