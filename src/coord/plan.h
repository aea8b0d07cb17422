/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h - which shards a member should give up and which it should claim.
 *
 * Every member computes its own part from the same view, so nobody has to be the leader.
 * With N shards and M members a quota is N/M, and one more for the N%M members that own the
 * most already: then the fewest shards move. Quotas add up to N, so when all members hold
 * their quota every shard has an owner. Views that differ for a moment do no harm: claims are
 * exclusive, and the next view mends the rest.
 */
#ifndef TORG_COORD_PLAN_H
#define TORG_COORD_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "coord/backend.h"

/* How many shards the member at this index should own. */
uint32_t plan_quota(const struct coord_view *view, int member);

/*
 * For the session itself: leaving[shard] is brought up to date (a shard asked for earlier
 * stays the first choice, then those owned for the shortest time); claims gets the free shards
 * to take. Returns the number of claims.
 */
uint32_t plan_make(const struct coord_view *view, bool leaving[COORD_SHARD_COUNT_MAX],
                   uint32_t claims[COORD_SHARD_COUNT_MAX]);

#endif
