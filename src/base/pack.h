/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h - bytes kept small: as they are below a size, compressed (zstd) from it on.
 *
 *     0 | the bytes            1 | a zstd frame that tells its content's size
 *
 * Small ones gain nothing and cost a read its time; what compression does not make smaller is
 * kept as it is. Threads: any; each keeps its own working memory.
 */
#ifndef TORG_BASE_PACK_H
#define TORG_BASE_PACK_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

/* Appends the packed form; compressed from size_min bytes on. */
void pack_put(struct buf *out, struct bytes raw, size_t size_min);

/* The bytes again: within packed, or in the arena. ERR_CORRUPT for what pack_put did not write;
 * ERR_LIMIT, before any memory is taken, for more than size_max. */
int pack_open(struct bytes packed, size_t size_max, struct arena *arena, struct bytes *raw,
              struct err *err);

#endif
