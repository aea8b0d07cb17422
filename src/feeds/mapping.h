/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapping.h - a row of a feed file as an event of a feed's task, by the catalogue.
 *
 * The category is found by category_map.h, attributes by attribute.h. An attribute that
 * the category does not have is left out and counted by its name; a value that cannot be read is
 * left out with a note, or refuses the row where the category requires it. Whether the offer obeys
 * its category in all else is for the one who stores it.
 *
 * Threads: one mapping, one thread.
 */
#ifndef TORG_FEEDS_MAPPING_H
#define TORG_FEEDS_MAPPING_H

#include "base/arena.h"
#include "base/err.h"
#include "catalog/catalog.h"
#include "feeds/row.h"
#include "torg/v1/feed.pb-c.h"

struct feed_mapping;

/* Name of something in the file that no attribute is kept for, and in how many rows it stood. */
struct feed_unknown {
    const char *name;
    uint64_t count;
};

/* Holds the catalogue. categories: the map's content, may be empty; see category_map.h. */
int feed_mapping_new(struct catalog *catalog, struct bytes categories, struct feed_mapping **made,
                     struct err *err);
void feed_mapping_free(struct feed_mapping *mapping); /* NULL is fine */

/* Fills the event's upsert or delete. Its memory is the arena's, the row's and the catalogue's. */
void feed_mapping_row(struct feed_mapping *mapping, const struct feed_row *row, struct arena *arena,
                      Torg__V1__FeedEvent *event);

/* The most frequent first; the mapping's. Past FEED_UNKNOWN_COUNT_MAX new names are not kept. */
const struct feed_unknown *feed_mapping_unknown(struct feed_mapping *mapping, size_t *count);

#endif
