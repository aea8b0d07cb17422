/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_text.h - a filter as people write it, as the messages of a query.
 *
 *   price < 10 AND (colour = red OR colour IN (blue, "sky blue")) AND NOT used = true
 *
 *   condition   FIELD = V   FIELD != V   FIELD < V   <=   >   >=   FIELD IN (V, V, ...)
 *               FIELD = FROM..TO     ends included, one may be left out
 *               FIELD EXISTS         a document has a value
 *               FIELD UNDER "a/b"    of a category: it and all under it
 *               FIELD NEAR (55.75, 37.62, 5km)
 *   joined by   NOT, AND, OR (in this order), brackets; && || ! mean the same
 *   V           a word, or "anything" or 'anything', with \" for a quote
 *
 * Words of the language count in any case. A field may be written as its owner writes it
 * (model/field_name.h). Types are not known here: whether a field may be compared so is told by
 * whoever reads the messages.
 */
#ifndef TORG_QUERY_REQUEST_FILTER_TEXT_H
#define TORG_QUERY_REQUEST_FILTER_TEXT_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "torg/v1/query.pb-c.h"

/* NULL for a text of blanks. ERR_INVALID tells the character, counted from 1, and what was
 * expected there. */
int filter_text_read(struct bytes text, struct arena *arena, Torg__V1__Filter **filter,
                     struct err *err);

#endif
