/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offer_fields.h - how an offer's fields are called in the index: written by the composer, asked by
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
#define OFFER_FIELD_POINT "point"
#define OFFER_FIELD_CREATED "created"
#define OFFER_FIELD_UPDATED "updated"
#define OFFER_FIELD_HAS_PHOTO "has_photo"
#define OFFER_FIELD_PHOTO "photo" /* of the first one that is ready, its smallest form's key */

/* Attributes: this and the attribute's id. Standard fields have no point, so none can be taken for
 * another. Options are all kept as keywords, with the options above them; numbers in base units. */
#define OFFER_ATTRIBUTE_PREFIX "a."

#endif
