/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_memory.c - see sim_core.h: memory of lives, which are short and many.
 *
 * An index has tables of megabytes of which a simulated minute touches a few pages. From libc's
 * heap they would be cleared whole, again at each start of a replica: a fifth of a seed's time.
 * Here large zeroed blocks are pages of their own, that the system makes when they are touched.
 * Their addresses are never used again, so they are the same in every run.
 */
#include <assert.h>
#include <limits.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "sim_core.h"

enum {
    KEPT_BLOCK_SIZE = 32 << 20, /* the most that libc takes */
    KEPT_STEP_SIZE = 8 << 20,
    SPARSE_SIZE_MIN = 64 << 10, /* of smaller ones most is used */
    GRAIN_SHIFT = 12,
    GRAIN_COUNT = 1 << 20,    /* 64 GB: of addresses, not of memory */
    SQLITE_MEMORY_STATUS = 9, /* SQLITE_CONFIG_MEMSTATUS */
};
/* Far from what the system places by itself, as sim_life.c's. */
#define SPARSE_ADDRESS ((char *)0x300000000000)

int sqlite3_config(int option, ...) __attribute__((weak));

/* A life is short: what it gives back to the system it would only be given again, page by page; and
 * a large page, of which it touches a little, would be cleared whole. SQLite, where it is linked,
 * is not to count its memory: it takes a lock for each block. */
static void keep_heap(void)
{
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    if (sqlite3_config)
        sqlite3_config(SQLITE_MEMORY_STATUS, 0);
    mallopt(M_MMAP_THRESHOLD, KEPT_BLOCK_SIZE);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_TOP_PAD, KEPT_STEP_SIZE);
}

int malloc_trim(size_t left)
{
    (void)left;
    return 0;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
void sim_keep_memory(void)
{
    keep_heap(); /* blocks are the sanitizer's */
}
#else
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *block);

static char *sparse;                    /* NULL: outside of lives */
static size_t grain_count;              /* given out */
static uint32_t sparse_of[GRAIN_COUNT]; /* grains of the block that begins there */

void sim_keep_memory(void)
{
    size_t size = (size_t)GRAIN_COUNT << GRAIN_SHIFT;

    keep_heap();
    sparse = mmap(SPARSE_ADDRESS, size, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    assert(sparse == SPARSE_ADDRESS);
    madvise(sparse, size, MADV_NOHUGEPAGE);
}

static bool is_sparse(const void *block)
{
    return sparse && (uintptr_t)block - (uintptr_t)sparse < (uintptr_t)GRAIN_COUNT << GRAIN_SHIFT;
}

static size_t sparse_size(const void *block)
{
    return (size_t)sparse_of[((const char *)block - sparse) >> GRAIN_SHIFT] << GRAIN_SHIFT;
}

void *calloc(size_t count, size_t size)
{
    size_t bytes, grains;
    char *block;

    if (!sparse || __builtin_mul_overflow(count, size, &bytes) || bytes < SPARSE_SIZE_MIN ||
        bytes > KEPT_BLOCK_SIZE)
        return __libc_calloc(count, size);
    grains = (bytes + ((size_t)1 << GRAIN_SHIFT) - 1) >> GRAIN_SHIFT;
    if (grain_count + grains > GRAIN_COUNT)
        return __libc_calloc(count, size);
    block = sparse + (grain_count << GRAIN_SHIFT);
    sparse_of[grain_count] = (uint32_t)grains;
    grain_count += grains;
    return block;
}

void free(void *block)
{
    if (is_sparse(block))
        madvise(block, sparse_size(block), MADV_DONTNEED);
    else
        __libc_free(block);
}

void *realloc(void *old, size_t size)
{
    void *block;

    if (!is_sparse(old))
        return __libc_realloc(old, size);
    block = malloc(size);
    if (block) {
        memcpy(block, old, size < sparse_size(old) ? size : sparse_size(old));
        free(old);
    }
    return block;
}
#endif
