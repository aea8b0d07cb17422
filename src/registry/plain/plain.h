/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain.h - plain documents, in JSON or CSV, as documents of the registry.
 *
 *   [{"id": 1, "title": "Road bike", "price": 99.5, "tags": ["new"]}]
 *
 *   body ──> tree (codec/placed_json.h, table.h) ──> types (columns.h) ──> RawDocument each
 *
 * The document itself is kept next to its fields, and is what searches show. Members that begin
 * with "_" are instructions: _version, _expires, _delete.
 *
 * Threads: any.
 */
#ifndef TORG_REGISTRY_PLAIN_PLAIN_H
#define TORG_REGISTRY_PLAIN_PLAIN_H

#include "registry/plain/columns.h"
#include "torg/v1/document.pb-c.h"

enum plain_form { PLAIN_JSON, PLAIN_CSV };

struct plain_options {
    enum plain_form form;
    struct bytes key;   /* the member that tells documents apart; empty: id */
    struct bytes types; /* columns.h */
    const struct epoch_view *epoch;
};

struct plain_document {
    uint32_t place; /* in the request, from 1 */
    const char *id;
    Torg__V1__RawDocument *document; /* NULL: it cannot be one, and this is why */
    const char *field;               /* "" the document itself */
    const char *reason;
};

struct plain_batch {
    struct plain_document *list;
    uint32_t count;
    struct plain_columns columns;
};

/* Fails for what concerns them all: no JSON, too many, types that cannot be. */
int plain_read(struct bytes body, const struct plain_options *options, struct arena *arena,
               struct plain_batch *batch, struct err *err);

/* The name that the sender knows for a path in a reason of the receiver: "fields[2].decimal". */
const char *plain_path(const struct plain_batch *batch, const struct plain_document *document,
                       const char *path, struct arena *arena);

#endif
