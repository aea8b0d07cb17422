/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - allocation that cannot fail: the process aborts when the system has no memory.
 *
 * Inputs are bounded by bounds.h, so running out is a fault of the machine's set-up, and a
 * half-handled allocation failure is worse than a restart.
 */
#ifndef TORG_BASE_MEMORY_H
#define TORG_BASE_MEMORY_H

#include <stddef.h>

void *mem_alloc(size_t size);
void *mem_zero(size_t size);                /* zeroed */
void *mem_array(size_t count, size_t size); /* zeroed; count * size is checked */
void *mem_resize(void *old, size_t size);
/* Room for `count` elements of this size: as it is if *capacity has it, else at least doubled. */
void *mem_grow(void *old, size_t count, size_t size, size_t *capacity);
char *mem_strdup(const char *text);
char *mem_strndup(const char *text, size_t size); /* adds the terminator */

/* Gives freed memory back to the system, as far as whole pages are free: worth it after something
 * large. Other threads that allocate wait some milliseconds. */
void mem_trim(void);
/* Bytes that were freed and not given back to the system; 0 where nobody can tell. */
size_t mem_loose_size(void);

/* Zeroed memory of its own pages, each of them resident once it was written to. */
void *mem_map(size_t size);
/* The same, of huge pages as far as it goes, where the system has them: for large tables that are
 * read here and there. */
void *mem_map_huge(size_t size);
void mem_unmap(void *memory, size_t size); /* NULL is fine */

/* The struct that embeds `member`, found from a pointer to it. */
#define container_of(pointer, type, member) ((type *)((char *)(pointer)-offsetof(type, member)))

#define ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
