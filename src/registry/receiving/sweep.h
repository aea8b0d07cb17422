/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.h - documents whose time is over become tombstones, and old tombstones are forgotten.
 *
 * An end is a write like any other: its order is the document's with the moment one microsecond
 * later, and it goes through the queue, so a newer write of the client still wins. A tombstone goes
 * when its own time is over and no element that waits in the queue could be its document's.
 */
#ifndef TORG_REGISTRY_RECEIVING_SWEEP_H
#define TORG_REGISTRY_RECEIVING_SWEEP_H

#include "registry/receiving/receiver.h"

struct sweep_counts {
    size_t ended;
    size_t forgotten;
    size_t delayed; /* tombstones that are still needed */
};

/* Deals with at most SWEEP_CHUNK_COUNT rows of the client whose time was over at now_us; adds to
 * counts. *is_full: there may be more. */
int sweep_client(const struct receiver *receiver, const struct client_view *client, int64_t now_us,
                 struct sweep_counts *counts, bool *is_full, struct err *err);

#endif
