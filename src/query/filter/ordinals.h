/* SPDX-License-Identifier: Apache-2.0 */
/* ordinals.h - the names in a value of a column, by their places in its dictionary. */
#ifndef TORG_QUERY_FILTER_ORDINALS_H
#define TORG_QUERY_FILTER_ORDINALS_H

#include <stdint.h>

#include "index/columns/columns.h"

enum { ORDINALS_KEPT_COUNT = 64 }; /* a value that is a mask has no more bits */

/* Of a value that is not COLUMN_NULL, in a column with a dictionary. They are in kept, or in the
 * column's lists: valid as long as both. */
const uint32_t *ordinals_of(const struct column *column, int64_t value,
                            uint32_t kept[ORDINALS_KEPT_COUNT], uint32_t *count);

#endif
