/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shown.h - the filters of a page, with their values and what was chosen, and why others are
 * hidden.
 */
#ifndef TORG_SEARCH_CHOICES_SHOWN_H
#define TORG_SEARCH_CHOICES_SHOWN_H

#include "search/choices/choices.h"
#include "search/choices/offered.h"
#include "torg/v1/search.pb-c.h"

/* page: with the facets of standard filters; more: with those of attributes, NULL: there are none.
 */
void shown_put(const struct wanted *wanted, const struct offered_filter *list, size_t count,
               const Torg__V1__StageAnswer *page, const Torg__V1__StageAnswer *more,
               Torg__V1__SearchOffersResponse *response);

#endif
