/* SPDX-License-Identifier: Apache-2.0 */
/*
 * receiver.h - takes documents of clients: checks them, decides which write is the newest, and puts
 * each change into the queue to the index.
 *
 *   PutDocuments, topic `documents` ──> receiver_put ──> registry, queue, schema (one transaction)
 *                                             └──> a verdict per document
 *
 * Threads: any.
 */
#ifndef TORG_REGISTRY_RECEIVING_RECEIVER_H
#define TORG_REGISTRY_RECEIVING_RECEIVER_H

#include "base/clock.h"
#include "base/violation.h"
#include "coord/coord.h"
#include "registry/clients/clients.h"
#include "registry/indexing/queue.h"
#include "registry/indexing/queue_bell.h"
#include "registry/receiving/intake.h"
#include "registry/receiving/rows.h"
#include "torg/v1/document.pb-c.h"

/* What it stands on, all borrowed: filled by its owner before the first call, then not changed. */
struct receiver {
    struct store *store;
    const struct clock *clock;
    struct clients *clients;
    struct dictionaries *dictionaries;
    struct intake *intake;
    struct coord *coord;       /* told of new clients; may be NULL */
    struct queue_bell *bell;   /* of the indexer in this process; may be NULL */
    uint32_t shard_count;      /* of new clients */
    int64_t tombstone_life_us; /* how long deletions are remembered */
};

/*
 * Decides on 1 to DOCUMENT_BATCH_COUNT_MAX documents; a verdict each, in order, in the arena. What
 * is ACCEPTED is durable. Fails only for what concerns them all: ERR_INVALID for the client's name
 * or the count, ERR_LIMIT for a client too many, ERR_CORRUPT for one whose rows cannot be read; the
 * store's failures are verdicts (UNAVAILABLE).
 */
int receiver_put(const struct receiver *receiver, const char *client, enum lane lane,
                 Torg__V1__RawDocument *const *documents, size_t count, struct arena *arena,
                 Torg__V1__Verdict ***verdicts, struct err *err);

/* Decides on 1 to DOCUMENT_BATCH_COUNT_MAX changes of side fields, the same way; in the lane main,
 * in order. A client that is not there is not made: its documents are not found. */
int receiver_put_fields(const struct receiver *receiver, const char *client,
                        Torg__V1__FieldChange *const *changes, size_t count, struct arena *arena,
                        Torg__V1__Verdict ***verdicts, struct err *err);

/* The client, made and announced if it is not there. */
int receiver_obtain(const struct receiver *receiver, const char *client,
                    const struct client_view **view, struct err *err);

/* With the reasons that there are, at most VIOLATION_COUNT_MAX and how many more. */
Torg__V1__Verdict *verdict_new(const char *pk, Torg__V1__Verdict__Kind kind,
                               const struct violations *reasons, struct arena *arena);

/* As it is kept. ERR_NOT_FOUND: neither a document nor a tombstone, or no such client. */
int receiver_get(const struct receiver *receiver, const char *client, const char *pk,
                 struct arena *arena, Torg__V1__StoredDocument *stored, struct err *err);

/* The schema of the client's epoch; 0: of the one that is written to. */
int receiver_schema(const struct receiver *receiver, const char *client, int64_t epoch,
                    struct arena *arena, Torg__V1__Schema *schema, struct err *err);
/* Adds fields, all or none; reasons tell what is wrong with ERR_INVALID. */
int receiver_declare(const struct receiver *receiver, const char *actor,
                     const Torg__V1__DeclareSchemaRequest *request, const char *client,
                     struct violations *reasons, Torg__V1__Schema *schema, struct err *err);

#endif
