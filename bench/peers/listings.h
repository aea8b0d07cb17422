/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generated classified listings, Russian and English mixed, for bench core: the same for the same
 * seed. A listing is a function of its number and version alone, so any of them can be made again.
 *
 * Words follow Zipf's law over VOCABULARY_COUNT roots, half of them by the rank within their
 * category, so that words of one thing come together; roots are inflected; one word in two hundred
 * is new, as names and misspellings are. The generator is not thread-safe.
 */
#ifndef TORG_BENCH_PEERS_LISTINGS_H
#define TORG_BENCH_PEERS_LISTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/random.h"

enum {
    CATEGORY_COUNT = 192, /* leaves: 12 tops of 4 middles of 4 */
    BRAND_COUNT = 2000,
    CITY_COUNT = 300,
    CONDITION_COUNT = 4,
};

struct listing {
    uint64_t id;
    struct buf title, text;
    uint32_t category, brand, city, seller;
    uint32_t price, date;
    uint32_t condition, delivery;
    double lat, lon;
};

struct listings;

struct listings *listings_new(uint64_t seed, uint64_t count);
void listings_free(struct listings *listings);

/* Fills the listing, whose buffers the caller has initialised. Versions of one number differ in
 * text and price, and keep the rest. */
void listings_make(struct listings *listings, uint64_t id, uint32_t version, struct listing *to);

/* "t03/m1/l2", cut to the depth (1..3). */
void category_path(uint32_t category, uint32_t depth, char out[16]);

/* A line of the files that all engines read, title and text as given: tab-separated
 * id title text category brand city seller price date condition delivery lat lon */
void listing_put_line(const struct listing *listing, struct bytes title, struct bytes text,
                      struct buf *out);

#endif
