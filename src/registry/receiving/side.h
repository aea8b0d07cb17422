/* SPDX-License-Identifier: Apache-2.0 */
/*
 * side.h - side fields of a document: stock, popularity, a click rate.
 *
 * Declared in the schema (options.side), changed only by PutFields, kept in the document's row next
 * to the document: a put leaves them as they are, and they go when the row is forgotten. Each field
 * has an order of its own, the (epoch, sequence) of its last change; one that was removed is kept
 * without a value, so nothing older brings it back.
 *
 *   PutFields ──> side_merge ──> the row, and an element of the queue with what was taken
 */
#ifndef TORG_REGISTRY_RECEIVING_SIDE_H
#define TORG_REGISTRY_RECEIVING_SIDE_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/violation.h"
#include "torg/v1/document.pb-c.h"

/* As a row has them; empty bytes are none. */
int side_decode(struct bytes wire, struct arena *arena, Torg__V1__SideFields **fields,
                struct err *err);
/* The wire form. ERR_LIMIT: it is longer than SIDE_SIZE_MAX. */
int side_encode(const Torg__V1__SideFields *fields, struct arena *arena, struct bytes *wire,
                struct err *err);

enum side_outcome {
    SIDE_TAKEN,     /* at least one field: *merged is new, taken has those fields */
    SIDE_DUPLICATE, /* exactly what is kept */
    SIDE_STALE,     /* what is kept is newer, of each field; or as new, and another value */
};

/* What the change makes of what is kept. Fields that are not taken are told in reasons. Nothing
 * that is kept is changed; what comes out is in the arena and borrows from both. */
enum side_outcome side_merge(const Torg__V1__SideFields *kept, const Torg__V1__FieldChange *change,
                             struct violations *reasons, struct arena *arena,
                             Torg__V1__SideFields **merged, Torg__V1__FieldChange *taken);

#endif
