/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recompose_mark.h - how far documents have followed the catalogue: one row of the store.
 *
 * It is moved by compare-and-set: whoever is not where it is has been overtaken, and learns so.
 */
#ifndef TORG_DOCUMENTS_RECOMPOSE_MARK_H
#define TORG_DOCUMENTS_RECOMPOSE_MARK_H

#include "catalog/bounds.h"
#include "store/store.h"

struct recompose_mark {
    int64_t done_version;                   /* every document is of this version or a newer one */
    int64_t target_version;                 /* above done_version: under way to it */
    char category[CATALOG_ID_SIZE_MAX + 1]; /* those before it are done, … */
    int64_t offer;                          /* … and of it what is not above this */
    int64_t offer_count;                    /* concerned, when it began */
    int64_t seen_count;
    int64_t sent_count;
    int64_t hidden_count; /* of categories that are gone: not found any more */
    int64_t failed_count; /* could not be made into documents */
    int64_t began_us;
    int64_t moved_us;
};

int recompose_mark_read(struct store *store, struct recompose_mark *mark, struct err *err);
/* ERR_STALE: it is not at `from` any more. */
int recompose_mark_move(struct store *store, const struct recompose_mark *from,
                        const struct recompose_mark *to, struct err *err);

#endif
