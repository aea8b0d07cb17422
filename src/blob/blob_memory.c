/* SPDX-License-Identifier: Apache-2.0 */
/* blob_memory.c - the memory: backend: an array of blobs in order of names, one lock. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "blob/backend.h"
#include "blob/bounds.h"

struct stored {
    char *name;    /* owned */
    uint8_t *data; /* owned */
    size_t size;
};

struct memory {
    struct blob base;
    pthread_mutex_t lock;
    struct stored *stored; /* owned */
    size_t count;
    size_t capacity;
};

struct memory_writer {
    struct blob_writer base;
    char *name; /* owned */
    struct buf content;
};

static struct memory *memory_of(struct blob *blob)
{
    return container_of(blob, struct memory, base);
}

/* The first whose name is not before this one. */
static size_t position(const struct memory *memory, const char *name)
{
    size_t low = 0;
    size_t high = memory->count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (strcmp(memory->stored[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct stored *find(const struct memory *memory, const char *name)
{
    size_t at = position(memory, name);

    if (at < memory->count && strcmp(memory->stored[at].name, name) == 0)
        return &memory->stored[at];
    return NULL;
}

static int memory_open(const char *place, const struct blob_disk *disk, struct blob **blob,
                       struct err *err)
{
    struct memory *memory;

    (void)disk;
    if (place[0])
        return err_set(err, ERR_INVALID, "memory: takes nothing after it, not \"%.60s\"", place);
    memory = mem_zero(sizeof(*memory));
    memory->base.ops = &blob_memory_ops;
    pthread_mutex_init(&memory->lock, NULL);
    *blob = &memory->base;
    return 0;
}

static void memory_close(struct blob *blob)
{
    struct memory *memory = memory_of(blob);
    size_t i;

    for (i = 0; i < memory->count; i++) {
        free(memory->stored[i].name);
        free(memory->stored[i].data);
    }
    free(memory->stored);
    pthread_mutex_destroy(&memory->lock);
    free(memory);
}

static int memory_read(struct blob *blob, const char *name, uint64_t offset, uint64_t size,
                       struct buf *out, uint64_t *total, struct err *err)
{
    struct memory *memory = memory_of(blob);
    const struct stored *stored;
    int rc = 0;

    pthread_mutex_lock(&memory->lock);
    stored = find(memory, name);
    if (!stored) {
        rc = err_set(err, ERR_NOT_FOUND, "there is no blob %s", name);
    } else {
        *total = stored->size;
        if (offset < stored->size) {
            uint64_t left = stored->size - offset;

            buf_put_raw(out, stored->data + offset, size < left ? size : left);
        }
        if (buf_failed(out))
            rc = err_set(err, ERR_LIMIT, "blob %s does not fit %zu bytes", name, out->limit);
    }
    pthread_mutex_unlock(&memory->lock);
    return rc;
}

static int memory_remove(struct blob *blob, const char *name, struct err *err)
{
    struct memory *memory = memory_of(blob);
    struct stored *stored;

    (void)err;
    pthread_mutex_lock(&memory->lock);
    stored = find(memory, name);
    if (stored) {
        free(stored->name);
        free(stored->data);
        memory->count--;
        memmove(stored, stored + 1,
                (size_t)(memory->stored + memory->count - stored) * sizeof(*stored));
    }
    pthread_mutex_unlock(&memory->lock);
    return 0;
}

static int memory_list(struct blob *blob, const char *prefix, const char *after, size_t limit,
                       struct arena *arena, struct blob_page *page, struct err *err)
{
    struct memory *memory = memory_of(blob);
    size_t at;

    (void)err;
    page->entries = arena_array(arena, limit, sizeof(page->entries[0]));
    pthread_mutex_lock(&memory->lock);
    at = position(memory, strcmp(prefix, after) > 0 ? prefix : after);
    for (; at < memory->count; at++) {
        const struct stored *stored = &memory->stored[at];

        if (strncmp(stored->name, prefix, strlen(prefix)) != 0)
            break;
        if (strcmp(stored->name, after) <= 0)
            continue;
        page->more = page->count == limit;
        if (page->more)
            break;
        page->entries[page->count++] =
            (struct blob_entry){arena_strdup(arena, stored->name), stored->size};
    }
    pthread_mutex_unlock(&memory->lock);
    return 0;
}

static int memory_begin(struct blob *blob, const char *name, struct blob_writer **writer,
                        struct err *err)
{
    struct memory_writer *fresh = mem_zero(sizeof(*fresh));

    (void)err;
    fresh->base.blob = blob;
    fresh->name = mem_strdup(name);
    buf_init(&fresh->content, BLOB_MEMORY_SIZE_MAX);
    *writer = &fresh->base;
    return 0;
}

static int memory_append(struct blob_writer *writer, struct bytes piece, struct err *err)
{
    struct buf *content = &container_of(writer, struct memory_writer, base)->content;

    buf_put(content, piece);
    return buf_failed(content) ? err_set(err, ERR_LIMIT, "a blob in memory has at most %d bytes",
                                         BLOB_MEMORY_SIZE_MAX)
                               : 0;
}

static void memory_abort(struct blob_writer *base)
{
    struct memory_writer *writer = container_of(base, struct memory_writer, base);

    buf_release(&writer->content);
    free(writer->name);
    free(writer);
}

static int memory_commit(struct blob_writer *base, struct err *err)
{
    struct memory_writer *writer = container_of(base, struct memory_writer, base);
    struct memory *memory = memory_of(base->blob);
    struct stored *stored;
    size_t at;

    (void)err;
    pthread_mutex_lock(&memory->lock);
    stored = find(memory, writer->name);
    if (!stored) {
        memory->stored =
            mem_grow(memory->stored, memory->count + 1, sizeof(*stored), &memory->capacity);
        at = position(memory, writer->name);
        stored = &memory->stored[at];
        memmove(stored + 1, stored, (memory->count - at) * sizeof(*stored));
        memory->count++;
        *stored = (struct stored){.name = mem_strdup(writer->name)};
    }
    free(stored->data);
    stored->data = buf_take(&writer->content, &stored->size);
    pthread_mutex_unlock(&memory->lock);
    memory_abort(base);
    return 0;
}

const struct blob_ops blob_memory_ops = {
    .scheme = "memory",
    .open = memory_open,
    .close = memory_close,
    .read = memory_read,
    .remove = memory_remove,
    .list = memory_list,
    .begin = memory_begin,
    .append = memory_append,
    .commit = memory_commit,
    .abort = memory_abort,
};
