/* SPDX-License-Identifier: Apache-2.0 */
/*
 * category_map.h - which category of the catalogue a feed's own category is.
 *
 * In this order: as the map (category_rules.h) says, of the file's category id, of its whole path,
 * of its last name, of what the path has above; a catalogue's category of that very id; the one of
 * that name, Russian or English, and of several the one whose parents are named as the path says;
 * the default, where there is one. What fits none or several is refused, with the reason and, where
 * there is one, a guess.
 */
#ifndef TORG_FEEDS_MAPPING_CATEGORY_MAP_H
#define TORG_FEEDS_MAPPING_CATEGORY_MAP_H

#include "base/bytes.h"
#include "base/err.h"
#include "catalog/catalog.h"
#include "feeds/mapping/category_rules.h"

/* The reason of one that its seller has said is none of ours. */
#define FEED_CATEGORY_REFUSED "the --categories file gives its category none of ours"

struct feed_category_map;

/* The catalogue is borrowed. map: the CSV file's content, borrowed until this returns; empty: none.
 * otherwise: id of the category of rows that fit none; NULL: as the map says. ERR_INVALID names
 * the line. */
int feed_category_map_new(const struct catalog *catalog, struct bytes map, const char *otherwise,
                          struct feed_category_map **made, struct err *err);
void feed_category_map_free(struct feed_category_map *map); /* NULL is fine */

/* Either text may be empty. NULL: none, for *reason, the map's until the next call. */
const struct feed_placement *feed_category_find(struct feed_category_map *map, struct bytes id,
                                                struct bytes path, const char **reason);

#endif
