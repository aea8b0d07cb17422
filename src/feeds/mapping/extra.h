/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extra.h - what a row says of a thing that its category has no attribute for: kept with the offer
 * as properties, name and value, and shown to whoever looks at it.
 *
 * What a shop writes for itself or for the market place it comes from (what it has paid, its
 * labels, the times of an advertisement) is not for buyers: it is told from the rest by its name,
 * and left out.
 */
#ifndef TORG_FEEDS_MAPPING_EXTRA_H
#define TORG_FEEDS_MAPPING_EXTRA_H

#include "base/arena.h"
#include "base/violation.h"
#include "feeds/formats/row.h"
#include "torg/v1/offer.pb-c.h"

/* Whether a name says that its values are not for buyers. */
bool feed_extra_is_private(struct bytes name);

/* Adds the property to content->properties, which has room for it. What is too long or too much is
 * left out, with a note; the same twice is once. */
void feed_extra_add(const struct feed_attribute *given, struct arena *arena,
                    Torg__V1__OfferContent *content, struct violations *notes);

#endif
