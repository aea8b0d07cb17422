/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench/search_sample.h - offers of a catalogue, and what buyers ask for them.
 *
 * Categories, values and words are drawn unevenly, as a site's are. Everything is made of names of
 * the catalogue and of 20 000 words that are made up, so that lists of all lengths occur.
 */
#ifndef TORG_BENCH_SEARCH_SAMPLE_H
#define TORG_BENCH_SEARCH_SAMPLE_H

#include "base/arena.h"
#include "base/random.h"
#include "catalog/catalog.h"
#include "torg/v1/offer.pb-c.h"
#include "torg/v1/search.pb-c.h"

struct samples;

struct samples *samples_new(const struct catalog *catalog); /* borrowed */
void samples_free(struct samples *samples);

/* Always the same for the same number; changed_us > 0: with another price, half of them with
 * another description, updated then. */
const Torg__V1__Offer *sample_offer(const struct samples *samples, uint64_t number,
                                    int64_t changed_us, struct arena *arena);

/* Of ten: three of words, two of words in a category, two of a category, two of those with filters,
 * one of words by price; one in eight is a further page. */
Torg__V1__SearchOffersRequest *sample_request(const struct samples *samples, struct rng *rng,
                                              uint64_t offer_count, struct arena *arena);

/* What somebody has typed who has come so far with the first word of a title. */
Torg__V1__SuggestRequest *sample_typing(const struct samples *samples, struct rng *rng,
                                        size_t letter_count, struct arena *arena);

#endif
