/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapping.h - a row of a feed file as an event of a feed's task, by the catalogue.
 *
 * The category is found by category_map.h, attributes by attribute.h. An attribute that
 * the category does not have is an extra property (extra.h) and counted by its name; a value that
 * cannot be read, or that the category does not take, is left out with a note, or refuses the row
 * where the category requires it; so are photos above its limit and a condition where it has none.
 * Whether the offer obeys its category in all else is for the one who stores it.
 *
 * Threads: one mapping, one thread.
 */
#ifndef TORG_FEEDS_MAPPING_MAPPING_H
#define TORG_FEEDS_MAPPING_MAPPING_H

#include "base/arena.h"
#include "base/err.h"
#include "catalog/catalog.h"
#include "feeds/formats/row.h"
#include "feeds/mapping/category_rules.h"
#include "torg/v1/feed.pb-c.h"

struct feed_mapping;

/* Name of something in the file that no attribute is for, and in how many rows it stood. */
struct feed_unknown {
    const char *name;
    uint64_t count;
    bool is_left_out; /* not for buyers; others are kept: extra.h */
};

/* Zeroes are the defaults. */
struct feed_mapping_options {
    struct bytes categories; /* content of the map, see category_rules.h; empty: none */
    const char *category;    /* id of the one of rows that fit none; NULL: they are refused */
    char decimal;            /* before fractions, '.' or ','; 0: not told */
    bool shorten;            /* titles and descriptions above the category's limit, with a note */
};

/* Holds the catalogue; options are read by this call alone. */
int feed_mapping_new(struct catalog *catalog, const struct feed_mapping_options *options,
                     struct feed_mapping **made, struct err *err);
void feed_mapping_free(struct feed_mapping *mapping); /* NULL is fine */

/* Fills the event's upsert or delete. Its memory is the arena's, the row's and the catalogue's. */
void feed_mapping_row(struct feed_mapping *mapping, const struct feed_row *row, struct arena *arena,
                      Torg__V1__FeedEvent *event);

/* Where the row goes; NULL: nowhere, for *reason, the mapping's until the next call. */
const struct feed_placement *feed_mapping_place(struct feed_mapping *mapping,
                                                const struct feed_row *row, const char **reason);

/* The most frequent first; the mapping's. Past FEED_UNKNOWN_COUNT_MAX new names are not kept. */
const struct feed_unknown *feed_mapping_unknown(struct feed_mapping *mapping, size_t *count);

#endif
