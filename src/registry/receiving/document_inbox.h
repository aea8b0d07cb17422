/* SPDX-License-Identifier: Apache-2.0 */
/*
 * document_inbox.h - the topic `documents`, read into the registry; and `takedowns`, deletions of
 * offers that do not wait behind it, by a reader of their own.
 *
 *   records of a poll ── runs of one client and lane ──> receiver_put ──> verdicts
 *                                                             └ refused ──> parked, CLIENT/PK
 *
 * Offsets are committed after every verdict is there and every refused document is parked with its
 * reasons (stage/parked.h), so a record may come again; the order of documents makes that harmless.
 * Documents that could not be decided are retried. A newer version that is accepted ends the
 * parking.
 */
#ifndef TORG_REGISTRY_RECEIVING_DOCUMENT_INBOX_H
#define TORG_REGISTRY_RECEIVING_DOCUMENT_INBOX_H

#include "registry/receiving/receiver.h"
#include "topic/topic.h"

#define DOCUMENT_GROUP "receiver"
#define TAKEDOWN_GROUP "takedowns"

struct document_inbox;

/* Both are borrowed until it has stopped. On failure *inbox is NULL. */
int document_inbox_start(const struct receiver *receiver, struct topics *topics,
                         struct document_inbox **inbox, struct err *err);
/* The same of the topic of takedowns. */
int takedown_inbox_start(const struct receiver *receiver, struct topics *topics,
                         struct document_inbox **inbox, struct err *err);
void document_inbox_stop(struct document_inbox *inbox); /* NULL is fine */

#endif
