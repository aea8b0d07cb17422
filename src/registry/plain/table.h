/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - CSV as the tree that the same documents would be in JSON.
 *
 * RFC 4180, read leniently: lines end with LF, CR LF or CR, the delimiter is the one of , ; tab |
 * that the first line has most of. That line names the columns; an empty cell is no value. All
 * values are strings: what they mean is guessed by whoever reads the tree.
 */
#ifndef TORG_REGISTRY_PLAIN_TABLE_H
#define TORG_REGISTRY_PLAIN_TABLE_H

#include "codec/placed_json.h"

/* ERR_INVALID and ERR_LIMIT tell the line. */
int table_read(struct bytes csv, struct arena *arena, const struct placed_json **list,
               struct err *err);

#endif
