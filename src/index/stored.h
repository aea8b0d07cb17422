/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored.h - what is shown of documents: their texts and stored fields, a record each.
 *
 * Records are appended and never changed; who wants one keeps its place. A place is a number below
 * 2^48: chunks of STORED_CHUNK_SIZE bytes, one after the other, no record across two of them.
 *
 *     record   size u32 | id u32 | CRC-32C of the rest u32 | packed bytes (base/pack.h)
 *
 * Threads: one writer; anybody reads inside an epoch, without locks.
 */
#ifndef TORG_INDEX_STORED_H
#define TORG_INDEX_STORED_H

#include "base/buf.h"
#include "base/err.h"
#include "index/epoch.h"
#include "index/window.h"

struct stored;

/* The epoch is borrowed. */
struct stored *stored_new(struct epoch *epoch);
void stored_free(struct stored *stored); /* no reader inside; NULL is fine */

/* The writer's. ERR_LIMIT: more than STORED_RECORD_SIZE_MAX bytes. */
int stored_append(struct stored *stored, docid id, struct bytes record, uint64_t *place,
                  struct err *err);

/* The record is appended to out. ERR_CORRUPT, naming the file, when it is not what was written. */
int stored_read(const struct stored *stored, uint64_t place, docid id, struct buf *out,
                struct err *err);

uint64_t stored_size(const struct stored *stored); /* bytes, dead records included */

#endif
