/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - snippets in the store: written all or nothing, read by key without waiting for commits.
 *
 * A write replaces a row unless the row is newer than it. Newer is by written_us, which grows with
 * each write of a row whatever clocks do, and by the offset of records of one topic: so a record
 * that is retried late, or comes again after a crash, never overwrites what came behind it. A
 * deletion leaves its row, without a body, for SNIPPET_TOMBSTONE_S, when records may still come.
 * Rows are written to the generation that is shown and to those beside it (generation.h).
 *
 * What has ended is not read any more, and goes when rows_sweep is called.
 * Threads: any.
 */
#ifndef TORG_SNIPPETS_ROWS_ROWS_H
#define TORG_SNIPPETS_ROWS_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "store/store.h"

#define SNIPPET_FOR_EVER INT64_MAX

struct snippet_row {
    int64_t prefix;
    struct bytes key;
    struct bytes language;
    struct bytes body;
    bool is_deleted;    /* of a write: the row is to go */
    bool keeps_deleted; /* of a deletion: a row without a body stays for a while */
    int64_t ttl_us;     /* of a write; 0: for ever */
    int64_t written_us; /* of a read */
    int64_t end_us;     /* of a read; SNIPPET_FOR_EVER */
};

/* A record of a topic that is written; zero: a request. */
struct snippet_source {
    int64_t id; /* of topic and partition; 0: none */
    int64_t offset;
    int64_t first_us; /* of a retry: when it was tried first; else 0 */
};

/* Durable when it returns 0. *written (may be NULL): how many rows were changed; the others are
 * newer than this. */
int snippet_rows_write(struct store *store, const struct snippet_row *rows, size_t count,
                       const struct snippet_source *source, size_t *written, struct err *err);

/* Rows of one request. */
struct snippet_part {
    const struct snippet_row *rows;
    size_t count;
};

/* The same of several, in one transaction and in their order. */
int snippet_rows_write_parts(struct store *store, const struct snippet_part *parts, size_t count,
                             const struct snippet_source *source, size_t *written, struct err *err);

/* Rows of a full load, written to the generation that is being loaded alone: a row that was put or
 * deleted since the load began stays. ERR_STALE: this generation is not being loaded (any more). */
int snippet_rows_load(struct store *store, const struct snippet_row *rows, size_t count,
                      int64_t generation, size_t *written, struct err *err);

/* One row as it is shown; *found false: there is none. */
int snippet_rows_get(struct store *store, int64_t prefix, struct bytes key, struct bytes language,
                     struct arena *arena, struct snippet_row *row, bool *found, struct err *err);

/* All rows of these prefixes and keys, in this language and in none; by one statement for up to
 * 16 prefixes and 64 keys. The list is the arena's. */
int snippet_rows_batch(struct store *store, const int64_t *prefixes, size_t prefix_count,
                       const struct bytes *keys, size_t key_count, struct bytes language,
                       struct arena *arena, struct snippet_row **rows, size_t *count,
                       struct err *err);

/* ERR_LIMIT: a batch has more bytes than one answer may. */
int snippet_rows_too_large(struct err *err);

/* The condition on rows that their generation is shown. */
#define SNIPPET_ROW_IS_SHOWN                                                                       \
    "generation = COALESCE((SELECT live FROM snippet_space "                                       \
    "WHERE snippet_space.prefix = snippet.prefix), 0)"

/* Removes up to SNIPPET_SWEEP_COUNT rows that have ended; *count: how many. */
int snippet_rows_sweep(struct store *store, int64_t now_us, size_t *count, struct err *err);

/* How many rows of a prefix there are, deleted ones too, up to max. */
int snippet_rows_count(struct store *store, int64_t prefix, int64_t max, int64_t *count,
                       struct err *err);

#endif
