/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validate.h - whether an offer's content conforms to its category, and its canonical form.
 *
 * Every reason is told at once with the field it belongs to, as the client wrote it:
 * "offer.attributes[2].decimal: 17.5 l is above 10 l, the maximum of "Engine"".
 */
#ifndef TORG_CATALOG_VALIDATE_H
#define TORG_CATALOG_VALIDATE_H

#include "base/violation.h"
#include "catalog/catalog.h"
#include "catalog/words.h"

/*
 * Checks the values against the category. field is the path of the list ("offer.attributes"); the
 * n-th value is field[n]. complete: a required attribute without a value is a fault too (of the
 * field itself); not so while a draft is written. Returns how many faults were added.
 */
size_t catalog_validate_attributes(const struct category *category,
                                   Torg__V1__AttributeValue *const *values, size_t count,
                                   const char *field, bool complete, enum language language,
                                   struct violations *violations);

/*
 * Values that are valid, as they are stored: decimals in the base unit and in their shortest form,
 * options each once and in the attribute's order, texts without blanks at the ends, values in the
 * category's order of attributes. Texts and lists come from the arena; the list is reordered.
 */
void catalog_normalize_attributes(const struct category *category,
                                  Torg__V1__AttributeValue **values, size_t count,
                                  struct arena *arena);

#endif
