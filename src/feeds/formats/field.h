/* SPDX-License-Identifier: Apache-2.0 */
/*
 * field.h - which of our fields a column, tag or key of a feed is meant to be.
 *
 * One table for all formats, Russian and English; docs/feeds.md shows it to sellers.
 */
#ifndef TORG_FEEDS_FORMATS_FIELD_H
#define TORG_FEEDS_FORMATS_FIELD_H

#include "base/bytes.h"

enum feed_field {
    FEED_FIELD_ATTRIBUTE, /* none of the others: it describes the thing */
    FEED_FIELD_ID,
    FEED_FIELD_CATEGORY_ID,
    FEED_FIELD_CATEGORY,
    FEED_FIELD_TITLE,
    FEED_FIELD_DESCRIPTION,
    FEED_FIELD_URL,
    FEED_FIELD_PRICE,
    FEED_FIELD_OLD_PRICE,
    FEED_FIELD_SALE_PRICE, /* the price now, where price is the one before */
    FEED_FIELD_CURRENCY,
    FEED_FIELD_CONDITION,
    FEED_FIELD_ADDRESS,
    FEED_FIELD_LATITUDE,
    FEED_FIELD_LONGITUDE,
    FEED_FIELD_CONTACT_NAME,
    FEED_FIELD_EMAIL,
    FEED_FIELD_AVAILABLE,
    FEED_FIELD_DELETED,
    FEED_FIELD_SINGLE_COUNT,                     /* those above may be given once */
    FEED_FIELD_PHOTOS = FEED_FIELD_SINGLE_COUNT, /* one URL or several */
    FEED_FIELD_PHONES,                           /* one number or several */
};

/* attribute: the name under which an attribute is kept: as given, but one for the few that YML has
 * tags for (vendor, model, …). */
enum feed_field feed_field_find(struct bytes name, struct bytes *attribute);

const char *feed_field_name(enum feed_field field); /* as in reports: "title", "photos" */

#endif
