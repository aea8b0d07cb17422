/* SPDX-License-Identifier: Apache-2.0 */
/* offer_schema.h - the fields that documents of offers have by a catalogue, as offer_document.c
 * makes them: what an epoch has to take before the catalogue is put into use. */
#ifndef TORG_DOCUMENTS_OFFER_SCHEMA_H
#define TORG_DOCUMENTS_OFFER_SCHEMA_H

#include "base/arena.h"
#include "catalog/catalog.h"
#include "torg/v1/document.pb-c.h"

/* Those of every offer first, then one for each attribute that a category has, but for texts, which
 * are only words. */
Torg__V1__SchemaField **offer_schema(const struct catalog *catalog, struct arena *arena,
                                     size_t *count);

/* The attribute's id; NULL: the field is one of every offer. */
const char *offer_schema_attribute(const Torg__V1__SchemaField *field);

#endif
