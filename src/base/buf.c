/* SPDX-License-Identifier: Apache-2.0 */
/* buf.c - see buf.h. Capacity doubles, so n additions cost O(n) copies. */
#include "base/buf.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/checked.h"
#include "base/memory.h"

enum { FIRST_CAPACITY = 64 };

void buf_init(struct buf *buf, size_t limit)
{
    *buf = BUF_INIT(limit);
}

void buf_release(struct buf *buf)
{
    free(buf->data);
    *buf = BUF_INIT(buf->limit);
}

void buf_reset(struct buf *buf)
{
    buf->size = 0;
    buf->failed = false;
}

static void grow(struct buf *buf, size_t wanted)
{
    size_t capacity = buf->capacity ? buf->capacity : FIRST_CAPACITY;

    assert(buf->size <= buf->capacity && wanted <= SIZE_MAX / 2);
    while (capacity < wanted)
        capacity *= 2;
    buf->data = mem_resize(buf->data, capacity);
    buf->capacity = capacity;
}

uint8_t *buf_reserve(struct buf *buf, size_t size)
{
    size_t wanted;

    assert(buf->size <= buf->capacity);
    if (buf->failed)
        return NULL;
    if (!size_add(buf->size, size, &wanted) || wanted > buf->limit) {
        buf->failed = true;
        return NULL;
    }
    if (wanted > buf->capacity || !buf->data)
        grow(buf, wanted);
    return buf->data + buf->size;
}

void buf_advance(struct buf *buf, size_t size)
{
    assert(size <= buf->capacity - buf->size && !buf->failed);
    buf->size += size;
}

void buf_put_raw(struct buf *buf, const void *data, size_t size)
{
    uint8_t *room;

    if (size == 0)
        return;
    room = buf_reserve(buf, size);
    if (!room)
        return;
    memcpy(room, data, size);
    buf->size += size;
}

void buf_put(struct buf *buf, struct bytes bytes)
{
    buf_put_raw(buf, bytes.data, bytes.size);
}

void buf_put_byte(struct buf *buf, uint8_t byte)
{
    buf_put_raw(buf, &byte, 1);
}

void buf_put_text(struct buf *buf, const char *text)
{
    buf_put_raw(buf, text, strlen(text));
}

void buf_printf(struct buf *buf, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    buf_vprintf(buf, format, args);
    va_end(args);
}

void buf_vprintf(struct buf *buf, const char *format, va_list args)
{
    va_list again;
    int length;
    char *room;

    va_copy(again, args);
    length = vsnprintf(NULL, 0, format, args);
    assert(length >= 0 && buf->size <= buf->capacity);
    if (!buf->failed && ((size_t)length > buf->limit || buf->size > buf->limit - (size_t)length))
        buf->failed = true;
    if (!buf->failed) {
        if (buf->size + (size_t)length + 1 > buf->capacity)
            grow(buf, buf->size + (size_t)length + 1); /* vsnprintf's terminator is not counted */
        room = (char *)buf->data + buf->size;
        vsnprintf(room, (size_t)length + 1, format, again);
        buf->size += (size_t)length;
    }
    va_end(again);
}

void buf_consume(struct buf *buf, size_t count)
{
    assert(count <= buf->size);
    if (count == 0)
        return;
    memmove(buf->data, buf->data + count, buf->size - count);
    buf->size -= count;
}

void buf_truncate(struct buf *buf, size_t size)
{
    assert(size <= buf->size);
    buf->size = size;
}

const char *buf_text(struct buf *buf)
{
    if (buf->failed || buf->size == 0)
        return "";
    if (buf->size == buf->capacity)
        grow(buf, buf->size + 1);
    buf->data[buf->size] = 0;
    return (const char *)buf->data;
}

uint8_t *buf_take(struct buf *buf, size_t *size)
{
    uint8_t *data = buf->data;

    *size = buf->size;
    *buf = BUF_INIT(buf->limit);
    return data;
}
