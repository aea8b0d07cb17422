/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keeper.h - the background work on documents: those past their end, old tombstones (sweep.h).
 *
 * One of all receivers does it, by coord; a second one that also believes it is the one does no
 * harm, since a sweep reads and writes in one transaction. All keep the map of clients announced.
 */
#ifndef TORG_REGISTRY_RECEIVING_KEEPER_H
#define TORG_REGISTRY_RECEIVING_KEEPER_H

#include "registry/receiving/receiver.h"

#define KEEPER_SET "registry-sweep"

struct keeper;

/* The receiver, with its coord, is borrowed until it has stopped. On failure *keeper is NULL. */
int keeper_start(const struct receiver *receiver, struct keeper **keeper, struct err *err);
void keeper_stop(struct keeper *keeper); /* NULL is fine */

#endif
