/* SPDX-License-Identifier: Apache-2.0 */
/* ordinals.c - see ordinals.h. */
#include "query/filter/ordinals.h"

const uint32_t *ordinals_of(const struct column *column, int64_t value,
                            uint32_t kept[ORDINALS_KEPT_COUNT], uint32_t *count)
{
    *count = 0;
    if (column_is_mask(column)) {
        for (uint64_t mask = (uint64_t)value; mask; mask &= mask - 1)
            kept[(*count)++] = (uint32_t)__builtin_ctzll(mask);
        return kept;
    }
    if (column_field(column)->multiple)
        return value_lists_get(column_lists(column), (uint32_t)value, count);
    kept[(*count)++] = (uint32_t)value;
    return kept;
}
