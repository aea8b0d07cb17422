/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offer_fields.h - what an offer's fields are called in the index: written by the composer, read by
 * the search.
 */
#ifndef TORG_MODEL_OFFER_FIELDS_H
#define TORG_MODEL_OFFER_FIELDS_H

#define OFFER_CLIENT "offers" /* of the registry; a document's pk is the offer's id */

#define OFFER_FIELD_TITLE "title"
#define OFFER_FIELD_WORDS                                                                          \
    "words" /* names of the category and of attribute values, all languages                        \
             */
#define OFFER_FIELD_DESCRIPTION "description"
#define OFFER_FIELD_PLACE "place"       /* the address as text */
#define OFFER_FIELD_CATEGORY "category" /* the path of ids from the top: "transport/cars" */
#define OFFER_FIELD_SELLER "seller"
/* In the smallest unit of the catalogue's currency (catalog_currency): what is filtered and sorted.
 * An offer in another one has `amount` in its place, which is shown and never compared. */
#define OFFER_FIELD_PRICE "price"
#define OFFER_FIELD_AMOUNT "amount"
#define OFFER_FIELD_CURRENCY "currency"   /* of either */
#define OFFER_FIELD_CONDITION "condition" /* new, used, broken */
/* Standard fields that some categories have. Flags are there when they are true. */
#define OFFER_FIELD_DELIVERY "delivery"
#define OFFER_FIELD_EXCHANGE "exchange"
#define OFFER_FIELD_SELLER_KIND "seller_kind" /* private, business */
/* Of a salary: as it is shown ("min max currency period"), and what it is in a month, in the
 * catalogue's currency: one end where the other is not said. */
#define OFFER_FIELD_SALARY "salary"
#define OFFER_FIELD_SALARY_FROM "salary_from"
#define OFFER_FIELD_SALARY_TO "salary_to"
#define OFFER_FIELD_SALARY_PERIOD "salary_period" /* hour, shift, week, month, year */
#define OFFER_FIELD_POINT "point"
#define OFFER_FIELD_CREATED "created"
#define OFFER_FIELD_UPDATED "updated"
#define OFFER_FIELD_HAS_PHOTO "has_photo"
/* In percent: how much of what buyers ask its offer tells; 0 to 100. */
#define OFFER_FIELD_COMPLETE "complete"
enum { OFFER_RATE_DIGITS = 6 };     /* of the three side fields */
#define OFFER_FIELD_CTR "ctr"       /* a side field: the rate of clicks, 0 to 1; clicks/rate.h */
#define OFFER_FIELD_APPEAL "appeal" /* a side field: ctr by that of the category, about 1 */
#define OFFER_FIELD_LOOKS "looks"   /* a side field: how many looks the two are of */
/* Of the first one that is ready: its smallest form's key, "240x160", and the preview in base64. */
#define OFFER_FIELD_PHOTO "photo"

/* Attributes: this and the attribute's id. Standard fields have no point, so none can be taken for
 * another. Options are all kept as keywords, with the options above them; numbers in base units. */
#define OFFER_ATTRIBUTE_PREFIX "a."

/* Numbers that buyers choose from a list are values, too: this and the attribute's id. */
#define OFFER_LISTED_PREFIX "v."

#endif
