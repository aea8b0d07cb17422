/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h - bytes kept small: as they are below a size, compressed (zstd) from it on.
 *
 *     0 | the bytes            1 | a zstd frame that has its content's size
 *     2 | the same, made with a dictionary
 *
 * Compressing small ones gains nothing and slows reads down; bytes that compression does not make
 * smaller are kept as they are. Threads: any; each keeps its own working memory.
 */
#ifndef TORG_BASE_PACK_H
#define TORG_BASE_PACK_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

/* Appends the packed form; compressed from size_min bytes on. */
void pack_put(struct buf *out, struct bytes raw, size_t size_min);

/* The bytes again: within packed, or in the arena. ERR_CORRUPT for what pack_put did not write;
 * ERR_LIMIT, before any memory is taken, for more than size_max. */
int pack_open(struct bytes packed, size_t size_max, struct arena *arena, struct bytes *raw,
              struct err *err);

/* Appends a bare zstd frame, as others read it, packed once and sent often: slow and small. */
void pack_put_frame(struct buf *out, struct bytes raw);

/* ---- many small records that are alike: what they share is kept apart, once ---- */

struct pack_dictionary; /* any number of threads may use one */

/* Finds what the samples share, at most size_max bytes of it, appended to out; false when they are
 * too few or too different to share anything. */
bool pack_train(struct bytes samples, const size_t *sizes, unsigned count, size_t size_max,
                struct buf *out);

struct pack_dictionary *pack_dictionary_new(struct bytes trained); /* NULL: no dictionary */
void pack_dictionary_free(struct pack_dictionary *dictionary);     /* NULL is fine */

/* As pack_put and pack_open; a NULL dictionary is none. What was packed with one needs it. */
void pack_put_with(struct buf *out, struct bytes raw, size_t size_min,
                   const struct pack_dictionary *dictionary);
int pack_open_with(struct bytes packed, size_t size_max, const struct pack_dictionary *dictionary,
                   struct arena *arena, struct bytes *raw, struct err *err);

#endif
