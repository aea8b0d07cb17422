/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object.h - an object says what kind it is, and every function that gets one checks it (Varnish's
 * CHECK_OBJ).
 *
 * An object that lives longer than a call has `uint32_t magic` as its first member: four letters
 * for its kind, from object_begin to object_end. The functions of its module check it on entry, and
 * so does code that gets one through a void pointer or from another thread. One that was freed, was
 * never begun, or is of another kind ends the process there, with the expected and the actual kind;
 * also in release builds. This only catches bugs: no input decides what a pointer leads to.
 *
 *     enum { STORE_MAGIC = OBJECT_MAGIC('s', 't', 'o', 'r') };
 *     struct store { uint32_t magic; ... };
 */
#ifndef TORG_BASE_OBJECT_H
#define TORG_BASE_OBJECT_H

#include <stddef.h>
#include <stdint.h>

/* Four letters of ASCII, which no two kinds share (tools/tidy looks); they fit an enum. */
#define OBJECT_MAGIC(a, b, c, d) ((a) << 24 | (b) << 16 | (c) << 8 | (d))

/* What an ended object is left with: no letters. */
#define OBJECT_ENDED 0xdeadbeefu

/* For the macros below: tells the place and both kinds, and aborts. */
_Noreturn void object_fail(const void *object, const char *expected, const char *file, int line,
                           const char *function);

/* The magic number comes first, so that a pointer to another kind leads to that kind's. */
#define OBJECT_FIRST(object)                                                                       \
    _Static_assert(offsetof(__typeof__(*(object)), magic) == 0, "the magic number comes first")

#define object_begin(object, kind)                                                                 \
    do {                                                                                           \
        OBJECT_FIRST(object);                                                                      \
        (object)->magic = (kind);                                                                  \
    } while (0)

/* `object` is evaluated more than once: a name, not a call. */
#define object_check(object, kind)                                                                 \
    do {                                                                                           \
        OBJECT_FIRST(object);                                                                      \
        if (__builtin_expect(!object_is((object), (kind)), 0))                                     \
            object_fail((object), #kind, __FILE__, __LINE__, __func__);                            \
    } while (0)

/* Nobody uses it any more; it may be freed. The write is volatile: one before free() would be left
 * out. */
#define object_end(object, kind)                                                                   \
    do {                                                                                           \
        object_check(object, kind);                                                                \
        *(volatile uint32_t *)&(object)->magic = OBJECT_ENDED;                                     \
    } while (0)

static inline int object_is(const void *object, uint32_t kind)
{
    return object && *(const uint32_t *)object == kind;
}

#endif
