/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - see memory.h. */
#include "base/memory.h"

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void *checked(void *memory, size_t size)
{
    if (!memory && size) {
        fprintf(stderr, "torg: out of memory (%zu bytes wanted)\n", size);
        abort();
    }
    return memory;
}

void *mem_alloc(size_t size)
{
    return checked(malloc(size), size);
}

void *mem_zero(size_t size)
{
    return checked(calloc(1, size), size);
}

void *mem_array(size_t count, size_t size)
{
    return checked(calloc(count, size), count && size ? size : 0);
}

void *mem_resize(void *old, size_t size)
{
    return checked(realloc(old, size), size);
}

void *mem_grow(void *old, size_t count, size_t size, size_t *capacity)
{
    enum { FIRST_COUNT = 16 };
    size_t wanted = *capacity ? *capacity * 2 : FIRST_COUNT;

    if (count <= *capacity)
        return old;
    *capacity = wanted < count ? count : wanted;
    return checked(reallocarray(old, *capacity, size), size);
}

char *mem_strdup(const char *text)
{
    return mem_strndup(text, strlen(text));
}

char *mem_strndup(const char *text, size_t size)
{
    char *copy = mem_alloc(size + 1);

    memcpy(copy, text, size);
    copy[size] = 0;
    return copy;
}

void *mem_map(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return checked(memory == MAP_FAILED ? NULL : memory, size);
}

void *mem_map_huge(size_t size)
{
    const size_t huge = (size_t)2 << 20, page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *memory;
    size_t before;

    if (size < huge)
        return mem_map(size);
    size = (size + page - 1) / page * page;
    memory = mem_map(size + huge); /* so that it can begin with a huge page */
    before = (huge - (uintptr_t)memory % huge) % huge;
    if (before)
        munmap(memory, before);
    munmap(memory + before + size, huge - before);
    madvise(memory + before, size, MADV_HUGEPAGE); /* a wish */
    return memory + before;
}

void mem_unmap(void *memory, size_t size)
{
    if (memory)
        munmap(memory, size);
}

/* A sanitizer has a heap of its own; the C library's was never begun then, and two threads that
 * begin it by this call at once crash. */
void mem_trim(void)
{
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    malloc_trim(0);
#endif
}

size_t mem_loose_size(void)
{
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    return mallinfo2().fordblks;
#else
    return 0;
#endif
}
