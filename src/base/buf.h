/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buf.h - a growing run of bytes with a limit it was born with.
 *
 * A builder: once an addition would pass the limit the buffer is failed and ignores every
 * further one, so a writer makes dozens of additions and asks buf_failed once, at the end.
 */
#ifndef TORG_BASE_BUF_H
#define TORG_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

struct buf {
    uint8_t *data; /* owned */
    size_t size;
    size_t capacity;
    size_t limit;
    bool failed;
};

#define BUF_INIT(limit_size) ((struct buf){.limit = (limit_size)})

void buf_init(struct buf *buf, size_t limit);
void buf_release(struct buf *buf);
void buf_reset(struct buf *buf); /* empties it, keeps the memory, forgets a failure */

void buf_put(struct buf *buf, struct bytes bytes);
void buf_put_raw(struct buf *buf, const void *data, size_t size);
void buf_put_byte(struct buf *buf, uint8_t byte);
void buf_put_text(struct buf *buf, const char *text);
void buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *buf, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* Room for size more bytes, to be counted by buf_advance; NULL when that passes the limit. */
uint8_t *buf_reserve(struct buf *buf, size_t size);
void buf_advance(struct buf *buf, size_t size);

/* Drops the first count bytes, moving the rest to the front. */
void buf_consume(struct buf *buf, size_t count);
void buf_truncate(struct buf *buf, size_t size);

static inline bool buf_failed(const struct buf *buf)
{
    return buf->failed;
}

static inline struct bytes buf_bytes(const struct buf *buf)
{
    return bytes_make(buf->data, buf->size);
}

/* The content with a terminator that is not counted; "" for a failed or empty buffer. */
const char *buf_text(struct buf *buf);

/* Moves the memory to the caller, who frees it; the buffer is empty afterwards. */
uint8_t *buf_take(struct buf *buf, size_t *size);

#endif
