/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.h - the background work on offers: export, expiry and the end of waits
 * for photos, forgetting answers and abandoned drafts.
 *
 * A worker takes part in the set of shards "offers-export"; several, in one process or on many
 * machines, share it. It has two threads: one exports (export.h) as long as there is something and
 * then waits a little, or until a writer rings (bell.h); the other keeps house, every
 * KEEPING_PERIOD_MS.
 */
#ifndef TORG_OFFERS_OUTBOX_WORKER_H
#define TORG_OFFERS_OUTBOX_WORKER_H

#include "coord/coord.h"
#include "offers/change/offers.h"
#include "topic/topic.h"

struct offers_worker;

/* All are borrowed until it has stopped. On failure *worker is NULL. */
int offers_worker_start(const struct offers *offers, struct topics *topics, struct coord *coord,
                        struct offers_worker **worker, struct err *err);
/* Ends what is under way, gives up the shards; NULL is fine. */
void offers_worker_stop(struct offers_worker *worker);

#endif
