/* SPDX-License-Identifier: Apache-2.0 */
/* reading.h - how a seller wants his files to be read (FeedReading), where the files do not say. */
#ifndef TORG_FEEDS_APPLY_READING_H
#define TORG_FEEDS_APPLY_READING_H

#include "base/violation.h"
#include "feeds/formats/reader.h"
#include "feeds/mapping/mapping.h"
#include "offers/change/offers.h"

/* What is wrong with it is told of its fields, below `field`; a category has to be in use now.
 * NULL: nothing was said. */
int feed_reading_check(const struct offers *offers, const Torg__V1__FeedReading *reading,
                       const char *field, struct violations *violations, struct err *err);

/* What was checked, for the reader of the file and for what becomes of its rows; texts are
 * borrowed. NULL: as nobody has said anything. */
void feed_reading_options(const Torg__V1__FeedReading *reading, struct feed_options *options);
void feed_reading_mapping(const Torg__V1__FeedReading *reading,
                          struct feed_mapping_options *options);

#endif
