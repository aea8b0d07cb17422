/* SPDX-License-Identifier: Apache-2.0 */
/*
 * varint.h - unsigned integers in 1 to 10 bytes, low 7 bits first (as protobuf writes them).
 */
#ifndef TORG_BASE_VARINT_H
#define TORG_BASE_VARINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

enum { VARINT_SIZE_MAX = 10 };

void varint_put(struct buf *buf, uint64_t value);

/* Writes at most VARINT_SIZE_MAX bytes; returns how many. */
size_t varint_encode(uint64_t value, uint8_t to[VARINT_SIZE_MAX]);

/* Takes one off the front of *in; false, *in unchanged, when it is cut short or too long. */
bool varint_get(struct bytes *in, uint64_t *value);

static inline uint64_t zigzag_encode(int64_t value)
{
    return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

static inline int64_t zigzag_decode(uint64_t value)
{
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

#endif
