/* SPDX-License-Identifier: Apache-2.0 */
/*
 * violation.h - everything that is wrong with one message, reported at once, field by field.
 *
 * A validator adds as it goes and is asked at the end. The list lives in the arena of the
 * request; past VIOLATION_COUNT_MAX further reasons are only counted.
 */
#ifndef TORG_BASE_VIOLATION_H
#define TORG_BASE_VIOLATION_H

#include <stddef.h>

#include "base/arena.h"

struct violation {
    const char *field;  /* path as a client writes it: "offer.attributes[2].value" */
    const char *reason; /* what is wrong, the limit, what to do */
    const struct violation *next;
};

struct violations {
    struct arena *arena; /* borrowed */
    const struct violation *first;
    struct violation *last;
    size_t count;
};

static inline struct violations violations_in(struct arena *arena)
{
    return (struct violations){.arena = arena};
}

void violations_add(struct violations *violations, const char *field, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
