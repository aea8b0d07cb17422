/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memo.h - a cache of what was found for a text: feeds repeat the same few names in every row.
 *
 * A hash table with open places, at most half full. When it is full the oldest are forgotten, all
 * at once, so a hostile file makes it useless but not large.
 */
#ifndef TORG_FEEDS_MAPPING_MEMO_H
#define TORG_FEEDS_MAPPING_MEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"

struct feed_memo {
    struct arena *arena;           /* owned */
    struct feed_memo_entry *slots; /* owned; NULL until the first */
    size_t count;
};

void feed_memo_init(struct feed_memo *memo);
void feed_memo_release(struct feed_memo *memo);

/* about: what the text was looked up in (an attribute, a category; NULL); compared as a pointer.
 * False: not known. */
bool feed_memo_find(const struct feed_memo *memo, const void *about, struct bytes text,
                    const void **value);
void feed_memo_add(struct feed_memo *memo, const void *about, struct bytes text, const void *value);

#endif
