/* SPDX-License-Identifier: Apache-2.0 */
/* column_geo.c - the parts of column_filter.h about points on earth. */
#include <math.h>
#include <string.h>

#include "index/columns/column_filter.h"
#include "index/columns/kernels_column.h"

#define EARTH_RADIUS_M 6371008.8
#define UNIT_RADIANS (M_PI / 180 / 1e7)

enum { LAT_BIAS = 900000000, LAT_MAX = 900000000, LON_MAX = 1800000000 };

/* sin² of half the angle between the points. */
static double haversine(double lat_a, double lon_a, double lat_b, double lon_b)
{
    double sin_lat = sin((lat_b - lat_a) / 2);
    double sin_lon = sin((lon_b - lon_a) / 2);

    return sin_lat * sin_lat + cos(lat_a) * cos(lat_b) * sin_lon * sin_lon;
}

double geo_distance_m(int32_t lat_a, int32_t lon_a, int32_t lat_b, int32_t lon_b)
{
    double h = haversine(lat_a * UNIT_RADIANS, lon_a * UNIT_RADIANS, lat_b * UNIT_RADIANS,
                         lon_b * UNIT_RADIANS);

    return 2 * EARTH_RADIUS_M * asin(sqrt(h < 1 ? h : 1));
}

struct geo_box geo_box_around(int32_t lat, int32_t lon, double radius_m)
{
    double angle = radius_m / EARTH_RADIUS_M;
    double margin = 2; /* units: more than rounding loses */
    double lat_span = angle / UNIT_RADIANS + margin;
    struct geo_box box = {-LAT_MAX, LAT_MAX, -LON_MAX, LON_MAX};
    double lon_span;

    if (lat - lat_span > -LAT_MAX)
        box.lat_min = (int32_t)(lat - lat_span);
    if (lat + lat_span < LAT_MAX)
        box.lat_max = (int32_t)(lat + lat_span);
    if (box.lat_min == -LAT_MAX || box.lat_max == LAT_MAX)
        return box; /* a pole is inside: every longitude */
    lon_span = asin(fmin(1, sin(angle) / cos(lat * UNIT_RADIANS))) / UNIT_RADIANS + margin;
    if (lon_span >= LON_MAX)
        return box;
    box.lon_min =
        (int32_t)(lon - lon_span < -LON_MAX ? lon - lon_span + 2.0 * LON_MAX : lon - lon_span);
    box.lon_max =
        (int32_t)(lon + lon_span > LON_MAX ? lon + lon_span - 2.0 * LON_MAX : lon + lon_span);
    return box;
}

static uint32_t biased_lon(int32_t lon)
{
    return (uint32_t)lon + LON_MAX;
}

static bool in_box(int64_t value, const struct geo_box *box)
{
    int32_t lat;
    int32_t lon;

    geo_unpack(value, &lat, &lon);
    if (lat < box->lat_min || lat > box->lat_max)
        return false;
    if (box->lon_min <= box->lon_max)
        return lon >= box->lon_min && lon <= box->lon_max;
    return lon >= box->lon_min || lon <= box->lon_max;
}

static void box_dense(const struct column_view *view, const struct geo_box *box, int32_t lon_min,
                      int32_t lon_max, struct window_bits *bits)
{
    column_kernels()->box(view->codes, (uint32_t)(box->lat_min + LAT_BIAS),
                          (uint32_t)box->lat_max - (uint32_t)box->lat_min, biased_lon(lon_min),
                          (uint32_t)lon_max - (uint32_t)lon_min, bits->words);
}

/* Those in the box, one by one. */
static void box_few(const struct column_view *view, const struct geo_box *box,
                    struct window_bits *bits)
{
    uint32_t i;

    for (i = 0; i < WINDOW_WORDS; i++) {
        uint64_t word;

        for (word = bits->words[i]; word; word &= word - 1) {
            uint32_t offset = i * 64 + (uint32_t)__builtin_ctzll(word);
            int64_t value = view_get(view, offset);

            if (value == COLUMN_NULL || !in_box(value, box))
                window_clear(bits, offset);
        }
    }
}

void filter_box(const struct column_view *view, const struct geo_box *box, struct window_bits *bits)
{
    struct window_bits west;
    uint32_t i;

    if (box->lat_min > box->lat_max || view->kind == PAGE_ABSENT ||
        geo_pack(box->lat_min, -LON_MAX) > view->max ||
        geo_pack(box->lat_max, LON_MAX) < view->min) {
        memset(bits, 0, sizeof(*bits));
        return;
    }
    if (view->kind != PAGE_DENSE || view->width != 8) {
        box_few(view, box, bits);
    } else if (box->lon_min <= box->lon_max) {
        box_dense(view, box, box->lon_min, box->lon_max, bits);
    } else {
        west = *bits;
        box_dense(view, box, box->lon_min, LON_MAX, bits);
        box_dense(view, box, -LON_MAX, box->lon_max, &west);
        for (i = 0; i < WINDOW_WORDS; i++)
            bits->words[i] |= west.words[i];
    }
}

void filter_radius(const struct column_view *view, int32_t lat, int32_t lon, double radius_m,
                   struct window_bits *bits)
{
    struct geo_box box = geo_box_around(lat, lon, radius_m);
    uint32_t i;

    filter_box(view, &box, bits);
    for (i = 0; i < WINDOW_WORDS; i++) {
        uint64_t word;

        for (word = bits->words[i]; word; word &= word - 1) {
            uint32_t offset = i * 64 + (uint32_t)__builtin_ctzll(word);
            int64_t value = view_get(view, offset);
            int32_t lat_b;
            int32_t lon_b;

            geo_unpack(value, &lat_b, &lon_b);
            if (value == COLUMN_NULL || geo_distance_m(lat, lon, lat_b, lon_b) > radius_m)
                window_clear(bits, offset);
        }
    }
}
