/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_checkpoint.h - columns in files, so that a restart replays seconds and not everything.
 *
 * The topic is the log; a checkpoint is fuzzy: it is taken window by window while changes go on.
 * It carries two offsets. Everything below x0 is in it; of what lies from x0 to x1 some is. As
 * every change sets values absolutely, replaying from x0 gives the right state once x1 is reached;
 * before that the columns must not be served.
 *
 *   columns                   what belongs together: generation, x0, x1, the schema, field and size
 *                             of each column; written whole, synced and renamed last
 *   column-values.GENERATION  the columns one after the other, each of blocks of {kind, size,
 *                             CRC-32C, payload}: windows, values' names, end
 *
 * A kill at any moment leaves the older checkpoint or the newer one, each whole. A damaged file is
 * refused by name. Threads: checkpoint runs beside the writer, in a reader's thread, one at a time.
 */
#ifndef TORG_INDEX_COLUMNS_COLUMNS_CHECKPOINT_H
#define TORG_INDEX_COLUMNS_COLUMNS_CHECKPOINT_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/err.h"
#include "index/columns/columns.h"

/* Kept by the writer: begun = offset + 1 before a record's first change, applied after its last. */
struct columns_progress {
    _Atomic uint64_t begun;
    _Atomic uint64_t applied;
};

struct columns_saved {
    uint64_t generation;
    uint64_t x0;
    uint64_t x1;
    uint64_t size; /* bytes of all columns */
};

/* The slot is the calling thread's, outside; it is entered for a window at a time. */
int columns_checkpoint(const struct columns *columns, const struct schema *schema, const char *dir,
                       const struct columns_progress *progress, struct epoch_slot *slot,
                       struct columns_saved *saved, struct err *err);

/* Fills an empty schema and empty columns of it. ERR_NOT_FOUND when the directory has no
 * checkpoint; ERR_CORRUPT, naming the file, when one is damaged: then throw both away. */
int columns_load(struct columns *columns, struct schema *schema, const char *dir,
                 struct columns_saved *saved, struct err *err);

#endif
