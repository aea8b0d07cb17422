/* SPDX-License-Identifier: Apache-2.0 */
/* number_count.h - how many numbers of a shard are in use, for operators. */
#ifndef TORG_NUMERATOR_NUMBER_COUNT_H
#define TORG_NUMERATOR_NUMBER_COUNT_H

#include "store/store.h"

struct number_count {
    uint32_t generation;
    int64_t given; /* ever */
    int64_t gone;  /* of keys that are gone, within their time to live */
    int64_t held;  /* taken back later than held_since_us: nobody gets them yet */
    int64_t free;  /* taken back before: given to the next key */
};

/* gone, and held and free together, are counted up to NUMBER_COUNT_MAX. */
int number_count_read(struct store_tx *tx, int64_t space, uint32_t shard, int64_t held_since_us,
                      struct number_count *count, struct err *err);

#endif
