/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accept.h - the transaction that decides on documents: rows, elements of the queue and new fields
 * of the schema appear together, or nothing does.
 *
 *   candidates (checked, packed) ── orders of their rows ──> verdicts ──> rows, elements, fields
 *
 * If several candidates have one key, each is decided on as if the previous one were stored
 * already; the last accepted one is written.
 */
#ifndef TORG_REGISTRY_RECEIVING_ACCEPT_H
#define TORG_REGISTRY_RECEIVING_ACCEPT_H

#include "registry/clients/clients.h"
#include "registry/indexing/queue.h"
#include "registry/receiving/document.h"
#include "registry/receiving/rows.h"

struct candidate {
    const Torg__V1__RawDocument *document;
    struct row row; /* checked and packed; the epoch and the moment may be 0: not said. It stays so:
                       a transaction that is run again settles them anew */
    int64_t checked_epoch;
    struct new_fields added; /* to the schema, if it is accepted */
    bool is_decided;
    Torg__V1__Verdict__Kind kind;
    struct violations reasons;
    struct order order; /* of an accepted one: settled */
    struct order kept;  /* of a stale one: what is newer */
    /* Of one that names no epoch: its row is in this one, and its schema is the one that counts. */
    int64_t resolved_epoch;
    int64_t idx; /* of an accepted one: in the queue of its shard */
    uint32_t shard;
};

struct acceptance {
    const struct client_view *client;
    enum lane lane;
    int64_t now_us;
    struct candidate **list; /* undecided, in order */
    size_t count;            /* at most DOCUMENT_BATCH_COUNT_MAX */
    bool has_grown;          /* the schema: views are old now */
    bool is_outrun;          /* the client has changed: they are to be checked anew */
};

/* A transaction on struct acceptance. ERR_CONFLICT with is_outrun: the client has changed. Those
 * with a resolved_epoch are left undecided, to be checked with it. */
int accept_documents(struct store_tx *tx, void *arg, struct err *err);

/* Adds the field, with its number, to the schema of its epoch. */
int schema_insert(struct store_tx *tx, int64_t client_id, const struct new_field *field,
                  struct arena *arena, struct err *err);
/* Inside a transaction that confirmed the client: adds those that are not there yet, to later
 * epochs too, and counts its state up before the first: of two that grow it at once one is then run
 * again, and finds it changed. */
int schema_grow(struct store_tx *tx, const struct client_view *client,
                const struct new_fields *fields, struct new_fields *grown, struct arena *arena,
                struct err *err);

#endif
