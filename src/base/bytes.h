/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.h - a borrowed run of bytes: pointer and size, no terminator, no owner.
 *
 * Everything that travels between modules travels as this. Whoever made the bytes says how
 * long they live. An empty run may have a NULL pointer.
 */
#ifndef TORG_BASE_BYTES_H
#define TORG_BASE_BYTES_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
    const uint8_t *data;
    size_t size;
};

#define BYTES_EMPTY ((struct bytes){NULL, 0})
/* The bytes of a string literal, without its terminator; usable in initialisers. */
#define BYTES_LITERAL(text)                                                                        \
    {                                                                                              \
        (const uint8_t *)(text), sizeof(text) - 1                                                  \
    }

/* printf("%.*s", BYTES_ARG(b)) */
#define BYTES_ARG(b) (int)(b).size, (const char *)((b).data ? (b).data : (const uint8_t *)"")

static inline struct bytes bytes_make(const void *data, size_t size)
{
    return (struct bytes){data, size};
}

static inline struct bytes bytes_of(const char *text)
{
    return bytes_make(text, strlen(text));
}

static inline bool bytes_equal(struct bytes a, struct bytes b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static inline bool bytes_equal_text(struct bytes a, const char *text)
{
    return bytes_equal(a, bytes_of(text));
}

/* Orders as memcmp does, a prefix before what it begins. */
static inline int bytes_compare(struct bytes a, struct bytes b)
{
    size_t common = a.size < b.size ? a.size : b.size;
    int order = common ? memcmp(a.data, b.data, common) : 0;

    if (order)
        return order;
    return (a.size > b.size) - (a.size < b.size);
}

static inline bool bytes_begin(struct bytes whole, struct bytes prefix)
{
    return whole.size >= prefix.size && bytes_equal(bytes_make(whole.data, prefix.size), prefix);
}

/* The run without its first `count` bytes; count must not exceed its size. */
static inline struct bytes bytes_skip(struct bytes whole, size_t count)
{
    assert(count <= whole.size);
    return bytes_make(whole.data ? whole.data + count : NULL, whole.size - count);
}

#endif
