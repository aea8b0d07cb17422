/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_memory.c - see sim_core.h: memory of lives, which are short and many.
 *
 * A fifth of a seed's time went to pages that the system makes, clears and takes back. Here a
 * process of many lives (sim_again.c) gives each of them the same memory, as the one before has
 * left it: what malloc gives out was never promised to be zero. Blocks are cut from one range by
 * size, and one that is freed is the next of its size.
 *
 * An index has tables of megabytes of which a simulated minute touches a few pages: large zeroed
 * blocks are pages of their own, which the system makes when they are first touched; for the next
 * life they are cleared (sim_maps.c).
 *
 * Addresses follow from the calls alone, so they are the same in every run.
 */
#undef _FILE_OFFSET_BITS /* both names of each call are defined here */
#include <assert.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sim_core.h"

enum {
    PAGE_SIZE = 4096,
    SPARSE_SIZE_MIN = 64 << 10, /* of smaller ones most is used */
    SPARSE_SIZE_MAX = 32 << 20,
    HEAD_SIZE = 16,
    FINE_SHIFT = 4,           /* sizes of 16 bytes more each ... */
    FINE_COUNT = 64,          /* ... up to 1024, then eight for each power of two */
    CLASS_COUNT = 320,        /* more than a terabyte */
    ALIGNED = UINT16_MAX,     /* no class: the block begins before */
    SQLITE_MEMORY_STATUS = 9, /* SQLITE_CONFIG_MEMSTATUS */
};
/* Far from what the system places by itself, as sim_life.c's. */
#define HEAP_ADDRESS ((char *)0x310000000000)
#define HEAP_SIZE ((size_t)16 << 30) /* of addresses, not of memory */
#define HEAP_KEPT_SIZE                                                                             \
    ((size_t)384 << 20) /* what a life has used beyond goes back to the system                     \
                         */

int sqlite3_config(int option, ...) __attribute__((weak));

/* SQLite, where it is linked, is not to count its memory: it takes a lock for each block. */
void sim_memory_open(void)
{
    if (sqlite3_config)
        sqlite3_config(SQLITE_MEMORY_STATUS, 0);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
/* Blocks are the sanitizer's, and a process has one life. */
void sim_memory_clear(void)
{
}

void *sim_memory_heap(size_t *size)
{
    *size = 0;
    return NULL;
}
#else
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *block);

/* Before each block. */
struct head {
    uint16_t class;
    uint16_t magic;
    uint64_t shift; /* of an ALIGNED one: from the block that it is in */
};
_Static_assert(sizeof(struct head) == HEAD_SIZE, "blocks are aligned as it is");
enum { MAGIC_USED = 0x5552, MAGIC_FREE = 0x4652 };

static char *heap, *heap_end, *heap_top; /* NULL: no block yet */
static void *free_blocks[CLASS_COUNT];

static void open_heap(void)
{
    heap = heap_top = sim_maps_reserve(HEAP_ADDRESS, HEAP_SIZE);
    heap_end = heap + HEAP_SIZE;
}

void *sim_memory_heap(size_t *size)
{
    *size = (size_t)(heap_top - heap);
    return heap;
}

/* Large pages, where the system has them: of many lives they are worth what clearing them costs. */
void sim_memory_clear(void)
{
    syscall(SYS_madvise, heap, HEAP_KEPT_SIZE, MADV_HUGEPAGE);
    if (heap_top > heap + HEAP_KEPT_SIZE)
        madvise(heap + HEAP_KEPT_SIZE, (size_t)(heap_top - heap) - HEAP_KEPT_SIZE, MADV_DONTNEED);
}

/* With its head. */
static unsigned class_of(size_t size)
{
    unsigned shift;

    if (size <= FINE_COUNT << FINE_SHIFT)
        return (unsigned)((size + (1 << FINE_SHIFT) - 1) >> FINE_SHIFT);
    shift = 63 - (unsigned)__builtin_clzl(size - 1);
    return FINE_COUNT + 1 + (shift - 10) * 8 + (unsigned)((size - 1) >> (shift - 3)) - 8;
}

