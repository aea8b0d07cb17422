/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h - in which order offers are shown.
 */
#ifndef TORG_SEARCH_CHOICES_ORDER_H
#define TORG_SEARCH_CHOICES_ORDER_H

#include "model/offer_fields.h"
#include "search/choices/choices.h"

/* An offer that few have seen, or nobody, is as good as its words. */
#define ORDER_CLICKS_FACTOR "min(max(default(" OFFER_FIELD_APPEAL ", 1), 0.8), 1.25)"
/* What BEST goes by with the setting search.clicks. */
extern const char order_by_clicks[];

bool order_is_best_of_text(const struct wanted *wanted);

/* Whether relevance decides, with clicks or without, and no formula of the operator's. */
bool order_is_relevance(const struct wanted *wanted);

/* Whether that order goes by what visitors did: new offers would have to be found first. */
bool order_goes_by_clicks(const struct wanted *wanted);
bool order_formula_goes_by_clicks(const char *formula);

/* The stage's sorts. */
void order_put(const struct wanted *wanted, Torg__V1__QueryStage *stage);

/* What decides, for who asked to be told: the formula, and the categories that are likely meant.
 * NULL: the order is not BEST, or there is no text. */
Torg__V1__Ranking *order_tell(const struct wanted *wanted);

#endif
