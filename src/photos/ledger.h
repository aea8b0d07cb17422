/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger.h - which photos are in the blob store, who may see them, and which nobody needs any more.
 *
 *     intake ── ledger_enter ──► photo ── ledger_sweep ──► photo_trash ──► blobs are deleted
 *     offers ──► photo_use: whoever refers to a photo (offers/record/photo_use.h)
 *
 * A row is there before the first blob of a photo and until after the last, here or in the trash:
 * whenever a process is killed, no blob is without one. Names of blobs have the time of their row
 * in them (model/photo_key.h), so what is deleted late, or twice, is never what came since.
 * Threads: any.
 */
#ifndef TORG_PHOTOS_LEDGER_H
#define TORG_PHOTOS_LEDGER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "blob/blob.h"
#include "store/store.h"

struct ledger {
    struct store *store; /* all borrowed */
    struct blob *blob;
    const struct clock *clock;
    _Atomic bool is_listed; /* every offer's photos are in photo_use */
};

/* Before blobs are put: they are kept for a time from now on, if nobody refers to them. forms: the
 * ends of their names, between blanks; ledger_blob_name makes a name of one. seller: who uploads it
 * and may see it; NULL: nobody does. */
int ledger_enter(struct ledger *ledger, struct bytes stem, const char *forms, const char *seller,
                 struct arena *arena, int64_t *made_ms, struct err *err);

/* "photos/STEM-MADE-240.jpg" of the form "240.jpg", "uploads/DIGEST-MADE" of "up:" and the digits
 * of the digest behind the stem. */
const char *ledger_blob_name(struct bytes stem, int64_t made_ms, struct bytes form,
                             struct arena *arena);

/* When the photo was entered. ERR_NOT_FOUND: it was not, or is swept. */
int ledger_find(const struct ledger *ledger, struct bytes stem, int64_t *made_ms, struct err *err);

/* The key of its smallest picture, in the arena; ERR_NOT_FOUND as before. */
int ledger_smallest(const struct ledger *ledger, struct bytes stem, struct arena *arena,
                    const char **key, struct err *err);

/* Keeps the photo that has a picture of this key as if it were entered now, if it is there. */
int ledger_renew(const struct ledger *ledger, const char *key, bool *is_there, struct err *err);

/* Whether somebody may see the picture of this key. seller: NULL is a stranger, "" sees all. */
int ledger_may_see(struct ledger *ledger, const char *key, const char *seller, bool *may,
                   struct err *err);

struct ledger_swept {
    size_t photo_count;
    size_t blob_count;
};

/* Removes at most max photos that nobody has referred to for keep_us, and what was left behind by
 * who was killed at that. *more: there are others. */
int ledger_sweep(struct ledger *ledger, int64_t keep_us, size_t max, struct ledger_swept *swept,
                 bool *more, struct err *err);

#endif
