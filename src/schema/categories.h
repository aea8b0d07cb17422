/* SPDX-License-Identifier: Apache-2.0 */
/* categories.h - general categories of Unicode, for \p{…} of patterns (pattern.h). */
#ifndef TORG_SCHEMA_CATEGORIES_H
#define TORG_SCHEMA_CATEGORIES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

enum { CATEGORY_COUNT = 30, CATEGORY_ALL = (1 << CATEGORY_COUNT) - 1 };

/* "L", "Lu", "Uppercase_Letter", "gc=Lu", "General_Category=Letter", "Any": a bit for each category
 * that is meant. False: there is none of this name. */
bool categories_find(struct bytes name, uint32_t *mask);
/* The bit of a code point's category. */
uint32_t categories_of(uint32_t code);

#endif
