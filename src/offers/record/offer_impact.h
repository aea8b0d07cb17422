/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offer_impact.h - which stored offers a change of the catalogue would break; called by catalog/.
 *
 * Offers that are not deleted, page by page through the index of their category, each page on its
 * own snapshot: writers continue meanwhile, and the answer is a warning, not a lock.
 */
#ifndef TORG_OFFERS_RECORD_OFFER_IMPACT_H
#define TORG_OFFERS_RECORD_OFFER_IMPACT_H

#include "catalog/change.h"
#include "store/store.h"

struct offer_impact {
    struct catalog_impact base;
    struct store *store; /* borrowed */
};

void offer_impact_init(struct offer_impact *impact, struct store *store);

#endif
