/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint_file.h - the file of one column: how a window's values become bytes and back.
 *
 *   block    kind u32 | payload size u32 | CRC-32C of kind, size and payload u32 | payload
 *   window   window u32 | width u8 | sparse u8 | count u16 | base i64 | offsets u16 × count, if
 *            sparse | codes: value - base in width bytes, all ones for none (width 0: all are base)
 *   lists    window u32, then for each of the 4096 documents varints: count, ordinals
 *   names    varint size and bytes, again and again, in the order of ordinals
 *   end      how many blocks came before, u64
 * All little-endian.
 */
#ifndef TORG_INDEX_COLUMNS_CHECKPOINT_FILE_H
#define TORG_INDEX_COLUMNS_CHECKPOINT_FILE_H

#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/err.h"
#include "index/columns/columns.h"

enum block_kind { BLOCK_WINDOW = 1, BLOCK_LISTS = 2, BLOCK_NAMES = 3, BLOCK_END = 4 };

enum {
    BLOCK_HEAD_SIZE = 12,
    BLOCK_SIZE_MAX = 4 << 20, /* 4096 documents with 64 values of 5 bytes */
};

/* Appends a block around the payload. */
void block_put(struct buf *out, enum block_kind kind, struct bytes payload);

/* Takes the next block off the front of in; false when it is cut short or damaged. */
bool block_get(struct bytes *in, uint32_t *kind, struct bytes *payload);

void window_encode(uint32_t window, const int64_t values[WINDOW_SIZE], struct buf *out);
bool window_decode(struct bytes in, uint32_t *window, int64_t values[WINDOW_SIZE]);

/* Values are names of lists. Decoding makes new lists. */
void lists_encode(const struct value_lists *lists, uint32_t window,
                  const int64_t values[WINDOW_SIZE], struct buf *out);
bool lists_decode(struct bytes in, struct value_lists *lists, uint32_t ordinal_count,
                  uint32_t *window, int64_t values[WINDOW_SIZE]);

#endif
