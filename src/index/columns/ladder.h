/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ladder.h - an array that grows while others read it: its elements never move.
 *
 *   [____][________][________________] …      steps, each twice as long as the one before
 *
 * The owner keeps a pointer a step and makes a step when its first place is needed. So an array
 * that stays small costs one small step, and one of millions a score of pointers; of a step that is
 * not full the system gives memory page by page, as it is written.
 */
#ifndef TORG_INDEX_COLUMNS_LADDER_H
#define TORG_INDEX_COLUMNS_LADDER_H

#include <stddef.h>
#include <stdint.h>

struct ladder_place {
    uint32_t step;
    uint32_t at; /* in it */
};

/* first_shift: the first step has 1 << first_shift places. */
static inline struct ladder_place ladder_place(uint32_t index, unsigned first_shift)
{
    uint64_t number = (uint64_t)index + (UINT64_C(1) << first_shift);
    unsigned top = 63U - (unsigned)__builtin_clzll(number);

    return (struct ladder_place){top - first_shift, (uint32_t)(number - (UINT64_C(1) << top))};
}

static inline size_t ladder_step_size(uint32_t step, unsigned first_shift)
{
    return (size_t)1 << (step + first_shift);
}

/* Steps of an array of so many places: a constant where count_shift is one. */
#define LADDER_STEP_COUNT(count_shift, first_shift) ((count_shift) - (first_shift) + 1)

#endif
