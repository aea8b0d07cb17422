/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - memory that is freed together: one arena per request or batch, passed explicitly.
 *
 * Allocation moves a pointer; a mark taken before a document is rewound after it, so a
 * batch reuses the same few pages. Not for sharing between threads.
 */
#ifndef TORG_BASE_ARENA_H
#define TORG_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "base/bytes.h"

struct arena;
struct arena_chunk;

struct arena_mark {
    struct arena_chunk *chunk;
    size_t used;
};

struct arena *arena_new(void);
void arena_free(struct arena *arena); /* NULL is fine */
/* All that `other` holds is the arena's from now on, as if it had been made there; other is gone.
 * NULL is fine. For what one thread made and another goes on with. */
void arena_adopt(struct arena *arena, struct arena *other);
void arena_reset(struct arena *arena); /* empties it, keeps one chunk */
/* From now on that chunk is as large as all that was used, up to max: for whoever does the same
 * again and again. */
void arena_keep(struct arena *arena, size_t max);

void *arena_alloc(struct arena *arena, size_t size); /* aligned for any type */
void *arena_zero(struct arena *arena, size_t size);
void *arena_array(struct arena *arena, size_t count, size_t size); /* zeroed, checked */
struct bytes arena_copy(struct arena *arena, struct bytes bytes);
char *arena_text(struct arena *arena, struct bytes bytes); /* a copy with a terminator */
char *arena_strdup(struct arena *arena, const char *text);
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *arena, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

struct arena_mark arena_mark(struct arena *arena);
void arena_rewind(struct arena *arena, struct arena_mark mark);

/* Bytes taken from the system. */
size_t arena_size(const struct arena *arena);

#endif
