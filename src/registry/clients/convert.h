/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert.h - a document as its client sent it becomes the index's: fields by number, numbers as
 * columns keep them (index/columns/columns.h).
 *
 * A value does not fit if the schema of the epoch does not have its field, or has it with a type
 * that the value cannot be read as (convert_as.h). This is checked again because a document may be
 * sent to an epoch that it was not written for. Values that the index could not hold are refused
 * here, where the reason can still be kept.
 */
#ifndef TORG_REGISTRY_CLIENTS_CONVERT_H
#define TORG_REGISTRY_CLIENTS_CONVERT_H

#include "base/arena.h"
#include "base/err.h"
#include "registry/clients/clients.h"
#include "torg/v1/document.pb-c.h"
#include "torg/v1/index_message.pb-c.h"

/* Fills values, pk, version, modify_us and expires_at; texts are borrowed from the document.
 * ERR_INVALID, ERR_LIMIT: it does not fit; the text names the field. */
int convert_document(const Torg__V1__RawDocument *document, const struct epoch_view *epoch,
                     struct arena *arena, Torg__V1__IndexDocument *converted, struct err *err);

/* Adds the values of side fields (the bytes of a row) to a converted document. What the epoch does
 * not have as a side field, or as another type, is left out: a document fits without it. */
int convert_side(struct bytes side, const struct epoch_view *epoch, struct arena *arena,
                 Torg__V1__IndexDocument *converted, struct err *err);
/* The values of a change of side fields, those that the epoch has; fields that were taken away too.
 */
void convert_change(const Torg__V1__FieldChange *change, const struct epoch_view *epoch,
                    struct arena *arena, Torg__V1__IndexFields__Document *converted);

/* The fields of the epoch, as a message to the index has them; borrows their names. */
Torg__V1__IndexSchema *convert_schema(const struct epoch_view *epoch, struct arena *arena);

#endif
