/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c - see plan.h. Pure: no state, no time, no world. */
#include "coord/plan.h"

#include <assert.h>

static void count_owned(const struct coord_view *view, uint32_t counts[COORD_MEMBER_COUNT_MAX])
{
    uint32_t shard;
    int member;

    assert(view->member_count <= COORD_MEMBER_COUNT_MAX);
    assert(view->shard_count <= COORD_SHARD_COUNT_MAX);
    for (member = 0; member < view->member_count; member++)
        counts[member] = 0;
    for (shard = 0; shard < view->shard_count; shard++) {
        assert(view->owners[shard] < view->member_count);
        if (view->owners[shard] >= 0)
            counts[view->owners[shard]]++;
    }
}

uint32_t plan_quota(const struct coord_view *view, int member)
{
    uint32_t counts[COORD_MEMBER_COUNT_MAX];
    uint32_t members = (uint32_t)view->member_count;
    uint32_t before = 0; /* members that are served an extra shard earlier than this one */
    int other;

    assert(member >= 0 && member < view->member_count);
    count_owned(view, counts);
    for (other = 0; other < view->member_count; other++) {
        bool tie = counts[other] == counts[member];

        if (counts[other] > counts[member] || (tie && other < member))
            before++;
    }
    return view->shard_count / members + (before < view->shard_count % members);
}

/* The shard to give up next: the newest of those not chosen yet, old choices first. */
static int choose(const struct coord_view *view, const bool *before, const bool *chosen)
{
    int best = -1;
    uint32_t shard;

    for (shard = 0; shard < view->shard_count; shard++) {
        if (view->owners[shard] != view->self || chosen[shard])
            continue;
        if (best < 0 || before[shard] > before[best] ||
            (before[shard] == before[best] && view->tickets[shard] > view->tickets[best]))
            best = (int)shard;
    }
    return best;
}

uint32_t plan_make(const struct coord_view *view, bool leaving[COORD_SHARD_COUNT_MAX],
                   uint32_t claims[COORD_SHARD_COUNT_MAX])
{
    bool chosen[COORD_SHARD_COUNT_MAX] = {false};
    uint32_t owned = 0;
    uint32_t count = 0;
    uint32_t quota;
    uint32_t first;
    uint32_t shard;
    uint32_t i;

    if (view->self < 0)
        return 0;
    quota = plan_quota(view, view->self);
    for (shard = 0; shard < view->shard_count; shard++)
        owned += view->owners[shard] == view->self;
    for (; owned > quota; owned--)
        chosen[choose(view, leaving, chosen)] = true;
    for (shard = 0; shard < view->shard_count; shard++)
        leaving[shard] = chosen[shard];
    /* Members begin at different shards, so that those who start together seldom collide. */
    first = (uint32_t)view->self * (view->shard_count / (uint32_t)view->member_count);
    for (i = 0; i < view->shard_count && owned < quota; i++) {
        shard = (first + i) % view->shard_count;
        if (view->owners[shard] == COORD_FREE) {
            claims[count++] = shard;
            owned++;
        }
    }
    assert(owned <= quota && count <= view->shard_count);
    return count;
}
