/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nearest.h - what did the person mean to type? The known word closest to an unknown one.
 *
 * For names of settings, commands, options and roles: lists of tens, asked once per mistake.
 */
#ifndef TORG_CONFIG_NEAREST_H
#define TORG_CONFIG_NEAREST_H

#include <stddef.h>

struct nearest {
    const char *typed; /* borrowed */
    const char *word;  /* the best so far; NULL while nothing is close */
    size_t distance;
};

static inline struct nearest nearest_to(const char *typed)
{
    return (struct nearest){.typed = typed};
}

/* Offers one known word; it is kept when it is closer than the best and not a wild guess. */
void nearest_offer(struct nearest *nearest, const char *word);

#endif
