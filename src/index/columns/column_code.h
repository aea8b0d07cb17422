/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column_code.h - how a value in a column is read and written while others do the same.
 *
 * A page keeps the code of each value: value - base, in 1, 2, 4 or 8 bytes (frame of reference).
 * The sequence number of a window makes it a seqlock: one writer, readers that look again.
 *
 * The one place where the index leaves the letter of C17: kernels read codes by plain (vector)
 * loads while the writer stores to them. An aligned code of 1, 2, 4 or 8 bytes does not tear on
 * x86-64 and AArch64, and whoever reads a window compares its sequence number afterwards, so a
 * mixture of old and new is thrown away. Stores are atomic with release order (a plain move on
 * x86-64). Under ThreadSanitizer the portable kernels run, with atomic loads.
 */
#ifndef TORG_INDEX_COLUMNS_COLUMN_CODE_H
#define TORG_INDEX_COLUMNS_COLUMN_CODE_H

#include <stdatomic.h>
#include <stdint.h>

#ifdef __SANITIZE_THREAD__
#define CODE_LOAD(place) __atomic_load_n((place), __ATOMIC_ACQUIRE)
#else
#define CODE_LOAD(place) (*(place))
#endif

/* Orders the loads of codes before the check of the sequence number that follows. */
static inline void code_fence(void)
{
#ifndef __SANITIZE_THREAD__
    atomic_thread_fence(memory_order_acquire);
#endif
}

static inline uint64_t code_get(const void *codes, uint32_t width, uint32_t index)
{
    switch (width) {
    case 1:
        return CODE_LOAD((const uint8_t *)codes + index);
    case 2:
        return CODE_LOAD((const uint16_t *)codes + index);
    case 4:
        return CODE_LOAD((const uint32_t *)codes + index);
    default:
        return CODE_LOAD((const uint64_t *)codes + index);
    }
}

static inline void code_put(void *codes, uint32_t width, uint32_t index, uint64_t code)
{
    switch (width) {
    case 1:
        __atomic_store_n((uint8_t *)codes + index, (uint8_t)code, __ATOMIC_RELEASE);
        break;
    case 2:
        __atomic_store_n((uint16_t *)codes + index, (uint16_t)code, __ATOMIC_RELEASE);
        break;
    case 4:
        __atomic_store_n((uint32_t *)codes + index, (uint32_t)code, __ATOMIC_RELEASE);
        break;
    default:
        __atomic_store_n((uint64_t *)codes + index, code, __ATOMIC_RELEASE);
        break;
    }
}

/* All ones: the code of a document that has no value. */
static inline uint64_t code_null(uint32_t width)
{
    return UINT64_MAX >> (64 - 8 * width);
}

#endif
