/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offer_document.h - an offer as the document that is indexed.
 *
 *   Offer + catalogue ──> RawDocument: pk = the offer's id, version = its update time in µs,
 *                         modify_timestamp = that and the catalogue's version as further µs
 *
 * So among the documents of one change of an offer, the one made with the newest catalogue wins,
 * whoever made it and in whatever order they arrive; the same catalogue makes the same document
 * again, which the registry already has; and no catalogue overrides a newer change of the offer.
 *
 * An ACTIVE offer is an UPSERT; in every other status it must not be found: a DELETE. The fields
 * are described in model/offer_fields.h.
 */
#ifndef TORG_DOCUMENTS_OFFER_DOCUMENT_H
#define TORG_DOCUMENTS_OFFER_DOCUMENT_H

#include "base/arena.h"
#include "base/err.h"
#include "catalog/catalog.h"
#include "torg/v1/document.pb-c.h"
#include "torg/v1/offer.pb-c.h"

/* Everything is in the arena or borrowed from the offer and the catalogue. ERR_INVALID: the offer
 * lacks what a document needs, or is of a category that this catalogue does not have. */
int offer_document(const Torg__V1__Offer *offer, const struct catalog *catalog, struct arena *arena,
                   Torg__V1__RawDocument **document, struct err *err);

/* Of an offer whose category this catalogue does not have any more: it is not to be found. With
 * is_parked its change was never composed, and must not pass for one that was: the document is just
 * older than that change, and newer than every one before. */
int offer_document_hidden(const Torg__V1__Offer *offer, const struct catalog *catalog,
                          bool is_parked, struct arena *arena, Torg__V1__RawDocument **document,
                          struct err *err);

#endif
