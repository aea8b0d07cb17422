/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cabinet.h - a seller's lists and figures: each is a few index ranges, however many offers he has.
 */
#ifndef TORG_OFFERS_LISTS_CABINET_H
#define TORG_OFFERS_LISTS_CABINET_H

#include "offers/change/offers.h"
#include "torg/v1/cabinet.pb-c.h"

/* A place in a list, newest first. */
struct cabinet_place {
    int64_t created_us;
    offerid id;
};

enum { CABINET_PRESET_COUNT = TORG__V1__CABINET__PRESET__WAITING + 1, CABINET_CURRENCY_MAX = 200 };
extern const struct cabinet_place cabinet_start; /* before the newest */

/* What they ask the store, for the test that looks at its plans. */
extern const char cabinet_list_sql[];   /* seller, preset, created, id, count */
extern const char cabinet_counts_sql[]; /* seller */
extern const char cabinet_totals_sql[]; /* shard, seller */

/* Up to max offers behind *place, which moves to the last of them; a page of fewer is the last. */
int cabinet_list(const struct offers *offers, const char *seller, int64_t preset,
                 struct cabinet_place *place, size_t max, struct arena *arena,
                 Torg__V1__Offer **list, size_t *count, struct err *err);

/* By preset; the drafts included. */
int cabinet_counts(const struct offers *offers, const char *seller,
                   int64_t counts[CABINET_PRESET_COUNT], struct err *err);

int cabinet_totals(const struct offers *offers, const char *seller, struct arena *arena,
                   Torg__V1__GetTotalsResponse *totals, struct err *err);

#endif