static size_t class_size(unsigned class)
{
    unsigned above = class - FINE_COUNT - 1;

    if (class <= FINE_COUNT)
        return (size_t) class << FINE_SHIFT;
    return (size_t)(9 + above % 8) << (above / 8 + 7);
}

static struct head *head_of(const void *block)
{
    return (struct head *)((uintptr_t)block - HEAD_SIZE);
}

static bool is_own(const void *block)
{
    return (uintptr_t)block - (uintptr_t)HEAP_ADDRESS < (uintptr_t)HEAP_SIZE;
}

static void *take(size_t size)
{
    unsigned class;
    struct head *head;

    if (size > HEAP_SIZE / 2) {
        errno = ENOMEM;
        return NULL;
    }
    class = class_of(size + HEAD_SIZE);
    if (free_blocks[class]) {
        head = head_of(free_blocks[class]);
        assert(head->magic == MAGIC_FREE);
        memcpy(&free_blocks[class], free_blocks[class], sizeof(void *));
    } else {
        if (!heap)
            open_heap();
        if (class_size(class) + HEAD_SIZE > (size_t)(heap_end - heap_top)) {
            errno = ENOMEM;
            return NULL;
        }
        head = (struct head *)heap_top;
        head->class = (uint16_t) class;
        /* Room for the link of a free one, however small it is. */
        heap_top += class_size(class) < 2 * HEAD_SIZE ? 2 * HEAD_SIZE : class_size(class);
    }
    head->magic = MAGIC_USED;
    return head + 1;
}

void *malloc(size_t size)
{
    return take(size);
}

void *calloc(size_t count, size_t size)
{
    void *block = NULL;
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    if (sim_is_alive && bytes >= SPARSE_SIZE_MIN && bytes <= SPARSE_SIZE_MAX)
        block = sim_maps_take(bytes);
    if (block)
        return block;
    block = take(bytes); /* not malloc: the compiler knows what a cleared one is */
    return block ? memset(block, 0, bytes) : NULL;
}

size_t malloc_usable_size(void *block)
{
    const struct head *head = head_of(block);

    if (!block)
        return 0;
    if (sim_maps_has(block))
        return sim_maps_size(block);
    if (head->class == ALIGNED)
        return malloc_usable_size((char *)block - head->shift) - head->shift;
    return class_size(head->class) - HEAD_SIZE;
}

void free(void *block)
{
    struct head *head = head_of(block);
    unsigned class;

    if (!block)
        return;
    if (sim_maps_has(block)) {
        sim_maps_free(block);
        return;
    }
    if (!is_own(block)) {
        __libc_free(block);
        return;
    }
    assert(head->magic == MAGIC_USED);
    head->magic = MAGIC_FREE;
    class = head->class;
    if (class == ALIGNED) {
        free((char *)block - head->shift);
        return;
    }
    memcpy(block, &free_blocks[class], sizeof(void *));
    free_blocks[class] = block;
}

void *realloc(void *old, size_t size)
{
    void *block;

    if (!old)
        return malloc(size);
    if (!is_own(old) && !sim_maps_has(old))
        return __libc_realloc(old, size);
    if (size <= malloc_usable_size(old) && size >= malloc_usable_size(old) / 2 &&
        !sim_maps_has(old))
        return old;
    block = malloc(size);
    if (block) {
        size_t before = malloc_usable_size(old);

        memcpy(block, old, size < before ? size : before);
        free(old);
    }
    return block;
}

void *memalign(size_t alignment, size_t size)
{
    char *block, *inner;

    if (alignment <= HEAD_SIZE)
        return malloc(size);
    block = malloc(size + alignment + HEAD_SIZE);
    if (!block)
        return NULL;
    inner = (char *)(((uintptr_t)block + HEAD_SIZE + alignment - 1) & ~(uintptr_t)(alignment - 1));
    *head_of(inner) =
        (struct head){.class = ALIGNED, .magic = MAGIC_USED, .shift = (uint64_t)(inner - block)};
    return inner;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **to, size_t alignment, size_t size)
{
    void *block = memalign(alignment, size);

    if (block)
        *to = block;
    return block ? 0 : ENOMEM;
}

void *valloc(size_t size)
{
    return memalign(PAGE_SIZE, size);
}
#endif

int malloc_trim(size_t left)
{
    (void)left;
    return 0;
}
