/* SPDX-License-Identifier: Apache-2.0 */
/*
 * special.h - what a row says of delivery, exchange, the seller's kind and the salary: fields that
 * offers of some categories have (the standard filters of the catalogue).
 *
 * In the file they stand among the attributes: "delivery", "доставка", "salary from". Where the
 * category does not have the field they are left out: feeds of shops say "delivery" of everything.
 */
#ifndef TORG_FEEDS_MAPPING_SPECIAL_H
#define TORG_FEEDS_MAPPING_SPECIAL_H

#include "base/arena.h"
#include "catalog/catalog.h"
#include "feeds/formats/row.h"
#include "torg/v1/offer.pb-c.h"

/* False: it is none of these fields. What cannot be read is left out, with a note. */
bool feed_special_take(const struct feed_row *row, const struct feed_attribute *given,
                       const struct category *category, struct arena *arena,
                       Torg__V1__OfferContent *content, struct violations *notes);

/* After the last: a price of what has a salary and no price is the salary, by the month. */
void feed_special_finish(const struct category *category, struct arena *arena,
                         Torg__V1__OfferContent *content);

#endif
