/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blob.h - named files that are whole or not there: photos, cold logs, numerator states.
 *
 * A blob is written once, as a whole or in pieces, and appears when its commit succeeds:
 * durable, and in place of an older one of that name, whose readers finish undisturbed. After
 * a failed commit there is the older one, or none, or (when only the last sync of the
 * directory failed) the new one: always a whole one.
 *
 * Names are 1 to BLOB_NAME_SIZE_MAX characters: parts of A-Z a-z 0-9 . _ - = + @ % , between
 * single slashes; a part has at most BLOB_PART_SIZE_MAX and does not begin with a dot.
 *
 * URLs: dir:PATH, memory: (of this handle alone), and fault:URL in tests.
 * Threads: a handle is shared by all; a writer belongs to one thread at a time.
 */
#ifndef TORG_BLOB_BLOB_H
#define TORG_BLOB_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/err.h"

struct blob;
struct blob_writer;

int blob_open(const char *url, struct blob **blob, struct err *err);
void blob_close(struct blob *blob);

/* At most BLOB_WHOLE_SIZE_MAX bytes. */
int blob_put(struct blob *blob, const char *name, struct bytes content, struct err *err);

/* Appends the whole blob to out; ERR_NOT_FOUND; ERR_LIMIT when it passes out's limit. */
int blob_get(struct blob *blob, const char *name, struct buf *out, struct err *err);

/* Appends the bytes from offset on, at most size of them, fewer only at the blob's end.
 * ERR_RANGE when offset is past the end. */
int blob_range(struct blob *blob, const char *name, uint64_t offset, uint64_t size, struct buf *out,
               struct err *err);

int blob_stat(struct blob *blob, const char *name, uint64_t *size, struct err *err);

int blob_delete(struct blob *blob, const char *name, struct err *err); /* not there is fine */

struct blob_entry {
    const char *name;
    uint64_t size;
};

struct blob_page {
    struct blob_entry *entries;
    size_t count;
    bool more; /* ask again, after the last name of this page */
};

/* Names that begin with prefix ("" for all), in order of bytes, those after `after` ("" from
 * the start), at most limit ≤ BLOB_LIST_COUNT_MAX. The page lives in the arena. What is put
 * or deleted meanwhile may be in it or not. */
int blob_list(struct blob *blob, const char *prefix, const char *after, size_t limit,
              struct arena *arena, struct blob_page *page, struct err *err);

/* --- in pieces: begin, append…, then commit or abort --- */

int blob_begin(struct blob *blob, const char *name, struct blob_writer **writer, struct err *err);

/* After a failure only abort is possible. ERR_LIMIT past BLOB_SIZE_MAX. */
int blob_append(struct blob_writer *writer, struct bytes piece, struct err *err);

int blob_commit(struct blob_writer *writer, struct err *err); /* frees it, success or not */
void blob_abort(struct blob_writer *writer);                  /* NULL is fine */

#endif
