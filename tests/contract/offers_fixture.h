/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offers_fixture.h - a store with offers' tables for tests on every backend, and shorthands.
 *
 * The catalogue has the categories "bikes" and "books" (a title of 3 to 50 characters, any price in
 * RUB, USD or EUR, up to 3 photos, 30 days; bikes need the attribute "color"), and three that wait
 * for a photo: "rings" however long, "lamps" for 600 s, "boats" likewise, with one photo at least.
 */
#ifndef TORG_TESTS_CONTRACT_OFFERS_FIXTURE_H
#define TORG_TESTS_CONTRACT_OFFERS_FIXTURE_H

#include "base/random.h"
#include "contract/cases.h"
#include "contract/place.h"
#include "offers/change/draft.h"
#include "offers/change/offers.h"
#include "store/store.h"

struct offers_place {
    bool postgres;
    struct store_place at;
    struct store *store;
    struct catalog *catalog;
    struct clock_manual clock;
    struct offers offers;
};

/* False, having skipped nothing, when the server is missing and not required. */
bool offers_place_open(struct offers_place *place, bool postgres);
/* wrapper: "fault:" for a store that fails when told to (store_fault.h). */
bool offers_place_open_as(struct offers_place *place, bool postgres, const char *wrapper);
void offers_place_close(struct offers_place *place);

struct author author_of(const char *seller, struct arena *arena);
/* Content that may be published, told apart by its number; a price of amount (< 0: none). */
Torg__V1__OfferContent *content_of(struct arena *arena, const char *category, int number,
                                   int64_t amount, const char *currency);
offerid id_of(const char *text);

/* Fails unless counts and totals of every seller equal what is recounted from the offers. */
void place_recount_figures(struct offers_place *place);
/* The same, and every change has its row in the queue. */
void place_recount(struct offers_place *place);

/* Gives the seller so many offers (a multiple of 12) of all statuses, with lists, counts and
 * totals, without queue rows: as fast as the store can. The place-th is a millisecond older than
 * the one before. */
void place_fill(struct offers_place *place, const char *seller, size_t count);
enum offer_status fill_status(size_t place);

#endif
