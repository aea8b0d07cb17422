/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes.h - which snippets were changed, in the order of their transactions: a log of names and
 * keys, not of contents, written by the transaction that changes them.
 *
 *   rows.h, generation.h ── snippet_changes_write ──> table snippet_change
 *   watch.h <── snippet_changes_read ─────────────────────┘
 *
 * The numbers of a partition have no holes (store/sequence.h), so who has read up to a position
 * misses nothing; one partition would make all writers of all processes wait for each other, so a
 * store of several processes has some (the column `lane` of the table). The last
 * SNIPPET_CHANGE_KEPT_COUNT changes of a partition are kept: whose position is older is told so.
 *
 * A row's changes are, each: the prefix, 1 + the key's size or 0 (all of the prefix), the key, the
 * language's size, the language; numbers as varints.
 * Threads: any.
 */
#ifndef TORG_SNIPPETS_ROWS_CHANGES_H
#define TORG_SNIPPETS_ROWS_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/err.h"
#include "snippets/bounds.h"
#include "store/store.h"

struct snippet_change {
    int64_t prefix;
    bool is_all; /* of the prefix: other rows are shown than before */
    struct bytes key;
    struct bytes language;
};

/* --- writing, inside a transaction --- */

struct snippet_changes {
    struct buf list;
    int64_t count;
};

#define SNIPPET_CHANGES_INIT ((struct snippet_changes){.list = BUF_INIT(SNIPPET_CHANGES_SIZE_MAX)})

void snippet_changes_add(struct snippet_changes *changes, const struct snippet_change *change);
/* With those added so far; none: nothing is written. */
int snippet_changes_write(struct store_tx *tx, struct store *store,
                          const struct snippet_changes *changes, struct err *err);

/* --- reading --- */

/* Up to which change of each partition one has read. */
struct snippet_position {
    int64_t last[SNIPPET_CHANGE_PARTITION_COUNT];
};

/* As callers have it; it lives in the arena. */
const char *snippet_position_text(const struct snippet_position *position, struct arena *arena);
/* ERR_INVALID: it is no position. */
int snippet_position_parse(struct bytes text, struct snippet_position *position, struct err *err);

/* The newest. */
int snippet_changes_end(struct store *store, struct snippet_position *position, struct err *err);

/* The next changes, of SNIPPET_CHANGE_READ_COUNT transactions at most, and the position behind
 * them; none: there are none yet. ERR_RANGE: the position is older than what is kept, or of another
 * store. */
int snippet_changes_read(struct store *store, struct snippet_position *position,
                         struct arena *arena, struct snippet_change **list, size_t *count,
                         struct err *err);

/* Removes what is older than is kept, up to SNIPPET_SWEEP_COUNT rows of a partition; `more`: there
 * are. */
int snippet_changes_trim(struct store *store, bool *more, struct err *err);

#endif
