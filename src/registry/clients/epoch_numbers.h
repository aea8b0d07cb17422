/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epoch_numbers.h - which numbers an epoch that begins has: those of the writers' epoch, or others.
 *
 * Another number of shards, or numbers without holes, is another numbering, with a V that the
 * client never had: what was made by position for the old one fits the new one nowhere.
 */
#ifndef TORG_REGISTRY_CLIENTS_EPOCH_NUMBERS_H
#define TORG_REGISTRY_CLIENTS_EPOCH_NUMBERS_H

#include "registry/clients/clients.h"
#include "torg/v1/epoch.pb-c.h"

/* Whether it can be as it is asked for; nothing is read or written. proposed: with its fields. */
int epoch_check_numbers(const struct client_view *client, const struct epoch_view *proposed,
                        const Torg__V1__StartEpochRequest *request, struct err *err);
/* Inside the transaction that begins the epoch. */
int epoch_choose_numbers(struct store_tx *tx, const struct client_view *client,
                         const Torg__V1__StartEpochRequest *request, struct numbering *numbering,
                         struct err *err);
/* Inside the transaction that takes in a state as the client's first numbers: they have its V.
 * ERR_PRECONDITION: so have others of the client. */
int epoch_take_rebuild(struct store_tx *tx, const struct client_view *client, uint32_t rebuild,
                       struct err *err);
/* The same of a client that is not there yet: it is made, of as many shards as the state has. */
int epoch_make_client(struct store_tx *tx, const char *name, uint32_t shard_count, uint32_t rebuild,
                      int64_t now_us, int64_t *id, struct err *err);

#endif
