/* SPDX-License-Identifier: Apache-2.0 */
/*
 * field_bits.h - a bit set of a schema's fields, on the stack: only as many words are cleared as
 * the schema needs, since a document with few fields should not pay for a schema that has many.
 */
#ifndef TORG_INDEX_FIELD_BITS_H
#define TORG_INDEX_FIELD_BITS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "index/bounds.h"

struct field_bits {
    uint64_t words[SCHEMA_FIELD_COUNT_MAX / 64];
};

/* Empty, of fields below count. */
static inline void field_bits_init(struct field_bits *bits, uint32_t count)
{
    memset(bits->words, 0, (count + 63) / 64 * sizeof(bits->words[0]));
}

static inline bool field_bits_has(const struct field_bits *bits, uint32_t field)
{
    return bits->words[field / 64] >> field % 64 & 1;
}

static inline void field_bits_add(struct field_bits *bits, uint32_t field)
{
    bits->words[field / 64] |= UINT64_C(1) << field % 64;
}

#endif
