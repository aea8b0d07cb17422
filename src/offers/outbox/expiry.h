/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expiry.h - ACTIVE offers past their time become EXPIRED, and offers that have waited for a photo
 * long enough are shown; by the change anybody else would make.
 *
 * An offer is moved only at the revision at which it was seen to be due, so one that is prolonged
 * meanwhile stays, and two who look at a shard at once move each offer once.
 */
#ifndef TORG_OFFERS_OUTBOX_EXPIRY_H
#define TORG_OFFERS_OUTBOX_EXPIRY_H

#include "offers/change/offers.h"

/* Where a pass over one shard is; zero at its begin. */
struct expiry_cursor {
    int64_t expires_us;
    offerid id;
};

/* Moves what is due among the next EXPIRY_CHUNK_COUNT of the shard: *expired says how many that
 * were; *more, whether to go on. An offer that cannot be changed is told in the log and passed. */
int expiry_step(const struct offers *offers, uint32_t shard, struct expiry_cursor *cursor,
                size_t *expired, bool *more, struct err *err);

#endif
