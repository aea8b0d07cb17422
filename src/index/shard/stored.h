/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored.h - what is shown of documents: their texts and stored fields, a record each.
 *
 * Records are appended and never changed; who wants one keeps its place. A place is a number below
 * 2^48: files of STORED_FILE_SIZE bytes, of chunks of STORED_CHUNK_SIZE, one after the other, no
 * record across two of them. The newest chunk is in memory until it is full or flushed; without a
 * directory all of them stay there.
 *
 *     stored-N   chunk | chunk | …           chunk   record | record | … | zeros
 *     record     size u32 | id u32 | CRC-32C of all but itself u32 | packed bytes (base/pack.h)
 *
 * Once there is enough of it, a dictionary of what records share is trained; it is
 * set once and stays.
 *
 * A record that nobody needs any more is counted (stored_drop). When half of a file is dead, its
 * living records are appended anew (stored_walk, stored_copy) and the file is given up.
 *
 * Threads: one writer; anybody reads inside an epoch, without locks.
 */
#ifndef TORG_INDEX_SHARD_STORED_H
#define TORG_INDEX_SHARD_STORED_H

#include "base/buf.h"
#include "base/err.h"
#include "base/pack.h"
#include "index/epoch.h"
#include "index/postings/window.h"

struct stored;

/* A file as a manifest keeps it. */
struct stored_file {
    uint32_t number;
    uint32_t size;
    uint32_t record_count;
};

/* dir NULL: in memory. The epoch is borrowed. */
struct stored *stored_new(const char *dir, struct epoch *epoch);
void stored_free(struct stored *stored); /* no reader inside; NULL is fine */

/* The files of a checkpoint, which are cut to their size: before anything is appended. All records
 * are taken for dead until stored_keep is told of them. is_read_only: nothing will be appended, and
 * nothing is cut. */
int stored_open_files(struct stored *stored, const struct stored_file *files, uint32_t count,
                      bool is_read_only, struct err *err);
void stored_keep(struct stored *stored, uint64_t place);

/* ---- the writer ---- */

/* ERR_LIMIT: more than STORED_RECORD_SIZE_MAX bytes. */
int stored_append(struct stored *stored, docid id, struct bytes record, uint64_t *place,
                  struct err *err);

/* The record at the place is dead. */
void stored_drop(struct stored *stored, uint64_t place);

/* Hands what is in memory alone to the files. */
int stored_flush(struct stored *stored, struct err *err);

/* All files that are not given up, in order of number. Returns how many, at most max. */
uint32_t stored_files(const struct stored *stored, struct stored_file *files, uint32_t max);

/* A full file of which half is dead; false: there is none. */
bool stored_worn_file(const struct stored *stored, struct stored_file *worn);

/* Appends the record at a place again, packed as it is. */
int stored_copy(struct stored *stored, uint64_t from, docid id, uint64_t *place, struct err *err);

/* No place in the file is kept any more: it goes when its readers have left. Its number is not used
 * again until stored_let_go, when no checkpoint names it. */
void stored_give_up(struct stored *stored, uint32_t number);
void stored_let_go(struct stored *stored);

/* What is put from now on is packed with it. Owned from then on; once. */
void stored_set_dictionary(struct stored *stored, struct pack_dictionary *dictionary);

/* ---- anybody ---- */

bool stored_has_dictionary(const struct stored *stored);

/* Makes what was flushed durable. */
int stored_sync(struct stored *stored, struct err *err);

/* The record is appended to out. ERR_CORRUPT, naming the file, when it is not what was written. */
int stored_read(const struct stored *stored, uint64_t place, docid id, struct buf *out,
                struct err *err);

/* Walks all records of the file's first size bytes and checks every byte of them; inside an epoch.
 * found (may be NULL): id and place of each; a negative result ends the walk. */
typedef int stored_found_fn(void *context, docid id, uint64_t place, struct err *err);
int stored_walk(const struct stored *stored, const struct stored_file *file, stored_found_fn *found,
                void *context, struct err *err);

uint64_t stored_size(const struct stored *stored); /* bytes, dead records included */

#endif
