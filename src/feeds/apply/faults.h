/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.h - everything that is wrong with a row, reported at once: what its reader refused, and
 * what its category objects to in the rest.
 */
#ifndef TORG_FEEDS_APPLY_FAULTS_H
#define TORG_FEEDS_APPLY_FAULTS_H

#include "base/violation.h"
#include "catalog/catalog.h"
#include "torg/v1/offer.pb-c.h"

/* Adds to problems what stands against content and is not told by them: a price that could not be
 * read is not missing too. Content without a category adds nothing. */
void feed_faults_add(const Torg__V1__OfferContent *content, const struct catalog *catalog,
                     enum language language, struct violations *problems);

#endif
