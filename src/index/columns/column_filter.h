/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column_filter.h - filters and facets over one window of one column.
 *
 * A filter keeps, of the candidates in bits, those that match; a document without a value matches
 * no filter. Many candidates are compared as a whole window by a kernel, few are looked at one by
 * one; the zone is asked first. Everything here may run on a window the writer is changing:
 * nothing is read out of bounds, and columns_read_valid says whether the result counts.
 */
#ifndef TORG_INDEX_COLUMNS_COLUMN_FILTER_H
#define TORG_INDEX_COLUMNS_COLUMN_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "index/columns/columns.h"

/* low <= value <= high; equality is low = high. high may be COLUMN_NULL: no bound. */
void filter_range(const struct column_view *view, int64_t low, int64_t high,
                  struct window_bits *bits);
void filter_exists(const struct column_view *view, struct window_bits *bits);

/* A set of ordinals as bits; those from bit_count on are not in it. */
struct ordinal_table {
    const uint64_t *bits;
    uint32_t bit_count;
    uint32_t name_count; /* of names */
    uint8_t *names;      /* NULL, or what is known of lists by name: zeroed, of one epoch */
};

/* The value, or one of the values, is in the table. The column says how it keeps them. */
void filter_in(const struct column *column, const struct column_view *view,
               struct ordinal_table table, struct window_bits *bits);

/* The same of one value, not COLUMN_NULL. */
bool value_in(const struct column *column, int64_t value, struct ordinal_table table);

/* Filters of up to 64 documents: of those in the mask `among`, the mask of those that match. */
uint64_t filter_range_at(const struct column_view *view, int64_t low, int64_t high,
                         const uint16_t *offsets, uint64_t among);
uint64_t filter_in_at(const struct column *column, const struct column_view *view,
                      struct ordinal_table table, const uint16_t *offsets, uint64_t among);

/* ---- geo ---- */

struct geo_box {
    int32_t lat_min; /* 1e-7 degrees, ends included */
    int32_t lat_max;
    int32_t lon_min; /* greater than lon_max: the box crosses the 180th meridian */
    int32_t lon_max;
};

void filter_box(const struct column_view *view, const struct geo_box *box,
                struct window_bits *bits);

/* Exact on a sphere of 6 371 008.8 m (haversine, double): the boundary is where geo_distance_m,
 * which sorts and prints too, says it is. */
void filter_radius(const struct column_view *view, int32_t lat, int32_t lon, double radius_m,
                   struct window_bits *bits);

double geo_distance_m(int32_t lat_a, int32_t lon_a, int32_t lat_b, int32_t lon_b);

/* A box that holds every point within the radius. */
struct geo_box geo_box_around(int32_t lat, int32_t lon, double radius_m);

/* ---- facets ---- */

/* Hits of one window, as bits, as a list (ascending) made once for all facets, or both. */
struct facet_hits {
    const struct window_bits *bits; /* NULL: offsets tell all */
    const uint16_t *offsets;        /* NULL: many */
    uint32_t count;
};

enum { FACET_LIST_MAX = 1024 }; /* a quarter of a window: above, walking the bits costs little */

/* counts[value]++ for each hit that has one; values from count on are left out. */
void facet_values(const struct column_view *view, const struct facet_hits *hits, uint32_t *counts,
                  uint32_t count);

/* The values of the hits that have one, in the order of the hits; returns how many. */
uint32_t facet_pick(const struct column_view *view, const struct facet_hits *hits,
                    int64_t values[WINDOW_SIZE]);

/* counts[i]++ for bounds[i] <= value < bounds[i + 1], i < bound_count - 1. Ascending bounds; a
 * bound of COLUMN_NULL at the end holds everything. */
void facet_ranges(const struct column_view *view, const struct window_bits *bits,
                  const int64_t *bounds, uint32_t bound_count, uint32_t *counts);

/* Widens *min and *max by the values of the hits, and returns how many have one; start with
 * INT64_MAX, INT64_MIN. */
uint32_t facet_min_max(const struct column_view *view, const struct facet_hits *hits, int64_t *min,
                       int64_t *max);

uint32_t window_count(const struct window_bits *bits);

#endif
