/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number_rows.h - the tables of sql/0008: statements on many rows at once.
 *
 * Keys are looked up many at a time by a UNION ALL of single look-ups. A list (key IN ...) would be
 * shorter, but PostgreSQL plans it, as long as it has no statistics of the table, as a walk through
 * the whole shard. Such statements come in a few fixed sizes, so that connections keep them
 * prepared; what is left over of a size is NULL, which equals no key.
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
    /* Of numbers that are given here; drawn when the row is made. 0: of a time without it. */
    uint32_t lineage;
    uint32_t origin_lineage;    /* of the state that was taken in; 0: none was, or without one */
    uint32_t origin_generation; /* of that state: where it was exported from may have gone on */
};

/* Why data of that lineage and version is not of these numbers: it was made from a state that has
 * gone its own way. NULL: it is, or does not tell (0). */
const char *space_row_misfit(const struct space_row *row, uint32_t lineage, uint32_t generation);

struct slot_row {
    struct bytes key; /* as long as the call */
    uint32_t doc_id;
    struct bytes class; /* likewise */
    uint32_t birth;
    uint32_t seen;
    int64_t gone_us;
};

typedef int slot_row_fn(void *arg, const struct slot_row *row, struct err *err);

int space_row_find(struct store_tx *tx, const struct number_place *place, struct space_row *row,
                   struct err *err);
/* Makes it; fails when it is there. */
int space_row_add(struct store_tx *tx, const struct number_place *place,
                  const struct space_row *row, struct err *err);
/* Makes it, or writes over it, but for its lineages. */
int space_row_save(struct store_tx *tx, const struct number_place *place,
                   const struct space_row *row, struct err *err);

/* Those of the keys that have a number, each once. */
int slot_rows_find(struct store_tx *tx, const struct number_place *place, const struct bytes *keys,
                   uint32_t count, slot_row_fn *found, void *arg, struct err *err);
/* The longest gone first, at most max; gone no later than the moment. */
int slot_rows_gone(struct store_tx *tx, const struct number_place *place, int64_t until_us,
                   uint32_t max, slot_row_fn *found, void *arg, struct err *err);
/* In order of keys, those behind one, at most max. */
int slot_rows_after(struct store_tx *tx, const struct number_place *place, struct bytes key,
                    uint32_t max, slot_row_fn *found, void *arg, struct err *err);

/* New keys, all of one generation. */
int slot_rows_add(struct store_tx *tx, const struct number_place *place,
                  const struct slot_row *rows, uint32_t count, uint32_t generation,
                  struct err *err);
/* Gone keys are there again. */
int slot_rows_return(struct store_tx *tx, const struct number_place *place,
                     const struct bytes *keys, uint32_t count, struct err *err);
/* Keys that are there go; *left_count: so many. */
int slot_rows_leave(struct store_tx *tx, const struct number_place *place, const struct bytes *keys,
                    uint32_t count, uint32_t generation, int64_t now_us, int64_t *left_count,
                    struct err *err);
/* Takes the keys off their numbers, which become free. */
int slot_rows_free(struct store_tx *tx, const struct number_place *place,
                   const struct slot_row *rows, uint32_t count, uint32_t generation, int64_t now_us,
                   struct err *err);
/* Numbers are free no more. */
int free_rows_take(struct store_tx *tx, const struct number_place *place, const uint32_t *doc_ids,
                   uint32_t count, struct err *err);
int free_rows_load(struct store_tx *tx, const struct number_place *place, struct slots *slots,
                   struct err *err);

/* Takes all that a place has away, at most max rows of each table a call; *is_over: nothing is left
 * of it. */
int place_rows_drop(struct store_tx *tx, const struct number_place *place, uint32_t max,
                    bool *is_over, struct err *err);

int extent_row_save(struct store_tx *tx, const struct number_place *place, uint32_t first,
                    struct bytes class, uint32_t next, struct err *err);
int extent_rows_load(struct store_tx *tx, const struct number_place *place, struct slots *slots,
                     struct err *err);

#endif
