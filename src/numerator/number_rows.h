/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number_rows.h - the tables of sql/0008: statements on many rows at once.
 *
 * A statement has a fixed number of places (a few sizes of each), so that connections keep it
 * prepared; what is left over of a list repeats its last element.
 */
#ifndef TORG_NUMERATOR_NUMBER_ROWS_H
#define TORG_NUMERATOR_NUMBER_ROWS_H

#include "numerator/numerator.h"
#include "numerator/slots.h"
#include "store/store.h"

struct number_place { /* whose rows */
    int64_t space;
    uint32_t shard;
};

struct space_row {
    struct number_version version;
    int64_t change_no; /* 0: there is no row */
};

struct slot_row {
    uint32_t doc_id;
    uint32_t birth;
    uint32_t seen;
    int64_t gone_us;
    struct bytes key;   /* as long as the call */
    struct bytes class; /* likewise */
};

typedef int slot_row_fn(void *arg, const struct slot_row *row, struct err *err);

int space_row_find(struct store_tx *tx, const struct number_place *place, struct space_row *row,
                   struct err *err);
/* Makes it, or moves it on from the change before. */
int space_row_save(struct store_tx *tx, const struct number_place *place,
                   const struct space_row *row, struct err *err);

/* Those of the keys that have a slot, each once. */
int slot_rows_by_key(struct store_tx *tx, const struct number_place *place,
                     const struct bytes *keys, uint32_t count, slot_row_fn *found, void *arg,
                     struct err *err);
/* Slots without a key, in order. */
int slot_rows_free(struct store_tx *tx, const struct number_place *place, slot_row_fn *found,
                   void *arg, struct err *err);
/* The longest gone first, at most max; gone no later than the moment. */
int slot_rows_gone(struct store_tx *tx, const struct number_place *place, int64_t until_us,
                   uint32_t max, slot_row_fn *found, void *arg, struct err *err);
/* All in order of doc_id, from one on, at most max. */
int slot_rows_from(struct store_tx *tx, const struct number_place *place, uint32_t from,
                   uint32_t max, slot_row_fn *found, void *arg, struct err *err);

/* New owners, all of one generation. ERR_CORRUPT: a number belongs to somebody already. */
int slot_rows_own(struct store_tx *tx, const struct number_place *place,
                  const struct slot_row *rows, uint32_t count, uint32_t generation,
                  struct err *err);
/* Sets gone_us to 0. */
int slot_rows_return(struct store_tx *tx, const struct number_place *place, const uint32_t *doc_ids,
                     uint32_t count, struct err *err);
/* Those that are there. */
int slot_rows_leave(struct store_tx *tx, const struct number_place *place, const struct bytes *keys,
                    uint32_t count, uint32_t generation, int64_t now_us, struct err *err);
/* Takes the keys off. */
int slot_rows_free_up(struct store_tx *tx, const struct number_place *place,
                      const uint32_t *doc_ids, uint32_t count, uint32_t generation, int64_t now_us,
                      struct err *err);

int extent_row_add(struct store_tx *tx, const struct number_place *place, uint32_t first,
                   struct bytes class, struct err *err);
/* Restores extents, and how far the last of each class is used. */
int extent_rows_load(struct store_tx *tx, const struct number_place *place, struct slots *slots,
                     struct err *err);

#endif
