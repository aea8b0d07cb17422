/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outside_file.h - the file of a column that was made elsewhere: values by document number.
 *
 * One file is one shard's part of one column, and says which numbers it was made from: T.S.V.G, and
 * the lineage of the state (numerator/state.h).
 * Little-endian; docs/columns.md has the same in Python.
 *
 *      0  u8[8]  "TORGCOLU"            32  u8   bytes of a code: 1, 2, 4 or 8
 *      8  u32    format: 2             33  u8   digits after the point, 0 to 9
 *     12  u32    T                     34  u8   1: codes are offset by half their range, so that
 *     16  u32    S                              values may be negative; 0: code = value
 *     20  u32    V                     35  u8   0
 *     24  u32    G                     36  u32  values: of the numbers 0 to count - 1
 *     28  u32    shard                 40  u32  CRC-32 of all codes
 *                                      44  u32  lineage
 *                                      48  u32  CRC-32 of the 48 bytes before
 *     52  zeros up to 4096, then a code a number, and nothing behind them
 *
 * Format 1 has no lineage: the CRC-32 stands at 44.
 *
 * A code of all ones is no value. The value is code - offset, divided by 10^digits; offset is 0, or
 * 2^(8 * bytes - 1). Codes lie as pages of a column do (column_page.h), so that they are used where
 * they are mapped.
 */
#ifndef TORG_INDEX_COLUMNS_OUTSIDE_FILE_H
#define TORG_INDEX_COLUMNS_OUTSIDE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"

enum { OUTSIDE_HEAD_SIZE = 4096 };

struct outside_head {
    uint32_t numbers[4]; /* T.S.V.G */
    uint32_t lineage;    /* 0: it does not tell */
    uint32_t shard;
    uint32_t count;
    uint8_t width; /* bytes of a code */
    uint8_t digits;
    bool is_signed;
    uint32_t sum; /* of the codes */
};

/* ERR_INVALID tells the rule. */
int outside_name_check(const char *name, struct err *err);

/* What a code of 0 means. */
int64_t outside_base(const struct outside_head *head);
uint64_t outside_file_size(const struct outside_head *head);

void outside_head_encode(const struct outside_head *head, uint8_t bytes[OUTSIDE_HEAD_SIZE]);
/* start: at least the first OUTSIDE_HEAD_SIZE bytes, or all there are. ERR_CORRUPT, ERR_LIMIT and
 * ERR_UNSUPPORTED tell what is wrong. Codes are not looked at. */
int outside_head_decode(struct bytes start, uint64_t file_size, struct outside_head *head,
                        struct err *err);

#endif
