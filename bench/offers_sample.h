/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench/offers_sample.h - offers like a site's, 2 KB each, and the file that says which are stored.
 *
 * Shared by the one that fills a store (offers_fill.c) and the one that asks for and changes what
 * is there (offers_load.c).
 */
#ifndef TORG_BENCH_OFFERS_SAMPLE_H
#define TORG_BENCH_OFFERS_SAMPLE_H

#include "base/arena.h"
#include "base/random.h"
#include "torg/v1/offer.pb-c.h"

enum { SAMPLE_SIZE = 2048 }; /* of the content, encoded */

/* One stored offer; the file is an array of these, changed in place as revisions grow. */
struct sample_record {
    int64_t id;
    uint32_t seller; /* number; the line of its key in the file of keys */
    uint32_t revision;
};

/* A bicycle that the demo catalogue finds right, in its stored form, of SAMPLE_SIZE bytes. */
Torg__V1__OfferContent *sample_content(struct rng *rng, struct arena *arena);

#endif
