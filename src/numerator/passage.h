/* SPDX-License-Identifier: Apache-2.0 */
/*
 * passage.h - files that go in and out of a batch, read and written piece by piece: local ones by
 * their path, those of the blob store as "blob:NAME".
 *
 * What goes out appears whole and durable at outlet_commit, in place of what had the name before,
 * or not at all. Threads: each belongs to one.
 */
#ifndef TORG_NUMERATOR_PASSAGE_H
#define TORG_NUMERATOR_PASSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/err.h"
#include "blob/blob.h"

struct inlet;
struct outlet;

/* blob: borrowed until the close; NULL: "blob:NAME" is refused. ERR_NOT_FOUND: there is no such
 * file. On failure *in is NULL. */
int inlet_open(const char *name, struct blob *blob, struct inlet **in, struct err *err);
void inlet_close(struct inlet *in); /* NULL is fine */
/* Appends the next bytes to out, at most size; none: the end. */
int inlet_read(struct inlet *in, struct buf *out, size_t size, struct err *err);
uint64_t inlet_size(const struct inlet *in); /* 0: not known, a pipe */
uint64_t inlet_position(const struct inlet *in);

int outlet_open(const char *name, struct blob *blob, struct outlet **out, struct err *err);
/* Remembers its first failure, which outlet_commit tells. */
void outlet_put(struct outlet *out, struct bytes bytes);
int outlet_commit(struct outlet *out, struct err *err); /* frees it, success or not */
void outlet_abort(struct outlet *out);                  /* NULL is fine */

/* The whole file, from one to the other. stop (may be NULL): asked between pieces, true ends it
 * with ERR_CANCELLED. */
int passage_copy(const char *from, struct blob *from_blob, const char *to, struct blob *to_blob,
                 bool (*stop)(void *arg), void *arg, struct err *err);

#endif
