/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epoch_desk.h - moving a client to another epoch, as functions on messages.
 *
 *   plan ── start ─────────── building ─────────── switch ──── rollback and back again
 *           │ everything is sent to both;          │ one transaction,
 *           │ the owners of shards pour what       │ then the register
 *           │ is stored (indexer_pour.c)           │ of coord
 *
 * A client has at most one epoch that is built and one that is kept for the way back. Writers never
 * go back to an older epoch: the order of writes begins with it.
 *
 * EpochService answers with these.
 */
#ifndef TORG_REGISTRY_CLIENTS_EPOCH_DESK_H
#define TORG_REGISTRY_CLIENTS_EPOCH_DESK_H

#include "base/violation.h"
#include "registry/clients/clients.h"
#include "registry/receiving/rows.h"
#include "topic/topic.h"
#include "torg/v1/epoch.pb-c.h"
#include "torg/v1/searcher.pb-c.h"

/* All borrowed; of a service it lives as long as the server. */
struct epoch_desk {
    struct store *store;
    struct clients *clients;
    struct dictionaries *dictionaries;
    struct topics *topics; /* NULL: how much is in them is not told */
    struct coord *coord;   /* NULL: no searcher runs; the next start of a role tells it */
    const struct clock *clock;
    /* Shards of the client on all searchers that can be reached; ERR_UNAVAILABLE: which there are
     * is not known. NULL: there are none, as for a command without a server. */
    int (*freshness)(void *arg, const char *client, struct arena *arena,
                     Torg__V1__Freshness **freshness, struct err *err);
    void *freshness_arg;
};

/* Memory of answers is the arena's, that of reasons. ERR_INVALID: reasons tell by field what is
 * wrong with the schema. */
int epoch_desk_plan(const struct epoch_desk *desk, const char *client,
                    const Torg__V1__PlanEpochRequest *request, struct violations *reasons,
                    Torg__V1__PlanEpochResponse *response, struct err *err);
/* principal: who asks, for the audit log. */
int epoch_desk_start(const struct epoch_desk *desk, const char *client, const char *principal,
                     const Torg__V1__StartEpochRequest *request, struct violations *reasons,
                     Torg__V1__EpochStatus *status, struct err *err);
int epoch_desk_status(const struct epoch_desk *desk, const char *client, struct arena *arena,
                      Torg__V1__EpochStatus *status, struct err *err);
int epoch_desk_switch(const struct epoch_desk *desk, const char *client, const char *principal,
                      const Torg__V1__SwitchEpochRequest *request, struct arena *arena,
                      Torg__V1__EpochStatus *status, struct err *err);
int epoch_desk_rollback(const struct epoch_desk *desk, const char *client, const char *principal,
                        const Torg__V1__RollbackEpochRequest *request, struct arena *arena,
                        Torg__V1__EpochStatus *status, struct err *err);
/* Gives up the epoch that is built, as if it had never begun. Documents that were written for it by
 * name stay as they are: in the other epochs where they fit, and newer than what came before. */
int epoch_desk_abandon(const struct epoch_desk *desk, const char *client, const char *principal,
                       const Torg__V1__AbandonEpochRequest *request, struct arena *arena,
                       Torg__V1__EpochStatus *status, struct err *err);
/* Gives up the epoch that is kept for the way back, and with it numbers that no other epoch has. */
int epoch_desk_drop(const struct epoch_desk *desk, const char *client, const char *principal,
                    const Torg__V1__DropEpochRequest *request, struct arena *arena,
                    Torg__V1__EpochStatus *status, struct err *err);

/* --- between its files --- */

/* The epoch in this state; NULL: there is none. */
const struct epoch_view *epoch_in(const struct client_view *client,
                                  Torg__V1__IndexMap__Epoch__State state);

/* What is missing in the epoch that is built, a text each; none: nothing. */
struct epoch_lacks {
    struct arena *arena;
    char **list;
    size_t count;
};
/* Inside a transaction, of what the registry has. */
int epoch_find_lacks(struct store_tx *tx, const struct client_view *client, int64_t epoch,
                     struct epoch_lacks *lacks, struct err *err);

#endif
