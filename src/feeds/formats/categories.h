/* SPDX-License-Identifier: Apache-2.0 */
/*
 * categories.h - the shop's own categories at the head of a YML file: id, parent, name.
 *
 * A hash table with open places, at most half full. Bounded by FEED_CATEGORY_COUNT_MAX.
 */
#ifndef TORG_FEEDS_FORMATS_CATEGORIES_H
#define TORG_FEEDS_FORMATS_CATEGORIES_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/bytes.h"

struct feed_category;

struct feed_categories {
    struct arena *arena;           /* owned */
    struct feed_category **places; /* owned; NULL until the first category */
    size_t count;
};

void feed_categories_init(struct feed_categories *categories);
void feed_categories_release(struct feed_categories *categories);
/* A second one of an id replaces nothing. Of a name longer than FEED_NAME_SIZE_MAX its beginning is
 * kept. False past the limit. */
bool feed_categories_add(struct feed_categories *categories, struct bytes id, struct bytes parent,
                         struct bytes name);
/* Appends "Электроника/Телефоны"; nothing for an id that is not there. *is_cut: of a name in it the
 * beginning alone is there; else it is left as it is. */
void feed_categories_path(const struct feed_categories *categories, struct bytes id,
                          struct buf *out, bool *is_cut);

#endif
