/* SPDX-License-Identifier: Apache-2.0 */
/*
 * found.h - turns the index's answer into what a page shows. Everything is in the arena, or in the
 * hit.
 */
#ifndef TORG_SEARCH_ASKING_FOUND_H
#define TORG_SEARCH_ASKING_FOUND_H

#include "base/arena.h"
#include "catalog/catalog.h"
#include "search/search.h"
#include "torg/v1/query.pb-c.h"
#include "torg/v1/search.pb-c.h"

/* Asks for the fields that found_offer reads. */
void stage_show_offers(Torg__V1__QueryStage *stage);

/* near: distances are counted from there; NULL: none are told. */
Torg__V1__FoundOffer *found_offer(const Torg__V1__Hit *hit, const Torg__V1__GeoPoint *near,
                                  struct arena *arena);

/* Of a page that an old state has made: offers that no visitor may see any more are taken out of
 * it, each looked up by search->fetch. */
int found_leave_out_gone(const struct search *search, struct arena *arena,
                         Torg__V1__SearchOffersResponse *response, struct err *err);

/* The first value of a field that was shown; "" without. */
const char *hit_shown(const Torg__V1__Hit *hit, const char *name);
/* Its photo as a list shows it: sets the offer's key ("" without), width, height and preview. */
void hit_read_photo(const Torg__V1__Hit *hit, Torg__V1__FoundOffer *offer, struct arena *arena);

/* The first word of a text that is marked, in lower case; NULL: none is. */
const char *hit_marked_word(const Torg__V1__Hit *hit, const char *name, struct arena *arena);

Torg__V1__FoundCategory *found_category(const struct category *category, uint64_t count,
                                        enum language language, struct arena *arena);

/* The facet of this name; NULL: the answer has none. */
const Torg__V1__FacetAnswer *find_facet(const Torg__V1__StageAnswer *answer, const char *name);

/* Of OFFER_FIELD_SALARY, as the composer writes it: "min max currency period". NULL: it is not. */
Torg__V1__Salary *salary_read(const char *text, struct arena *arena);

/* Smallest units of one whole: a kopeck is a hundredth. */
int currency_minor_units(const char *currency);

#endif
