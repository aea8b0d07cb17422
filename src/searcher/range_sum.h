/* SPDX-License-Identifier: Apache-2.0 */
/* range_sum.h - what ListIndexed adds up of the documents in a range of numbers; so does
 * whoever compares it with the registry. Sums have no order: each side adds documents as it meets
 * them. */
#ifndef TORG_SEARCHER_RANGE_SUM_H
#define TORG_SEARCHER_RANGE_SUM_H

#include <stdint.h>

#include "base/hash.h"

static inline uint64_t range_sum(uint32_t doc_id, int64_t version)
{
    return hash64_seeded(bytes_make(&version, sizeof(version)), doc_id);
}

#endif
