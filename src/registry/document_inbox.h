/* SPDX-License-Identifier: Apache-2.0 */
/*
 * document_inbox.h - the topic `documents`, read into the registry.
 *
 *   records of a poll ── runs of one client and lane ──> receiver_put ──> verdicts
 *                                                             └ refused ──> dead-documents.CLIENT
 *
 * A thread reads as a member of a group. Offsets are committed after every verdict is there and
 * what is refused is durable in its topic, so a record may come again; the order of documents makes
 * that harmless. What could not be decided is tried again.
 */
#ifndef TORG_REGISTRY_DOCUMENT_INBOX_H
#define TORG_REGISTRY_DOCUMENT_INBOX_H

#include "registry/receiver.h"
#include "topic/topic.h"

#define DOCUMENT_TOPIC "documents"
#define DOCUMENT_DEAD_TOPIC "dead-documents" /* with ".CLIENT" behind it when that is known */
#define DOCUMENT_GROUP "receiver"

struct document_inbox;

/* Both are borrowed until it has stopped. On failure *inbox is NULL. */
int document_inbox_start(const struct receiver *receiver, struct topics *topics,
                         struct document_inbox **inbox, struct err *err);
void document_inbox_stop(struct document_inbox *inbox); /* NULL is fine */

#endif
