/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_desk.h - what an operator does with the queue, as functions on messages.
 *
 * QueueService answers with these. Owners of the shards continue meanwhile; they see changes made
 * here in their next round.
 */
#ifndef TORG_REGISTRY_INDEXING_QUEUE_DESK_H
#define TORG_REGISTRY_INDEXING_QUEUE_DESK_H

#include "registry/clients/clients.h"
#include "registry/receiving/rows.h"
#include "torg/v1/queue.pb-c.h"

/* All borrowed; of a service it lives as long as the server. */
struct queue_desk {
    struct store *store;
    struct clients *clients;
    struct dictionaries *dictionaries;
    const struct clock *clock;
};

/* client NULL: all of them. */
int queue_desk_lanes(const struct queue_desk *desk, const char *client, struct arena *arena,
                     Torg__V1__ListLanesResponse *response, struct err *err);
int queue_desk_list(const struct queue_desk *desk, const char *client,
                    const Torg__V1__ListFailedRequest *request, struct arena *arena,
                    Torg__V1__ListFailedResponse *response, struct err *err);
int queue_desk_get(const struct queue_desk *desk, const char *client, const char *pk,
                   struct arena *arena, Torg__V1__FailedDocument *response, struct err *err);
/* principal: who asks, for the audit log. */
int queue_desk_replay(const struct queue_desk *desk, const char *client, const char *principal,
                      const Torg__V1__ReplayFailedRequest *request, int64_t *count,
                      struct err *err);
int queue_desk_drop(const struct queue_desk *desk, const char *client, const char *principal,
                    const char *pk, struct arena *arena, Torg__V1__FailedDocument *response,
                    struct err *err);

#endif
