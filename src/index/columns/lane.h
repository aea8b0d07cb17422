/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lane.h - how a value in a column is read and written while others do the same.
 *
 * The one place where the index leaves the letter of C17: kernels read lanes by plain (vector)
 * loads while the writer stores to them. An aligned lane of 1, 2, 4 or 8 bytes does not tear on
 * x86-64 and AArch64, and whoever reads a window compares its sequence number afterwards, so a
 * mixture of old and new is thrown away. Stores are atomic with release order (a plain move on
 * x86-64). Under ThreadSanitizer the portable kernels run, with atomic loads.
 */
#ifndef TORG_INDEX_COLUMNS_LANE_H
#define TORG_INDEX_COLUMNS_LANE_H

#include <stdatomic.h>
#include <stdint.h>

#ifdef __SANITIZE_THREAD__
#define LANE_LOAD(place) __atomic_load_n((place), __ATOMIC_ACQUIRE)
#else
#define LANE_LOAD(place) (*(place))
#endif

/* Orders the loads of lanes before the check of the sequence number that follows. */
static inline void lane_fence(void)
{
#ifndef __SANITIZE_THREAD__
    atomic_thread_fence(memory_order_acquire);
#endif
}

static inline uint64_t lane_get(const void *lanes, uint32_t width, uint32_t index)
{
    switch (width) {
    case 1:
        return LANE_LOAD((const uint8_t *)lanes + index);
    case 2:
        return LANE_LOAD((const uint16_t *)lanes + index);
    case 4:
        return LANE_LOAD((const uint32_t *)lanes + index);
    default:
        return LANE_LOAD((const uint64_t *)lanes + index);
    }
}

static inline void lane_put(void *lanes, uint32_t width, uint32_t index, uint64_t lane)
{
    switch (width) {
    case 1:
        __atomic_store_n((uint8_t *)lanes + index, (uint8_t)lane, __ATOMIC_RELEASE);
        break;
    case 2:
        __atomic_store_n((uint16_t *)lanes + index, (uint16_t)lane, __ATOMIC_RELEASE);
        break;
    case 4:
        __atomic_store_n((uint32_t *)lanes + index, (uint32_t)lane, __ATOMIC_RELEASE);
        break;
    default:
        __atomic_store_n((uint64_t *)lanes + index, lane, __ATOMIC_RELEASE);
        break;
    }
}

/* All ones: the lane of a document that has no value. */
static inline uint64_t lane_null(uint32_t width)
{
    return UINT64_MAX >> (64 - 8 * width);
}

#endif
