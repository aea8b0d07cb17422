/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h - in which order offers are shown.
 */
#ifndef TORG_SEARCH_CHOICES_ORDER_H
#define TORG_SEARCH_CHOICES_ORDER_H

#include "search/choices/choices.h"

/* The stage's sorts. */
void order_put(const struct wanted *wanted, Torg__V1__QueryStage *stage);

/* What decides, for who asked to be told: the formula, and the categories that are likely meant.
 * NULL: the order is not BEST, or there is no text. */
Torg__V1__Ranking *order_tell(const struct wanted *wanted);

#endif
