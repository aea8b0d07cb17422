/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.c - see arena.h.
 *
 * A list of chunks, newest first. A rewind frees the chunks made since the mark. An
 * allocation larger than a chunk gets a chunk of its own size.
 */
#include "base/arena.h"

#include <assert.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/checked.h"
#include "base/memory.h"
#include "base/object.h"

enum { CHUNK_SIZE = 8192, ALIGNMENT = alignof(max_align_t) };

struct arena_chunk {
    struct arena_chunk *previous;
    size_t capacity;
    size_t used;
    alignas(max_align_t) uint8_t data[];
};

enum { ARENA_MAGIC = OBJECT_MAGIC('a', 'r', 'e', 'n') };

struct arena {
    uint32_t magic;
    struct arena_chunk *newest;
    size_t size;
    size_t kept_max; /* that a reset does not give back */
};

static struct arena_chunk *chunk_new(struct arena *arena, size_t capacity)
{
    struct arena_chunk *chunk = mem_alloc(sizeof(*chunk) + capacity);

    chunk->previous = arena->newest;
    chunk->capacity = capacity;
    chunk->used = 0;
    arena->newest = chunk;
    arena->size += sizeof(*chunk) + capacity;
    return chunk;
}

static void drop_newest(struct arena *arena)
{
    struct arena_chunk *chunk = arena->newest;

    assert(arena->size >= sizeof(*chunk) + chunk->capacity);
    arena->newest = chunk->previous;
    arena->size -= sizeof(*chunk) + chunk->capacity;
    free(chunk);
}

struct arena *arena_new(void)
{
    struct arena *arena = mem_zero(sizeof(*arena));

    object_begin(arena, ARENA_MAGIC);
    chunk_new(arena, CHUNK_SIZE - sizeof(struct arena_chunk));
    return arena;
}

void arena_free(struct arena *arena)
{
    if (!arena)
        return;
    object_check(arena, ARENA_MAGIC);
    while (arena->newest)
        drop_newest(arena);
    assert(arena->size == 0); /* every chunk that was counted is gone */
    object_end(arena, ARENA_MAGIC);
    free(arena);
}

/* On top, where the next allocation looks: a mark taken before has them behind it. */
void arena_adopt(struct arena *arena, struct arena *other)
{
    struct arena_chunk *oldest;

    object_check(arena, ARENA_MAGIC);
    if (!other)
        return;
    object_check(other, ARENA_MAGIC);
    assert(other != arena);
    oldest = other->newest;
    while (oldest->previous)
        oldest = oldest->previous;
    oldest->previous = arena->newest;
    arena->newest = other->newest;
    arena->size += other->size;
    object_end(other, ARENA_MAGIC);
    free(other);
}

void arena_reset(struct arena *arena)
{
    size_t wanted = arena->size < arena->kept_max ? arena->size : arena->kept_max;

    object_check(arena, ARENA_MAGIC);
    while (arena->newest->previous)
        drop_newest(arena);
    arena->newest->used = 0;
    if (wanted > arena->size) {
        drop_newest(arena);
        chunk_new(arena, wanted - sizeof(struct arena_chunk));
    }
}

void arena_keep(struct arena *arena, size_t max)
{
    object_check(arena, ARENA_MAGIC);
    arena->kept_max = max;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    struct arena_chunk *chunk = arena->newest;
    size_t rounded;
    size_t capacity = CHUNK_SIZE - sizeof(*chunk);
    void *memory;

    object_check(arena, ARENA_MAGIC);
    if (!size_add(size, ALIGNMENT - 1, &rounded))
        abort();
    rounded &= ~(size_t)(ALIGNMENT - 1);
    if (rounded > chunk->capacity - chunk->used)
        chunk = chunk_new(arena, rounded > capacity ? rounded : capacity);
    memory = chunk->data + chunk->used;
    chunk->used += rounded;
    assert(chunk->used <= chunk->capacity);
    return memory;
}

void *arena_zero(struct arena *arena, size_t size)
{
    void *memory = arena_alloc(arena, size);

    memset(memory, 0, size);
    return memory;
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
    size_t total;

    if (!size_multiply(count, size, &total))
        abort();
    return arena_zero(arena, total);
}

char *arena_text(struct arena *arena, struct bytes bytes)
{
    char *copy = arena_alloc(arena, bytes.size + 1);

    if (bytes.size)
        memcpy(copy, bytes.data, bytes.size);
    copy[bytes.size] = 0;
    return copy;
}

struct bytes arena_copy(struct arena *arena, struct bytes bytes)
{
    return bytes_make(arena_text(arena, bytes), bytes.size);
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return arena_text(arena, bytes_of(text));
}

char *arena_vprintf(struct arena *arena, const char *format, va_list args)
{
    va_list again;
    int length;
    char *text;

    va_copy(again, args);
    length = vsnprintf(NULL, 0, format, args);
    assert(length >= 0);
    text = arena_alloc(arena, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    text = arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}

struct arena_mark arena_mark(struct arena *arena)
{
    object_check(arena, ARENA_MAGIC);
    return (struct arena_mark){arena->newest, arena->newest->used};
}

void arena_rewind(struct arena *arena, struct arena_mark mark)
{
    object_check(arena, ARENA_MAGIC);
    while (arena->newest != mark.chunk) {
        assert(arena->newest->previous);
        drop_newest(arena);
    }
    assert(mark.used <= arena->newest->used); /* it goes back, never forward */
    arena->newest->used = mark.used;
}

size_t arena_size(const struct arena *arena)
{
    object_check(arena, ARENA_MAGIC);
    return arena->size;
}
